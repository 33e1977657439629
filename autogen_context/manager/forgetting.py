"""What is deleted is gone: what a host took out of its list, or a user had forgotten.

Promise: of a forgotten message nothing is kept that was made of it: originals, statements, summaries, notices, vectors. What a
host only cut from the front of its list (a limiter, its own compaction) is not forgotten: its originals stay, and what people
stated in it is sent in their place.

A host does not say why a message is gone. What stands between messages that stay was deleted or edited, and so was what
another end replaced. What stood in front of all that stays was cut, if there was more than one message or call with its
results, or if messages were appended: nobody shortens a list that did not grow.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from autogen_context.cache.originals import OriginalStore
from autogen_context.errors import NotInHistory, OriginalNotFound
from autogen_context.ledger import Entry
from autogen_context.manager.engine import Engine
from autogen_context.manager.facts import FACTS
from autogen_context.manager.parts import Setup
from autogen_context.manager.prefetch import Prefetcher
from autogen_context.messages.message import Message, handle_of, joined_text
from autogen_context.messages.piece import Written
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.view.alignment import HostChange
from autogen_context.view.decision import Candidate, Decision
from autogen_context.view.goal import WANTED_NOTHING, WantedBefore
from autogen_context.view.versions import Versions
from autogen_context.view.view import ContextView

OnHostRemoval = Literal["auto", "forget", "keep"]
LEAST_LINE = 8  # characters; a shorter line tells nothing of where it is from
MEMORY = "memory"  # the provider of a person's memory
NUMBERED = re.compile(r"^[0-9]+\+?\t", re.MULTILINE)  # as ``recall_context`` answers
HANDLE = re.compile(r'handle="([0-9a-z]{8,64})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was forgotten; false if there was nothing.

    Attributes:
        messages: the messages, calls with all their results; those of originals included.
        handles: handles of the originals that were deleted.
        statements: what people had stated in messages that the host no longer has.
        remembered: ids of what was forgotten in the person's memory, exchanges and facts.
        stays: number of messages that match and cannot be forgotten: the system prompt, the newest message with its call.
        unavailable: handles, or ids of the person's memory, that a store could not delete now; it is tried again.
    """

    messages: tuple[Message, ...] = ()
    handles: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    stays: int = 0
    unavailable: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return True if anything was forgotten."""
        return bool(self.messages or self.handles or self.statements or self.remembered)


class Left(NamedTuple):
    """Positions of messages that left a list: those cut from its front, and those to be forgotten."""

    cut: frozenset[int] = frozenset()
    forgotten: frozenset[int] = frozenset()


class Leaving(NamedTuple):
    """What leaves, and what was made of it: of messages to be forgotten all, of others what is to be kept."""

    forgotten: frozenset[int] = frozenset()  # positions
    messages: tuple[Message, ...] = ()  # at these
    lines: frozenset[str] = frozenset()  # in these, and in no other
    digests: frozenset[bytes] = frozenset()
    handles: frozenset[str] = frozenset()
    spans: frozenset[str] = frozenset()  # keys of summaries
    cut: tuple[Candidate, ...] = ()  # units to keep the originals of
    # What still holds of messages that are cut; ``None`` if that stays as it is.
    stated: tuple[Entry, ...] | None = None
    # What people wanted in messages that are cut; ``None`` if that stays as it is.
    wanted: WantedBefore | None = None

    @property
    def is_any(self) -> bool:
        """True if messages leave."""
        return bool(self.forgotten or self.cut or self.stated is not None)


class Wanted(NamedTuple):
    """What to forget."""

    positions: frozenset[int]
    handles: frozenset[str]
    statements: tuple[str, ...]
    forgotten: Forgotten


class Forgetting:
    """Finds what was kept of messages that leave a conversation."""

    def __init__(
        self, setup: Setup, engine: Engine, originals: OriginalStore, prefetcher: Prefetcher
    ) -> None:
        self._mode: OnHostRemoval = setup.config.on_host_removal
        self._host, self._engine = setup.host, engine
        self._originals, self._prefetcher = originals, prefetcher

    def leaving(
        self,
        view: ContextView,
        versions: Versions,
        change: HostChange,
        messages: int,
        asked: AbstractSet[int],
    ) -> Leaving:
        """Return what leaves with a change of the host's list, which now has so many ``messages``; it is still known."""
        conversation = self._engine.conversation
        bounds = [(c.unit.start, c.unit.stop) for c in conversation.candidates]
        bounds = bounds or [(d.start, d.stop) for d in view.decisions]
        prompts = frozenset(range(conversation.system_messages))
        left = left_by(change, bounds, prompts=prompts, messages=messages, mode=self._mode)
        gone = frozenset(asked) | left.forgotten
        cut = left.cut - gone
        if not (gone or cut):
            return Leaving()
        known, units = conversation.messages, self._units(gone)
        stay = [m for i, m in enumerate(known) if i not in gone]
        texts = set(stay)
        lost = tuple(m for i, m in enumerate(known) if i in gone and m not in texts)
        handles = self._handles_of(gone, units, lost, views_of(view, versions))
        stated = None
        if cut or view.record.stated:
            entries = self._engine.stated_at(view, cut)
            stated = tuple(e for e in entries if not is_said_in(e.text, lost))
        wanted = None
        if cut:
            behind = max(cut) + 1
            text = conversation.wish(view.record.wanted, behind).without(gone)
            wanted = WantedBefore(text=text, messages=behind)
        digests = conversation.history.digests
        return Leaving(
            forgotten=gone,
            messages=lost,
            lines=lines_of(lost) - lines_of(stay) if lost else frozenset(),
            digests=frozenset(digests[i] for i in gone).difference(
                digests[i] for i in range(len(digests)) if i not in gone
            ),
            handles=handles,
            spans=self._spans_of(view, units) if gone else frozenset(),
            cut=tuple(
                c for c in self._units(cut) if cut.issuperset(range(c.unit.start, c.unit.stop))
            ),
            stated=stated,
            wanted=wanted,
        )

    def _units(self, positions: AbstractSet[int]) -> list[Candidate]:
        """Return the units with a message at one of these positions."""
        known = self._engine.conversation.candidates
        return [c for c in known if not positions.isdisjoint(range(c.unit.start, c.unit.stop))]

    def _handles_of(
        self,
        gone: AbstractSet[int],
        units: Iterable[Candidate],
        lost: Collection[Message],
        views: Iterable[ContextView],
    ) -> frozenset[str]:
        """Return the handles under which originals of messages at these positions may be kept, and of no others."""
        handles, others = set[str](), set[str]()
        known = {c.unit.start: c for c in self._engine.conversation.candidates}
        for candidate in units:
            handles |= handles_of(candidate)
        for view in views:
            for each in view.decisions:
                found = others if gone.isdisjoint(range(each.start, each.stop)) else handles
                found.update(handles_in(each, known.get(each.start)))
        results, gone_messages = {r.text for m in lost for r in m.results}, frozenset(lost)
        for handle, messages in self._originals:
            if any(m in gone_messages or m.text in results for m in messages):
                handles.add(handle)
        return frozenset(handles - others)

    def _spans_of(self, view: ContextView, units: Sequence[Candidate]) -> frozenset[str]:
        """Return the keys of the summaries that were made of these units, or of what is not known any more."""
        known = set(self._prefetcher.summaries)
        if not known and self._prefetcher.is_idle:
            return frozenset()
        gone, candidates = {id(each) for each in units}, self._engine.conversation.candidates
        spans = self._engine.spans(view)
        of_gone = {
            span.key
            for span in spans
            if any(id(each) in gone for each in candidates[span.start : span.stop])
        }
        return frozenset(of_gone | known.difference(span.key for span in spans))

    def wanted(self, view: ContextView, *, message: object, handle: str, query: str) -> Wanted:
        """Return what a message, a handle or a query means.

        Raises:
            NotInHistory: nobody knows the message.
            OriginalNotFound: nobody knows the handle.
            ValueError: it is the system prompt or the newest message.
        """
        conversation, needle = self._engine.conversation, query.casefold()
        given = None if message is None else self._host.read(message)
        units = self._units_meant(view, message, handle, needle)
        fixed = {id(c) for c in conversation.candidates[: conversation.system_messages]}
        fixed |= {id(c) for c in conversation.candidates[-1:]}
        gone = [each for each in units if id(each) not in fixed]
        handles = {handle} if handle and handle in self._originals else set[str]()
        lost = [m for each in gone for m in each.unit.messages]
        known = set(lost)
        for each, messages in self._kept():
            if given in messages or any(
                (needle and has_text(m, needle)) or m in known for m in messages
            ):
                handles.add(each)
                lost += [m for m in messages if m not in known]
                known.update(messages)
        statements = tuple(
            each.text
            for each in view.record.stated
            if (needle and needle in each.text.casefold()) or is_said_in(each.text, lost)
        )
        if not (gone or handles or statements):
            self._refuse(message, handle, is_fixed=bool(units))
        positions = frozenset(at for each in gone for at in range(each.unit.start, each.unit.stop))
        forgotten = Forgotten(
            messages=tuple(lost),
            handles=tuple(sorted(handles)),
            statements=statements,
            stays=len(units) - len(gone),
        )
        return Wanted(positions, frozenset(handles), statements, forgotten)

    def _units_meant(
        self, view: ContextView, message: object, handle: str, needle: str
    ) -> list[Candidate]:
        """Return the units that have what is meant, and those that repeat a line of them as an answer of ``recall_context``."""
        conversation, host = self._engine.conversation, self._host
        digest = None if message is None else host.digest(host.snapshot(message))
        digests = conversation.history.digests if message is not None else ()

        def is_meant(at: int, each: Message) -> bool:
            return (digest is not None and digests[at] == digest) or bool(
                needle and has_text(each, needle)
            )

        units = [
            candidate
            for candidate in conversation.candidates
            if (handle and handle in self._handles_at(view, candidate))
            or any(
                is_meant(at, m)
                for at, m in enumerate(candidate.unit.messages, candidate.unit.start)
            )
        ]
        lines = lines_of(m for each in units for m in each.unit.messages)
        found = {id(each) for each in units}
        repeating = (
            each
            for each in conversation.candidates
            if id(each) not in found
            and is_recalled(each)
            and not lines.isdisjoint(lines_of(each.unit.messages))
        )
        return [*units, *repeating]

    def _refuse(self, message: object, handle: str, *, is_fixed: bool) -> None:
        if is_fixed and (message is not None or handle):
            raise ValueError(
                "forget: it is the system prompt, or the newest message with its call, which every request has; take it out of "
                "the list, or forget it when there is a newer one"
            )
        if message is not None:
            raise NotInHistory
        if handle:
            raise OriginalNotFound(handle, evicted=self._originals.evicted)

    def _handles_at(self, view: ContextView, candidate: Candidate) -> set[str]:
        """Return the handles of a unit."""
        handles, start = handles_of(candidate), candidate.unit.start
        if start < view.decisions.stop:
            decision = view.decisions[view.decisions.unit_at(start)]
            handles.update(handles_in(decision, candidate))
        return handles

    def _kept(self) -> Iterator[tuple[str, tuple[Message, ...]]]:
        """Yield all originals, wherever they are kept."""
        for handle in self._originals.handles:
            with suppress(OriginalNotFound):  # evicted meanwhile
                yield handle, self._originals.get(handle)


