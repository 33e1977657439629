"""Five steps, the cheapest first: remove redundancy, compress examples, summarise sections, abstract details, keep core concepts.

Promise: what is stated and holds stands first, in a ledger. A step is done only when the ones before did not meet the target; what
is kept keeps its order and has no word that is not in the text but for marks. What has one of the caller's keywords goes last.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise
from math import log
from typing import NamedTuple

from autogen_context.compressor.concepts import (
    RULES,
    TOPIC,
    Concept,
    Holdings,
    Strategy,
    flattened,
    keywords_in,
    sense_of,
    weight_of,
    without,
)
from autogen_context.compressor.passage import AUTHORITY, Passage, Speaker, joined, passages_of
from autogen_context.compressor.shorten import CountText, excerpt
from autogen_context.language.phrases import phrases
from autogen_context.ledger import Entry, Ledger
from autogen_context.ledger.ledger import MARKER, speeches
from autogen_context.ledger.rendering import render

BORDER = "\n\n"  # between the ledger and the rest; a rendered ledger ends at its first empty line
STATED_FRACTION = 0.6  # of the target, for the statements; all of it where some would be left out
LEAST_CHARS = 8  # shorter ones (a brace, "else") say little by themselves, and may well come again
OPENING_CHARS = 80  # of a sentence, in which it says that it is an example
TELLING_WEIGHT = 1.5  # a concept of less (a name, a statement) may go with its sentence
ASIDE = re.compile(r" ?\([^()\n]{1,200}\)|[\u2013\u2014][^\u2013\u2014\n]{3,120}[\u2013\u2014]")
QUOTED = re.compile(r'("[^"\n]*"|\u201c[^\u201d\n]*\u201d|`[^`\n]*`)')
HOLLOW = re.compile(r"^[ \t]*,[ \t]*|,[ \t]*,|[ \t]+(?=[ \t,.;:!?])")  # what a phrase leaves behind
OPENING_WORTH = 1.0  # of the first passage of a section, and of the last of all
CENTRAL_WORTH = 2.0  # of a passage whose words are all as frequent as the most frequent one
CONCEPT_POWER = 0.75  # a row of ten numbers says less than ten sentences with one each
COST_BASE = 6  # tokens; of two short passages the shorter is not worth twice as much
COST_POWER = 0.7


class Source(NamedTuple):
    """What there is to compress: what is stated and holds, the rest in its order, and all but what no longer holds."""

    entries: tuple[Entry, ...]
    passages: list[Passage]
    current: list[Passage]


def read_source(text: str, keep: Sequence[str] = ()) -> Source:
    """What a text has to be compressed; a passage with a keyword stays beside its statements."""
    ledger, rest = reopened(text)
    passages = passages_of(rest)
    said_at = learn(ledger, passages)
    beside: list[Passage] = []
    current: list[Passage] = []
    for at, passage in enumerate(passages, 1):
        asked, holding = bool(keywords_in(passage.text, keep)), said_at.get(at)
        if asked or holding is None:
            current.append(passage)
            beside.append(passage)
        elif holding:
            current.append(passage)
            told = "\n".join(entry.text for entry in holding)
            says = sense_of(passage.text).concepts
            if passage.text.rstrip(" .") not in told and not all(map(Holdings(told).has, says)):
                beside.append(passage)
    return Source(tuple(ledger), beside, current)


def reopened(text: str) -> tuple[Ledger, str]:
    """The ledger that a text of ours opens with, and what follows it; an empty one and the text where it is not ours."""
    said = (part for part in speeches(text, "person") if text[part[1] : part[2]].strip())
    author, start, end = next(said, ("person", 0, len(text)))
    head, _, rest = text[start:end].lstrip(" \t").partition(BORDER)
    ledger = Ledger.read(head if AUTHORITY[author] else "", only_sure=True)
    return ledger, (rest + text[end:]).lstrip("\n") if len(ledger) else text


def learn(ledger: Ledger, passages: Sequence[Passage]) -> dict[int, list[Entry]]:
    """Have a ledger take in passages; for those that state something, by their positions from 1, what of it holds."""
    stating = {
        at: list[Entry]()
        for at, passage in enumerate(passages, 1)
        if passage.kind in {"sentence", "item"}
        and ledger.learn_text(passage.text, author=passage.speaker.author, position=at)
    }
    for entry in ledger:
        if entry.position in stating:
            stating[entry.position].append(entry)
    return stating


def without_outdated(text: str, newer: Sequence[Entry]) -> str:
    """A text without the sentences that statements which came after it replaced."""
    ledger, passages = Ledger(), passages_of(text)
    stating = learn(ledger, passages)
    for entry in newer:
        ledger.learn_text(entry.text, author=entry.author, position=len(passages) + 1)
    holding = {entry.position for entry in ledger}
    return joined(p for at, p in enumerate(passages, 1) if at not in stating or at in holding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a text may have in all, keywords to keep, and what stands before the passages, in its room already."""

    tokens: int
    count: CountText
    keep: Sequence[str]
    stated: str = ""

    @property
    def room(self) -> int:
        """What is left for passages, in tokens."""
        return self.tokens - self.count(self.stated) - 1

    def text(self, passages: Iterable[Passage]) -> str:
        """The statements and some passages."""
        return BORDER.join(filter(None, (self.stated, joined(passages))))

    def is_met(self, passages: Sequence[Passage]) -> bool:
        """Whether the text with these passages fits; all of it is counted only where the parts do."""
        parts = sum(self.count(passage.text) for passage in passages)
        return parts <= self.room + 1 and self.count(self.text(passages)) <= self.tokens

    def asks_for(self, passage: Passage) -> bool:
        """Whether a passage has one of the keywords."""
        return bool(self.keep) and bool(keywords_in(passage.text, self.keep))

    def cost(self, passages: Iterable[Passage]) -> int:
        """What passages cost, each with the opening of its turn and a line break, in tokens."""
        return sum(self.count(passage.written) + 1 for passage in passages)


