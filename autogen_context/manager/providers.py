"""The context providers of one conversation, called before and during each turn.

Promise: if a provider fails or times out, only its notices are lost, and one warning is logged. The saved state of a
provider that is absent is preserved.
"""

import asyncio
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from autogen_context.errors import StateError
from autogen_context.manager.parts import Setup
from autogen_context.messages.message import Message
from autogen_context.messages.segment import Unit
from autogen_context.view.decision import Candidate
from autogen_context.view.notice import (
    NOTHING,
    BeginsProvider,
    ContextProvider,
    Notice,
    Notices,
    ProviderTurn,
    ProviderUpdate,
    RemembersProvider,
    SavedProvider,
)

if TYPE_CHECKING:  # imported only when used
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext

LONGEST_WAIT_S = 12.0  # per provider; those of this package have shorter timeouts
FAILED = "a context provider failed; its notices are skipped"
TIMED_OUT = "a context provider timed out; it is not called again"
PLACE_TAKEN = "another context provider has the place behind the system prompt"

Saved = Mapping[str, Mapping[str, object]]
ToRefresh = tuple[ContextProvider, ProviderTurn]

_LOGGER = logging.getLogger(__name__)


class Providers:
    """The providers of one conversation, and the part of its index that has its units as each of them knows them."""

    def __init__(self, each: Iterable[ContextProvider] = (), others: Saved | None = None) -> None:
        self.each = tuple(each)
        self.others: Saved = others or {}
        self.units: list[Unit] = []
        self._known: dict[str, int] = {}  # number of units each provider has seen
        self._given_up: set[str] = set()  # timed out
        self._warned: set[tuple[str, str]] = set()
        self._fronting = ""  # provider that owns the place after the system prompt
        self._saved = [each for each in self.each if isinstance(each, SavedProvider)]
        self._begin = {
            each.name: each.begin for each in self.each if isinstance(each, BeginsProvider)
        }

    @property
    def state(self) -> Saved:
        """State to save, by provider name; called in a turn."""
        own = dict[str, Mapping[str, object]]()
        for each in self._saved:
            with self._guard(each):
                own[each.name] = each.state
        return {**self.others, **own}

    def begun(self, turn: ProviderTurn) -> list[ToRefresh]:
        """Return the providers to refresh before a turn, each with the turn as passed to it; called in a turn.

        What one of them needs of the conversation is read here, so that it may wait while others have their turn.
        """
        begun: list[ToRefresh] = []
        for each in self.each:
            if each.name in self._given_up:
                continue
            begun.append((each, own := self._turn_for(each, turn)))
            if begin := self._begin.get(each.name):
                with self._guard(each):
                    begin(own)
        return begun

    async def before_turn(self, begun: Iterable[ToRefresh]) -> None:
        """Let each provider refresh its information, with a timeout; one that times out is not called again."""
        for each, turn in begun:
            try:
                async with asyncio.timeout(LONGEST_WAIT_S):
                    await each.before_turn(turn)
            except TimeoutError:
                self._given_up.add(each.name)
                self._warn(each, TIMED_OUT)
            except Exception as error:  # noqa: BLE001 - a provider must not fail the turn
                self._warn(each, FAILED, error)

    def updates(self, turn: ProviderTurn) -> Iterator[tuple[str, ProviderUpdate]]:
        """Yield what each provider reports, with its name; only the first that offers a preamble owns its place."""
        for each in self.each:
            update = NOTHING
            with self._guard(each):
                update = each.turn(self._turn_for(each, turn))
            if update == NOTHING:
                continue
            if update.preambles:
                self._fronting = self._fronting or each.name
                if self._fronting != each.name:
                    self._warn(each, PLACE_TAKEN)
                    update = replace(update, preambles=())
            yield each.name, update

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

    def observe(self, turn: ProviderTurn) -> None:
        """Have each provider that remembers read what is new."""
        for each in self.each:
            if isinstance(each, RemembersProvider):
                with self._guard(each):
                    each.observe(self._turn_for(each, turn))

    def forget(
        self, messages: Sequence[Message], query: str = "", *, is_asked: bool
    ) -> tuple[list[str], list[str]]:
        """Have each provider that remembers forget messages, and what has a text.

        Returns the ids of what was forgotten, and of these those that are deleted later.
        """
        ids, later = list[str](), list[str]()
        for each in self.each:
            if isinstance(each, RemembersProvider):
                with self._guard(each):
                    found, is_done = each.forget(messages, query, is_asked=is_asked)
                    ids += found
                    later += () if is_done else found
        return ids, later

    async def aclose(self) -> None:
        """Close every provider with resources to release; an error of one is raised when all are closed."""
        async with AsyncExitStack() as closing:
            for each in reversed(self._saved):
                closing.push_async_callback(each.aclose)

    def _turn_for(self, provider: ContextProvider, turn: ProviderTurn) -> ProviderTurn:
        """Return the turn to pass to a provider, and note how many units it has seen."""
        known = self._known.get(provider.name, 0)
        self._known[provider.name] = len(turn.units)
        return replace(turn, known=known)

    def add(self, at: int, candidate: Candidate) -> None:
        """Read the next unit, or another system prompt."""
        self.units[at : at + 1] = [candidate.unit]

    def truncate(self, units: int) -> int:
        """Forget all units after the first ones; those in their place are new to every provider."""
        del self.units[units:]
        self._known = {name: min(units, known) for name, known in self._known.items()}
        return units

    @contextmanager
    def _guard(self, provider: ContextProvider) -> Generator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - as above
            self._warn(provider, FAILED, error)

    def _warn(
        self, provider: ContextProvider, message: str, error: Exception | None = None
    ) -> None:
        if (provider.name, message) not in self._warned:
            self._warned.add((provider.name, message))
            _LOGGER.warning(message, exc_info=error, extra={"provider": provider.name})


def reported(
    notices: Notices,
    name: str,
    update: ProviderUpdate,
    *,
    position: int,
    shows: Callable[[str], bool],
) -> tuple[Notices, list[str]]:
    """Return the notices after what a provider reported, and the texts of those that are news."""
    news: list[str] = []
    for notice in update.notices:
        if notice.topic != "file" or shows(notice.key):
            before = notices
            notices = notices.put(replace(of_provider(name, notice), position=position))
            news += [notice.text] if before.due != notices.due else []
    for notice in update.withdrawn:
        notices = notices.withdraw(of_provider(name, notice).name, notice.text)
    return notices, news


def of_provider(name: str, notice: Notice) -> Notice:
    """Return a provider's notice on one line, with the provider's name in its key; other topics stay unchanged."""
    if notice.topic != "provider":
        return notice
    text, news = " ".join(notice.text.split()), " ".join(notice.news.split())
    return replace(notice, key=f"{name}: {notice.key}", text=text, news=news)


def providers_of(setup: Setup, count: Callable[[str], int]) -> Providers:
    """Return the configured providers of a conversation."""
    config, options, each = setup.config, setup.options, list[ContextProvider]()
    tracker = cast("FileChangeTracker | None", options.get("files"))  # as checked
    project = cast("ProjectContext | None", options.get("project"))
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
    memory = options.get("memory")
    if memory is not None:
        from autogen_context.memory.provider import MemoryProvider  # noqa: PLC0415 - as above

        each.append(MemoryProvider(memory, count=count, shorten=setup.compressor.shorten))
    return Providers([*each, *options.get("providers", ())])
