"""Put a model's summary in the place of what it summarises, if it can be trusted.

Promise: a summary passes only if it is about its text and shorter, names no value that is not there, carries no instruction,
and makes no rule of what is none. What people ruled stands before it as it is, and so do facts that it lost; a value that it
lost is put back where there is room. What a model wrote counts as the assistant's words from then on. What is said of a
fault tells nothing of either text. Linear time.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

from autogen_context.compressor.concepts import Holdings, concepts_of, flattened, sense_of
from autogen_context.compressor.passage import AUTHORITY, Passage, Speaker, joined, passages_of
from autogen_context.compressor.result import CompressionResult, weight_of
from autogen_context.compressor.source import Source
from autogen_context.compressor.steps import (
    STATED_FRACTION,
    Target,
    core_of,
    cost_of,
    losses,
    scored,
    without_redundancy,
)
from autogen_context.errors import CompletionFailed
from autogen_context.language.terms import terms
from autogen_context.ledger import Entry, Kind, Ledger
from autogen_context.ledger.rendering import render

SUMMARY_FRACTION = 0.8  # of the room beside the rules; the rest for what the summary loses
LEAST_FRACTION = (
    0.25  # of what the extract preserves, by weight, that a summary must hold by itself
)
OWN_FRACTION = 0.5  # of the words of a summary, that must stand in its text
LOST = "it lost too much"
WRITER = Speaker(turn=1, opening="[assistant] ", author="assistant")
RULES: frozenset[Kind] = frozenset({"safety rule", "constraint", "preference"})
DIGITS = re.compile(r"\d+")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|skip)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|all|any|your|system)\b"
    r".{0,40}\b(?:instructions?|prompts?|rules?|messages?|guidelines?|directions?|orders?|context)\b"
    r"|\byou are now (?:an?|the|in|free)\b|\b(?:new|updated|real|actual) (?:system )?(?:instructions?|prompts?|task) ?:"
    r"|\b(?:do not|don['\u2019]?t|never) (?:tell|inform|alert|mention (?:this|it) to) the user\b"
    r"|\breveal (?:your|the) (?:system )?(?:prompt|instructions?)\b|<\|?(?:im_start|system|endoftext)",
    re.IGNORECASE,
)


async def summarised(
    source: Source,
    target: Target,
    summarize: Callable[[str, int], Awaitable[str]],
    extract: CompressionResult,
) -> str:
    """A text with a model's summary in it.

    Args:
        source: what is to be compressed.
        target: what it may have.
        summarize: asks the model.
        extract: what is used if the summary is not.

    Raises:
        CompletionFailed: the summary is not used.
    """
    rules = [entry for entry in source.entries if is_ruled(entry)]
    stated = written(rules, int(target.tokens * STATED_FRACTION), target)
    room = target.tokens - target.count(stated) - 1
    shown = list(without_redundancy(source.current, target))
    summary = await summarize(joined(shown), max(1, int(room * SUMMARY_FRACTION)))
    if fault := fault_of(summary, shown):
        raise CompletionFailed(fault)
    held = filter(Holdings(summary).has, extract.preserved_concepts)
    if weight_of(held) < LEAST_FRACTION * weight_of(extract.preserved_concepts):
        raise CompletionFailed(LOST)  # what is put back would be all
    return merged(summary, source, replace(target, stated=stated))


def is_ruled(entry: Entry) -> bool:
    """Whether a statement stands in the result whatever the summary says."""
    return entry.kind != "fact" and not entry.reported


def written(entries: Sequence[Entry], room: int, target: Target) -> str:
    """Some statements within a room."""
    return render(entries, room_tokens=max(0, room), count=target.count).text


def merged(summary: str, source: Source, target: Target) -> str:
    """The statements, the summary, shortened where it has no room, and after it what it lost."""
    passages: Sequence[Passage] = passages_of(summary)
    if any(passage.speaker.author for passage in source.passages):
        passages = [replace(passage, speaker=WRITER) for passage in passages]
    if not target.is_met(passages):
        passages = core_of(passages, target)
    has = Holdings(joined(passages)).has
    statements = [
        entry
        for entry in source.entries
        if is_ruled(entry) or not all(map(has, sense_of(entry.text).concepts))
    ]
    cost = sum(cost_of(passage, target) for passage in passages)
    target = replace(target, stated=written(statements, target.tokens - cost - 1, target))
    left = target.room - cost
    back: dict[int, Passage] = {}
    for at, clause in losses(dict(enumerate(scored(source.passages, target))), has):
        if cost_of(clause, target) <= left:
            back[at] = clause
            left -= cost_of(clause, target)
    return target.text([*passages, *(back[at] for at in sorted(back))])


def fault_of(summary: str, source: Sequence[Passage]) -> str:
    """Why a summary is not used, in words of ours; empty where there is no reason.

    Args:
        summary: what a model answered.
        source: the passages that it was to summarise.
    """
    text = joined(source)
    faults: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("it is empty", lambda: not summary.strip()),
        ("it is not shorter than the text", lambda: len(summary) >= len(text)),
        ("it is not about the text", lambda: not is_of_the_text(summary, text)),
        ("it carries instructions", lambda: INSTRUCTION.search(summary) is not None),
        ("it names a value that is not in the text", lambda: any(invented(summary, text))),
        ("it makes a rule of what is none", lambda: any(unfounded(summary, source))),
    )
    return next((reason for reason, found in faults if found()), "")


def is_of_the_text(summary: str, text: str) -> bool:
    """Whether most words of a summary are those of its text; those of a refusal, an error page and the like are not."""
    said = set(terms(summary))
    return len(said & set(terms(text))) >= OWN_FRACTION * len(said)


def invented(summary: str, source: str) -> Iterator[str]:
    """Values, numbers and dates of a summary that its source has not; a date may be written in another way."""
    flat = flattened(source)
    numbers = numbers_in(flat)
    for concept in concepts_of(summary):
        if (concept.kind in {"number", "date"} and not numbers >= numbers_in(concept.text)) or (
            concept.kind == "value" and concept.text.lower() not in flat
        ):
            yield concept.text


def numbers_in(text: str) -> set[str]:
    """The numbers of a text, without what parts thousands and without leading zeros."""
    return {number.lstrip("0") for number in DIGITS.findall(THOUSANDS.sub("", text))}


def unfounded(summary: str, source: Sequence[Passage]) -> Iterator[str]:
    """Rules of a summary that nobody with a say gave: an assistant and a tool only report."""
    read = Ledger()
    read.learn_text(summary, author="person")
    said = [p for p in source if AUTHORITY[p.speaker.author or "person"]]
    tells_of = Holdings(joined(said)).tells_of
    rules = (entry.text for entry in read if entry.kind in RULES)
    yield from (rule for rule in rules if not tells_of(sense_of(rule).about))
