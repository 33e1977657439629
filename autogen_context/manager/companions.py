"""Those who go along with one conversation, together.

Promise: they are what was asked for; each is loaded only then. What was saved of one that is not here is passed on.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from autogen_context.config.config import ContextConfig
from autogen_context.errors import StateError
from autogen_context.manager.wiring import rules_of
from autogen_context.session.session import Session
from autogen_context.manager.state import State

if TYPE_CHECKING:  # loaded for those who ask for it
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext
    from autogen_context.session.companion import Companion

Saved = Mapping[str, Mapping[str, object]]


class Companions:
    """The companions of one conversation; together they are used as one is.

    Args:
        each: they.
        others: what was saved of those that are not here.
    """

    def __init__(self, each: "tuple[Companion, ...]", others: Saved | None = None) -> None:
        self._each = each
        self._others: Saved = others or {}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._each)

    @property
    def state(self) -> dict[str, Mapping[str, object]]:
        """What others need to go on, by their names."""
        return {**self._others, **{companion.name: companion.state for companion in self._each}}

    def read(self, session: Session) -> None:
        """Learn from the units that are new."""
        for companion in self._each:
            companion.read(session)

    async def before_turn(self, session: Session, fixed_tokens: int) -> None:
        """Look at the world, each within its time."""
        for companion in self._each:
            await companion.before_turn(session, fixed_tokens)

    def turn(self, session: Session, fixed_tokens: int) -> None:
        """Have what is known told in the turn that follows."""
        for companion in self._each:
            companion.turn(session, fixed_tokens)

    def doubt(self) -> None:
        """What was told may not stand any more."""
        for companion in self._each:
            companion.doubt()

    def branch(self) -> "Companions":
        """Others, for a conversation that goes on from here."""
        return Companions(tuple(companion.branch() for companion in self._each), self._others)

    def resumed(self, state: State) -> "Companions":
        """Others, for a conversation whose state was loaded.

        Raises:
            StateError: what one of them saved is damaged.
        """
        try:
            each = tuple(self._resumed(companion, state) for companion in self._each)
        except (KeyError, TypeError, ValueError) as error:
            raise StateError(
                f"the saved state is damaged: {type(error).__name__}: {error}"
            ) from error
        return Companions(each, state.companions)

    async def aclose(self) -> None:
        """End what is still under way."""
        for companion in self._each:
            await companion.aclose()

    def _resumed(self, companion: "Companion", state: State) -> "Companion":
        """One that goes on from what one of its name saved; as it is where none did."""
        if companion.name not in state.companions:
            companion.doubt()
            return companion
        return companion.resumed(state.companions[companion.name], len(state.digests))


def companions_of(
    config: ContextConfig,
    *,
    files: "FileChangeTracker | None",
    project: "ProjectContext | None",
    count: Callable[[str], int],
) -> Companions:
    """The companions of a conversation, as they were asked for.

    Args:
        config: all settings.
        files: a folder; what changes of its files that the conversation shows is told.
        project: a folder whose context stands behind the system prompt.
        count: tokens of a text.
    """

    def each() -> "Iterator[Companion]":
        kinds = rules_of(config).kinds
        if files is not None:
            from autogen_context.manager.following import Following  # noqa: PLC0415 - as said

            yield Following(files, kinds)
        if project is not None:
            from autogen_context.manager.projecting import Means, Projecting  # noqa: PLC0415 - as said

            share, renew = config.project_fraction, config.prepare_at_fraction
            means = Means(kinds=kinds, share=share, renew_at_fraction=renew, count=count)
            yield Projecting(project, means)

    return Companions(tuple(each()))
