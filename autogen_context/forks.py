"""What a forked process begins anew: locks that a thread of its parent held, and threads that it does not have.

Promise: an object that was registered here can be used in a forked process, whatever other threads did at the fork. What must
not be halfway then, such as a call of SQLite, whose notes on locks a child inherits, is waited for.
"""

import os
import time
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from threading import RLock, get_ident
from types import MethodType
from typing import cast
from weakref import WeakKeyDictionary

Begin = Callable[[], None]
_WAITS_S = 5.0  # a fork for what is halfway; then it goes on


@cache
def beginnings() -> WeakKeyDictionary[object, tuple[str, str]]:
    """Return the objects with the names of the methods to call in a child, and of the locks to hold while it is forked.

    It is one mapping for the process, since Python forgets no function given to it. Not of ``WeakMethod``: with a callback it
    complains at the end of a process of objects that live until then.
    """
    known = WeakKeyDictionary[object, tuple[str, str]]()
    acquired = defaultdict[int, list[RLock]](list)  # by the thread that forks

    def hold() -> None:
        until_s = time.monotonic() + _WAITS_S
        for owner, (_, name) in list(known.items()):
            lock = cast("RLock", getattr(owner, name)) if name else None
            if lock and lock.acquire(timeout=max(0.0, until_s - time.monotonic())):
                acquired[get_ident()].append(lock)

    def let_go() -> None:
        for lock in acquired.pop(get_ident(), ()):
            lock.release()

    def begin_anew() -> None:
        acquired.clear()
        for owner, (name, _) in list(known.items()):
            cast("Begin", getattr(owner, name))()

    # Windows, which does not fork, has none.
    register: Callable[..., None] | None = getattr(os, "register_at_fork", None)
    if register is not None:
        register(before=hold, after_in_parent=let_go, after_in_child=begin_anew)
    return known


def when_forked(begin: Begin, *, lock: str = "") -> None:
    """Have a bound method called in each process that is forked off from now on, while its object lives there.

    ``lock`` names an attribute, an ``RLock``: no other thread has it while a process is forked; ``begin`` makes the child's.
    """
    method = cast("MethodType", begin)
    beginnings()[method.__self__] = method.__name__, lock
