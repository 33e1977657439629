"""Reductions of the user's own: how the result of a tool is reduced on arrival, by its call and its text.

Promise: they are asked before the built-in kinds, in the given order; one that raises, or whose text has no room, is told of once, and the
built-in kinds decide. What loses something is used only where the original can be asked back, and is kept for that.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from autogen_context.guard import Guard, Unusable, of_kind
from autogen_context.messages.message import ToolCall
from autogen_context.text.fit import CountText


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """A result in a shorter form.

    Attributes:
        text: what is sent.
        kept: what of the result it has, in a few words, for ``explain``.
        is_lossless: whether it says the same as the result; else it is used only for an agent that can ask the original back.
    """

    text: str
    kept: str = ""
    is_lossless: bool = False


class ResultReducer(Protocol):
    """Reduces the results of some tools, or of some form; the same result and room always give the same text."""

    def recognises(self, call: ToolCall | None, text: str, /) -> bool:
        """Return whether it reduces this result; ``call`` has the name and the arguments, if it is known."""
        ...

    def reduce(
        self, call: ToolCall | None, text: str, /, *, room_tokens: int, count: CountText
    ) -> Reduction:
        """Reduce a result; one that loses something to ``room_tokens``."""
        ...


class Reduced(NamedTuple):
    """A reduction, and what ``explain`` says of it."""

    reduction: Reduction
    by: str


class GuardedReducer:
    """A reducer of the user's own under a guard."""

    def __init__(self, own: ResultReducer) -> None:
        self._own, self._name = own, type(own).__name__
        self._guard = Guard(self._name, "the form of a result")

    def recognises(self, call: ToolCall | None, text: str) -> bool:
        """Return whether it reduces this result."""

        def read(found: object) -> bool:
            if isinstance(found, Awaitable):
                raise Unusable("it returned what is to be awaited")
            return bool(found)

        asked = self._guard.asked("recognises", lambda: self._own.recognises(call, text), read)
        return asked or False

    def reduced(
        self, call: ToolCall | None, text: str, *, room_tokens: int, count: CountText
    ) -> Reduced | None:
        """Return its reduction, if that can be used."""

        def read(found: object) -> Reduction:
            reduction = of_kind(found, Reduction)
            most = count(text) if reduction.is_lossless else room_tokens
            if count(of_kind(reduction.text, str)) > most:
                raise Unusable("its text is over the limit")
            return reduction

        def ask() -> object:
            return self._own.reduce(call, text, room_tokens=room_tokens, count=count)

        found = self._guard.asked("reduce", ask, read)
        if found is None:
            return None
        return Reduced(found, f"{self._name}: {found.kept}" if found.kept else self._name)
