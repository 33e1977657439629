"""How a window is shared out among the sections of a context."""
