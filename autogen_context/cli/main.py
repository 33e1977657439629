"""The ``autogen-context`` command: it knows its subcommands and turns errors into one line.

Promise: it ends with 0, 1 where a check found damage, 2 for what the user can put right, or 130 for Ctrl-C; never with a
traceback for those.
A subcommand is a module with ``add_parser(subparsers)``, which sets ``run`` to a function of the arguments.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Protocol, cast

from autogen_context.cli import cache, limits, replay
from autogen_context.errors import ContextError

_SUBCOMMANDS = (limits, replay, cache)


class Subparsers(Protocol):
    """What a subcommand adds itself to; argparse has no public name for it."""

    def add_parser(self, name: str, /, *, help: str, description: str) -> argparse.ArgumentParser:  # noqa: A002 - argparse's name
        """Make the parser of the subcommand ``name``."""
        ...


def run() -> None:
    """Run the command with the process's arguments, and end the process."""
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: arguments without the program's name; left out, those of the process.

    Returns:
        The exit code.
    """
    arguments = _parser().parse_args(argv)
    # argparse keeps what it parsed without types; add_parser of each subcommand sets this.
    command = cast(Callable[[argparse.Namespace], int], arguments.run)
    try:
        return _flushed(command(arguments))
    except BrokenPipeError:
        return _without_reader()
    except KeyboardInterrupt:
        return 130
    except (ContextError, ValueError, OSError) as error:
        sys.stderr.write(f"autogen-context: error: {' '.join(str(error).split())}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autogen-context",
        description="Keeps AutoGen agents inside their context window.",
    )
    parser.add_argument("--version", action="version", version=version("autogen-context"))
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for subcommand in _SUBCOMMANDS:
        subcommand.add_parser(subparsers)
    return parser


def _flushed(code: int) -> int:
    """The code, once what was printed has arrived: a reader that left shows here and not at exit."""
    sys.stdout.flush()
    return code


def _without_reader() -> int:
    """End quietly when the reader of our output has left, as ``head`` does."""
    # The interpreter flushes at exit; into nothing it does so without a complaint.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