class Scored(NamedTuple):
    """A passage, what it says that none before it says, its cost in tokens, and its worth for that."""

    passage: Passage
    fresh: tuple[Concept, ...]
    tokens: int
    score: float


def stepped(source: Source, target: Target) -> tuple[str, Strategy]:
    """What the first step leaves that meets the target, and which it was; empty where nothing fits."""
    asked = with_keywords(source.passages, target).values()
    room = max(0, target.tokens - target.cost(asked))
    rendering = render(source.entries, room_tokens=int(room * STATED_FRACTION), count=target.count)
    if rendering.left_out:
        rendering = render(source.entries, room_tokens=room, count=target.count)
    target, passages = replace(target, stated=rendering.text), source.passages
    for strategy, step in STEPS.items():
        passages = step(passages, target)
        if target.is_met(passages):
            return target.text(passages), strategy
    return "", "shorten"


def without_redundancy(passages: Sequence[Passage], _: Target) -> list[Passage]:
    """The passages without those that say what another says: what was said last by whoever has the most say stays."""
    said = [flattened(passage.text).rstrip(".,;:! ") for passage in passages]
    stays: dict[str, int] = {}
    for at, passage in enumerate(passages):
        before = passages[stays.setdefault(said[at], at)]
        if AUTHORITY[passage.speaker.author] >= AUTHORITY[before.speaker.author]:
            stays[said[at]] = at
    if any(MARKER.match(passage.text) for passage in passages):
        stays[said[0]] = 0  # else a line behind it may open the text, and with that a turn
    return [
        passage
        for at, passage in enumerate(passages)
        if stays[said[at]] == at or len(said[at]) < LEAST_CHARS or passage.kind == "heading"
    ]


