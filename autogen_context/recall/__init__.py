"""Retrieval of hidden content: deciding whether a query needs it, searching, and facts that are always known."""
