"""The ``autogen-context`` command: one file per subcommand."""


def printable(text: str) -> str:
    """A text on one line in which nothing moves the cursor; recordings and file names hold anything."""
    return "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
