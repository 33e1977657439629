"""The context providers of one conversation, asked at their two moments.

Promise: a provider that fails, or takes too long, costs what it would have told, and one warning. What was saved of one that
is not here is passed on.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from autogen_context.errors import StateError
from autogen_context.manager.injected import offered
from autogen_context.manager.parts import Given
from autogen_context.messages.piece import same_at_front
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.view.notice import (
    NOTHING,
    ContextProvider,
    Notice,
    PreambleOffer,
    ProviderTurn,
    SavedProvider,
    Told,
)

if TYPE_CHECKING:  # it makes these
    from autogen_context.manager.runner import TurnRunner

LONGEST_WAIT_S = 12.0  # for one provider; those of this package wait less

Saved = Mapping[str, Mapping[str, object]]

_LOGGER = logging.getLogger(__name__)


class Providers:
    """The providers of one conversation."""

    def __init__(self, each: Iterable[ContextProvider] = (), others: Saved | None = None) -> None:
        self.each = tuple(each)
        self._others: Saved = others or {}
        self._units: tuple[Unit, ...] = ()
        self._known: dict[str, int] = {}  # how many of them each provider was handed
        self._given_up: set[str] = set()  # took too long
        self._warned: set[tuple[str, str]] = set()
        self._fronting = ""  # whose preamble stands behind the system prompt

    @property
    def state(self) -> dict[str, Mapping[str, object]]:
        """What others need to go on, by the names of the providers."""
        own = {each.name: each.state for each in self.each if isinstance(each, SavedProvider)}
        return {**self._others, **own}

    async def before_turn(self, runner: "TurnRunner", fixed_tokens: int) -> None:
        """Have them look at the world, each within its time."""
        for each in self.each:
            if each.name in self._given_up:
                continue
            try:
                async with asyncio.timeout(LONGEST_WAIT_S):
                    await each.before_turn(self._turn_for(each, runner, fixed_tokens))
            except TimeoutError:
                self._given_up.add(each.name)
                self._warn(each, "a context provider took too long; it is not waited for any more")
            except Exception as error:  # noqa: BLE001 - a turn is worth more than what would be told
                self._warn(each, "a context provider failed; what it knows is not told", error)

    def turn(self, runner: "TurnRunner", fixed_tokens: int) -> None:
        """Have what they know told in the turn that follows."""
        for each in self.each:
            try:
                told = each.turn(self._turn_for(each, runner, fixed_tokens))
            except Exception as error:  # noqa: BLE001 - as above
                self._warn(each, "a context provider failed; what it knows is not told", error)
                continue
            if told != NOTHING:
                self._take(each, told, runner)

    def begin_anew(self) -> None:
        """The conversation may be another one."""
        self._known = {}

    def branch(self) -> "Providers":
        """Others, for a conversation that goes on from here."""
        return self.resumed(self.state)

    def resumed(self, states: Saved) -> "Providers":
        """Others, for a conversation whose state was loaded: those that saved something go on from it."""
        try:
            each = [
                one.resumed(states[one.name])
                if isinstance(one, SavedProvider) and one.name in states
                else one
                for one in self.each
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise StateError(
                f"the saved state is damaged: {type(error).__name__}: {error}"
            ) from error
        return Providers(each, states)

    async def aclose(self) -> None:
        """End what is still under way."""
        for each in self.each:
            if isinstance(each, SavedProvider):
                await each.aclose()

    def _turn_for(
        self, provider: ContextProvider, runner: "TurnRunner", fixed_tokens: int
    ) -> ProviderTurn:
        """What a provider is handed."""
        units = self._units_of(runner)
        known = self._known.get(provider.name, 0)
        self._known[provider.name] = len(units)
        return ProviderTurn(
            units=units,
            known=known,
            window_tokens=runner.kept.engine.window.limit_tokens,
            used_tokens=runner.kept.engine.used_tokens(runner.kept.view, fixed_tokens),
            room_tokens=runner.kept.engine.room(runner.kept.view).tokens,
            standing=runner.kept.view.notices.standing,
        )

    def _units_of(self, runner: "TurnRunner") -> tuple[Unit, ...]:
        """The units as they are now; where some of those before are gone, nobody knows what stands there instead."""
        known, candidates = self._units, runner.kept.engine.conversation.candidates
        same = len(known)
        if known and (same > len(candidates) or candidates[same - 1].unit is not known[-1]):
            same = same_at_front(known, [candidate.unit for candidate in candidates])
            self._known = {name: min(same, count) for name, count in self._known.items()}
        if same < max(len(known), len(candidates)):
            self._units = (*known[:same], *(each.unit for each in candidates[same:]))
        return self._units

    def _take(self, provider: ContextProvider, told: Told, runner: "TurnRunner") -> None:
        """Take in what a provider told; that files changed makes a version, as every change does."""
        view, engine = runner.kept.view, runner.kept.engine
        notices, changed = view.notices, list[str]()
        for notice in told.notices:
            candidates = engine.conversation.candidates
            if notice.topic != "file" or engine.notices.is_shown(notice.key, view, candidates):
                before = notices
                kept = replace(of_provider(provider, notice), position=view.decisions.stop)
                notices = notices.put(kept)
                changed += [notice.text] if before.due != notices.due else []
        for notice in told.withdrawn:
            notices = notices.withdraw(of_provider(provider, notice).name, notice.text)
        runner.kept.view = replace(view, notices=notices)
        if changed:
            runner.record(f"told by {provider.name}", "; ".join(changed))
        for offer in told.preambles:
            self._offer(provider, offer, runner)

    def _offer(self, provider: ContextProvider, offer: PreambleOffer, runner: "TurnRunner") -> None:
        """Have a preamble offered; there is one place for it, which the first provider that wants it has."""
        self._fronting = self._fronting or provider.name
        if self._fronting != provider.name:
            self._warn(provider, "another context provider has the place behind the system prompt")
            return
        newer = tuple(replace(notice, topic="project") for notice in offer.newer)
        runner.kept.view = offered(runner.kept.view, replace(offer, newer=newer))

    def _warn(
        self, provider: ContextProvider, message: str, error: Exception | None = None
    ) -> None:
        if (provider.name, message) not in self._warned:
            self._warned.add((provider.name, message))
            _LOGGER.warning(message, exc_info=error, extra={"provider": provider.name})


def of_provider(provider: ContextProvider, notice: Notice) -> Notice:
    """A notice as it is kept: on one line, and under a key that no other provider has."""
    if notice.topic != "provider":
        return notice
    key = f"{provider.name}: {notice.key}"
    return replace(
        notice, key=key, text=" ".join(notice.text.split()), news=" ".join(notice.news.split())
    )


def providers_of(given: Given, count: Callable[[str], int]) -> Providers:
    """The providers of a conversation, as they were asked for."""
    config, each = given.config, list[ContextProvider]()
    kinds = ToolKinds(named=config.tools)
    if given.files is not None:
        from autogen_context.project.file_changes import FilesProvider  # noqa: PLC0415 - for who asks

        each.append(FilesProvider(given.files, kinds))
    if given.project is not None:
        from autogen_context.project.provider import ProjectProvider  # noqa: PLC0415 - as above

        provider = ProjectProvider(
            given.project,
            kinds,
            fraction=config.project_fraction,
            renew_at_fraction=config.prepare_at_fraction,
            count=count,
        )
        each.append(provider)
    return Providers([*each, *given.providers])
