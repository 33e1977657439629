"""Bring back what left sight: whether a query asks for it, what is found, and what is always known."""
