"""Originals of what left the window, by handle."""
