"""What a forked process begins anew: locks that a thread of its parent held, and threads that it does not have.

Promise: an object that was registered here can be used in a forked process, whatever other threads did at the fork.
"""

import os
from collections.abc import Callable
from functools import cache
from types import MethodType
from typing import cast
from weakref import WeakKeyDictionary

Begin = Callable[[], None]


@cache
def beginnings() -> WeakKeyDictionary[object, str]:
    """Return the objects with the names of the methods to call in a child.

    It is one mapping for the process, since Python forgets no function told to it. Not of ``WeakMethod``: with a callback it
    complains at the end of a process of objects that live until then.
    """
    known = WeakKeyDictionary[object, str]()

    def begin_anew() -> None:
        for owner, name in list(known.items()):
            cast("Begin", getattr(owner, name))()

    register: Callable[..., None] | None = getattr(
        os, "register_at_fork", None
    )  # Windows, which does not fork, has none
    if register is not None:
        register(after_in_child=begin_anew)
    return known


def when_forked(begin: Begin) -> None:
    """Have a bound method called in each process that is forked off from now on, while its object lives there."""
    method = cast("MethodType", begin)
    beginnings()[method.__self__] = method.__name__
