"""TurnRunner: owns a conversation's view and its versions from turn to turn.

Promise: a turn that raises keeps the messages that came in and changes nothing else. What a turn leaves is published when it
ends, whole. Another state, or another tokenizer, is another runner.

What changes the conversation is called by whoever has its turn; ``latest``, what is derived from it, and small changes of the
view (pins, bills) by anybody at any time.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from autogen_context.cache.originals import DeletionExtent
from autogen_context.cache.tier import Scope
from autogen_context.config.config import ContextConfig
from autogen_context.errors import (
    ChangeRefused,
    ContextWindowExceeded,
    InvalidTranscript,
    OriginalNotFound,
    TurnUnderWay,
)
from autogen_context.forks import when_forked
from autogen_context.manager.change import (
    ChangeType,
    ContextChange,
    UpdatedContext,
    changed,
    changes_in,
    refused,
)
from autogen_context.manager.engine import Engine
from autogen_context.manager.forgetting import (
    Forgetting,
    Forgotten,
    Leaving,
    with_wanted,
    without_goal,
    without_notices_on,
)
from autogen_context.manager.injected import messages_due, offered
from autogen_context.manager.latest import Latest
from autogen_context.manager.offered_tools import GivenTools
from autogen_context.manager.parts import (
    Setup,
    keeps_outside,
    originals_of,
    warn_caller,
    window_tokens_of,
)
from autogen_context.manager.prefetch import Prefetcher, PrefetchPlan
from autogen_context.manager.prepared import Prepared, untouched
from autogen_context.manager.providers import Providers, Saved, ToRefresh, reported
from autogen_context.manager.record import recorded_in
from autogen_context.manager.room import RequestRoom, Window
from autogen_context.manager.state import State, recognised
from autogen_context.messages.canonical import DIGEST_SCHEME
from autogen_context.messages.message import Message, chars_of, content_digest
from autogen_context.messages.piece import messages_of
from autogen_context.text.memo import Memo
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.alignment import HostChange, Run
from autogen_context.view.conversation import Compared, digest_of
from autogen_context.view.goal import Goal
from autogen_context.view.invariants import Certificate
from autogen_context.view.notice import ProviderTurn
from autogen_context.view.statement import PersonStatement
from autogen_context.view.versions import Version, Versions
from autogen_context.view.view import ContextView

if TYPE_CHECKING:  # imported on demand
    from autogen_context.recall.recall_tool import RecallContext

logger = logging.getLogger(__name__)

ToolSchemas = Sequence[Mapping[str, object]]
NOT_HANDED_IN = "the messages of the loaded state were not handed in yet; prepare or observe them"
Change = Callable[[ContextView], ContextView]
MOST_BRANCHES = 16  # of a branch of a branch: whose originals it reads
RECALLED_FRACTION = 0.25  # of the window for one answer of ``recall_context``
MANY_NEW = 20  # new messages above which reading a list is more than an event loop should wait for
MANY_CHARS = 4_000  # of new messages; the same


class Begun(NamedTuple):
    """What to await before a turn."""

    providers: Sequence[ToRefresh]
    prefetch: PrefetchPlan


class TurnRunner:
    """Runs the turns of one conversation, from a state on; ``window_tokens`` replaces the configured window.

    Attributes:
        latest: the conversation as its last turn left it, with the small changes since.
        memo: what was worked out of its texts.
        window_tokens: the window from the next turn on.
        is_changing: whether a turn is under way.
        is_torn: whether this process was forked in the middle of a turn, so that indexes may be half made.
    """

    def __init__(
        self,
        setup: Setup,
        counter: MessageCounter,
        providers: Providers,
        state: State,
        *,
        window_tokens: int | None = None,
    ) -> None:
        config = setup.config
        self.setup, self.counter, self.providers = setup, counter, providers
        providers.truncate(0)  # they may have known the units of another runner
        self._log = setup.log
        self._undeleted: Mapping[str, DeletionExtent] = state.undeleted
        self._bill_doubted = False  # so that repeated bills of this kind warn only once
        self._conversations = state.conversations or new_conversation(setup)
        given = setup.options.get("original_store")
        self.originals = originals_of(config, state.originals, given, self._conversations or ("",))
        self.prefetcher = Prefetcher(setup, counter, state)
        self._scheme = state.digest_scheme
        is_comparable = self._scheme == DIGEST_SCHEME
        self._earlier = () if is_comparable else state.digests  # until the host's list is read
        self._is_same_counter = counter.calibration.is_comparable(state.view.calibration)
        window = Window(
            window_tokens=window_tokens or window_tokens_of(config, setup.limits),
            reserve_tokens=config.reserve_tokens,
            source=counter.source,
        )
        self.engine = Engine(
            setup,
            counter,
            self.prefetcher,
            originals=self.originals,
            window=window,
            digests=state.digests if is_comparable else (),
            prompts=len(state.view.prompt.stable),
        )
        self.window_tokens = window.window_tokens
        calibration = counter.calibration.resumed(state.view.calibration)
        self.view: ContextView = replace(state.view, calibration=calibration)
        self.context_id = state.context_id or id_of(config)
        self._branches = state.branches
        kept = state.versions[-max(1, config.versions) :]
        stop = max((past.decisions.stop for _, past in kept), default=0)
        self.versions = Versions(most=config.versions, kept=kept, stop=stop)
        if not kept:
            self.record("start", "the context as it was at the start")
        self.memo = Memo()
        self.latest: Latest = self._made(providers.others)
        self._since: list[Change] = []  # small changes since the turn under way began
        self._digested: list[
            tuple[object, bytes]
        ] = []  # the host's list, since something was forgotten
        self.is_changing = self.is_torn = False
        self._begin_anew()
        when_forked(self._begin_anew)

    def continued(
        self, setup: Setup, state: State, counter: MessageCounter, providers: Providers
    ) -> "TurnRunner":
        """Return a runner that continues from a state in the same window."""
        return TurnRunner(setup, counter, providers, state, window_tokens=self.window_tokens)

    # Turns

    @property
    def awaits(self) -> bool:
        """Whether there is anything to await before a turn."""
        return bool(self.providers.each) or not self.prefetcher.is_idle

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Begin with the view that was published last, and publish what is there in the end."""
        if self.is_changing:
            raise TurnUnderWay
        with self._publishing:
            self.view, self._since = self.latest.view, []
        if self.window_tokens != self.engine.rooms.window.window_tokens:
            self.engine.rooms.resize(self.window_tokens)
        self.is_changing = True
        try:
            with self.memo.in_use():
                yield
        finally:
            states = self.providers.state if self.providers.each else self.providers.others
            with self._publishing:
                for change in self._since:
                    self.view = change(self.view)
                self.latest = self._made(states)
            self.is_changing = False

    def _made(self, states: Saved) -> Latest:
        """Return the conversation as it is, with these states of the providers."""
        history = self.engine.conversation.history
        return Latest(
            view=self.view,
            versions=self.versions,
            recorded=history.recorded,
            messages=history.known,
            earlier=self._earlier,
            scheme=self._scheme,
            providers=states,
            reasoned=self.engine.reasoned,
        )

    def observe(self, payloads: Sequence[object]) -> None:
        """Read and measure the host's list before its turn."""
        with self._changing():
            self._read(self._present(payloads))
            if self.setup.options.get("memory") is not None:
                self.providers.observe(self._provider_turn(self.engine.rooms.of(self.view)))

    def take_over(self, payloads: Sequence[object], *, decides: bool = False) -> None:
        """Read and measure the list of another runner, without what is forgotten; ``decides`` on its new units as well."""
        with self._changing():
            self._read(payloads)
            if decides:
                self.view = self.engine.with_new(self.view)

    def _read(
        self,
        payloads: Sequence[object],
        compared: Compared | None = None,
        *,
        asked: AbstractSet[int] = frozenset(),
    ) -> None:
        """Read and measure the host's list, in its turn or earlier, and drop what the host changed of the history.

        Decisions are made in the turn, when the tools are known. Messages at ``asked`` positions were asked to be forgotten.
        """
        conversation, leaving = self.engine.conversation, list[Leaving]()

        def leaves(change: HostChange) -> None:
            known = self.view, self.versions
            leaving.append(self.forgetting.leaving(*known, change, len(payloads), asked))

        change = conversation.update(payloads, leaves, compared)
        if self._earlier:
            same = self._recognised()
            change = HostChange.of(len(self._earlier), [Run(0, 0, same)] if same else ())
            self._earlier = ()
        if not change.only_grew:
            self._follow_host(change, leaving[0] if leaving else Leaving())
        if self._undeleted:
            self._delete({})

    def _follow_host(self, change: HostChange, leaving: Leaving) -> None:
        """Follow a list in which messages were changed; forget what is deleted."""
        candidates, gone = self.engine.conversation.candidates, (leaving.forgotten, leaving.lines)
        has_derived = leaving.is_any and self.view.has_derived(*gone)
        self.versions = self.versions.without(*gone) if leaving.is_any else self.versions
        self.versions = self.versions.realigned(change, candidates)
        view = self.engine.realigned(self.view.begun_anew() if has_derived else self.view, change)
        view = with_wanted(view, leaving.wanted or view.record.wanted, change)
        if leaving.is_any:
            self.memo.clear()
            self.engine.keep(leaving.cut)
            view = replace(view, pins=view.pins - leaving.digests)
            view = self.engine.with_record(view, self.engine.rooms.of(view), leaving.stated)
            self._forget_asked()
        self.view = view  # before anything is deleted: where that fails, the view follows the list
        if leaving.is_any:
            try:
                self.engine.arrival.reductions.forget(leaving.messages)
                self.prefetcher.forget(leaving.messages, leaving.spans)
            except Exception:  # noqa: BLE001 - any that a user's cache or vectors may raise
                logger.warning("a cache could not delete what was made of deleted messages")
            self._delete({handle: self.originals.extent_of(handle) for handle in leaving.handles})
            self._forget_remembered(leaving.messages)

    def _forget_remembered(
        self, messages: Sequence[Message], query: str = "", *, is_asked: bool = False
    ) -> tuple[list[str], list[str]]:
        """Have providers forget what they keep of messages, or with a text; none of it is in a view or a version any more."""
        if not (messages or query):
            return [], []
        ids, later = self.providers.forget(messages, query, is_asked=is_asked)
        texts = [message.text for message in messages if message.text]
        without = partial(without_notices_on, texts=texts, query=query, remembered=bool(ids))
        self.view = without(self.view)
        if ids:
            kept = tuple((version, without(past)) for version, past in self.versions.kept)
            self.versions = replace(self.versions, kept=kept)
        return ids, later

    def _delete(self, handles: Mapping[str, DeletionExtent]) -> None:
        """Delete originals; what a store cannot delete now is tried again in the next turn."""
        before, left = self._undeleted, dict[str, DeletionExtent]()
        due: dict[str, DeletionExtent] = {**before, **handles}
        extents: set[DeletionExtent] = set(due.values())
        for extent in extents:
            each = [handle for handle, where in due.items() if where == extent]
            try:
                self.originals.forget(each, extent=extent)
            except Exception:  # noqa: BLE001 - any that a user's tier may raise
                left |= dict.fromkeys(each, extent)
        self._undeleted = left
        if left.keys() - before:
            logger.warning(
                "originals of deleted messages could not be deleted; it is tried again",
                extra={"originals": len(left)},
            )

    @cached_property
    def forgetting(self) -> Forgetting:
        """Finds what was kept of messages that leave."""
        return Forgetting(self.setup, self.engine, self.originals, self.prefetcher)

    def statements(self) -> list[PersonStatement]:
        """Return what people stated and still holds, and whether the last request has it."""
        with self._changing():
            self._require_messages("rules")
            return self.engine.statements(self.view)

    def goal(self) -> Goal:
        """Return what people want, or what a program set."""
        with self._changing():
            if not self.view.goal:
                self._require_messages("goal")
            return self.engine.goal(self.view)

    def _require_messages(self, what: str) -> None:
        history = self.engine.conversation.history
        if history.known > len(history.messages):
            raise ValueError(f"{what}: {NOT_HANDED_IN}")

    def forget(self, *, message: object, handle: str, query: str) -> Forgotten:
        """Forget messages, so that they are in no request any more, and all that was kept of them."""
        with self._changing():
            history = self.engine.conversation.history
            self._require_messages("forget")
            wanted = self.forgetting.wanted(self.view, message=message, handle=handle, query=query)
            asked = wanted.forgotten.messages
            ids, later = self._forget_remembered(asked, query, is_asked=True)
            self.view = without_goal(self.view, asked, query)
            if wanted.positions:
                kept = [p for i, p in enumerate(history.payloads) if i not in wanted.positions]
                digests = Counter(history.digests[i] for i in wanted.positions)
                digests.update(dict(self.view.forgotten))
                self.view = replace(self.view, forgotten=tuple(sorted(digests.items())))
                self._read(kept, asked=wanted.positions)
                self.view = self.engine.with_new(self.view)
            if wanted.statements:
                gone = set(wanted.statements)
                stated = [e for e in recorded_in(self.view.record) if e.text not in gone]
                room = self.engine.rooms.of(self.view)
                self.view = self.engine.with_record(self.view, room, stated)
            self.memo.clear()
            for each in wanted.handles:
                with suppress(OriginalNotFound):
                    self.engine.arrival.reductions.forget(self.originals.get(each))
            self._delete(dict.fromkeys(wanted.handles, "all"))
            self._forget_asked()
            return replace(
                wanted.forgotten,
                remembered=tuple(dict.fromkeys(ids)),
                unavailable=(*sorted(self._undeleted), *later),
            )

    def _present(self, payloads: Sequence[object]) -> Sequence[object]:
        """Return the host's list without forgotten messages, of which it may still have some; the newest is none of them."""
        due = Counter(dict(self.view.forgotten))
        if not due:
            return payloads
        present, found = list[object](), Counter[bytes]()
        older, known = payloads[:-1], self._digested
        digests = [
            known[at][1] if at < len(known) and known[at][0] is payload else self._digest(payload)
            for at, payload in enumerate(older)
        ]
        self._digested = list(zip(older, digests, strict=True))
        for payload, digest in self._digested:
            if found[digest] < due[digest]:
                found[digest] += 1
            else:
                present.append(payload)
        present += payloads[-1:]
        if (
            len(present) > self.engine.conversation.history.known
        ):  # a shorter list may not be all that the host has
            self.view = replace(self.view, forgotten=tuple(sorted((+found).items())))
        return present

    def _digest(self, payload: object) -> bytes:
        """Return the digest of a message; none of what is no message, which is reported when it is read."""
        with suppress(ValueError, RecursionError):
            return digest_of(self.setup.host, payload)
        return b""

    def _recognised(self) -> int:
        """Return how many leading messages are those of a state whose digests cannot be compared, and name its pins anew."""
        conversation, decisions = self.engine.conversation, self.view.decisions
        known = recognised(decisions, conversation.candidates, by_size=self._is_same_counter)
        same, known_before = min(len(self._earlier), len(conversation.messages)), len(decisions)
        if known < known_before:
            same = decisions[known].start
        digests = dict(zip(self._earlier[:same], conversation.history.digests, strict=False))
        self.view, self.versions = self.view.renamed(digests), self.versions.renamed(digests)
        numbers = {"units": known_before, "recognised": known}
        level = logging.INFO if known == known_before else logging.WARNING
        logger.log(level, "the state of an earlier release is continued", extra=numbers)
        self._scheme = DIGEST_SCHEME
        return same

    def _read_if_little(self, payloads: Sequence[object], tools: GivenTools) -> bool:
        """Read the list if a turn on it is little work, and return whether it is; never after something was forgotten."""
        if self.view.forgotten:
            return False
        conversation = self.engine.conversation
        if not conversation.history.is_continued_by(payloads, MANY_NEW):
            return False
        compared = conversation.compared(payloads)
        if not compared.change.only_grew or sum(map(chars_of, compared.messages)) > MANY_CHARS:
            return False
        self.engine.for_tools(self.view, tools)
        self._read(payloads, compared)
        return self.engine.is_little(self.view)

    def begin(self, payloads: Sequence[object], tools: GivenTools) -> Begun:
        """Update the view to the host's list; return what to await before its turn."""
        with self._changing():
            self._follow(self._present(payloads), tools)
            return self._begun(self.engine.rooms.of(self.view))

    def quick_begin(self, payloads: Sequence[object], tools: GivenTools) -> Begun | None:
        """Do the same if it is little work."""
        with self._changing():
            if not self._read_if_little(payloads, tools):
                return None
            self.view = self.engine.with_new(self.view)
            room = self.engine.rooms.of(self.view)
            return None if self.prefetcher.is_full(room) else self._begun(room)

    def _begun(self, room: RequestRoom) -> Begun:
        turns = self.providers.begun(self._provider_turn(room)) if self.providers.each else ()
        if self.prefetcher.is_idle:
            return Begun(turns, PrefetchPlan())
        leaving = self.engine.spans(self.view) if self.prefetcher.summarises(room) else ()
        task = self.engine.wanted(self.view).lasting if self.prefetcher.advises(room) else ""
        return Begun(turns, self.prefetcher.plan(self.engine.conversation, room, leaving, task))

    async def before_turn(self, begun: Begun) -> None:
        """Await providers and models, each within its time limit; others may have their turn meanwhile."""
        await self.providers.before_turn(begun.providers)
        await self.prefetcher.before_turn(begun.prefetch)

    def _follow(self, payloads: Sequence[object], tools: GivenTools) -> None:
        """Update the view to the host's list."""
        self.engine.for_tools(self.view, tools)
        self._read(payloads)
        self.view = self.engine.with_new(self.view)

    def turn(self, payloads: Sequence[object], tools: GivenTools) -> Prepared[object]:
        """Prepare a turn; raises what ``Engine.prepare`` does."""
        started_s = time.perf_counter()
        if not self.setup.config.enabled:
            return self._untouched(payloads, tools)
        with self._changing():
            present = self._present(payloads) if self.view.forgotten else payloads
            self._follow(present, tools)
            return self._prepared(present, started_s)

    def quick_turn(self, payloads: Sequence[object], tools: GivenTools) -> Prepared[object] | None:
        """Prepare a turn if it is little work."""
        started_s = time.perf_counter()
        if not self.setup.config.enabled:
            return None if len(payloads) > MANY_NEW else self._untouched(payloads, tools)
        with self._changing():
            if not self._read_if_little(payloads, tools):
                return None
            self.view = self.engine.with_new(self.view)
            return self._prepared(payloads, started_s)

    def _untouched(self, payloads: Sequence[object], tools: GivenTools) -> Prepared[object]:
        self.engine.for_tools(self.view, tools)
        return untouched(
            payloads,
            host=self.setup.host,
            counter=self.counter,
            window=self.engine.rooms.window,
            fixed=self.engine.rooms.fixed,
            tools=self.engine.tools.sent(None),
        )

    def _prepared(self, payloads: Sequence[object], started_s: float) -> Prepared[object]:
        """Prepare a turn on the list that the view follows."""
        engine = self.engine
        if self.providers.each:
            self._ask_providers()
        before, planned_s = self.view.decisions.tokens, time.perf_counter()
        try:
            self.view, prepared = engine.prepare(self.view, payloads)
        except ContextWindowExceeded as error:
            if self._log is not None:
                self._log.impossible(engine.conversation, error, started_s=started_s)
            raise
        if prepared.compacted:
            self.record("compaction", f"from {before} to {self.view.tokens} tokens")
        if self._log is not None:
            self._log.turn(
                engine.conversation,
                self.view,
                prepared,
                goal=engine.goal(self.view),
                pinned=engine.pinned(self.view),
                count=self.counter.message,
                started_s=started_s,
                planned_s=planned_s,
            )
        return prepared

    def _provider_turn(self, room: RequestRoom) -> ProviderTurn:
        """Return the turn as passed to providers."""
        engine = self.engine
        engine.conversation.index.follow(self.providers)
        return ProviderTurn(
            units=tuple(self.providers.units),
            window_tokens=engine.rooms.window.limit_tokens,
            used_tokens=room.used_tokens,
            room_tokens=room.tokens,
            in_force=self.view.notices.in_force,
            notice_tokens=room.budget.notice_tokens,
            count=self.counter.text,
        )

    def _ask_providers(self) -> None:
        """Apply what providers report; news are recorded as a version, as every change is."""
        room = self.engine.rooms.of(self.view)
        for name, update in self.providers.updates(self._provider_turn(room)):
            notices, news = reported(
                self.view.notices,
                name,
                update,
                position=self.view.decisions.stop,
                shows=partial(self.engine.files.is_shown, self.view),
            )
            self.view = replace(self.view, notices=notices)
            if news:
                self.record(f"notices of {name}", "; ".join(news))
            for offer in update.preambles:
                newer = tuple(replace(notice, topic="project") for notice in offer.newer)
                self.view = offered(self.view, replace(offer, newer=newer))

    # Questions, changes and bills

    @cached_property
    def recall_tool(self) -> "RecallContext":
        """Answers the tool ``recall_context``."""
        from autogen_context.recall.recall_tool import RecallContext  # noqa: PLC0415 - imported on demand

        return RecallContext(
            self.originals,
            # without the counter's cache, which every trial would fill
            count=lambda text: self.counter.count(text).tokens,
            room_tokens=int(self.engine.rooms.window.limit_tokens * RECALLED_FRACTION),
            shorten=self.setup.compressor.shorten,
        )

    def _forget_asked(self) -> None:
        """Have ``recall_tool`` made anew: its index has texts."""
        with self._asking:
            self.__dict__.pop("recall_tool", None)

    def recall_context(self, handle: str, query: str, lines: str) -> str:
        """Return the answer of the tool ``recall_context``."""
        with self._asking, self.memo.in_use():
            answer = self.recall_tool.answered(handle, query, lines)
        if self._log is not None:
            self._log.asked_back(handle, query, found=answer.is_found)
        return answer.text

    def find_tools(self, query: str) -> str:
        """Return the answer of the tool ``find_tools``."""
        with self._asking, self.memo.in_use():
            return self.engine.tools.answer(query, self.latest.view.loaded_tools)

    def record(self, kind: str, summary: str) -> Version:
        """Record the current view as a version."""
        at_s = (self.setup.options.get("clock") or time.time)()
        self.versions = self.versions.recorded(kind, summary, self.view, at_s=at_s)
        return self.versions.newest

    def roll_back(self, number: int) -> Version:
        """Restore decisions, notices and pins of a version; later messages are decided on anew."""
        with self._changing():
            back = self.view.rolled_back(self.versions.view(number))
            self.view = replace(
                back, sent=0, rewrites=back.rewrites + 1
            )  # the prefix is not continued
            self.providers.begin_anew()
            conversation = self.engine.conversation
            if conversation.candidates:
                prompts = range(conversation.system_messages)
                self.view = self.view.with_heads(prompts, conversation.candidates)
                self.view = self.engine.with_new(self.view)
            return self.record("roll back", f"as in version {number}")

    def updated(self, given: Iterable[object]) -> UpdatedContext:
        """Apply all changes or none, and return the resulting context."""
        changes = changes_in(given)
        with self._changing():
            if changes:
                self.view = self._changed(changes)
                kind = str(changes[0].type) if len(changes) == 1 else "changes"
                self.record(kind, "; ".join(map(str, changes)))
        pieces = [piece for decision in self.view.decisions for piece in decision.sent]
        said = messages_of(pieces, self.engine.conversation.messages)
        return UpdatedContext(
            context_id=self.context_id,
            version=self.versions.newest.number,
            context=(*said, *messages_due(self.view)),
            changes_applied=changes,
            timestamp=self.versions.newest.timestamp,
        )

    def _changed(self, changes: Sequence[ContextChange]) -> ContextView:
        """Return the view after changes; a refused one leaves the conversation as it was."""
        conversation, view = self.engine.conversation, self.view
        payloads = conversation.history.payloads
        added = [i for i, change in enumerate(changes) if change.type is ChangeType.MESSAGE_ADDED]
        if added and len(payloads) < view.decisions.stop:
            raise refused(changes, added[0], NOT_HANDED_IN)
        try:
            if added:
                conversation.update([*payloads, *(changes[i].message for i in added)])
                view = self.engine.with_new(view)
            return changed(
                view,
                changes,
                conversation.messages,
                shows=partial(self.engine.files.is_shown, view),
                open_pairs=self.setup.config.orphans == "report",
            )
        except InvalidTranscript as error:
            conversation.update(payloads)
            at = added[max(0, error.index - len(payloads))]
            raise refused(changes, at, error.reason) from error
        except ChangeRefused:
            if added:
                conversation.update(payloads)
            raise

    # At any time

    def change(self, change: Change) -> None:
        """Change the view a little, and again what a turn under way will leave."""
        with self._publishing:
            self._since.append(change)
            self.latest = replace(self.latest, view=change(self.latest.view))

    def _begin_anew(self) -> None:
        self.is_torn = self.is_changing  # forked in the middle of a turn: continue from ``latest``
        self._publishing = Lock()  # held for as long as values are put in place
        self._asking = Lock()  # one question to the recall tool at a time

    def bill(
        self, certificate: Certificate, *, prompt_tokens: int, cached_tokens: int | None
    ) -> None:
        """Record a bill; an implausible one is ignored, with one warning for several in a row."""
        window = replace(self.engine.rooms.window, window_tokens=self.window_tokens)
        believed = False

        def billed(view: ContextView) -> ContextView:
            nonlocal believed
            calibration = window.billed(view.calibration, certificate, prompt_tokens)
            if calibration is None:
                return view
            believed = True
            usage = view.usage.after(prompt_tokens, cached_tokens)
            return replace(view, calibration=calibration, usage=usage)

        self.change(billed)
        if self._log is not None:
            self._log.usage(
                certificate,
                prompt_tokens=prompt_tokens,
                cached_tokens=cached_tokens,
                believed=believed,
            )
        if not (believed or self._bill_doubted):
            counted = certificate.counted_tokens
            numbers = {"counted_tokens": counted, "billed_tokens": prompt_tokens}
            logger.warning("an implausible bill was ignored", extra=numbers)
        self._bill_doubted = not believed

    @property
    def state(self) -> State:
        """The state from which another runner continues."""
        latest = self.latest
        return State(
            view=latest.view,
            digests=latest.digests,
            digest_scheme=latest.scheme,
            originals=tuple(self.originals),
            versions=latest.versions.kept,
            context_id=self.context_id,
            branches=self._branches,
            conversations=self._conversations,
            undeleted=self._undeleted,
            summaries=dict(self.prefetcher.summaries),
            advice=dict(self.prefetcher.advice),
            providers=latest.providers,
        )

    def branched(self) -> State:
        """Return the state of a branch, which has a context id of its own."""
        self._branches += 1
        name = content_digest(self.context_id, str(self._branches))[:6].hex()
        return replace(
            self.state,
            context_id=name,
            branches=0,
            undeleted={},  # its parent's
            conversations=(*new_conversation(self.setup), *self._conversations)[:MOST_BRANCHES],
        )


def new_conversation(setup: Setup) -> tuple[str, ...]:
    """Return the name of a conversation, which nobody else has; none where nothing is kept outside this process."""
    return (token_hex(16),) if keeps_outside(setup) else ()


def id_of(config: ContextConfig) -> str:
    """Return the context id of a tenant's agent: 12 hex digits."""
    return content_digest(Scope(tenant=config.tenant, agent=config.agent).key)[:6].hex()


def counter_of(setup: Setup) -> MessageCounter:
    """Return the counter for a model, exact if its tokenizer is at hand."""
    own = setup.options.get("counter")
    counter = MessageCounter.for_model(setup.config.model, own, own_name=setup.host.own_name)
    if counter.source == "estimate" and own is None:
        warn_caller(
            "tokens are estimated, above the truth, since no tokenizer is at hand: await prepare, which fetches one, "
            'or pip install "autogen-context[fast]"'
        )
    return counter
