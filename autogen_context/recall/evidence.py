"""What the index holds of what a query asks for: out of sight, in sight, or nowhere.

Promise: pure; each search term of a query is looked up once. ``looks_back`` weighs the wording of a query with this evidence,
by weights that ``benchmarks/fit_gate.py`` writes to ``evidence.json``; each part of the sum has a name.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from math import log
from typing import Annotated

from pydantic import Field, TypeAdapter

from autogen_context.language.query import Wording, is_question, wording_of
from autogen_context.language.terms import terms
from autogen_context.prioritizer.attention import MOST_HOLDERS, LexicalIndex
from autogen_context.text.memo import remembered
from autogen_context.text.work import QUERY_CHARS, ends_of

REMEMBERED = 1_000  # texts in sight
RECENT_MESSAGES = 6  # that a question about the step at hand takes its words from
MOST_WEIGHT = 3.0  # of a sum of rarities that counts
MOST_NAME_WORDS = 3
MOST_WORDS = 12
MARKS = ".,:;!?()[]\"'"
IDENTIFIER = re.compile(r"(?=.{3})(?:[^\W\d].*\d|[/_@]|[a-z][A-Z])")
NAMES = re.compile(r"(?<![.!?:\n])\s+[\"'(]?([^\W\d_a-z]\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of a query's words.

    Attributes:
        features: numbers by name, most of them from 0 to 1.
        hidden: words of the query, as written, that only messages out of sight have; the rarest first.
        identifiers: those of them that name one particular thing.
    """

    features: Mapping[str, float]
    hidden: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceWeights:
    """How much each feature adds to the log-odds that a query looks back.

    Attributes:
        provenance: what they were fitted on.
        bias: the log-odds of a query without any.
        least: the log-odds from which the gate opens.
        least_asks: the wording's log-odds below which nothing opens it: a remark is none, whatever is known of its words.
        weights: by feature.
    """

    provenance: str
    bias: float
    least: float
    least_asks: float
    weights: Annotated[Mapping[str, float], Field(min_length=1)]


@cache
def evidence_weights() -> EvidenceWeights:
    """Read the weights of the package."""
    file = files("autogen_context.recall").joinpath("evidence.json")
    return TypeAdapter(EvidenceWeights).validate_json(file.read_bytes())


def looks_back(wording: Wording, evidence: Evidence) -> bool:
    """Whether a query needs what is out of sight, by its wording and by what is known of its words."""
    learned = evidence_weights()
    if wording.asks < learned.least_asks:
        return False
    found = weighed(wording, evidence)
    odds = sum(weight * found[name] for name, weight in learned.weights.items())
    return learned.bias + odds > learned.least


def weighed(wording: Wording, evidence: Evidence) -> dict[str, float]:
    """Return all that is weighed, by name."""
    found = dict(evidence.features)
    found["recall"], found["asks"] = wording.recall, wording.asks
    found["asks for hidden"] = wording.asks * found["hidden"]
    return found


@remembered(REMEMBERED)
def terms_in(text: str) -> frozenset[str]:
    """Return the search terms of a text in sight; cached, since it stays there."""
    return frozenset(terms(text))


def evidence_of(
    query: str, index: LexicalIndex, in_sight: Sequence[str], counts: Callable[[str, int], bool]
) -> Evidence:
    """Look up the words of a query.

    Args:
        query: what a person asks.
        index: of all messages before it.
        in_sight: the texts that the model reads before it, oldest first.
        counts: whether a term in a document of the index says something that is not in sight.
    """
    asked = frozenset(terms(wording_of(query).asking))
    query = ends_of(query, QUERY_CHARS)
    words = dict[str, str]()  # by term
    for word in query.split():
        words |= {term: word.strip(MARKS) for term in terms(word) if term not in words}
    names = {term for name in NAMES.findall(query) for term in terms(name)}
    names |= {term for term in words if any(map(str.isdigit, term))}
    sight = list(map(terms_in, in_sight))
    recent = frozenset[str]().union(*sight[-RECENT_MESSAGES:])
    scale = log(1 + len(index)) or 1.0
    sums = defaultdict[str, float](float)
    apart, together = defaultdict[int, float](float), defaultdict[int, float](float)
    visible_texts = [0.0] * len(sight)
    hidden = dict[str, float]()
    for term in words:
        at = index.documents_of(term)
        rarity = index.rarity_of(term) / scale
        sums["all"] += rarity
        is_seen = False
        for n, text in enumerate(sight):
            if term in text:
                is_seen = True
                visible_texts[n] += rarity
        if is_seen:
            sums["seen"] += rarity
            sums["recent"] += rarity if term in recent else 0.0
        elif documents := [n for n in islice(at, MOST_HOLDERS) if counts(term, n)]:
            hidden[term] = rarity
            for document in documents if term in asked else ():
                apart[document] += rarity
        elif term in names:
            sums["unknown names"] += 1
        for document in at if term in asked and len(at) <= MOST_HOLDERS else ():
            together[document] += rarity if counts(term, document) else 0.0
    whole = sums["all"] or 1.0
    wanted = {term: rarity for term, rarity in hidden.items() if term in asked}
    best = max(together.values(), default=0.0) / whole
    rarest = max(wanted.values(), default=0.0)
    most = max(apart.values(), default=0.0)
    features = {
        "question": float(is_question(query)),
        "hidden": sum(wanted.values()) / whole,
        "seen": sums["seen"] / whole,
        "recent": sums["recent"] / whole,
        "recent weight": min(MOST_WEIGHT, sums["recent"]),
        "rarest": rarest,
        "together": min(MOST_WEIGHT, most),
        "several": float(most > rarest),
        "hidden names": float(min(MOST_NAME_WORDS, len(names & wanted.keys()))),
        "unknown names": min(float(MOST_NAME_WORDS), sums["unknown names"]),
        "better out of sight": best - max(visible_texts, default=0.0) / whole,
        "words": min(MOST_WORDS, len(words)) / MOST_WORDS,
    }
    ranked = [words[term] for term in sorted(hidden, key=lambda term: -hidden[term])]
    identifiers = tuple(word for word in dict.fromkeys(ranked) if IDENTIFIER.search(word))
    return Evidence(features=features, hidden=tuple(dict.fromkeys(ranked)), identifiers=identifiers)
