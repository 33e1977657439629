"""What a sentence of a person is, and how likely it still matters much later: learned from sentences by many authors.

Promise: depends on the sentence alone, in linear time; no word of it is kept beyond the memo in use. The weights are in
``people.json``, which ``benchmarks/fit_people.py`` writes; docs/decisions/0031-people.md has how well they do.
"""

import re
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from autogen_context.language.linear import model, probability
from autogen_context.text.memo import remembered

SentenceKind = Literal[
    "rule", "limit", "preference", "fact", "decision", "correction", "task", "step", "talk", "back"
]
KINDS: tuple[SentenceKind, ...] = get_args(SentenceKind)
MATTERS = "matters"  # the head for whether it is needed much later
IN_FORCE = "in force"  # for a rule, a limit or a preference

READ_CHARS = 600  # of a sentence; what is longer is a paste
REMEMBERED = 8_192
MOST_WORDS = 10  # counted, in steps of three
MOST_NAMES = 3
WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+(?:['\u2019][^\W\d_]+)?|\d+|[?!:;,.\u3002\uff1f\uff01\uff0c]"
)
SILENT = frozenset(",.;\u3002\uff0c")
CODE = re.compile(r"[{}<>=|\\_]")
LONGEST_NUMBER = 4


class Reading(NamedTuple):
    """A sentence's probabilities: that it matters much later, and that it is a rule, limit or preference; and its likeliest kind."""

    matters: float
    in_force: float
    kind: SentenceKind


@remembered(REMEMBERED)
def reading_of(sentence: str) -> Reading:
    """Read a sentence of a person."""
    learned = model("people")
    found = dict(zip(learned.heads, learned.scores(terms_of(sentence)), strict=True))
    kind = max(KINDS, key=lambda each: found[each])
    return Reading(probability(found[MATTERS]), probability(found[IN_FORCE]), kind)


def terms_of(sentence: str) -> frozenset[str]:
    """Return what a model sees of a sentence: its words, adjacent pairs of them with both ends, its length and its form."""
    sentence = sentence[:READ_CHARS]
    found = [
        "0" * min(len(word), LONGEST_NUMBER) if word.isdigit() else word
        for word in WORD.findall(sentence.casefold().replace("\u2019", "'"))
    ]
    words = [word for word in found if word not in SILENT]
    stripped = sentence.strip()
    names = sum(word[:1].isupper() for word in stripped.split()[1:])
    form = [f"#words {min(MOST_WORDS, len(words) // 3)}", f"#names {min(MOST_NAMES, names)}"]
    form += ["#code"] if CODE.search(stripped) else []
    form += ["#digit"] if any(map(str.isdigit, stripped)) else []
    form += ["#small"] if stripped[:1].islower() else []
    form.append(f"#end {'' if stripped[-1:].isalnum() else stripped[-1:]}")
    return frozenset([*words, *map(" ".join, pairwise(["^", *found, "$"])), *form])
