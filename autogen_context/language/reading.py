"""What a sentence of a person is, and how likely it still matters much later: learned from sentences by many authors.

Promise: depends on the sentence alone, in linear time; no word of it is kept beyond the memo in use. The weights are in
``people.json`` and ``kinds.json``, which ``benchmarks/fit_people.py`` writes; docs/decisions/0033-people.md has how well they do.
"""

import re
from itertools import pairwise
from math import sqrt
from typing import Literal, NamedTuple, get_args

from autogen_context.language.linear import model, probability
from autogen_context.text.memo import remembered

SentenceKind = Literal["rule", "preference", "fact", "decision", "correction", "task", "other"]
KINDS: tuple[SentenceKind, ...] = get_args(SentenceKind)
MATTERS = "matters"  # the head for whether it is needed much later
IN_FORCE = "in force"  # for a rule, a limit or a preference

MATTERS_FACTOR = 0.7
READ_CHARS = 600  # of a sentence; what is longer is a paste
REMEMBERED = 8_192  # sentences
MOST_WORDS = 10  # counted, in steps of three
MOST_NAMES = 3  # counted
WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+(?:['\u2019][^\W\d_]+)?|\d+|[?!:;,.\u3002\uff1f\uff01\uff0c]"
)
SILENT = frozenset(",.;\u3002\uff0c")
CODE = re.compile(r"[{}<>=|\\_]")
LONGEST_NUMBER = 4  # digits; longer ones are alike


class Reading(NamedTuple):
    """What a sentence of a person is.

    Attributes:
        matters: probability that it is needed much later.
        in_force: probability that it is a rule, a limit or a preference.
        kind: its likeliest kind.
        corrects: how likely it corrects something, in log-odds.
    """

    matters: float
    in_force: float
    kind: SentenceKind
    corrects: float

    @property
    def worth(self) -> float:
        """How far it is worth its room, from 0 to 1: what may be a rule counts more than that it matters in another way."""
        return 1 - (1 - MATTERS_FACTOR * self.matters) * (1 - sqrt(self.in_force))


@remembered(REMEMBERED)
def reading_of(sentence: str) -> Reading:
    """Read a sentence of a person."""
    terms, learned, kinds = terms_of(sentence), model("people"), model("kinds")
    found = dict(zip(learned.heads, learned.scores(terms), strict=True))
    of_kind = dict(zip(KINDS, kinds.scores(terms), strict=True))
    return Reading(
        probability(found[MATTERS]),
        probability(found[IN_FORCE]),
        max(KINDS, key=of_kind.__getitem__),
        of_kind["correction"],
    )


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
