"""The ``autogen-context`` command: one file per subcommand; :mod:`autogen_context.cli.main` has them all with their options."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager


def printable(text: str) -> str:
    """A line of text in which nothing moves the cursor; recordings and file names hold anything."""
    return "".join(char if char.isprintable() else "?" for char in text)


def print_lines(*lines: str) -> None:
    """Lines of text, as they may be shown."""
    sys.stdout.writelines(f"{printable(line)}\n" for line in lines)


def tell(kind: str, text: str) -> None:
    """An error or a warning on standard error, in one line."""
    sys.stderr.write(f"autogen-context: {kind}: {printable(' '.join(text.split()))}\n")


def print_json(found: object) -> None:
    """Records as JSON in ASCII, for programs."""
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - for who asks for JSON

    sys.stdout.write(f"{json.dumps(to_jsonable_python(found), indent=2)}\n")


@contextmanager
def waiting(what: str) -> Generator[None]:
    """Say on standard error what is being done, while it is done, if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only where a person waits

    with Console(stderr=True).status(what):
        yield
