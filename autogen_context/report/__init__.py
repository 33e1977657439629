"""Reports on what a context manager decided, why, and what it cost."""


def printable(text: str) -> str:
    """Replace control characters with ``?``: recordings, file names and keys may contain any."""
    return "".join(char if char.isprintable() else "?" for char in text)
