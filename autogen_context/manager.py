"""IncrementalContextManager: the face of a conversation that stays inside its window.

Promise: what ``prepare`` returns fits the window, has its pairs closed and holds what must stay; a turn costs what is
new in it. The promises one by one: docs/promises.md.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self, cast

from autogen_context.ahead import Ahead
from autogen_context.config import ContextConfig
from autogen_context.model.gauge import gauge_for
from autogen_context.pipeline.calibrate import Bill
from autogen_context.pipeline.measure import TokenCounter
from autogen_context.pipeline.message import HostFormat, Message
from autogen_context.pipeline.openai_chat import OpenAIChat
from autogen_context.pipeline.relevance.embedder import WarmVectors
from autogen_context.pipeline.tools.recall_tool import has_recall_tool
from autogen_context.session.history import digest_of
from autogen_context.session.prepared import Payload, Prepared
from autogen_context.session.rules import Fixed, Surroundings
from autogen_context.session.session import Session
from autogen_context.session.state import State, dump, load
from autogen_context.session.untouched import untouched
from autogen_context.session.window import Usage
from autogen_context.wiring import asked_back, rules_of, stash_of, window_of

if TYPE_CHECKING:  # loaded for those who ask for it
    from autogen_context.pipeline.compress.summarise import Summarize
    from autogen_context.recall.asked_back import AskedBack
    from autogen_context.session.explaining import Explanation

logger = logging.getLogger(__name__)

ToolSchemas = Sequence[Mapping[str, object]]


class IncrementalContextManager:
    """Keeps one conversation of one agent inside its window.

    It works when nobody closes it; ``async with`` or ``aclose`` end a discovery that is still under way.

    Args:
        model: name of the model; decides limit and tokenizer.
        window_tokens: the most input tokens a request may have; from the model's limits where left out.
        reserve_tokens: of these, what the host adds where it cannot be seen (system prompt, tools).
        config: all settings; the three above win over it.
        host: how the host writes messages; OpenAI's chat format where left out.
        counter: counts tokens; the model's tokenizer where left out.
        vectors: lets the memory go by meaning as well as by words; a ``VectorStore``, which agents may share.
        summarizer: summarises what will be left out; a ``Summarizer``, or any function of its shape.

    Raises:
        ValueError: a setting makes no sense; names it, its value and the way out.
    """

    def __init__(  # noqa: PLR0913 - three settings that everybody needs, and what it is made of
        self,
        *,
        model: str | None = None,
        window_tokens: int | None = None,
        reserve_tokens: int | None = None,
        config: ContextConfig | None = None,
        host: HostFormat | None = None,
        counter: TokenCounter | None = None,
        vectors: WarmVectors | None = None,
        summarizer: "Summarize | None" = None,
    ) -> None:
        self.config = (config or ContextConfig()).updated(
            model=model, window_tokens=window_tokens, reserve_tokens=reserve_tokens
        )
        self.usage = Usage()
        self._host = host or OpenAIChat()
        self._counter = counter
        self._ahead = Ahead(self.config, vectors, summarizer)
        self._lock = threading.RLock()
        self._session: Session | None = None
        self._asked_back: AskedBack | None = None
        self._tokenizer_awaited = counter is not None

    async def prepare(
        self, messages: Sequence[Payload], tools: ToolSchemas = ()
    ) -> Prepared[Payload]:
        """Prepare a turn; the first one waits for the tokenizer, ``tokenizer_timeout_s`` at most.

        With ``vectors``, a person's question is embedded, within ``embedding_timeout_s``, and what was said is in the
        background. With a ``summarizer``, what will go next is summarised in the background; a turn that compacts waits
        for it, ``summary_timeout_s`` at most. Arguments, result and errors are those of ``prepare_nowait``.
        """
        if not self._tokenizer_awaited:
            self._tokenizer_awaited = True
            await self._ahead.load_tokenizer()
            self._count_exactly()
        self._ahead.discover(self._resize)
        if self.config.enabled and not self._ahead.is_idle:
            self._started().can_recall(can=has_recall_tool(tools))
            self.observe(messages)
            await self._ahead.before_turn(self._started(), self._fixed(tools).tokens)
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
            session, fixed = self._started(), self._fixed(tools)
            session.can_recall(can=has_recall_tool(tools))
            if not self.config.enabled:
                gauge, window = self._gauge, self._window
                return untouched(
                    messages, host=self._host, meter=gauge.meter, window=window, fixed=fixed
                )
            session.take_in(messages)
            prepared = session.turn(messages, fixed)
        return cast(
            "Prepared[Payload]", prepared
        )  # the host's own objects, or new ones of their kind

    def observe(self, messages: Sequence[object]) -> None:
        """Read and measure what is new without preparing a turn, for hosts that hear of messages early."""
        with self._lock:
            if self.config.enabled:
                self._started().take_in(messages)

    def record_usage(
        self, prepared: Prepared[Payload], *, prompt_tokens: int, cached_tokens: int = 0
    ) -> None:
        """Calibrate the count with what the provider billed for a prepared list.

        Args:
            prepared: what was sent.
            prompt_tokens: all input tokens of the bill, cached ones included.
            cached_tokens: of these, what the provider had cached.
        """
        certificate = prepared.certificate
        bill = Bill(
            counted=certificate.counted_tokens,
            billed=prompt_tokens,
            assumed=certificate.assumed_tokens,
            rewrites=certificate.rewrites,
        )
        with self._lock:
            if self._started().window.record(bill):
                self.usage = self.usage.after(
                    prompt_tokens=prompt_tokens, cached_tokens=cached_tokens
                )
                return
        numbers = {"counted_tokens": bill.counted, "billed_tokens": bill.billed}
        logger.warning("a bill that cannot be true was ignored", extra=numbers)

    def pin(self, message: object) -> None:
        """Keep a message verbatim from now on, and with it the call or the results that belong to it."""
        with self._lock:
            self._started().pin(digest_of(self._host, message))

    def unpin(self, message: object) -> None:
        """Let a pinned message go at the next compaction."""
        with self._lock:
            self._started().pins.discard(digest_of(self._host, message))

    def explain(self, message: object) -> "Explanation":
        """What became of a message in the last turn, what it matters now, and why.

        Raises:
            NotInHistory: the list that was prepared last does not have it.
        """
        with self._lock:
            return self._started().explain(digest_of(self._host, message))

    def recall(self, handle: str) -> tuple[Message, ...]:
        """The originals of a unit that was shortened or dropped.

        Raises:
            NotStashed: the stash does not hold them (any more).
        """
        with self._lock:
            return self._started().stash.get(handle)

    def recall_context(self, handle: str = "", query: str = "", lines: str = "") -> str:
        """Answer a call of the tool ``recall_context``; every question gets a text.

        Args:
            handle: of an original, as it stands in a mark.
            query: what to look for: in that original, or in all.
            lines: which lines of the original: ``"120-180"``, ``"120-"``, ``"-40"``, ``"150"``.
        """
        with self._lock:
            stash = self._started().stash
            self._asked_back = self._asked_back or asked_back(stash, self._gauge, self._window)
            return self._asked_back.recall_context(handle, query, lines)

    def save_state(self) -> dict[str, object]:
        """What another manager needs to continue to the byte, as JSON data; the host's messages are not in it."""
        with self._lock:
            return dump(replace(self._started().state, usage=self.usage))

    def load_state(self, state: Mapping[str, object]) -> None:
        """Continue where another manager stopped.

        Raises:
            StateError: the state is damaged or of a newer schema; nothing was changed.
        """
        loaded = load(state)
        with self._lock:
            window = self._started().window
            window.calibrate(self._gauge.calibration.resumed(loaded.calibration))
            self._session = self._new_session(loaded)
            self.usage = loaded.usage

    async def aclose(self) -> None:
        """End what is still under way."""
        await self._ahead.aclose()

    async def __aenter__(self) -> Self:
        """The manager itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End what is still under way."""
        await self.aclose()

    def _fixed(self, tools: ToolSchemas) -> Fixed:
        """What a request with these tools has beside messages."""
        self._started()
        in_tools = self._gauge.tool_tokens(tools)
        in_all = in_tools + self._gauge.meter.overheads.per_request
        return Fixed(tokens=in_all, assumed=in_tools)

    def _started(self) -> Session:
        """The session; tokenizer and limits are looked up at its first use, not on construction."""
        if self._session is None:
            own_name = self._host.own_name
            self._gauge = gauge_for(self.config.model, self._counter, own_name=own_name)
            self._window = window_of(self.config, self._gauge)
            self._session = self._new_session(State())
        return self._session

    def _count_exactly(self) -> None:
        """Start again from the same state where a pin or a saved state came before the tokenizer."""
        with self._lock:
            if self._session is not None and self._gauge.meter.source == "estimate":
                state, self._session = self._session.state, None
                self._started()
                self._session = self._new_session(state)

    def _new_session(self, state: State) -> Session:
        around = Surroundings(
            host=self._host,
            meter=self._gauge.meter,
            window=self._window,
            stash=stash_of(self.config, state.stash),
            memory=self._ahead.memory(),
            summaries=self._ahead.summaries(self._gauge.counter, state),
        )
        self._asked_back = None
        return Session(rules_of(self.config), around=around, state=state)

    def _resize(self, window_tokens: int) -> None:
        """Later turns have this window."""
        with self._lock:
            self._started().window.resize(window_tokens)
