"""What is told beside the host's messages, and ``ContextProvider``: the seam for who knows something of the world.

Promise: values; what a notice quotes cannot pass for a line of ours. What holds is told once when it changes, and once after
each compaction, in its newest form; what was told and no longer holds is taken back; what was never told is not. A provider
tells and decides nothing: what is told, when and where, is the engine's.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import PlainSerializer

from autogen_context.messages.message import Text
from autogen_context.messages.segment import Unit

Topic = Literal["task", "requirement", "decision", "file", "outcome", "provider", "project"]
Name = tuple[Topic, Text]
"""What a notice is about: a later one of the same name takes its place."""

Names = Annotated[frozenset[Name], PlainSerializer(sorted)]
"""Some names; the same ones are saved as the same data."""

LABELS: Mapping[Topic, str] = {  # the most important first
    "task": "Task: ",
    "requirement": "Requirement: ",
    "decision": "Decided: ",
    "file": "",
    "outcome": "",
    "provider": "",
    "project": "",
}
CHANGED = "{path} changed on disk since it was read above"
DELETED = "{path} was deleted from disk since it was read above"
FURTHER = "{name} may have changed further"
RANKS: Mapping[Topic, int] = {topic: rank for rank, topic in enumerate(LABELS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that is told.

    Attributes:
        topic: what kind of thing; left out, whatever a provider has to tell.
        key: which one.
        text: how it is, on one line.
        position: how many of the host's messages were known when it came.
        detail: what is told with it, quoted below its line: it may be the content of a file.
        news: how it is told the first time, where that is not how it is told later.
    """

    topic: Topic = "provider"
    key: Text
    text: Text
    position: int = 0
    detail: Text = ""
    news: Text = ""

    @property
    def name(self) -> Name:
        """What it is about."""
        return self.topic, self.key

    @property
    def told(self) -> str:
        """It as it is told; whatever it quotes cannot pass for a line of ours."""
        line = self.news or f"{LABELS[self.topic]}{self.text}"
        return "\n".join([line, *(f"> {quoted}" for quoted in self.detail.splitlines())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """What is told of one conversation."""

    standing: tuple[Notice, ...] = ()  # what holds, in the order in which it came
    due: tuple[Notice, ...] = ()  # what is to be told next
    in_sight: Names = frozenset()  # what was told since the last compaction
    waits: bool = False  # what is due had no room even after a compaction; no other is made for it

    @property
    def files(self) -> tuple[Notice, ...]:
        """Those on files."""
        return tuple(notice for notice in self.standing if notice.topic == "file")

    @property
    def is_sound(self) -> bool:
        """Whether no two are about the same."""
        names = ([notice.name for notice in each] for each in (self.standing, self.due))
        return all(len(set(each)) == len(each) for each in names)

    def get(self, topic: Topic, key: str) -> Notice | None:
        """What holds of something; ``None`` where nothing does."""
        return next((notice for notice in self.standing if notice.name == (topic, key)), None)

    def of(self, topic: Topic) -> list[str]:
        """The keys of a topic."""
        return [notice.key for notice in self.standing if notice.topic == topic]

    def put(self, notice: Notice) -> "Notices":
        """Something holds from now on, in the place of what held of it; it is told next, unless that was told already."""
        holds = replace(notice, news="")
        before = self.get(*notice.name)
        standing = [holds if known.name == notice.name else known for known in self.standing]
        standing += [] if before else [holds]
        said = before is not None and replace(before, position=notice.position) == holds
        due = self.due if said else (*without(self.due, {notice.name}), notice)
        return replace(self, standing=tuple(standing), due=due, waits=self.waits and said)

    def withdraw(self, name: Name, news: str = "") -> "Notices":
        """Something no longer holds; ``news`` says so, where it was told before."""
        due = without(self.due, {name})
        if news and name in self.in_sight:
            due = (*due, Notice(topic=name[0], key=name[1], text=news, news=news))
        return replace(self, standing=without(self.standing, {name}), due=due)

    def after_telling(self, names: frozenset[Name]) -> "Notices":
        """Some of what was due is told."""
        return replace(self, due=without(self.due, names), in_sight=self.in_sight | names)

    def anew(self, *, overruled: Collection[Name] = (), waits: bool = False) -> "Notices":
        """Nothing that was told is in sight any more: what holds is due, but for what messages said otherwise since."""
        due = without(self.standing, overruled)
        return Notices(standing=self.standing, due=due, waits=waits and bool(due))

    def cut_back(self, messages: int) -> "Notices":
        """The host has another past from a message on: what was told there is told again."""
        known = (replace(n, position=min(n.position, messages)) for n in self.standing)
        return replace(self, standing=tuple(known)).anew()


def without(notices: Iterable[Notice], names: Collection[Name]) -> tuple[Notice, ...]:
    """The notices but for those of these names."""
    return tuple(notice for notice in notices if notice.name not in names)


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

    parts: tuple[Text, ...] = ()
    most_tokens: int = 0
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
