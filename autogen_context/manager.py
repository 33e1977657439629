"""IncrementalContextManager: it orders the stages of a turn and has no rule of its own.

Promise: what ``prepare`` returns fits the window, has its pairs closed and holds what must stay; a turn costs what is
new in it. The promises one by one: docs/promises.md.
"""

import logging
import threading
import warnings
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import cast

from autogen_context.config import ContextConfig
from autogen_context.errors import BudgetImpossible, NotInHistory
from autogen_context.model.gauge import Gauge, gauge_for, load_tokenizer
from autogen_context.model.limits import ModelLimits, standard_files
from autogen_context.pipeline.assemble import (
    Certificate,
    Certifier,
    Checked,
    ends_with,
    holds_verbatim,
)
from autogen_context.pipeline.fit import fit_pieces
from autogen_context.pipeline.measure import TokenCounter
from autogen_context.pipeline.message import HostFormat, Message
from autogen_context.pipeline.openai_chat import OpenAIChat
from autogen_context.pipeline.piece import Piece, messages_of, payloads_of
from autogen_context.pipeline.decision import Candidate, Decision
from autogen_context.pipeline.floors import floors_of, satisfied
from autogen_context.pipeline.plan import plan
from autogen_context.pipeline.roles import RoleRules
from autogen_context.session.conversation import Conversation
from autogen_context.session.held import Held
from autogen_context.session.prepared import Payload, Prepared
from autogen_context.session.state import State, dump, load
from autogen_context.session.window import Usage, Window
from autogen_context.store.stash import Stash

logger = logging.getLogger(__name__)

ToolSchemas = Sequence[Mapping[str, object]]


