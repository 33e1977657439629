"""Processes that are forked from that of the tests: whatever it has imported, they need not."""

import os
import pty
import sys
import traceback
import warnings
from collections.abc import Callable


def forked(action: Callable[[], object], *, has_terminal: bool = False) -> tuple[int, int]:
    """Run an action in a process of its own, which ends with its exit code; the number of the process, and its terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which it does not have
        pid, terminal = pty.fork() if has_terminal else (os.fork(), -1)
    if pid == 0:
        code: object = 1
        try:
            if has_terminal:
                sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
            code = action()
            sys.stdout.flush()
        except BaseException:  # noqa: BLE001 - it must not go on as the tests
            traceback.print_exc()
        finally:
            os._exit(code if isinstance(code, int) else 0)
    return pid, terminal


def ended(pid: int) -> int:
    """Wait for the end of a process; its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
