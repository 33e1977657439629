"""A text on its way to its target: the statements first, then what is left of the rest.

Promise: a draft is a value; each step makes a smaller one. What a draft costs is added up from its passages, and counted
whole only when it is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.compressor.counting import Tally
from autogen_context.compressor.material import BORDER
from autogen_context.compressor.passage import Passage, joined
from autogen_context.compressor.result import Strategy
from autogen_context.ledger import Ledger

STATED_SHARE = 0.6  # of the target, for the statements; all of it where some would be left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a text has become so far.

    Attributes:
        stated: the rendered ledger; empty where nothing is stated.
        passages: the rest.
        strategy: the step that made it.
    """

    stated: str
    passages: Sequence[Passage]
    strategy: Strategy

    @property
    def text(self) -> str:
        """The draft as a text."""
        return BORDER.join(filter(None, (self.stated, joined(self.passages))))


def stated_in(ledger: Ledger, *, target_tokens: int, tally: Tally) -> str:
    """The ledger in its share of the target, or in more of it where that keeps more."""
    room = int(target_tokens * STATED_SHARE)
    rendering = ledger.rendered(room_tokens=room, count=tally.tokens)
    if rendering.left_out:
        rendering = ledger.rendered(room_tokens=target_tokens, count=tally.tokens)
    return rendering.text