class IncrementalContextManager:
    """Keeps one conversation of one agent inside its window.

    Args:
        model: name of the model; decides limit and tokenizer.
        window_tokens: the most input tokens a request may have; from the model's limits where left out.
        reserve_tokens: of these, what the host adds where it cannot be seen (system prompt, tools).
        config: all settings; the three above win over it.
        host: how the host writes messages; OpenAI's chat format where left out.
        counter: counts tokens; the model's tokenizer where left out.

    Raises:
        ValueError: a setting makes no sense; names it, its value and the way out.
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        window_tokens: int | None = None,
        reserve_tokens: int | None = None,
        config: ContextConfig | None = None,
        host: HostFormat | None = None,
        counter: TokenCounter | None = None,
    ) -> None:
        given = {"model": model, "window_tokens": window_tokens, "reserve_tokens": reserve_tokens}
        settings = (config or ContextConfig()).model_dump(exclude_unset=True)
        settings |= {name: value for name, value in given.items() if value is not None}
        self.config = ContextConfig(**settings)
        self.usage = Usage()
        self._host = host or OpenAIChat()
        self._counter = counter
        self._roles = RoleRules(
            alternate=self.config.alternate_roles, single_system=self.config.single_system
        )
        self._lock = threading.RLock()
        self._gauge: Gauge | None = None

    async def prepare(
        self, messages: Sequence[Payload], tools: ToolSchemas = ()
    ) -> Prepared[Payload]:
        """Prepare a turn; the first one waits for the tokenizer, ``tokenizer_timeout_s`` at most.

        Arguments, result and errors are those of ``prepare_nowait``.
        """
        if self._gauge is None and self._counter is None:
            await load_tokenizer(self.config.model, timeout_s=self.config.tokenizer_timeout_s)
        return self.prepare_nowait(messages, tools)

    def prepare_nowait(
        self, messages: Sequence[Payload], tools: ToolSchemas = ()
    ) -> Prepared[Payload]:
        """Prepare a turn with what is there; never waits.

        Args:
            messages: the whole history as the host has it, oldest first; what was handed in before is not edited in
                place.
            tools: schemas of the tools that go with the request, to be counted.

        Returns:
            The list to send, its certificate and the decisions.

        Raises:
            BrokenTranscript: a message cannot be read, or there are orphans and ``orphans="refuse"``.
            BudgetImpossible: what must stay does not fit; nothing is lost, the next turn tries again.
        """
        with self._lock:
            fixed = self._start().tool_tokens(tools) + self._per_request
            if not self.config.enabled:
                return self._passed_through(messages, fixed)
            self._take_in(messages)
            compacted = self._must_compact(fixed)
            if compacted:
                self._compact(fixed)
            prepared = self._certified(messages, fixed, compacted=compacted)
        return cast(
            "Prepared[Payload]", prepared
        )  # the host's own objects, or new ones of their kind

    def observe(self, messages: Sequence[object]) -> None:
        """Read and measure what is new without preparing a turn, for hosts that hear of messages early."""
        with self._lock:
            self._start()
            if self.config.enabled:
                self._take_in(messages)

    def record_usage(
        self, prepared: Prepared[Payload], *, prompt_tokens: int, cached_tokens: int = 0
    ) -> None:
        """Calibrate the count with what the provider billed for a prepared list.

        Args:
            prepared: what was sent.
            prompt_tokens: all input tokens of the bill, cached ones included.
            cached_tokens: of these, what the provider had cached.
        """
        with self._lock:
            self._start()
            counted = prepared.certificate.counted_tokens
            if not self._window.record(counted=counted, billed=prompt_tokens):
                numbers = {"counted_tokens": counted, "billed_tokens": prompt_tokens}
                logger.warning("a bill that cannot be true was ignored", extra=numbers)
                return
            self.usage = self.usage.after(prompt_tokens=prompt_tokens, cached_tokens=cached_tokens)

    def pin(self, message: object) -> None:
        """Keep a message verbatim from now on, and with it the call or results that belong to it."""
        with self._lock:
            self._start()
            self._pins.add(self._host.read(message).digest)
            self._must_replan = True

    def unpin(self, message: object) -> None:
        """Let a pinned message go at the next compaction."""
        with self._lock:
            self._start()
            self._pins.discard(self._host.read(message).digest)

    def explain(self, message: object) -> Decision:
        """What became of a message in the last turn, and why.

        Raises:
            NotInHistory: the list that was prepared last does not have it.
        """
        with self._lock:
            self._start()
            digests = self._conversation.history.digests
            digest = self._host.read(message).digest
            if digest not in digests:
                raise NotInHistory
            position = len(digests) - 1 - digests[::-1].index(digest)
            at = bisect_right(self._held.decisions, position, key=lambda decision: decision.start)
            return self._held.decisions[at - 1]

    def recall(self, handle: str) -> tuple[Message, ...]:
        """The originals of a unit that was shortened or dropped.

        Raises:
            NotStashed: the stash does not hold them (any more).
        """
        with self._lock:
            self._start()
            return self._stash.get(handle)

    def save_state(self) -> dict[str, object]:
        """What another manager needs to continue to the byte, as JSON data; the host's messages are not in it."""
        with self._lock:
            self._start()
            state = State(
                digests=tuple(self._conversation.history.digests),
                decisions=tuple(self._held.decisions),
                pins=frozenset(self._pins),
                calibration=self._window.calibration,
                stash=tuple(self._stash),
            )
            return dump(state)

    def load_state(self, state: Mapping[str, object]) -> None:
        """Continue where another manager stopped.

        Raises:
            StateError: the state is damaged or of a newer schema; nothing was changed.
        """
        loaded = load(state)
        with self._lock:
            self._resume(self._start(), loaded)
            self._window.calibrate(loaded.calibration)

    def _start(self) -> Gauge:
        """Choose tokenizer and window at the first use, not on import or construction."""
        if self._gauge is None:
            self._gauge = gauge_for(self.config.model, self._counter)
            self._per_request = self._gauge.meter.overheads.per_request
            self._window = Window(
                window_tokens=window_tokens_of(self.config),
                reserve_tokens=self.config.reserve_tokens,
                source=self._gauge.meter.source,
                calibration=self._gauge.calibration,
            )
            self._resume(self._gauge, State())
        return self._gauge

    def _resume(self, gauge: Gauge, state: State) -> None:
        self._conversation = Conversation(
            self._host, gauge.meter, orphans=self.config.orphans, digests=state.digests
        )
        self._held = Held(state.decisions)
        self._certifier = Certifier(gauge.meter.message)
        self._pins = set(state.pins)
        self._stash = Stash(self.config.stash_bytes, state.stash)
        self._must_replan = False

    def _take_in(self, messages: Sequence[object]) -> None:
        """Follow the host's list: what it appended is held as new, where it changed its past that is forgotten."""
        same = self._conversation.update(messages)
        changed = same < self._held.stop
        if changed:
            self._certifier.forget()
            self._held.keep_first(same)
        self._held.extend(self._conversation.candidates)
        self._must_replan = self._must_replan or changed

    def _must_compact(self, fixed: int) -> bool:
        """Whether what is held is above the mark, or a pin or a change of the past asks for another choice."""
        mark = int(self._window.room_tokens * self.config.compact_at_share)
        if not self._must_replan:
            return self._held.tokens + fixed > mark
        self._must_replan = False
        if self._conversation.tokens + fixed <= mark:
            self._held.replace([])
            self._held.extend(self._conversation.candidates)
            return False
        floors = floors_of(self._conversation.candidates, frozenset(self._pins))
        return self._held.tokens + fixed > mark or not satisfied(self._held.decisions, floors)

    def _compact(self, fixed: int) -> None:
        """Plan the whole anew and hold that."""
        room, candidates = self._window.room_tokens, self._conversation.candidates
        before = self._held.tokens
        try:
            decisions = plan(
                candidates,
                floors=floors_of(candidates, frozenset(self._pins)),
                limit_tokens=room - fixed,
                target_tokens=int(room * self.config.compact_to_share) - fixed,
                fit=self._fit,
                count=self._start().meter.message,
            )
        except BudgetImpossible as error:
            raise error.within(self._window.limit_tokens, fixed) from None
        self._held.replace(decisions)
        for decision, candidate in zip(decisions, candidates, strict=True):
            if decision.handle:
                self._stash.put(decision.handle, candidate.unit.messages)
        numbers = {"tokens_before": before, "tokens_after": self._held.tokens, "room_tokens": room}
        logger.info("compacted", extra=numbers)

    def _fit(self, candidate: Candidate, room: int) -> tuple[tuple[Piece, ...], int] | None:
        return fit_pieces(
            candidate.pieces,
            messages_of(candidate.pieces, self._conversation.messages),
            room_tokens=room,
            meter=self._start().meter,
            keep_calls=bool(candidate.unit.unanswered),
        )

    def _certified(
        self, payloads: Sequence[object], fixed: int, *, compacted: bool
    ) -> Prepared[object]:
        """What is held, as the host's objects, with what holds for it."""
        messages, held = self._conversation.messages, self._held.pieces
        pieces = self._roles.apply(held, messages)
        checked = self._certifier.check(pieces, messages)
        pinned = [i for i, m in enumerate(messages) if m.digest in self._pins] if self._pins else []
        certificate = Certificate(
            limit_tokens=self._window.limit_tokens,
            bound=self._window.bound(checked.tokens + fixed),
            counted_tokens=checked.tokens + fixed,
            pairs_closed=not checked.orphans,
            pins_present=holds_verbatim(held, pinned),
            newest_present=ends_with(held, len(messages) - 1),
            orphans=self._conversation.orphans,
        )
        return Prepared(
            messages=payloads_of(pieces, payloads, self._host),
            certificate=certificate,
            decisions=tuple(self._held.decisions),
            compacted=compacted,
        )

    def _passed_through(self, payloads: Sequence[Payload], fixed: int) -> Prepared[Payload]:
        """The list as it came, measured as far as it can be read."""
        messages = [message for payload in payloads if (message := self._readable(payload))]
        checked = Checked().after(messages, self._start().meter.message)
        certificate = Certificate(
            limit_tokens=self._window.limit_tokens,
            bound=self._window.bound(checked.tokens + fixed),
            counted_tokens=checked.tokens + fixed,
            pairs_closed=not checked.orphans,
            pins_present=True,
            newest_present=True,
        )
        return Prepared(
            messages=list(payloads), certificate=certificate, decisions=(), compacted=False
        )

    def _readable(self, payload: object) -> Message | None:
        try:
            return self._host.read(payload)
        except ValueError:
            return None


def window_tokens_of(config: ContextConfig) -> int:
    """The window as given, else the model's; warns where the one exceeds the other."""
    if not config.model:
        return config.window_tokens or config.default_window_tokens
    own_files = [config.limits_file] if config.limits_file else []
    limits = ModelLimits(
        files=(*own_files, *standard_files()),
        default_tokens=config.default_window_tokens,
        ttl_s=config.limits_ttl_s,
    )
    known = limits.lookup(config.model)
    if config.window_tokens and config.window_tokens > known.input_tokens:
        warnings.warn(
            f"window_tokens={config.window_tokens} is above the {known.input_tokens} input tokens of "
            f"{config.model} ({known.source}): requests may be rejected",
            stacklevel=4,
        )
    return config.window_tokens or known.prompt_tokens
