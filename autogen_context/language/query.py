"""Classify a query: about the past, a request for a summary, or neither. Learned from queries by many authors.

Promise: depends on the text alone; the same text has the same kind; the cost does not depend on its length. Each result names
the sentence that led to it. The weights are in ``gate.json``, which ``benchmarks/fit_gate.py`` writes.
"""

import re
from itertools import pairwise
from typing import Literal, NamedTuple

from autogen_context.language.linear import model
from autogen_context.language.reading import CODE, SILENT, WORD
from autogen_context.text.memo import remembered
from autogen_context.text.sentence import sentences_of
from autogen_context.text.work import ends_of

QueryKind = Literal["casual", "recall", "summary"]

END_CHARS = 600  # read from each end of a long text: people ask before or after what they paste
MOST_SENTENCES = 12  # read from each end
AS_LIKELY = 2.0  # log-odds below the sentence that asks most, within which another one asks as well
REASON_CHARS = 80  # of the sentence that a reason names
REMEMBERED = 64  # cached texts
SURE = 0.3  # log-odds of the past, from which wording alone decides
LIKELY = -1.0  # log-odds of a summary, of what asks for the past
QUESTION = re.compile(r"[?\uff1f\u037e\u061f][\s\"')\]\u201d\u00bb]*$")
QUOTED = re.compile(
    r"\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)"
    r"|\u201c[^\u201d\n]*\u201d|\u00ab[^\u00bb\n]*\u00bb|\u201e[^\u201c\n]*\u201c"
)
QUOTE = '"q"'  # stands for what is quoted, which may be somebody else's question
SHORT = 4  # characters of a word that is rather grammar than matter
STEM = 5  # characters by which forms of a word are alike
MOST_WORDS = 10  # counted, in steps of three
NEAR = 3  # short words ahead that a pair is made with
REASONS: dict[QueryKind, str] = {
    "recall": "asks for the past",
    "summary": "asks for the whole in short",
}


class Wording(NamedTuple):
    """What the wording of a query says, as log-odds of its strongest sentences.

    Attributes:
        recall: that it asks for the past in so many words, or for a summary.
        asks: that it asks for what a person or an agent may have said before, in so many words or not.
        asking: the sentences that ask most; what is said beside them is not asked for.
        kind: what it is by its wording alone.
        reason: why, in words.
    """

    recall: float
    asks: float
    asking: str
    kind: QueryKind
    reason: str


def kind_of(text: str) -> tuple[QueryKind, str]:
    """Return the kind of a query by its wording alone, and the reason in words.

    ``recall`` asks about something said or done before, ``summary`` for the whole in short, ``casual`` is anything else.
    """
    wording = wording_of(text)
    return wording.kind, wording.reason


def wording_of(text: str) -> Wording:
    """Read the wording of a query in any language that the model has seen."""
    return wording_of_ends(ends_of(text, END_CHARS))


@remembered(REMEMBERED)
def wording_of_ends(text: str) -> Wording:
    """Read a shortened query; cached, since a turn asks several times."""
    learned, verdicts = model("gate"), dict[QueryKind, str]()
    sentences = asked_sentences(text) or [""]
    found = [learned.scores(query_terms(sentence)) for sentence in sentences]
    recalls, asks, summaries = zip(*found, strict=True)
    for sentence, recall, summary in zip(sentences, recalls, summaries, strict=True):
        if recall > SURE:
            verdicts.setdefault("summary" if summary > LIKELY else "recall", sentence)
    most = max(asks)
    asking = [each for each, odds in zip(sentences, asks, strict=True) if odds >= most - AS_LIKELY]
    other: QueryKind = "summary" if "summary" in verdicts else "casual"
    kind: QueryKind = "recall" if "recall" in verdicts else other
    reason = "nothing in it asks for the past"
    if kind in verdicts:
        reason = f'{REASONS[kind]}: "{verdicts[kind][:REASON_CHARS]}"'
    return Wording(max(recalls), most, " ".join(asking), kind, reason)


def asked_sentences(text: str) -> list[str]:
    """Return the sentences of a text that may ask, without what it quotes; of a text in quotation marks those in them."""
    text = text.strip()
    text = text[1:-1] if QUOTED.fullmatch(text) else QUOTED.sub(QUOTE, text)
    found = [sentence for part in sentences_of(text) if (sentence := part.strip())]
    return (
        found
        if len(found) <= 2 * MOST_SENTENCES
        else found[:MOST_SENTENCES] + found[-MOST_SENTENCES:]
    )


def query_terms(sentence: str) -> frozenset[str]:
    """Return what the model sees of a sentence: words, pairs, and the pattern that its short words and endings make."""
    found = WORD.findall(sentence[:END_CHARS].replace("\u2019", "'"))
    found = ["0" * min(len(w), SHORT) if w.isdigit() else w for w in found]
    words = [word.casefold() for word in found]
    shape = ["^", *(shape_of(word, at) for at, word in enumerate(found)), "$"]
    terms = {*words, *map(" ".join, pairwise(["^", *words, "$"]))}
    terms.update(word[:STEM] + "*" for word in words if len(word) > STEM)
    terms.update(f"={a} {b}" for a, b in pairwise(shape))
    terms.update(f"={a} {b} {c}" for a, b, c in zip(shape, shape[1:], shape[2:], strict=False))
    short = [(i, w) for i, w in enumerate(words) if len(w) <= STEM and w[0].isalpha()]
    for n, (i, word) in enumerate(short):
        terms.update(f"{word}..{other}" for j, other in short[n + 1 : n + 1 + NEAR] if j - i > 1)
    opening = words[0] if words else ""
    terms.update(f"{opening}>>{w}" for w in words[1:] if len(w) <= SHORT and w[0].isalpha())
    stripped = sentence.strip()
    spoken = sum(word not in SILENT for word in words)
    terms.add(f"#words {min(MOST_WORDS, spoken // 3)}")
    terms.add(f"#end {'' if stripped[-1:].isalnum() else stripped[-1:]}")
    terms.update(["#code"] if CODE.search(stripped) else [])
    terms.update(["#small"] if stripped[:1].islower() else [])
    return frozenset(terms)


def shape_of(word: str, at: int) -> str:
    """Return a short word as it is, a name as a name, any other as its ending."""
    lower = word.casefold()
    if len(lower) <= SHORT or "'" in lower:
        return lower
    return "~N" if word[0].isupper() and at else f"~{lower[-2:]}"


def is_question(sentence: str) -> bool:
    """Whether a sentence ends with a question mark."""
    return QUESTION.search(sentence) is not None