def views_of(view: ContextView, versions: Versions) -> Iterator[ContextView]:
    """Yield a view and the past ones."""
    yield view
    yield from (past for _, past in versions.kept)


def handles_in(decision: Decision, candidate: Candidate | None) -> Iterator[str]:
    """Yield the handles that a decision on a unit names; of those in its texts, which others wrote, only the unit's own."""
    if decision.handle:
        yield decision.handle
    named = set[str]()
    for piece in decision.pieces:
        if isinstance(piece, Written) and piece.index is not None:
            for text in (piece.message.text, *(r.text for r in piece.message.results)):
                named.update(HANDLE.findall(text))
    if named:
        yield from named if candidate is None else named & handles_of(candidate)


def handles_of(candidate: Candidate) -> set[str]:
    """Return the handles under which the originals of a unit would be kept."""
    messages, key = candidate.unit.messages, candidate.handle_key
    results = (result.text for message in messages for result in message.results)
    return {handle_of(messages, key=key), *(handle_of(text, key=key) for text in results)}


def is_recalled(candidate: Candidate) -> bool:
    """Return True if a unit asked for originals and has the answer."""
    return any(call.name == RECALL_TOOL_NAME for call in candidate.unit.messages[0].calls)


def lines_of(messages: Iterable[Message]) -> frozenset[str]:
    """Return the lines of messages that are long enough to tell something."""
    text = NUMBERED.sub("", joined_text(list(messages)))
    lines = (line.strip() for line in text.splitlines())
    return frozenset(line for line in lines if len(line) >= LEAST_LINE)


