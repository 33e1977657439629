"""Compress what has a structure by what it is: JSON, logs, traces, diffs, results of searches, tables, code, pages.

Promise: nothing is lost where the target can be met without; of what is cut, errors, both ends and what is to be kept stay
before the rest, and a line in square brackets stands wherever something went. What people say has no such structure, be it a
transcript, prose, or notes with times or numbers before each line.
"""

import re
from collections.abc import Collection, Iterator

from autogen_context.compressor.arrival.json_text import minified
from autogen_context.compressor.arrival.recognise import reducer_for
from autogen_context.compressor.arrival.reducer import Reducer, Room
from autogen_context.compressor.counting import Tally
from autogen_context.compressor.passage import speaker_in
from autogen_context.compressor.result import Strategy

MARK = re.compile(r"\[…[^\[\]]*…\]")  # where something went
STATING_SHARE = 0.1  # of the lines: where so many state something, they are somebody's words
LIKE_NOTES = frozenset({"log", "code", "table"})  # what notes may look like
BY_STRUCTURE: frozenset[Strategy] = frozenset({"tighten structure", "cut structure"})
KINDS = frozenset(
    "binary json diff tests trace log html hits listing table code".split()  # noqa: SIM905 - reads as the list it is
)


def structured(
    text: str, *, target_tokens: int, tally: Tally, keep: Collection[str], statements: int
) -> tuple[str, Strategy] | None:
    """A text with a structure within a target, and how it got there; ``None`` where it has none, or cannot get there.

    Args:
        text: any text.
        target_tokens: what the result may have.
        tally: counts a text.
        keep: keywords to keep.
        statements: how many a ledger finds in it.
    """
    reducer = reducer_of(text, statements)
    if reducer is None:
        return None
    for tight in lossless(text, reducer):
        if tally.tokens(tight) <= target_tokens:
            return tight, "tighten structure"
    wanted = frozenset(word.lower() for word in keep)
    short = reducer.cut(text, Room(tokens=target_tokens, count=tally.tokens, wanted=wanted))
    says = bool(MARK.sub("", short).strip()) and tally.tokens(short) <= target_tokens
    return (short, "cut structure") if says else None


def reducer_of(text: str, statements: int) -> Reducer | None:
    """What knows the structure of a text, if it has one and nobody speaks in it."""
    if speaker_in(text.partition("\n")[0], turn=1):
        return None
    reducer = reducer_for(text)
    if reducer is None or reducer.kind not in KINDS:
        return None
    states = statements > STATING_SHARE * (text.count("\n") + 1)
    return None if states and reducer.kind in LIKE_NOTES else reducer


def lossless(text: str, reducer: Reducer) -> Iterator[str]:
    """Smaller forms that say the same, the one that is most like the text first."""
    if reducer.kind == "json":
        yield minified(text)
    yield reducer.tighten(text)
