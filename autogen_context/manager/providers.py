"""The context providers of one conversation, called before and during each turn.

Promise: if a provider fails or times out, only its notices are lost, and one warning is logged. The saved state of a
provider that is absent is preserved.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from autogen_context.errors import StateError
from autogen_context.manager.injected import offered
from autogen_context.manager.parts import Setup, project_of, tracker_of
from autogen_context.messages.piece import same_at_front
from autogen_context.messages.segment import Unit
from autogen_context.view.notice import (
    NOTHING,
    ContextProvider,
    Notice,
    PreambleOffer,
    ProviderTurn,
    ProviderUpdate,
    SavedProvider,
)

if TYPE_CHECKING:  # circular: it creates Providers
    from autogen_context.manager.runner import TurnRunner

LONGEST_WAIT_S = 12.0  # per provider; those of this package have shorter timeouts

Saved = Mapping[str, Mapping[str, object]]

_LOGGER = logging.getLogger(__name__)


class Providers:
    """The providers of one conversation."""

    def __init__(self, each: Iterable[ContextProvider] = (), others: Saved | None = None) -> None:
        self.each = tuple(each)
        self._others: Saved = others or {}
        self._units: tuple[Unit, ...] = ()
        self._known: dict[str, int] = {}  # number of units each provider has seen
        self._given_up: set[str] = set()  # timed out
        self._warned: set[tuple[str, str]] = set()
        self._fronting = ""  # provider that owns the place after the system prompt

    @property
    def state(self) -> dict[str, Mapping[str, object]]:
        """State to save, by provider name."""
        own = {each.name: each.state for each in self.each if isinstance(each, SavedProvider)}
        return {**self._others, **own}

    async def before_turn(self, runner: "TurnRunner") -> None:
        """Let each provider refresh its information, with a timeout; one that times out is not called again."""
        for each in self.each:
            if each.name in self._given_up:
                continue
            try:
                async with asyncio.timeout(LONGEST_WAIT_S):
                    await each.before_turn(self._turn_for(each, runner))
            except TimeoutError:
                self._given_up.add(each.name)
                self._warn(each, "a context provider timed out; it is not called again")
            except Exception as error:  # noqa: BLE001 - a provider must not fail the turn
                self._warn(each, "a context provider failed; its notices are skipped", error)

    def turn(self, runner: "TurnRunner") -> None:
        """Collect what each provider reports, for the turn that follows."""
        for each in self.each:
            try:
                told = each.turn(self._turn_for(each, runner))
            except Exception as error:  # noqa: BLE001 - as above
                self._warn(each, "a context provider failed; its notices are skipped", error)
                continue
            if told != NOTHING:
                self._take(each, told, runner)

    def begin_anew(self) -> None:
        """Treat all units as new to every provider, since the conversation may be another one."""
        self._known = {}

    def resumed(self, states: Saved) -> "Providers":
        """Return providers resumed from saved states; raise `StateError` if a state is damaged."""
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
        """Close every provider with resources to release."""
        for each in self.each:
            if isinstance(each, SavedProvider):
                await each.aclose()

    def _turn_for(self, provider: ContextProvider, runner: "TurnRunner") -> ProviderTurn:
        """Return the turn to pass to a provider, and note how many units it has seen."""
        units, engine, view = self._units_of(runner), runner.engine, runner.view
        known = self._known.get(provider.name, 0)
        self._known[provider.name] = len(units)
        room = engine.room(view)
        return ProviderTurn(
            units=units,
            known=known,
            window_tokens=engine.window.limit_tokens,
            used_tokens=room.used_tokens,
            room_tokens=room.tokens,
            standing=view.notices.standing,
        )

    def _units_of(self, runner: "TurnRunner") -> tuple[Unit, ...]:
        """Return the current units; units that replaced others count as new to every provider."""
        known, candidates = self._units, runner.engine.conversation.candidates
        same = len(known)
        if known and (same > len(candidates) or candidates[same - 1].unit is not known[-1]):
            same = same_at_front(known, [candidate.unit for candidate in candidates])
            self._known = {name: min(same, count) for name, count in self._known.items()}
        if same < max(len(known), len(candidates)):
            self._units = (*known[:same], *(each.unit for each in candidates[same:]))
        return self._units

    def _take(self, provider: ContextProvider, told: ProviderUpdate, runner: "TurnRunner") -> None:
        """Apply what a provider reported; changed notices are recorded as a version, as every change is."""
        view, engine = runner.view, runner.engine
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
        runner.view = replace(view, notices=notices)
        if changed:
            runner.record(f"told by {provider.name}", "; ".join(changed))
        for offer in told.preambles:
            self._offer(provider, offer, runner)

    def _offer(self, provider: ContextProvider, offer: PreambleOffer, runner: "TurnRunner") -> None:
        """Offer a preamble; only the first provider that offers one owns the place after the system prompt."""
        self._fronting = self._fronting or provider.name
        if self._fronting != provider.name:
            self._warn(provider, "another context provider has the place behind the system prompt")
            return
        newer = tuple(replace(notice, topic="project") for notice in offer.newer)
        runner.view = offered(runner.view, replace(offer, newer=newer))

    def _warn(
        self, provider: ContextProvider, message: str, error: Exception | None = None
    ) -> None:
        if (provider.name, message) not in self._warned:
            self._warned.add((provider.name, message))
            _LOGGER.warning(message, exc_info=error, extra={"provider": provider.name})


def of_provider(provider: ContextProvider, notice: Notice) -> Notice:
    """Return a provider's notice on one line, with the provider's name in its key; other topics stay unchanged."""
    if notice.topic != "provider":
        return notice
    key = f"{provider.name}: {notice.key}"
    return replace(
        notice, key=key, text=" ".join(notice.text.split()), news=" ".join(notice.news.split())
    )


def providers_of(setup: Setup, count: Callable[[str], int]) -> Providers:
    """Return the configured providers of a conversation."""
    config, options, each = setup.config, setup.options, list[ContextProvider]()
    tracker, project = tracker_of(options.get("files")), project_of(options.get("project"))
    if tracker is not None:
        from autogen_context.project.file_changes import FilesProvider  # noqa: PLC0415 - optional

        each.append(FilesProvider(tracker, setup.kinds))
    if project is not None:
        from autogen_context.project.provider import ProjectProvider  # noqa: PLC0415 - as above

        provider = ProjectProvider(
            project,
            setup.kinds,
            fraction=config.project_fraction,
            renew_at_fraction=config.prepare_at_fraction,
            count=count,
        )
        each.append(provider)
    return Providers([*each, *options.get("providers", ())])
