"""What a forked process begins anew: locks that a thread of its parent held, and threads that it does not have.

Promise: an object that was registered here can be used in a forked process, whatever other threads did at the fork.
"""

import os
from collections.abc import Callable
from functools import cache
from weakref import WeakMethod

Begin = Callable[[], None]


@cache
def beginnings() -> set[WeakMethod[Begin]]:
    """Return the methods to call in a child: one set for the process, since Python forgets no function told to it."""
    known = set[WeakMethod[Begin]]()

    def begin_anew() -> None:
        for reference in list(known):
            if begin := reference():
                begin()

    if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
        os.register_at_fork(after_in_child=begin_anew)
    return known


def when_forked(begin: Begin) -> None:
    """Have a bound method called in each process that is forked off from now on, while its object lives there."""
    known = beginnings()
    known.add(WeakMethod(begin, known.discard))
