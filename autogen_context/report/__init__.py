"""Reports on what a context manager decided, why, and what it cost."""
