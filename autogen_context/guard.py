"""Parts of the user's own are asked under a guard: where one fails, the default decides, and a warning says why, once.

Promise: an exception, or an answer that cannot be used, never fails a turn; cancellation passes through. A warning has no text
of a message: an error is named by its type.
"""

import inspect
from collections.abc import Callable
from logging import getLogger
from typing import Self, TypeVar

AnswerT = TypeVar("AnswerT")
_LOG = getLogger(__name__)


class Unusable(ValueError):
    """An answer that cannot be used, with the reason in words."""


class Due(Exception):
    """What a part is asked for has to be awaited first; a guard lets it through."""


class Guard:
    """Asks one part of a manager; ``part`` and ``default`` name it and who decides in its place, for the warnings."""

    def __init__(self, part: str, default: str) -> None:
        self._part, self._default = part, default
        self._warned: set[str] = set()

    def asked(
        self, method: str, ask: Callable[[], object], read: Callable[[object], AnswerT]
    ) -> AnswerT | None:
        """Return the answer of a method as ``read`` takes it; ``None`` if either raises."""
        found: object = None
        try:
            found = ask()
            return read(found)
        except Due:
            raise
        except Exception as error:  # noqa: BLE001 - a part of the user's own may raise anything
            if inspect.iscoroutine(found):
                found.close()  # nobody awaits it
            self._tell(method, str(error) if isinstance(error, Unusable) else type(error).__name__)
            return None

    def __deepcopy__(self, _: object) -> Self:
        """Return the guard itself: what was said of a part is said of its copies."""
        return self

    def _tell(self, method: str, reason: str) -> None:
        """Warn that a method failed, once for each."""
        if method not in self._warned:
            self._warned.add(method)
            message = "the %s's %s failed, so %s decides: %s"
            _LOG.warning(message, self._part, method, self._default, reason)


def of_kind(found: object, kind: type[AnswerT]) -> AnswerT:
    """Return an answer of this type; raise ``Unusable`` for any other."""
    if isinstance(found, kind):
        return found
    raise Unusable(f"it returned {type(found).__name__} instead of {kind.__name__}")
