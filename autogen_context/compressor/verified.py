"""Put a model's summary in the place of what it summarises, as far as it can be trusted.

Promise: a summary is used only if it is about its text and shorter. A sentence of it that names what is not in the text, carries
an instruction, or makes a rule of what nobody ruled is taken out; where that is most of it, the summary is refused. What people
ruled stands before it as it is, and so do facts that it lost; a value that it lost is put back where there is room. What a model
wrote counts as the assistant's words from then on. What is said of a fault tells nothing of either text. Linear time.
"""

import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from autogen_context.compressor.concepts import Concept, Holdings, flattened, sense_of
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

logger = logging.getLogger(__name__)

SUMMARY_FRACTION = 0.8  # of the room beside the rules; the rest for what the summary loses
LEAST_FRACTION = (
    0.25  # of the values that the extract keeps, by weight, that a summary has by itself
)
TOKENS_A_VALUE = 40  # of what was asked for; a summary with more values than one in so many is enough in any case
OWN_FRACTION = 0.5  # of the words of a summary, that must stand in its text
MOST_MENDED = 0.5  # of a summary; with more taken out the rest is not trusted either
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
    asked_tokens = max(1, int(room * SUMMARY_FRACTION))
    summary = await summarize(joined(shown), asked_tokens)
    text = joined(shown)
    if fault := fault_of(summary, text):
        raise CompletionFailed(fault)
    passages = mended(passages_of(summary), Evidence.of(text, shown))
    due = LEAST_FRACTION * telling_weight(extract.preserved_concepts)
    said = chain.from_iterable(sense_of(passage.text).concepts for passage in passages)
    if telling_weight(said) < min(due, asked_tokens / TOKENS_A_VALUE):
        raise CompletionFailed("it lost too much")
    return merged(passages, source, replace(target, stated=stated))


def telling_weight(concepts: Iterable[Concept]) -> float:
    """What values, numbers, dates, names and quoted words weigh, each once."""
    return weight_of({c for c in concepts if c.kind not in ("statement", "constraint", "negation")})


def is_ruled(entry: Entry) -> bool:
    """Whether a statement stands in the result whatever the summary says."""
    return entry.kind != "fact" and not entry.reported


def written(entries: Sequence[Entry], room: int, target: Target) -> str:
    """Some statements within a room."""
    return render(entries, room_tokens=max(0, room), count=target.count).text


def merged(passages: Sequence[Passage], source: Source, target: Target) -> str:
    """The statements, the summary, shortened where it has no room, and after it what it lost."""
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
    lost = list(losses(dict(enumerate(scored(source.passages, target))), has))
    for at, clause in sorted(lost, key=lambda each: each[1].speaker.author == "tool"):
        if cost_of(clause, target) <= left:
            back[at] = clause
            left -= cost_of(clause, target)
    return target.text([*passages, *(back[at] for at in sorted(back))])


def fault_of(summary: str, text: str) -> str:
    """Why a whole summary is not used, in words of ours; empty where there is no reason."""
    if not summary.strip():
        return "it is empty"
    if len(summary) >= len(text):
        return "it is not shorter than the text"
    return "" if is_of_the_text(summary, text) else "it is not about the text"


def is_of_the_text(summary: str, text: str) -> bool:
    """Whether most words of a summary are those of its text; those of a refusal, an error page and the like are not."""
    said = set(terms(summary))
    return len(said & set(terms(text))) >= OWN_FRACTION * len(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a text has, to hold the sentences of its summary against.

    Attributes:
        flat: the text on one line, in lower case.
        numbers: its numbers.
        words: the stems of its words.
        said: what people, the system and the assistant said in it.
    """

    flat: str
    numbers: frozenset[str]
    words: frozenset[str]
    said: Holdings

    @classmethod
    def of(cls, text: str, passages: Sequence[Passage]) -> "Evidence":
        """Of a text and its passages."""
        flat = flattened(text)
        said = [p for p in passages if AUTHORITY[p.speaker.author or "person"]]
        return cls(
            flat=flat,
            numbers=numbers_in(flat),
            words=frozenset(terms(text)),
            said=Holdings(joined(said)),
        )

    def fault_of(self, sentence: str) -> str:
        """Why a sentence of a summary is taken out; empty where there is no reason."""
        if INSTRUCTION.search(sentence):
            return "it carries instructions"
        if any(not self.has(c.kind, c.text) for c in sense_of(sentence).concepts):
            return "it names what is not in the text"
        read = Ledger().learn_text(sentence, author="person")
        rules = (entry.text for entry in read if entry.kind in RULES)
        if not all(self.said.tells_of(sense_of(rule).about) for rule in rules):
            return "it makes a rule of what is none"
        return ""

    def has(self, kind: str, named: str) -> bool:
        """Whether the text has what a summary names; a date or a number may be written in another way."""
        if kind in {"number", "date"}:
            return self.numbers >= numbers_in(named)
        if kind == "value":
            return named.lower() in self.flat
        return kind not in {"name", "quote"} or self.words.issuperset(terms(named))


def mended(summary: Sequence[Passage], evidence: Evidence) -> list[Passage]:
    """A summary without the sentences that cannot be trusted.

    Raises:
        CompletionFailed: these are most of it.
    """
    faults = [evidence.fault_of(passage.text) for passage in summary]
    kept = [passage for passage, fault in zip(summary, faults, strict=True) if not fault]
    lost = sum(len(p.text) for p, fault in zip(summary, faults, strict=True) if fault)
    if lost > MOST_MENDED * sum(len(passage.text) for passage in summary):
        raise CompletionFailed(Counter(filter(None, faults)).most_common(1)[0][0])
    if len(kept) < len(summary):
        numbers = {"sentences": len(summary), "taken_out": len(summary) - len(kept)}
        logger.info("a model's summary was mended", extra=numbers)
    return kept


def numbers_in(text: str) -> frozenset[str]:
    """The numbers of a text, without what parts thousands and without leading zeros."""
    return frozenset(number.lstrip("0") for number in DIGITS.findall(THOUSANDS.sub("", text)))
