"""What an agent claims of its work: that it is done, that other work begins.

Promise: doubt, conditions, plans and questions claim nothing.
"""

from dataclasses import dataclass

from autogen_context.pipeline.trigger.spoken import clauses_of
from autogen_context.pipeline.trigger.subtask_signals import (
    DENIED,
    DONE,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What is claimed in a turn.

    Attributes:
        done: that work is done.
        reported: that something was done, in a report.
        planned: that it goes on.
        praised: that what was done before is good, in the first words.
        denied: that something is not as it should be, in the first words.
        elsewhere: that other work begins.
        next: what is done now.
    """

    done: bool
    reported: bool
    planned: bool
    praised: bool
    denied: bool
    elsewhere: bool
    next: bool


def claims_of(text: str) -> Claims:
    """What a text claims."""
    clauses = [clause for clause in clauses_of(text) if not clause.endswith(ASKED)]
    sure = [clause for clause in clauses if not DOUBT.search(clause)]
    return Claims(
        done=LAST_WORDS.search(text) is not None or any(map(DONE.search, sure)),
        reported=any(map(REPORTED.search, sure)),
        planned=any(map(PLANNED.search, clauses)),
        praised=PRAISE.match(text) is not None,
        denied=DENIED.search(text, 0, OPENING_CHARS) is not None,
        elsewhere=any(map(OTHER_WORK.search, clauses)),
        next=any(map(NOW.search, clauses)),
    )