def is_said_in(statement: str, messages: Iterable[Message]) -> bool:
    """Return True if one of these messages states it."""
    text = " ".join(statement.split()).casefold()
    return any(text in " ".join(message.text.split()).casefold() for message in messages)


def with_wanted(view: ContextView, wanted: WantedBefore, change: HostChange) -> ContextView:
    """Return the view with what people wanted in messages that the host had cut before it changed its list in this way."""
    now = (
        replace(wanted, messages=change.stop_at(wanted.messages)) if wanted.text else WANTED_NOTHING
    )
    return replace(view, record=replace(view.record, wanted=now))


def without_goal(view: ContextView, messages: Iterable[Message], query: str) -> ContextView:
    """Return the view without a goal that has the text of a query, and without what it kept of one that these messages stated."""
    needle, record = query.casefold(), view.record
    texts = [text for message in messages if (text := message.text.strip())]
    wanted = record.wanted.text
    if wanted and (has_needle(wanted, needle) or any(text in wanted for text in texts)):
        view = replace(view, record=replace(record, wanted=WANTED_NOTHING))
    return replace(view, goal="") if has_needle(view.goal, needle) else view


def has_needle(text: str, needle: str) -> bool:
    """Return True if a text has a needle in lower case, which is not empty."""
    return bool(needle) and needle in text.casefold()


