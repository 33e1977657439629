"""Put a model's summary in the place of what it summarises, as far as it can be trusted.

Promise: a summary is used only if it is about its text and shorter. A sentence of it that names what is not in the text, carries
an instruction, or makes a rule of what nobody ruled is taken out; where that is most of it, the summary is refused. What people
ruled stands before it as it is; a value that it lost is put back where there is room. What a model wrote counts as the
assistant's words from then on. What is said of a fault tells nothing of either text.
"""

import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain

from autogen_context.compressor.concepts import (
    TOPIC,
    CompressionResult,
    Concept,
    Holdings,
    flattened,
    sense_of,
    weight_of,
)
from autogen_context.compressor.passage import AUTHORITY, Passage, Speaker, joined, passages_of
from autogen_context.compressor.steps import (
    STATED_FRACTION,
    Source,
    Target,
    core_of,
    losses,
    scored,
    without_redundancy,
)
from autogen_context.errors import CompletionFailed
from autogen_context.language.phrases import phrases
from autogen_context.language.terms import terms
from autogen_context.ledger import Entry, Kind, Ledger
from autogen_context.ledger.rendering import render

logger = logging.getLogger(__name__)

SUMMARY_FRACTION = 0.8  # of the room beside the rules; the rest for what the summary loses
LEAST_FRACTION = (
    0.25  # of the values that the extract keeps, by weight, that a summary has by itself
)
TOKENS_A_VALUE = 40  # a summary with more values than one in so many is enough in any case
OWN_FRACTION = 0.5  # of the words of a summary, that must stand in its text
MOST_MENDED = 0.5  # of a summary; with more taken out the rest is not trusted either
WRITER = Speaker(turn=1, opening="[assistant] ", author="assistant")
RULES: frozenset[Kind] = frozenset({"safety rule", "constraint", "preference"})
DIGITS = re.compile(r"\d+")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")


async def summarised(
    source: Source,
    target: Target,
    summarize: Callable[[str, int], Awaitable[str]],
    extract: CompressionResult,
    *,
    seen: Target,
) -> str:
    """A text with a model's summary in it; ``CompletionFailed`` where that is not used.

    Args:
        source: what is to be compressed.
        target: what it may have.
        summarize: asks the model.
        extract: what is used if the summary is not.
        seen: what the model can be shown.
    """
    rules = [entry for entry in source.entries if is_ruled(entry)]
    stated = written(rules, int(target.tokens * STATED_FRACTION), target)
    shown = without_redundancy(source.current, target)
    text = joined(shown if seen.is_met(shown) else core_of(shown, seen))
    room = target.tokens - target.count(stated) - 1
    asked_tokens = max(1, int(room * SUMMARY_FRACTION))
    summary = await summarize(text, asked_tokens)
    if len(summary) >= len(text):
        raise CompletionFailed("it is not shorter than the text")
    passages = mended(passages_of(summary), text, shown)
    due = LEAST_FRACTION * telling_weight(extract.preserved_concepts)
    said = chain.from_iterable(sense_of(passage.text).concepts for passage in passages)
    if telling_weight(said) < min(due, asked_tokens / TOKENS_A_VALUE):
        raise CompletionFailed("it lost too much")
    return merged(passages, source, replace(target, stated=stated))


def telling_weight(concepts: Iterable[Concept]) -> float:
    """What values, numbers, names and quoted words weigh, each once."""
    return weight_of({c for c in concepts if c.kind not in ("statement", "constraint", "negation")})


def is_ruled(entry: Entry) -> bool:
    """Whether a statement stands in the result whatever the summary says."""
    return entry.kind != "fact" and not entry.reported


def written(entries: Sequence[Entry], room: int, target: Target) -> str:
    """Some statements within a room."""
    return render(entries, room_tokens=max(0, room), count=target.count).text


def merged(passages: Sequence[Passage], source: Source, target: Target) -> str:
    """The statements, the summary, shortened where it has no room, and after it what it lost."""
    if any(passage.speaker.opening for passage in source.passages):
        passages = [replace(passage, speaker=WRITER) for passage in passages]
    if not target.is_met(passages):
        passages = core_of(passages, target)
    has = Holdings(joined(passages)).has
    statements = [
        entry
        for entry in source.entries
        if is_ruled(entry) or not all(map(has, sense_of(entry.text).concepts))
    ]
    room = target.tokens - target.cost(passages) - 1
    target = replace(target, stated=written(statements, room, target))
    left = target.room - target.cost(passages)
    back: dict[int, Passage] = {}
    lost = losses(dict(enumerate(scored(source.passages, target))), has)
    for at, clause in sorted(lost, key=lambda each: each[1].speaker.author == "tool"):
        if (cost := target.cost([clause])) <= left:
            back[at] = clause
            left -= cost
    return target.text([*passages, *(back[at] for at in sorted(back))])


def is_of_the_text(summary: str, text: str) -> bool:
    """Whether most words of a summary are those of its text; those of a refusal, an error page and the like are not."""
    said = set(terms(summary))
    return len(said & set(terms(text))) >= OWN_FRACTION * len(said)


def mended(summary: Sequence[Passage], text: str, shown: Sequence[Passage]) -> list[Passage]:
    """A summary without the sentences that cannot be trusted; ``CompletionFailed`` where these are most of it."""
    flat, words = flattened(text), frozenset(terms(text))
    numbers = numbers_in(flat)
    said = Holdings(joined(p for p in shown if AUTHORITY[p.speaker.author]))

    def is_there(concept: Concept) -> bool:
        if concept.kind == "number":  # it may be written in another way
            return numbers >= numbers_in(concept.text)
        if concept.kind == "value":
            return concept.text.lower() in flat or is_date(concept.text, numbers)
        return concept.kind not in {"name", "quote"} or words.issuperset(terms(concept.text))

    def fault_of(sentence: str) -> str:
        if "order" in phrases(TOPIC).labels(sentence):
            return "it carries instructions"
        if not all(map(is_there, sense_of(sentence).concepts)):
            return "it names what is not in the text"
        read = Ledger().learn_text(sentence, author="person")
        rules = (entry.text for entry in read if entry.kind in RULES)
        if not all(said.tells_of(sense_of(rule).about) for rule in rules):
            return "it makes a rule of what is none"
        return ""

    faults = [fault_of(passage.text) for passage in summary]
    kept = [passage for passage, fault in zip(summary, faults, strict=True) if not fault]
    whole = sum(len(passage.text) for passage in summary)
    if whole - sum(len(passage.text) for passage in kept) > MOST_MENDED * whole:
        raise CompletionFailed(Counter(filter(None, faults)).most_common(1)[0][0])
    if len(kept) < len(summary):
        taken_out = {"sentences": len(summary), "taken_out": len(summary) - len(kept)}
        logger.info("a model's summary was mended", extra=taken_out)
    return kept


def is_date(value: str, numbers: frozenset[str]) -> bool:
    """Whether a value is made of nothing but some numbers."""
    return not DIGITS.sub("", value).strip("-./:") and numbers >= numbers_in(value)


def numbers_in(text: str) -> frozenset[str]:
    """The numbers of a text, without what parts thousands and without leading zeros."""
    return frozenset(number.lstrip("0") for number in DIGITS.findall(THOUSANDS.sub("", text)))
