"""ContextProvider: the seam for whoever knows something of the world beside the messages.

Promise: a provider is handed values and returns values. It tells, and decides nothing: what is told, when and where, is the
engine's. Whatever fails in it costs what it would have told, and one warning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from autogen_context.messages.message import Text
from autogen_context.messages.segment import Unit
from autogen_context.view.notice import Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTurn:
    """What a provider may know of the turn that is prepared.

    Attributes:
        units: all units of the conversation, oldest first.
        known: how many of these, at the front, are as they were when the provider was asked last. 0 means that the
            conversation may be another one, so that what was told may not stand any more.
        window_tokens: the most input tokens a request may have.
        used_tokens: what the request has so far.
        room_tokens: what it may have in all.
        standing: what was told before and still holds.
    """

    units: Sequence[Unit] = ()
    known: int = 0
    window_tokens: int = 0
    used_tokens: int = 0
    room_tokens: int = 0
    standing: tuple[Notice, ...] = ()

    @property
    def new(self) -> Sequence[Unit]:
        """The units that came since the provider was asked last."""
        return self.units[self.known :]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreambleOffer:
    """What is to stand behind the system prompt; it is placed where nothing of what was sent is continued.

    Attributes:
        parts: the first says what it is, and nothing stands without it; of the others some may be left out.
        most_tokens: what they may have together.
        newer: what is no longer as it says, until another one is placed.
    """

    parts: tuple[Text, ...]
    most_tokens: int
    newer: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a provider has to tell.

    Attributes:
        notices: what holds, each under its key; one that says the same as before is not told again.
        withdrawn: what no longer holds; the text says so where it was told, and is empty where nothing is to be said.
        preambles: what is to stand behind the system prompt; of several, each in the place of the one before. What is newer than one
            that is about to be replaced is told still.
    """

    notices: tuple[Notice, ...] = ()
    withdrawn: tuple[Notice, ...] = ()
    preambles: tuple[PreambleOffer, ...] = ()


NOTHING = Told()


class ContextProvider(Protocol):
    """Tells one conversation of the world beside its messages, such as files or a project."""

    @property
    def name(self) -> str:
        """What tells it from the others of a manager."""
        ...

    async def before_turn(self, turn: ProviderTurn, /) -> None:
        """Look at the world; ``prepare`` awaits it, within a time. ``prepare_nowait`` does not call it."""
        ...

    def turn(self, turn: ProviderTurn, /) -> Told:
        """What is known to tell; every turn asks, and this never waits."""
        ...


@runtime_checkable
class SavedProvider(ContextProvider, Protocol):
    """A provider that remembers more of a conversation than was told, or has something to end."""

    @property
    def state(self) -> Mapping[str, object]:
        """What another one needs to go on, as JSON data."""
        ...

    def resumed(self, state: Mapping[str, object], /) -> ContextProvider:
        """Another one, for a conversation that goes on from what one of this name saved.

        Raises:
            StateError: it is damaged; a ``KeyError``, ``TypeError`` or ``ValueError`` becomes one.
        """
        ...

    async def aclose(self) -> None:
        """End what is still under way."""
        ...
