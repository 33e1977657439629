"""Who goes along with a conversation: a seam.

Promise: a companion tells, and decides nothing. Whatever fails in it costs what it would have told, and nothing else.
"""

from collections.abc import Mapping
from typing import Protocol

from autogen_context.session.session import Session


class Companion(Protocol):
    """Knows something of the world beside the messages of one conversation: files, a project."""

    @property
    def name(self) -> str:
        """Under which its state is saved."""
        ...

    @property
    def state(self) -> Mapping[str, object]:
        """What another one needs to go on, as JSON data."""
        ...

    def read(self, session: Session) -> None:
        """Learn from the units that are new; the session has taken them in."""
        ...

    async def before_turn(self, session: Session, fixed_tokens: int) -> None:
        """Look at the world, within a time; the messages of the turn are taken in.

        Args:
            session: nobody else uses it meanwhile.
            fixed_tokens: what the request has beside messages.
        """
        ...

    def turn(self, session: Session, fixed_tokens: int) -> None:
        """Have what is known told in the turn that follows; never waits. Arguments as above."""
        ...

    def branch(self) -> "Companion":
        """Another one, for a conversation that goes on from here."""
        ...

    def resumed(self, state: Mapping[str, object], messages: int) -> "Companion":
        """Another one, for a conversation whose state was loaded.

        Args:
            state: what one of this name saved.
            messages: how many there were then.

        Raises:
            KeyError: it is damaged, as with the next two.
            TypeError: a field is of another type.
            ValueError: a field has no sense.
        """
        ...

    def doubt(self) -> None:
        """What was told may not stand any more: the conversation is another one."""
        ...

    async def aclose(self) -> None:
        """End what is still under way."""
        ...
