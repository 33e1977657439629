"""Reports on what a context manager decided, why, and what it cost."""


def printable(text: str, *, keeps: str = "") -> str:
    """Replace control and formatting characters, but for ``keeps``, with ``?``: recordings, file names and keys may have any.

    Everything that is printed at a terminal and was not written by us goes through this function.
    """
    return "".join(char if char.isprintable() or char in keeps else "?" for char in text)
