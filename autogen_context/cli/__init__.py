"""The ``autogen-context`` command: one module per subcommand; :mod:`autogen_context.cli.main` defines all options."""

import json
import logging
import sys
import warnings
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from typing_extensions import override

from autogen_context.report import printable

T = TypeVar("T")


def print_lines(*lines: str) -> None:
    """Print lines of text without control characters."""
    sys.stdout.writelines(f"{printable(line)}\n" for line in lines)


def remark(kind: str, text: str) -> None:
    """Print an error or a warning on standard error, on one line."""
    sys.stderr.write(f"autogen-context: {kind}: {printable(' '.join(text.split()))}\n")


class RemarkHandler(logging.Handler):
    """Prints what is logged as ``remark`` does."""

    @override
    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        remark(record.levelname.lower(), record.getMessage())


@contextmanager
def remarks_shown() -> Generator[None]:
    """Print what the package warns of and logs while the block runs as ``remark`` does."""
    logger, handler = logging.getLogger("autogen_context"), RemarkHandler(logging.WARNING)
    logger.addHandler(handler)

    def show(message: Warning | str, *_: object, **__: object) -> None:
        remark("warning", str(message))

    with warnings.catch_warnings():
        warnings.showwarning = show
        try:
            yield
        finally:
            logger.removeHandler(handler)


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


def one_of(found: Sequence[T], wanted: str, names: Callable[[T], Collection[str]]) -> T | None:
    """Return the newest of some things with a name, else the one with that number, from 1; ``None`` if there is none."""
    named = [each for each in found if wanted in names(each)]
    if not named and wanted.isdecimal() and 1 <= int(wanted) <= len(found):
        return found[int(wanted) - 1]
    return named[-1] if named else None