def with_short_examples(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """The first of several examples stays, a mark counts the others."""
    listed = {
        below.section
        for above, below in pairwise(passages)
        if above.text.endswith(":") and "announces" in sense_of(above.text).labels
    }

    def is_example(passage: Passage) -> bool:
        if target.asks_for(passage) or passage.kind == "heading":
            return False
        if passage.kind != "sentence" or passage.text.endswith(":"):
            return passage.kind != "sentence" and passage.section in listed
        if "example" not in sense_of(passage.text).labels:
            return False
        found = phrases(TOPIC).find(passage.text[:OPENING_CHARS])
        return any(each.label == "example" and each.start == 0 for each in found)

    kept: list[Passage] = []
    for are_examples, row in groupby(passages, is_example):
        group = [*row]
        if are_examples and (others := len(group) - 1):
            mark = f"[… {others} more example{'s' * (others > 1)} …]"
            group = [group[0]._replace(text=f"{group[0].text} {mark}")]
        kept += group
    return kept


def with_fewer_sentences(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """Of the sentences that say nothing of their own those that say most, as far as there is room."""
    entries = scored(passages, target)
    kept = {
        at: passage
        for at, (passage, fresh, _, _) in entries.items()
        if passage.kind == "heading"
        or any(concept.weight >= TELLING_WEIGHT for concept in fresh)
        or target.asks_for(passage)
    }
    fill(kept, entries, target)
    return without_empty_headings([kept[at] for at in sorted(kept)])


def fill(kept: dict[int, Passage], entries: Mapping[int, Scored], target: Target) -> None:
    """Add to what is kept, by its place, what says most for its cost, as far as there is room."""
    left = target.room - target.cost(kept.values())
    for at, entry in sorted(entries.items(), key=lambda each: (-each[1].score, each[0])):
        if at not in kept and entry.tokens <= left:
            kept[at] = entry.passage
            left -= entry.tokens


def without_empty_headings(passages: Sequence[Passage]) -> list[Passage]:
    """The passages without headings that have nothing left below them."""
    below = [*(passage.kind for passage in passages[1:]), "heading"]
    pairs = zip(passages, below, strict=False)
    return [each for each, kind in pairs if each.kind != "heading" or kind != "heading"]


def with_few_details(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """Shorter sentences; headings, blocks and what has a keyword stay as they are."""
    stays = [p.kind in {"heading", "block"} or target.asks_for(p) for p in passages]
    return [
        passage if whole else passage._replace(text=abstracted(passage.text))
        for passage, whole in zip(passages, stays, strict=True)
    ]


def abstracted(sentence: str) -> str:
    """A sentence without asides that say nothing of their own, and without fillers; what is quoted stays."""
    if "filler" not in sense_of(sentence).labels and not ASIDE.search(sentence):
        return sentence

    def aside_or_nothing(aside: re.Match[str]) -> str:
        concepts = sense_of(aside.group()).concepts
        return "" if all(concept.kind == "statement" for concept in concepts) else aside.group()

    parts = QUOTED.split(sentence)
    for at in range(0, len(parts), 2):
        part = ASIDE.sub(aside_or_nothing, parts[at])
        fillers = [found for found in phrases(TOPIC).find(part) if found.label == "filler"]
        if part != parts[at] or fillers:
            parts[at] = HOLLOW.sub("", without(part, fillers))
    short = "".join(parts).strip()
    opens = sentence[:1].isupper() and short[:2].isalpha() and short[0].islower()
    return short[0].upper() + short[1:] if opens else short or sentence


def core_of(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """What has the keywords, and the passages that say most for what they cost."""
    kept = with_keywords(passages, target)
    fill(kept, scored(passages, target), target)
    while True:
        core = without_empty_headings([kept[at] for at in sorted(kept)])
        if not core or target.is_met(core):
            return core
        kept.popitem()  # a whole may cost more than its parts


def with_keywords(passages: Sequence[Passage], target: Target) -> dict[int, Passage]:
    """For each keyword that the statements do not have the cheapest passage with it, or a part of it, by its place."""
    kept: dict[int, Passage] = {}
    for keyword in target.keep:
        having = [at for at, p in enumerate(passages) if keywords_in(p.text, [keyword])]
        if not having or keywords_in(f"{target.stated}\n{joined(kept.values())}", [keyword]):
            continue
        left = target.room - target.cost(kept.values())
        at = min(having, key=lambda at: (target.cost([passages[at]]), at))
        if target.cost([passages[at]]) <= left:
            kept[at] = passages[at]
        elif short := excerpt_with(passages[at].text, [keyword], left - 1, target.count):
            kept[at] = passages[at]._replace(text=short, lead="", speaker=Speaker())
    return kept


STEPS: dict[Strategy, Callable[[Sequence[Passage], Target], list[Passage]]] = {
    "remove redundancy": without_redundancy,
    "compress examples": with_short_examples,
    "summarise sections": with_fewer_sentences,
    "abstract details": with_few_details,
    "keep core concepts": core_of,
}


def scored(passages: Sequence[Passage], target: Target) -> dict[int, Scored]:
    """The passages with their worth: what each says first, how much its words are those of all, and whether it opens its section."""
    senses = [sense_of(passage.text) for passage in passages]
    frequency = Counter(chain.from_iterable(sense.about for sense in senses))
    common = {stem: log(1 + times) for stem, times in frequency.items()}
    most = max(common.values(), default=1)
    seen: set[Concept] = set()
    entries: dict[int, Scored] = {}
    for at, (passage, sense) in enumerate(zip(passages, senses, strict=True)):
        fresh = tuple(concept for concept in sense.concepts if concept not in seen)
        seen.update(fresh)
        opens = at in {0, len(passages) - 1} or passage.section != passages[at - 1].section
        central = sum(map(common.__getitem__, sense.about)) / (len(sense.about) + 2)
        worth = weight_of(fresh) ** CONCEPT_POWER
        worth += CENTRAL_WORTH * central / most + OPENING_WORTH * opens
        tokens = target.cost([passage])
        entries[at] = Scored(passage, fresh, tokens, worth / (tokens + COST_BASE) ** COST_POWER)
    return entries


def excerpt_with(text: str, keep: Sequence[str], room_tokens: int, count: CountText) -> str:
    """An excerpt from a rule or a keyword on, with the keyword in it where there is one; else from the beginning."""
    lower = text.lower()
    asked = next((word.lower() for word in keep if word.lower() in lower), "")
    at, short = lower.find(asked), ""
    rules = [found.start for found in phrases(TOPIC).find(text) if found.label in RULES]
    starts: set[int] = {*rules[:1], *([at] if asked else [])}
    for start in sorted(starts or {0}):
        short = excerpt(text, room_tokens=room_tokens, count=count, start=start)
        if asked in short.lower():
            return short
    bare = text[at : at + len(asked)]
    return bare if count(bare) <= room_tokens else short