def without_notices_on(
    view: ContextView, texts: Sequence[str], query: str, *, remembered: bool
) -> ContextView:
    """Return the view without what providers told of these texts, or with a text.

    If something was ``remembered``, none of what was brought in of the person's memory stays; the next turn brings in the rest.
    """
    needle, notices = query.casefold(), view.notices
    lines = [" ".join(text.split()).casefold() for text in texts]
    for notice in {*notices.in_force, *notices.due}:
        provider, _, about = notice.key.partition(": ")
        is_of_memory = remembered and provider == MEMORY
        words = f"{about}\n{notice.detail}".casefold()
        has_it = needle and needle in words
        has_it = has_it or any(about.casefold() in line for line in lines)
        if notice.topic == "provider" and (is_of_memory or (provider == FACTS and has_it)):
            notices = notices.withdraw(notice.name)
    if notices is view.notices and not remembered:
        return view
    return replace(view, notices=notices).begun_anew()


def left_by(
    change: HostChange,
    bounds: Sequence[tuple[int, int]],
    *,
    prompts: frozenset[int],
    messages: int,
    mode: OnHostRemoval,
) -> Left:
    """Tell what a host cut from what it deleted.

    Args:
        change: what became of its list.
        bounds: first position, and position after the last, of each unit that was known.
        prompts: positions of system messages at the front, which are no part of what was said.
        messages: number of messages now.
        mode: ``auto``, or what becomes of all that is gone.
    """
    gone = frozenset(change.gone())
    if mode != "auto":
        gone -= prompts
        return Left(cut=gone) if mode == "keep" else Left(forgotten=gone)
    said = [bound for bound in bounds if bound[0] not in prompts]
    stays = [not gone.intersection(range(*bound)) for bound in said]
    first = 1 if stays[:1] == [True] else 0  # a host may keep the task
    stop = first
    while stop < len(said) and not stays[stop]:
        stop += 1
    oldest = [at for bound in said[first:stop] for at in range(*bound)]
    is_end = stop == len(said)
    if (
        not oldest
        or is_end
        or not is_cut(
            change, oldest, units=stop - first, messages=messages, is_behind_task=bool(first)
        )
    ):
        return Left(forgotten=gone - prompts)
    return Left(cut=gone.intersection(oldest), forgotten=gone.difference(oldest, prompts))


def is_cut(
    change: HostChange, oldest: Sequence[int], *, units: int, messages: int, is_behind_task: bool
) -> bool:
    """Return True if these messages were cut from the front, not deleted or edited there."""
    before, behind = change.stop_at(oldest[0]), change.now_at(oldest[-1] + 1)
    inserted = 0 if behind is None else behind - before  # such as a summary
    if inserted >= len(oldest):
        return False
    appended = messages - change.stop_at(change.known)
    if units > 1:
        return True
    return bool(appended) and (not is_behind_task or messages <= change.known)


def has_text(message: Message, text: str) -> bool:
    """Return True if a message has a text, in lower case, anywhere."""
    parts = [message.text, message.name, message.extra]
    for call in message.calls:
        parts += (call.name, call.arguments)
    for result in message.results:
        parts += (result.name, result.text)
    return any(text in part.casefold() for part in parts)
