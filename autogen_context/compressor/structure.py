"""Compress what has a structure by what it is: JSON, logs, traces, diffs, results of searches, tables, code, pages.

Promise: nothing is lost where the target can be met without; of what is cut, errors, both ends and what is to be kept stay
before the rest, and a line in square brackets stands wherever something went. What people say has no such structure, be it a
transcript, prose, or notes with times or numbers before each line.
"""

import re

from autogen_context.compressor.arrival.json_text import minified
from autogen_context.compressor.arrival.kinds import reducer_for
from autogen_context.compressor.arrival.lines import Room
from autogen_context.compressor.concepts import Strategy, keywords_in
from autogen_context.compressor.passage import is_transcript
from autogen_context.compressor.steps import Target

MARK = re.compile(r"\[…[^\[\]]*…\]")  # where something went
STATING_FRACTION = 0.1  # of the lines: where so many state something, they are somebody's words
LIKE_NOTES = frozenset({"log", "code", "table"})  # what notes may look like
BY_STRUCTURE: frozenset[Strategy] = frozenset({"tighten structure", "cut structure"})
OF_WORDS = frozenset({"prose", "output"})  # kinds whose lines are words


def structured(text: str, target: Target, *, statements: int) -> tuple[str, Strategy] | None:
    """A text with a structure within a target, and how it got there; ``None`` where it has none, or cannot get there.

    Args:
        text: any text.
        target: what it may have.
        statements: how many a ledger finds in it.
    """
    reducer = None if is_transcript(text) else reducer_for(text)
    if reducer is None or reducer.kind in OF_WORDS:
        return None
    states = statements > STATING_FRACTION * (text.count("\n") + 1)
    if states and reducer.kind in LIKE_NOTES:
        return None
    for tighten in (minified, reducer.tighten) if reducer.kind == "json" else (reducer.tighten,):
        tight = tighten(text)
        if target.count(tight) <= target.tokens:
            return tight, "tighten structure"
    wanted = frozenset(word.lower() for word in target.keep)
    short = reducer.cut(text, Room(tokens=target.tokens, count=target.count, wanted=wanted))
    says = MARK.sub("", short).strip() and target.count(short) <= target.tokens
    holds = len(keywords_in(short, target.keep)) == len(keywords_in(text, target.keep))
    return (short, "cut structure") if says and holds else None
