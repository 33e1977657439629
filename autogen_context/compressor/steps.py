"""Five steps, the cheapest first: remove redundancy, compress examples, summarise sections, abstract details, keep core concepts.

Promise: a step is done only when the ones before did not meet the target; what is kept keeps its order and has no word that is
not in the text but for marks that count what went. What has one of the caller's keywords goes last. The same input gives the
same text. Time grows with the text, and with sorting its passages.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log

from autogen_context.compressor.concepts import (
    RULE_WORD,
    Concept,
    flattened,
    keywords_in,
    sense_of,
)
from autogen_context.compressor.passage import (
    AUTHORITY,
    Passage,
    Speaker,
    joined,
    passages_of,
)
from autogen_context.compressor.result import Strategy, weight_of
from autogen_context.compressor.shorten import CountText, excerpt
from autogen_context.compressor.source import BORDER, Source
from autogen_context.compressor.wording import abstracted, terse
from autogen_context.ledger.rendering import render

STATED_FRACTION = 0.6  # of the target, for the statements; all of it where some would be left out
LEAST_CHARS = (
    8  # shorter ones (a brace, a number, "else") say little by themselves, and may well come again
)
EXAMPLE = re.compile(
    r"(?:as an? |another |one )?(?:for (?:example|instance)\b|e\.g\.|examples?\b|(?:as an )?illustration\b"
    r"|to illustrate\b|imagine\b|suppose\b|say,|consider (?:the case|a |an )|likewise\b|similarly\b)",
    re.IGNORECASE,
)
ANNOUNCED = re.compile(
    r"\b(?:examples?|e\.g\.|for instance|such as|like this|samples?)\b.{0,20}:$", re.IGNORECASE
)
ASIDE = re.compile(
    r" ?\((?:e\.g\.|for (?:example|instance)|such as)[^()\n]{0,200}\)", re.IGNORECASE
)
BLOCK_LINES = 12  # a block of more keeps its ends
BLOCK_HEAD, BLOCK_TAIL = 5, 3
TELLING_WEIGHT = 1.5  # a concept of less (a name, a statement) may go with its sentence
WHOLE_FRACTION = 0.75  # of the room, for whole notes; the rest for what would be lost
CLAUSE = re.compile(
    r"(?<=[;:]) |,? (?=(?:because|while|whereas|although|so that|which|but) )|(?<=,) (?=(?:and|then) )"
)
LEAST_WORDS = 3  # of a clause that a reader understands without the rest of its sentence
CORE_TRIES = 4  # what a whole costs is not quite the sum of what its parts cost

OPENING_WORTH = 1.0  # of the first passage of a section, and of the last of all
CENTRAL_WORTH = 2.0  # of a passage whose words are all as frequent as the most frequent one
CONCEPT_POWER = 0.75  # a row of ten numbers says less than ten sentences with one each
COST_BASE = 6  # tokens; of two short passages the shorter is not worth twice as much
COST_POWER = 0.7


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
        left = self.room
        for passage in passages:
            left -= self.count(passage.text)
            if left < -1:
                return False
        return self.count(self.text(passages)) <= self.tokens

    def asks_for(self, passage: Passage) -> bool:
        """Whether a passage has one of the keywords."""
        return bool(self.keep) and bool(keywords_in(passage.text, self.keep))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A passage and what is known of it.

    Attributes:
        passage: as it stands.
        fresh: what it says that none before it says.
        tokens: what it costs, the opening of its turn and a line break included.
        score: its worth for what it costs.
        asked_for: whether it has one of the keywords.
    """

    passage: Passage
    fresh: tuple[Concept, ...]
    tokens: int
    score: float
    asked_for: bool


def stepped(source: Source, target: Target) -> tuple[str, Strategy]:
    """What the first step leaves that meets the target, and which it was; empty where nothing fits."""
    target = with_statements(source, target)
    again = {saying(entry.text) for entry in source.entries}
    passages = [p for p in source.passages if target.asks_for(p) or saying(p.text) not in again]
    for strategy, step in STEPS.items():
        passages = list(step(passages, target))
        if target.is_met(passages):
            return target.text(passages), strategy
    return "", "shorten"


def with_statements(source: Source, target: Target) -> Target:
    """The target with the statements that hold, in their share of it, or in more where that keeps more."""
    asked = sum(reserved(keyword, source.passages, target) for keyword in target.keep)
    room = max(0, target.tokens - asked)
    rendering = render(source.entries, room_tokens=int(room * STATED_FRACTION), count=target.count)
    if rendering.left_out:
        rendering = render(source.entries, room_tokens=room, count=target.count)
    return replace(target, stated=rendering.text)


def reserved(keyword: str, passages: Sequence[Passage], target: Target) -> int:
    """What the cheapest clause with a keyword costs, in tokens; nothing where no passage has it."""
    clauses = (with_clauses([keyword], p) for p in passages if keywords_in(p.text, [keyword]))
    return min((cost_of(clause, target) for clause in clauses), default=0)


# 1. Remove redundancy.


