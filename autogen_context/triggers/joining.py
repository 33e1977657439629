"""Finished spans that are too short alone wait for the next one beside them.

Promise: what is joined has four turns or more, lies side by side, and every turn that stays in a part stays in the whole.
"""

from collections.abc import Iterable
from dataclasses import replace

from autogen_context.triggers.decision import Scope, TriggerDecision
from autogen_context.triggers.enough import is_enough, length


class Joining:
    """The finished span that waits."""

    def __init__(self) -> None:
        self._waiting: Scope | None = None

    def joined(self, decisions: Iterable[TriggerDecision]) -> list[TriggerDecision]:
        """Those of some decisions of one turn that are long enough, with what waited beside them."""
        scopes = [(each, self._with_waiting(each.scope)) for each in decisions if each.scope]
        enough = [replace(each, scope=scope) for each, scope in scopes if is_enough(scope)]
        if enough:
            self._waiting = None
        elif scopes:
            self._waiting = max((scope for _, scope in scopes), key=length)
        return enough

    def _with_waiting(self, scope: Scope) -> Scope:
        first = self._waiting
        if first is None or not first.start < scope.start <= first.stop:
            return scope
        stay = sorted({*first.outcomes, *scope.outcomes})
        stop = max(first.stop, scope.stop)
        return Scope(start=first.start, stop=stop, outcomes=tuple(stay))
