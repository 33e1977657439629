"""The ``autogen-context`` command: it knows its subcommands and turns errors into one line.

Promise: it ends with 0, 1 where a check found damage, 2 for what the user can put right, or 130 for Ctrl-C; never with a
traceback for those. A subcommand is a module with ``add_parser(subparsers)``, which sets ``run``.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import cast

from autogen_context.cli import printable
from autogen_context.errors import ContextError

COMMANDS = ("limits", "replay", "explain", "report", "cache", "chat")


def run() -> None:
    """Run the command with the process's arguments, and end the process."""
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; left out, ``argv`` is that of the process. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="autogen-context",
        description="Keeps AutoGen agents inside their context window.",
    )
    parser.add_argument("--version", action="version", version=version("autogen-context"))
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    given = sys.argv[1:] if argv is None else argv
    # Of the commands the one that is named is loaded: a prompt should be there at once.
    for name in given[:1] if given and given[0] in COMMANDS else COMMANDS:
        import_module(f"{__package__}.{name}").add_parser(subparsers)
    arguments = parser.parse_args(given)
    # argparse keeps what it parsed without types; add_parser of each subcommand sets this.
    command = cast(Callable[[argparse.Namespace], int], arguments.run)
    try:
        code = command(arguments)
        sys.stdout.flush()  # a reader that left shows here and not at exit
    except BrokenPipeError:  # as with ``head``: the interpreter flushes at exit, into nothing then
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except (ContextError, ValueError, OSError) as error:
        sys.stderr.write(f"autogen-context: error: {printable(str(error))}\n")
        return 2
    return code
