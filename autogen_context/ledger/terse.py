"""The same statement in fewer words.

Promise: every value stands as it stood, and what the shorter statement is about is what the longer one is about; where
shortening would change that, the longer form is given.
"""

import re
from functools import lru_cache

from autogen_context.ledger.cue import words
from autogen_context.ledger.english import FILLERS, LINKS, PADDING, TELEGRAPHED
from autogen_context.ledger.entry import Entry, Kind
from autogen_context.ledger.subject import subject_of
from autogen_context.ledger.values import values

LEVELS = 4
PIECE = re.compile(r"\S+")
WISHER = re.compile(
    r"^(?:i|we|(?:the )?(?:user|client|customer))(?:'d| would)?(?: really| also| much| strongly)* (?:wants?|prefers?|likes?|loves?|rather(?: have| get| see| stay)?|enjoys?|needs?|favou?rs?) ",
    re.IGNORECASE,
)
COPULA = re.compile(
    r"^(?P<subject>[^:;,]{2,60}?) (?:is|are|was|were|will be|equals) (?:now |set to )?(?P<value>(?!not\b).+)$",
    re.IGNORECASE,
)
SAID = re.compile(
    r"^(?:we|i)(?:'ve| have)?(?: just| all| both| now)? (?:agreed|decided|settled)(?: in the \w+)? (?:to|on|that) ",
    re.IGNORECASE,
)
LINKED = re.compile(
    r"\b(?:from\b.*\bto|prefer\w*|between|rather|instead|whether|of \d+|of which)\b", re.IGNORECASE
)
BOUND: dict[Kind, re.Pattern[str]] = {"preference": WISHER, "decision": SAID}


def forms(entry: Entry) -> tuple[str, ...]:
    """The statement in full, without fillers, as key and value, as a telegram; each at most as long as the one before."""
    return forms_of(entry.text, entry.kind)


@lru_cache(4_096)
def forms_of(full: str, kind: Kind) -> tuple[str, ...]:
    """The forms of a statement of a kind."""
    plain = faithful(without(full, words(FILLERS)), full)
    bare = faithful(BOUND[kind].sub("", plain, count=1), plain) if kind in BOUND else plain
    keyed = faithful(COPULA.sub(r"\g<subject>: \g<value>", bare), bare)
    short = faithful(without(keyed, words(TELEGRAPHED)), keyed)
    return full, plain, short, telegram(short, linked=kind == "preference")


def telegram(short: str, *, linked: bool) -> str:
    """The shortest that still says it: what is added without a value goes, and links where nothing hangs on them."""
    first, *rest = short.split("; ")
    bare = faithful(first, short) if rest and not values("; ".join(rest)) else short
    dense = faithful(without(bare, words(PADDING)), bare)
    if linked or LINKED.search(dense):  # to what, from what
        return dense
    return faithful(without(dense, words(LINKS)), dense)


def faithful(shorter: str, longer: str) -> str:
    """The shorter text if it still says the same of the same."""
    if not shorter or len(shorter) >= len(longer) or subject_of(shorter) != subject_of(longer):
        return longer
    kept = [value.text for value in values(longer)]
    return shorter if all(text in shorter for text in kept) else longer


def without(text: str, dropped: frozenset[str]) -> str:
    """The text without these words where they stand outside of values."""
    spans = [(value.start, value.end) for value in values(text)]
    kept = [
        piece.group()
        for piece in PIECE.finditer(text)
        if piece.group().lower() not in dropped
        or (piece.group().isupper() and len(piece.group()) > 1)
        or any(start <= piece.start() < end for start, end in spans)
    ]
    return " ".join(kept)
