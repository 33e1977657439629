"""Leave out of a text what later statements say otherwise.

Promise: pure. What goes are whole sentences of which a statement is no longer true; where that cannot be told, they stay.
"""

from collections.abc import Sequence

from autogen_context.compressor.passage import Passage, joined, passages_of
from autogen_context.ledger import Entry, Ledger
from autogen_context.ledger.ledger import replaces


def without_outdated(text: str, newer: Sequence[Entry]) -> str:
    """A text without what is outdated.

    Args:
        text: sentences, of whomever.
        newer: what was stated after them.
    """
    stated = Ledger().learn_text(text)
    overruling = [
        entry for entry in newer if any(replaces(entry, old, changes=False) for old in stated)
    ]
    if not overruling:
        return text
    return joined(p for p in passages_of(text) if not is_outdated(p, overruling))


def is_outdated(passage: Passage, newer: Sequence[Entry]) -> bool:
    """Whether a statement in it is made stale by a newer one."""
    stated = Ledger().learn_text(passage.text)
    return any(replaces(entry, old, changes=False) for entry in newer for old in stated)
