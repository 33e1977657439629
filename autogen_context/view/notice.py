"""Notices sent in addition to the host's messages, and ``ContextProvider``, the interface for sources of outside information.

Promise: values only; text quoted in a notice cannot pass for a line of the library. A valid notice is sent once when it
changes and once after each compaction, in its newest form. A sent notice that becomes invalid is retracted; one never sent is
not. Providers only supply notices; the engine decides which are sent, when and where.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field, PlainSerializer

from autogen_context.messages.message import Message, Text
from autogen_context.messages.segment import Unit
from autogen_context.text.fit import CountText
from autogen_context.text.quote import block, one_line, quoted
from autogen_context.tokens.measure import EstimateCounter
from autogen_context.view.alignment import HostChange

Topic = Literal["task", "requirement", "decision", "file", "outcome", "provider", "project"]
Name = tuple[Topic, Text]
"""Identifies the subject of a notice: a later notice of the same name replaces it."""

Names = Annotated[frozenset[Name], PlainSerializer(sorted)]
"""A set of names; equal sets serialize equally."""

LABELS: Mapping[Topic, str] = {  # most important first
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
STATED_CHARS, LINE_CHARS = (
    20_000,
    50_000,
)  # of what an application states, and of a line; what is too long for its room is cut
RANKS: Mapping[Topic, int] = {topic: rank for rank, topic in enumerate(LABELS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One notice.

    Attributes:
        topic: its kind; by default anything from a provider.
        key: identifies it within its topic.
        text: its content, on one line; of a provider its own words, with anything foreign in ``detail`` or ``quoted``.
        position: number of host messages known when it was created.
        detail: text quoted below its line, such as the content of a file.
        news: wording for the first time it is sent, if that differs from ``text``.
    """

    topic: Topic = "provider"
    key: Text
    text: Text
    position: int = 0
    detail: Text = ""
    news: Text = ""

    @property
    def name(self) -> Name:
        """The notice's subject."""
        return self.topic, self.key

    @property
    def rendered(self) -> str:
        """The text to send: a line of the library, with values in quotes, and the detail as a block."""
        label = LABELS[self.topic]
        content = f"{label}{quoted(self.text, most_chars=STATED_CHARS)}" if label else self.text
        line = one_line(self.news or content, most_chars=LINE_CHARS)
        return "\n".join(filter(None, (line, block(self.detail))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """The notices of one conversation."""

    # Valid notices, in order of arrival; saved under the name of its first schema.
    in_force: Annotated[tuple[Notice, ...], Field(alias="standing")] = ()
    due: tuple[Notice, ...] = ()  # to be sent next
    in_sight: Names = frozenset()  # sent since the last compaction
    waits: bool = False  # due notices had no room even after a compaction; not retried

    @property
    def files(self) -> tuple[Notice, ...]:
        """The valid notices about files."""
        return tuple(notice for notice in self.in_force if notice.topic == "file")

    @property
    def is_sound(self) -> bool:
        """True if no two notices have the same name."""
        names = ([notice.name for notice in each] for each in (self.in_force, self.due))
        return all(len(set(each)) == len(each) for each in names)

    def get(self, topic: Topic, key: str) -> Notice | None:
        """Return the valid notice about a subject; ``None`` if there is none."""
        return next((notice for notice in self.in_force if notice.name == (topic, key)), None)

    def of(self, topic: Topic) -> list[str]:
        """Return the keys of a topic's valid notices."""
        return [notice.key for notice in self.in_force if notice.topic == topic]

    def put(self, notice: Notice) -> "Notices":
        """Return the notices with one added or replaced by name; it becomes due unless its content is unchanged."""
        holds = replace(notice, news="")
        before = self.get(*notice.name)
        in_force = [holds if known.name == notice.name else known for known in self.in_force]
        in_force += [] if before else [holds]
        said = before is not None and replace(before, position=notice.position) == holds
        due = self.due if said else (*without(self.due, {notice.name}), notice)
        return replace(self, in_force=tuple(in_force), due=due, waits=self.waits and said)

    def withdraw(self, name: Name, news: str = "") -> "Notices":
        """Return the notices without a name; if that notice was sent, ``news`` becomes due to retract it."""
        due = without(self.due, {name})
        if news and name in self.in_sight:
            due = (*due, Notice(topic=name[0], key=name[1], text=news, news=news))
        return replace(self, in_force=without(self.in_force, {name}), due=due)

    def after_sending(self, names: frozenset[Name]) -> "Notices":
        """Return the notices after those of these names were sent."""
        return replace(self, due=without(self.due, names), in_sight=self.in_sight | names)

    def anew(self, *, overruled: Collection[Name] = (), waits: bool = False) -> "Notices":
        """Return the notices after a rewrite removed all sent ones: all are due but the ``overruled`` names."""
        due = without(self.in_force, overruled)
        return Notices(in_force=self.in_force, due=due, waits=waits and bool(due))

    def realigned(self, change: HostChange, *, anew: bool) -> "Notices":
        """Return the notices after the host changed its list; with ``anew`` all are due again."""

        def now(notice: Notice) -> Notice:
            return replace(notice, position=change.stop_at(notice.position))

        notices = replace(
            self, in_force=tuple(map(now, self.in_force)), due=tuple(map(now, self.due))
        )
        return notices.anew() if anew else notices

    def cut_back(self, messages: int) -> "Notices":
        """Return the notices cut back to ``messages`` messages, after which the history changed; all are due again."""
        known = (replace(n, position=min(n.position, messages)) for n in self.in_force)
        return replace(self, in_force=tuple(known)).anew()


def without(notices: Iterable[Notice], names: Collection[Name]) -> tuple[Notice, ...]:
    """Return the notices except those of these names."""
    return tuple(notice for notice in notices if notice.name not in names)


def bounded(text: str) -> int:
    """Return an upper bound of the tokens of a text."""
    return EstimateCounter().count(text).tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTurn:
    """The turn being prepared, as passed to a provider.

    Attributes:
        units: all units of the conversation, oldest first.
        known: number of leading units unchanged since the provider's last call. 0 means that the conversation may be
            another one, in which earlier notices may be missing.
        window_tokens: maximum input tokens of a request.
        used_tokens: tokens of the request so far.
        room_tokens: total tokens available to it.
        in_force: notices sent before that are still valid.
        notice_tokens: most tokens of the notices of a request, those of all providers; 0 if that is not known.
        count: counts a text as the request is counted.
    """

    units: Sequence[Unit] = ()
    known: int = 0
    window_tokens: int = 0
    used_tokens: int = 0
    room_tokens: int = 0
    in_force: tuple[Notice, ...] = ()
    notice_tokens: int = 0
    count: CountText = bounded

    @property
    def new(self) -> Sequence[Unit]:
        """The units added since the provider's last call."""
        return self.units[self.known :]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreambleOffer:
    """A preamble to place after the system prompt, at a moment when the sent prefix is not continued anyway.

    Attributes:
        parts: the first is the heading, always included; others may be omitted.
        most_tokens: maximum tokens of all parts together.
        newer: notices that correct the preamble until a newer one is placed.
    """

    parts: tuple[Text, ...] = ()
    most_tokens: int = 0
    newer: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderUpdate:
    """The result of a provider for one turn.

    Attributes:
        notices: valid notices by key; an unchanged one is not sent again.
        withdrawn: notices no longer valid; the text retracts a sent one, and is empty to withdraw it silently.
        preambles: preambles for the place after the system prompt, each replacing the previous. The ``newer`` notices of a
            replaced one are still sent.
    """

    notices: tuple[Notice, ...] = ()
    withdrawn: tuple[Notice, ...] = ()
    preambles: tuple[PreambleOffer, ...] = ()


NOTHING = ProviderUpdate()


class ContextProvider(Protocol):
    """Supplies one conversation with information from outside its messages, such as files or a project.

    ``turn`` is called in the turn of a conversation, which may have a thread; turns are taken one at a time. Where a manager is
    called from several tasks or threads at once, ``before_turn`` of one call may run during ``turn`` of another.
    """

    @property
    def name(self) -> str:
        """Name unique among the providers of a manager."""
        ...

    async def before_turn(self, turn: ProviderTurn, /) -> None:
        """Refresh the information; ``prepare`` awaits it, with a timeout. ``prepare_nowait`` does not call it."""
        ...

    def turn(self, turn: ProviderTurn, /) -> ProviderUpdate:
        """Return what is currently known; called on every turn, and must not block."""
        ...


@runtime_checkable
class BeginsProvider(ContextProvider, Protocol):
    """A provider that reads the conversation before ``before_turn``, which then only waits."""

    def begin(self, turn: ProviderTurn, /) -> None:
        """Read what is new and start to refresh the information; called like ``turn``, never at the same time."""
        ...


@runtime_checkable
class SavedProvider(ContextProvider, Protocol):
    """A provider with state to save or resources to close."""

    @property
    def state(self) -> Mapping[str, object]:
        """State to resume from, as JSON data; read at the end of each turn."""
        ...

    def resumed(self, state: Mapping[str, object], /) -> ContextProvider:
        """Return a provider for a conversation resumed from a state saved under this name.

        Raises:
            StateError: the state is damaged; a ``KeyError``, ``TypeError`` or ``ValueError`` becomes one.
        """
        ...

    async def aclose(self) -> None:
        """Stop background work and release resources."""
        ...


@runtime_checkable
class RemembersProvider(ContextProvider, Protocol):
    """A provider that keeps what people say in a place of its own."""

    def observe(self, turn: ProviderTurn, /) -> None:
        """Read what is new between turns, such as the last answer; called like ``turn``, never at the same time."""
        ...

    def forget(
        self, messages: Sequence[Message], query: str, /, *, is_asked: bool
    ) -> tuple[Sequence[str], bool]:
        """Forget messages of the conversation, and what has a text, unless that is empty.

        A host that no longer has a message did not ask for it: then it may be learnt again from another one. Returns the ids of what
        was forgotten, and False if that is deleted later.
        """
        ...
