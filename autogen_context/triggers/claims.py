"""What an agent claims of its work: that it is done, that other work begins.

Promise: doubt, conditions, plans and questions claim nothing.
"""

from functools import cached_property

from autogen_context.triggers.spoken import clauses_of
from autogen_context.triggers.subtask_signals import (
    DENIED,
    DONE,
    DONE_FIRST,
    DOUBT,
    LAST_WORDS,
    NOW,
    OTHER_WORK,
    PLANNED,
    PRAISE,
    REPORTED,
)

ASKED = ("?", "?)")
OPENING_CHARS = 300  # of a text, where what was done last is judged


class Claims:
    """What is claimed in a turn; each claim is looked for when it is asked for.

    Args:
        text: what the agent said.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._clauses = [clause for clause in clauses_of(text) if not clause.endswith(ASKED)]

    @property
    def done(self) -> bool:
        """That work is done."""
        first = any(map(DONE_FIRST.match, self._sure))
        return (
            first or LAST_WORDS.search(self._text) is not None or any(map(DONE.search, self._sure))
        )

    @property
    def reported(self) -> bool:
        """That something was done, in a report."""
        return any(map(REPORTED.search, self._sure))

    @property
    def planned(self) -> bool:
        """That it goes on."""
        return any(map(PLANNED.search, self._clauses))

    @property
    def praised(self) -> bool:
        """That what was done before is good, in the first words."""
        return PRAISE.match(self._text) is not None

    @cached_property
    def denied(self) -> bool:
        """That something is not as it should be, in the first words."""
        return DENIED.search(self._text, 0, OPENING_CHARS) is not None

    @property
    def elsewhere(self) -> bool:
        """That other work begins."""
        return any(map(OTHER_WORK.search, self._clauses))

    @property
    def next(self) -> bool:
        """What is done now."""
        return any(map(NOW.search, self._clauses))

    @cached_property
    def _sure(self) -> list[str]:
        return [clause for clause in self._clauses if not DOUBT.search(clause)]
