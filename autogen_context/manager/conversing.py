"""The session of a manager, made when it is first needed.

Promise: tokenizer and limits are looked up at the first use, not before; a tokenizer that comes later takes over from the
same state.
"""

import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from autogen_context.manager.ahead import Ahead
from autogen_context.manager.given import Given
from autogen_context.manager.providers import Providers, providers_of
from autogen_context.manager.wiring import (
    asked_back,
    branch_id,
    budget_of,
    id_of,
    originals_of,
    rules_of,
    window_of,
)
from autogen_context.messages.tool_schema import has_recall_tool
from autogen_context.session.prepared import Prepared
from autogen_context.session.rules import Fixed, Surroundings
from autogen_context.session.session import Session
from autogen_context.session.state import State
from autogen_context.session.untouched import untouched
from autogen_context.session.versions import Version
from autogen_context.session.window import Window
from autogen_context.tokens.message_counter import MessageCounter

if TYPE_CHECKING:  # loaded for those who ask for it
    from autogen_context.recall.asked_back import AskedBack


class Conversing:
    """Has the session of one manager.

    Args:
        given: what the manager was given.

    Attributes:
        given: the same.
        ahead: works ahead of turns.
        providers: tell of the world beside it.
        lock: held while the session is used.
    """

    def __init__(self, given: Given) -> None:
        self.given = given
        self.ahead = Ahead(
            given.config,
            vectors=given.vectors,
            summarizer=given.summarizer,
            advisor=given.advisor,
            triggers=given.triggers,
            cache=given.cache,
        )
        self.lock = threading.RLock()
        self.providers = providers_of(
            given.config,
            files=given.files,
            project=given.project,
            count=self._count,
            others=given.providers,
        )
        self._tokenizer_awaited = given.counter is not None
        self._made: tuple[MessageCounter, Window, Session] | None = None
        self._asked_back: AskedBack | None = None

    @property
    def counter(self) -> MessageCounter:
        """How requests are counted."""
        return self._started()[0]

    @property
    def window(self) -> Window:
        """What a request may have."""
        return self._started()[1]

    @property
    def session(self) -> Session:
        """The conversation."""
        return self._started()[2]

    @property
    def asked_back(self) -> "AskedBack":
        """Who answers the tool ``recall_context``."""
        if self._asked_back is None:
            self._asked_back = asked_back(self.session.stash, self.counter, self.window)
        return self._asked_back

    @property
    def is_idle(self) -> bool:
        """Whether a turn has nothing to wait for."""
        return self.ahead.is_idle and not self.providers

    @property
    def state(self) -> State:
        """What another needs to continue."""
        return replace(self.session.state, companions=self.providers.state)

    def take_in(self, payloads: Sequence[object]) -> None:
        """Follow the host's list."""
        self.session.take_in(payloads)

    def turn(
        self, payloads: Sequence[object], tools: Sequence[Mapping[str, object]]
    ) -> Prepared[object]:
        """The list to send for a host's list and the tools that go with it; raises what ``Session.turn`` does."""
        fixed, (counter, window, session) = self.fixed(tools), self._started()
        session.can_recall(can=has_recall_tool(tools))
        if not self.given.config.enabled:
            host = self.given.host
            return untouched(payloads, host=host, counter=counter, window=window, fixed=fixed)
        self.take_in(payloads)
        self.providers.turn(session, fixed.tokens)
        return session.turn(payloads, fixed)

    def roll_back(self, version: int) -> Version:
        """Have everything as it was in a version; raises what ``Session.roll_back`` does."""
        self.providers.begin_anew()
        return self.session.roll_back(version)

    def fixed(self, tools: Sequence[Mapping[str, object]]) -> Fixed:
        """What a request with these tools has beside messages."""
        in_tools = self.counter.tools(tools)
        in_all = in_tools + self.counter.overheads.per_request
        return Fixed(tokens=in_all, assumed=in_tools)

    async def look_up(self) -> None:
        """Have the model's tokenizer, if it comes within the time that is set, and ask for its limits; both once."""
        if not self._tokenizer_awaited:
            self._tokenizer_awaited = True
            await self.ahead.load_tokenizer()
            with self.lock:
                self._count_exactly()
        self.ahead.discover(self._resize)

    async def before_turn(self, tools: Sequence[Mapping[str, object]]) -> None:
        """Do what a turn with these tools, or later ones, will need of disk and models; its messages are taken in."""
        fixed_tokens = self.fixed(tools).tokens
        await self.providers.before_turn(self.session, fixed_tokens)
        await self.ahead.before_turn(self.session, fixed_tokens)

    def resume(self, state: State) -> None:
        """Go on from a state that was loaded.

        Raises:
            StateError: what a provider saved is damaged; nothing was changed.
        """
        self.go_on(state, self.providers.resumed(state))

    def go_on(self, state: State, providers: Providers) -> None:
        """Go on from a state, with its providers."""
        counter, window = self.counter, self.window
        window.calibrate(counter.calibration.resumed(state.calibration))
        self._made = counter, window, self._session(counter, window, state)
        self.providers = providers

    def branch(self, other: "Conversing") -> None:
        """Let another go on from here, under a name of its own."""
        session, window = self.session, self.window
        session.branches += 1
        name = branch_id(session.context_id, session.branches)
        other.window.resize(window.limit_tokens + self.given.config.reserve_tokens)
        state = replace(session.state, context_id=name, branches=0)
        other.go_on(state, self.providers.branch())
        other.session.can_recall(can=session.recalls)
        if payloads := session.conversation.history.payloads:
            other.session.take_in(payloads)

    async def aclose(self) -> None:
        """End what is still under way."""
        await self.providers.aclose()
        await self.ahead.aclose()

    def _count(self, text: str) -> int:
        """Tokens of a text; the counter would remember each."""
        return self.counter.count(text).tokens

    def _count_exactly(self) -> None:
        """Start again from the same state where something came before the tokenizer."""
        if self._made is None or self.counter.source != "estimate":
            return
        state, payloads = self.session.state, self.session.conversation.history.payloads
        counter, window = self._measures()
        self._made = counter, window, self._session(counter, window, state)
        if payloads:
            self.session.take_in(payloads)

    def _resize(self, window_tokens: int) -> None:
        """Later turns have this window."""
        with self.lock:
            self.window.resize(window_tokens)

    def _started(self) -> tuple[MessageCounter, Window, Session]:
        if self._made is None:
            counter, window = self._measures()
            self._made = counter, window, self._session(counter, window, State())
        return self._made

    def _measures(self) -> tuple[MessageCounter, Window]:
        given = self.given
        counter = MessageCounter.for_model(
            given.config.model, given.counter, own_name=given.host.own_name
        )
        if counter.source == "estimate" and given.counter is None:
            warnings.warn(
                "tokens are estimated, above the truth, since no tokenizer is at hand: await prepare, which fetches one, "
                'or pip install "autogen-context[fast]"',
                stacklevel=2,
            )
        return counter, window_of(given.config, counter)

    def _session(self, counter: MessageCounter, window: Window, state: State) -> Session:
        given, window.usage = self.given, state.usage
        around = Surroundings(
            host=given.host,
            counter=counter,
            window=window,
            budget=given.budget or budget_of(given.config),
            stash=originals_of(given.config, state.stash, given.original_store),
            memory=self.ahead.memory(),
            summaries=self.ahead.summaries(counter, state),
            advice=self.ahead.advice(state),
            clock=given.clock or time.time,
            cache_clock=given.clock,
            triggers=given.triggers,
        )
        self._asked_back = None
        state = state if state.context_id else replace(state, context_id=id_of(given.config))
        return Session(rules_of(given.config, given.triggers), around=around, state=state)