def without_redundancy(passages: Sequence[Passage], _: Target) -> list[Passage]:
    """The passages without those that say what another says: what was said last by whoever has the most say stays."""
    sayings = [saying(passage.text) for passage in passages]
    say = [AUTHORITY[passage.speaker.author or "person"] for passage in passages]
    stays: dict[str, int] = {}
    for at, said in enumerate(sayings):
        if say[at] >= say[stays.setdefault(said, at)]:
            stays[said] = at
    return [
        passage
        for at, (passage, said) in enumerate(zip(passages, sayings, strict=True))
        if stays[said] == at or len(said) < LEAST_CHARS or passage.kind == "heading"
    ]


def saying(text: str) -> str:
    """The same for texts that say the same in the same words, whatever case, white space, articles and fillers."""
    return flattened(terse(" ".join(text.split()))).rstrip(".,;:! ")


# 2. Compress examples.


def with_short_examples(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """The first of several examples stays, a mark counts the others; a block of code keeps its ends."""
    kept: list[Passage] = []
    before, announced = "", -1  # the section in which examples are listed
    in_row, others = False, 0
    for passage in passages:
        if ANNOUNCED.search(before):
            announced = passage.section
        before = passage.text
        asked_for = target.asks_for(passage)
        is_example = not asked_for and gives_example(passage, announced)
        if is_example and in_row:
            others += 1
            continue
        kept[-1:] = [with_mark(last, others) for last in kept[-1:]]
        kept.append(passage if asked_for else without_middle(passage))
        in_row, others = is_example, 0
    kept[-1:] = [with_mark(last, others) for last in kept[-1:]]
    return kept


def gives_example(passage: Passage, announced: int) -> bool:
    """Whether a passage is an example: it says so and announces none, or it is listed where examples were announced."""
    if passage.kind == "sentence":
        return EXAMPLE.match(passage.text) is not None and not passage.text.endswith(":")
    return passage.kind in {"item", "block"} and passage.section == announced


def with_mark(passage: Passage, others: int) -> Passage:
    """An example that stands for others as well."""
    if not others:
        return passage
    noun = "example" if others == 1 else "examples"
    return replace(passage, text=f"{passage.text} [… {others} more {noun} …]")


def without_middle(passage: Passage) -> Passage:
    """A long block without its middle; another passage without examples in brackets."""
    if passage.kind != "block":
        return replace(passage, text=ASIDE.sub("", passage.text))
    lines = passage.text.split("\n")
    if len(lines) <= BLOCK_LINES:
        return passage
    gone = len(lines) - BLOCK_HEAD - BLOCK_TAIL
    kept = [*lines[:BLOCK_HEAD], f"[… {gone} lines …]", *lines[-BLOCK_TAIL:]]
    return replace(passage, text="\n".join(kept))


# 3. Summarise sections.


def with_fewer_sentences(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """Whole sentences that say nothing of their own go, the least central first, until the rest has room."""
    entries = scored(passages, target)
    spare = [at for at, entry in enumerate(entries) if says_nothing_new(entry)]
    kept = best(entries, target.room, among=spare)
    return without_empty_headings([passages[at] for at in sorted(kept)])


def says_nothing_new(entry: Scored) -> bool:
    """Whether a passage has no telling concept that none before it has."""
    telling = any(concept.weight >= TELLING_WEIGHT for concept in entry.fresh)
    return entry.passage.kind != "heading" and not telling and not entry.asked_for


def without_empty_headings(passages: Sequence[Passage]) -> list[Passage]:
    """The passages without headings that have nothing left below them."""
    following = [*passages[1:], None]
    return [
        passage
        for passage, below in zip(passages, following, strict=False)
        if passage.kind != "heading" or (below is not None and below.kind != "heading")
    ]


# 4. Abstract details.


def with_few_details(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """Shorter sentences; headings and blocks stay as they are."""
    return [p if p.kind == "heading" else reworded(p, abstracted, target) for p in passages]


def reworded(passage: Passage, change: Callable[[str], str], target: Target) -> Passage:
    """A passage in fewer words; itself where it is a block or that would cost a keyword."""
    if passage.kind == "block":
        return passage
    short = replace(passage, text=change(passage.text))
    kept = not target.asks_for(passage) or target.asks_for(short)
    return short if kept else passage


# 5. Keep core concepts.


def core_of(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """Notes of the passages that say most, and of the others the clauses with what would be lost."""
    notes = scored([reworded(passage, terse, target) for passage in passages], target)
    room = target.room
    for _ in range(CORE_TRIES):
        kept = chosen(notes, room, target)
        core = without_empty_headings([kept[at] for at in sorted(kept)])
        over = target.count(target.text(core)) - target.tokens
        if over <= 0:
            return core
        room -= over
    return []


def chosen(notes: Sequence[Scored], room: int, target: Target) -> dict[int, Passage]:
    """What has room, by its place: keywords, then whole notes, then clauses with what would be lost, then further notes."""
    kept = with_keywords(notes, room, target)
    left = room - sum(cost_of(passage, target) for passage in kept.values())

    def take(offered: Iterable[tuple[int, Passage]], *, spare: int = 0) -> None:
        nonlocal left
        for at, passage in offered:
            cost = cost_of(passage, target)
            if at not in kept and cost <= left - spare:
                kept[at] = passage
                left -= cost

    by_score = sorted(range(len(notes)), key=lambda at: -notes[at].score)
    whole = [(at, notes[at].passage) for at in by_score]
    take(whole, spare=int(room * (1 - WHOLE_FRACTION)))
    said = set(chain.from_iterable(sense_of(passage.text).concepts for passage in kept.values()))
    others = {at: notes[at] for at in by_score if at not in kept}
    take(losses(others, said.__contains__))
    take(whole)
    return kept


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


def with_keywords(notes: Sequence[Scored], room: int, target: Target) -> dict[int, Passage]:
    """For each keyword that the statements do not have the cheapest clause with it, by its place."""
    kept: dict[int, Passage] = {}
    for keyword in target.keep:
        having = [at for at, note in enumerate(notes) if keywords_in(note.passage.text, [keyword])]
        so_far = f"{target.stated}\n{joined(kept.values())}"
        if not having or keywords_in(so_far, [keyword]):
            continue
        clauses = {at: with_clauses([keyword], kept.get(at, notes[at].passage)) for at in having}
        at = min(having, key=lambda at: (cost_of(clauses[at], target), at))
        left = room - sum(cost_of(passage, target) for passage in kept.values())
        if at in kept or cost_of(clauses[at], target) <= left:
            kept[at] = notes[at].passage if at in kept else clauses[at]
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
        or (not is_block and sense_of(clause).denies)
    ]
    if is_block:
        return replace(passage, text="\n".join(kept)) if kept else passage
    short = " ".join(map(str.strip, kept)).rstrip(",;:")
    if len(short.split()) < LEAST_WORDS:
        return passage
    stop = passage.text[-1] if passage.text[-1] in ".!?" and short[-1] not in ".!?" else ""
    return replace(passage, text=short + stop)


STEPS: dict[Strategy, Callable[[Sequence[Passage], Target], Iterable[Passage]]] = {
    "remove redundancy": without_redundancy,
    "compress examples": with_short_examples,
    "summarise sections": with_fewer_sentences,
    "abstract details": with_few_details,
    "keep core concepts": core_of,
}


# What a passage is worth.


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
        asked_for = target.asks_for(passage)
        fresh = tuple(concept for concept in sense.concepts if concept not in seen)
        seen.update(fresh)
        opens = at in {0, len(passages) - 1} or passage.section != passages[at - 1].section
        central = sum(log(1 + frequency[stem]) for stem in sense.about) / (len(sense.about) + 2)
        worth = sum(concept.weight for concept in fresh) ** CONCEPT_POWER
        worth += CENTRAL_WORTH * central / most + OPENING_WORTH * opens
        tokens = cost_of(passage, target)
        score = worth / (tokens + COST_BASE) ** COST_POWER
        entries.append(
            Scored(passage=passage, fresh=fresh, tokens=tokens, score=score, asked_for=asked_for)
        )
    return entries


def cost_of(passage: Passage, target: Target) -> int:
    """What a passage costs with the opening of its turn and a line break, in tokens."""
    return target.count(passage.written) + 1


def best(entries: Sequence[Scored], room: int, *, among: Iterable[int] | None = None) -> set[int]:
    """Places of the entries that stay when the worst of those that may go do, until the rest has room."""
    kept = set(range(len(entries)))
    over = sum(entry.tokens for entry in entries) - room
    may_go = kept if among is None else among
    for at in sorted(may_go, key=lambda at: (entries[at].score, -at)):
        if over <= 0:
            break
        kept.remove(at)
        over -= entries[at].tokens
    return kept


# Where no step leaves anything.


def least_of(text: str, target: Target) -> str:
    """What fits of the passage that weighs most: from its keyword or its rule on, or from its beginning."""

    def weight(passage: Passage) -> float:
        concepts = [*keywords_in(passage.text, target.keep), *sense_of(passage.text).concepts]
        return max((concept.weight for concept in concepts), default=0.0)

    weightiest = max(passages_of(text), key=weight, default=Passage(text=text))
    return excerpt_with(weightiest.text, target.keep, target.tokens, target.count)


def excerpt_with(text: str, keep: Sequence[str], room_tokens: int, count: CountText) -> str:
    """An excerpt with a keyword in it where there is one, and with the negation before it where both have room."""
    lower = text.lower()
    rules = [match.start() for match in RULE_WORD.finditer(lower)]
    asked = [lower.find(keyword.lower()) for keyword in keep if keyword.lower() in lower]
    starts = sorted({*rules[:1], *asked[:1]} or {0})
    short = ""
    for start in starts:
        short = excerpt(text, room_tokens=room_tokens, count=count, start=start)
        if not asked or any(keyword.lower() in short.lower() for keyword in keep):
            break
    return short
