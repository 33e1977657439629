"""Five steps, the cheapest first: remove redundancy, compress examples, summarise sections, abstract details, keep core concepts.

Promise: what is stated and holds stands first, in a ledger; a text of ours is recognised by it and goes on. A step is done only
when the ones before did not meet the target; what is kept keeps its order and has no word that is not in the text but for
marks that count what went. What has one of the caller's keywords goes last.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
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
from autogen_context.compressor.passage import (
    AUTHORITY,
    Passage,
    Speaker,
    joined,
    passages_of,
)
from autogen_context.compressor.shorten import CountText, excerpt
from autogen_context.language.phrases import phrases
from autogen_context.ledger import Entry, Ledger
from autogen_context.ledger.ledger import speeches
from autogen_context.ledger.rendering import render

BORDER = "\n\n"  # between the ledger and the rest; a rendered ledger ends at its first empty line
STATED_FRACTION = 0.6  # of the target, for the statements; all of it where some would be left out
LEAST_CHARS = 8  # shorter ones (a brace, "else") say little by themselves, and may well come again
BLOCK_LINES = 12  # a block of more keeps its ends
BLOCK_HEAD, BLOCK_TAIL = 5, 3
TELLING_WEIGHT = 1.5  # a concept of less (a name, a statement) may go with its sentence
WHOLE_FRACTION = 0.75  # of the room, for whole passages; the rest for what would be lost
LEAST_WORDS = 3  # of a clause that a reader understands without the rest of its sentence
CLAUSE = re.compile(r"(?<=[;:]) ")
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
        asked = bool(keywords_in(passage.text, keep))
        if at not in said_at or said_at[at] or asked:
            current.append(passage)
            has = Holdings("\n".join(entry.text for entry in said_at.get(at, ()))).has
            if asked or not said_at.get(at) or not all(map(has, sense_of(passage.text).concepts)):
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
    """What a text may have.

    Attributes:
        tokens: in all.
        count: tokens of a text.
        keep: keywords to keep.
        stated: what stands before the passages, in its room already.
    """

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
    target = replace(target, stated=rendering.text)
    again = {saying(entry.text) for entry in source.entries}
    passages = [p for p in source.passages if target.asks_for(p) or saying(p.text) not in again]
    for strategy, step in STEPS.items():
        passages = step(passages, target)
        if target.is_met(passages):
            return target.text(passages), strategy
    return "", "shorten"


def without_redundancy(passages: Sequence[Passage], _: Target) -> list[Passage]:
    """The passages without those that say what another says: what was said last by whoever has the most say stays."""
    stays: dict[str, int] = {}
    for at, passage in enumerate(passages):
        before = passages[stays.setdefault(saying(passage.text), at)]
        if AUTHORITY[passage.speaker.author] >= AUTHORITY[before.speaker.author]:
            stays[saying(passage.text)] = at
    return [
        passage
        for at, passage in enumerate(passages)
        if stays[said := saying(passage.text)] == at
        or len(said) < LEAST_CHARS
        or passage.kind == "heading"
    ]


def saying(text: str) -> str:
    """The same for texts that say the same in the same words, whatever case, white space and stops."""
    return flattened(text).rstrip(".,;:! ")


def with_short_examples(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """The first of several examples stays, a mark counts the others; a block of code keeps its ends."""
    kept: list[Passage] = []
    before, announced = "", -1  # the section in which examples are listed
    others = -1  # examples behind the one that was kept last, where it is one
    for passage in [*passages, Passage(text="")]:
        if before.endswith(":") and "announces" in phrases(TOPIC).labels(before):
            announced = passage.section
        before = passage.text
        asked_for = target.asks_for(passage)
        listed = passage.kind in {"item", "block"} and passage.section == announced
        opens = passage.kind == "sentence" and not before.endswith(":") and is_example(before)
        if (listed or opens) and not asked_for and others >= 0:
            others += 1
            continue
        if others > 0:
            mark = f"[… {others} more example{'s' * (others > 1)} …]"
            kept[-1] = replace(kept[-1], text=f"{kept[-1].text} {mark}")
        others = 0 if (listed or opens) and not asked_for else -1
        kept.append(passage if asked_for else with_short_example(passage))
    return kept[:-1]


def is_example(text: str) -> bool:
    """Whether a text opens as an example does."""
    head = text.lstrip(" (")[:80]
    return any(f.label == "example" and f.start == 0 for f in phrases(TOPIC).find(head))


def with_short_example(passage: Passage) -> Passage:
    """A long block without its middle; another passage without examples in brackets."""
    if passage.kind != "block":
        return replace(passage, text=without_asides(passage.text, is_example))
    lines = passage.text.split("\n")
    if len(lines) <= BLOCK_LINES:
        return passage
    mark = f"[… {len(lines) - BLOCK_HEAD - BLOCK_TAIL} lines …]"
    return replace(passage, text="\n".join([*lines[:BLOCK_HEAD], mark, *lines[-BLOCK_TAIL:]]))


def without_asides(text: str, may_go: Callable[[str], bool]) -> str:
    """A text without what stands in brackets or between dashes and may go."""
    return ASIDE.sub(lambda aside: "" if may_go(aside.group()) else aside.group(), text)


def with_fewer_sentences(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """Whole sentences that say nothing of their own go, the least central first, until the rest has room."""
    entries = scored(passages, target)
    over = sum(entry.tokens for entry in entries) - target.room
    gone: set[int] = set()
    for at in sorted(range(len(entries)), key=lambda at: (entries[at].score, -at)):
        entry = entries[at]
        telling = any(concept.weight >= TELLING_WEIGHT for concept in entry.fresh)
        if telling or entry.passage.kind == "heading" or target.asks_for(entry.passage):
            continue
        if over <= 0:
            break
        gone.add(at)
        over -= entry.tokens
    return without_empty_headings([p for at, p in enumerate(passages) if at not in gone])


def without_empty_headings(passages: Sequence[Passage]) -> list[Passage]:
    """The passages without headings that have nothing left below them."""
    following = [*passages[1:], None]
    return [
        passage
        for passage, below in zip(passages, following, strict=False)
        if passage.kind != "heading" or (below is not None and below.kind != "heading")
    ]


def with_few_details(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """Shorter sentences; headings, blocks and what has a keyword stay as they are."""
    return [
        replace(p, text=abstracted(p.text))
        if p.kind in {"sentence", "item"} and not target.asks_for(p)
        else p
        for p in passages
    ]


def abstracted(sentence: str) -> str:
    """A sentence without asides that say nothing of their own, and without fillers; what is quoted stays."""
    parts = QUOTED.split(sentence)
    for at in range(0, len(parts), 2):
        part = without_asides(parts[at], says_nothing)
        fillers = [found for found in phrases(TOPIC).find(part) if found.label == "filler"]
        parts[at] = HOLLOW.sub("", without(part, fillers)) if part != parts[at] or fillers else part
    short = "".join(parts).strip()
    opens = sentence[:1].isupper() and short[:2].isalpha() and short[0].islower()
    return short[0].upper() + short[1:] if opens else short or sentence


def says_nothing(aside: str) -> bool:
    """Whether an aside has no concept but itself: no value, no name, no rule."""
    return all(concept.kind == "statement" for concept in sense_of(aside).concepts)


def core_of(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """The passages that say most, and of the others the clauses with what would be lost."""
    kept = with_keywords(passages, target)
    entries = scored(passages, target)
    left = target.room - target.cost(kept.values())

    def take(offered: Iterable[tuple[int, Passage]], *, spare: int = 0) -> None:
        nonlocal left
        for at, passage in offered:
            cost = target.cost([passage])
            if at not in kept and cost <= left - spare:
                kept[at] = passage
                left -= cost

    by_score = sorted(range(len(entries)), key=lambda at: -entries[at].score)
    whole = [(at, passages[at]) for at in by_score]
    take(whole, spare=int(target.room * (1 - WHOLE_FRACTION)))
    said = set(chain.from_iterable(sense_of(passage.text).concepts for passage in kept.values()))
    take(losses({at: entries[at] for at in by_score if at not in kept}, said.__contains__))
    take(whole)
    core = without_empty_headings([kept[at] for at in sorted(kept)])
    while core and not target.is_met(core):  # a whole may cost more than its parts
        kept.popitem()
        core = without_empty_headings([kept[at] for at in sorted(kept)])
    return core


def losses(
    entries: Mapping[int, Scored], held: Callable[[Concept], bool]
) -> Iterator[tuple[int, Passage]]:
    """Of some passages the clauses with concepts that are held nowhere, by their places; the weightiest first."""
    lost = {
        at: [c for c in entry.fresh if c.kind != "statement" and not held(c)]
        for at, entry in entries.items()
    }
    weights = {at: weight_of(found) / entries[at].tokens for at, found in lost.items()}
    for at in sorted(filter(lost.get, lost), key=lambda at: (-weights[at], at)):
        yield at, with_clauses([concept.text for concept in lost[at]], entries[at].passage)


def with_keywords(passages: Sequence[Passage], target: Target) -> dict[int, Passage]:
    """For each keyword that the statements do not have the cheapest clause with it, by its place."""
    kept: dict[int, Passage] = {}
    for keyword in target.keep:
        having = [at for at, p in enumerate(passages) if keywords_in(p.text, [keyword])]
        if not having or keywords_in(f"{target.stated}\n{joined(kept.values())}", [keyword]):
            continue
        clauses = {at: with_clauses(target.keep, passages[at]) for at in having}
        at = min(having, key=lambda at: (target.cost([clauses[at]]), at))
        left = target.room - target.cost(kept.values())
        if target.cost([clauses[at]]) <= left:
            kept[at] = clauses[at]
        elif short := excerpt_with(clauses[at].text, [keyword], left - 1, target.count):
            kept[at] = replace(clauses[at], text=short, lead="", speaker=Speaker())
    return kept


def with_clauses(wanted: Collection[str], passage: Passage) -> Passage:
    """The clauses of a passage that have one of some texts, or deny something; of a block the lines; all where that is too little."""
    is_block = passage.kind == "block"
    clauses = passage.text.split("\n") if is_block else CLAUSE.split(passage.text)
    flat = [flattened(text) for text in wanted]
    kept = [
        clause
        for clause in clauses
        if any(text in flattened(clause) for text in flat)
        or (not is_block and "negation" in sense_of(clause).rules)
    ]
    if is_block:
        return replace(passage, text="\n".join(kept)) if kept else passage
    short = " ".join(kept).rstrip(",;:")
    if len(short.split()) < LEAST_WORDS:
        return passage
    stop = passage.text[-1] if passage.text[-1] in ".!?" and short[-1] not in ".!?" else ""
    return replace(passage, text=short + stop)


STEPS: dict[Strategy, Callable[[Sequence[Passage], Target], list[Passage]]] = {
    "remove redundancy": without_redundancy,
    "compress examples": with_short_examples,
    "summarise sections": with_fewer_sentences,
    "abstract details": with_few_details,
    "keep core concepts": core_of,
}


def scored(passages: Sequence[Passage], target: Target) -> list[Scored]:
    """The passages with their worth for what they cost, same order.

    A passage is worth what it says that none before it says, how much its words are those of the whole text, and whether it
    opens its section.
    """
    senses = [sense_of(passage.text) for passage in passages]
    frequency = Counter(chain.from_iterable(sense.about for sense in senses))
    most = log(1 + max(frequency.values(), default=1))
    seen: set[Concept] = set()
    entries: list[Scored] = []
    for at, (passage, sense) in enumerate(zip(passages, senses, strict=True)):
        fresh = tuple(concept for concept in sense.concepts if concept not in seen)
        seen.update(fresh)
        opens = at in {0, len(passages) - 1} or passage.section != passages[at - 1].section
        central = sum(log(1 + frequency[stem]) for stem in sense.about) / (len(sense.about) + 2)
        worth = weight_of(fresh) ** CONCEPT_POWER
        worth += CENTRAL_WORTH * central / most + OPENING_WORTH * opens
        tokens = target.cost([passage])
        entries.append(Scored(passage, fresh, tokens, worth / (tokens + COST_BASE) ** COST_POWER))
    return entries


def least_of(text: str, target: Target) -> str:
    """What fits of the passage that weighs most: from its keyword or its rule on, or from its beginning."""

    def weight(passage: Passage) -> float:
        concepts = [*keywords_in(passage.text, target.keep), *sense_of(passage.text).concepts]
        return max((concept.weight for concept in concepts), default=0.0)

    weightiest = max(passages_of(text), key=weight, default=Passage(text=text))
    return excerpt_with(weightiest.text, target.keep, target.tokens, target.count)


def excerpt_with(text: str, keep: Sequence[str], room_tokens: int, count: CountText) -> str:
    """An excerpt with a keyword in it where there is one, and with the rule before it where both have room."""
    lower = text.lower()
    rules = [found.start for found in phrases(TOPIC).find(text) if found.label in RULES]
    asked = [lower.find(keyword.lower()) for keyword in keep if keyword.lower() in lower]
    short = ""
    for start in sorted({*rules[:1], *asked[:1]} or {0}):
        short = excerpt(text, room_tokens=room_tokens, count=count, start=start)
        if not asked or any(keyword.lower() in short.lower() for keyword in keep):
            break
    return short
