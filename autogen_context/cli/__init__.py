"""The ``autogen-context`` command: one module per subcommand; :mod:`autogen_context.cli.main` defines all options."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager

from autogen_context.report import printable


def print_lines(*lines: str) -> None:
    """Print lines of text without control characters."""
    sys.stdout.writelines(f"{printable(line)}\n" for line in lines)


def tell(kind: str, text: str) -> None:
    """Print an error or a warning on standard error, on one line."""
    sys.stderr.write(f"autogen-context: {kind}: {printable(' '.join(text.split()))}\n")


def print_json(found: object) -> None:
    """Print records as ASCII JSON, for programs."""
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - only for JSON output

    sys.stdout.write(f"{json.dumps(to_jsonable_python(found), indent=2)}\n")


@contextmanager
def waiting(what: str) -> Generator[None]:
    """Show a status on standard error while the block runs, if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only at a terminal

    with Console(stderr=True).status(what):
        yield
