"""Five steps, the cheapest first: remove redundancy, compress examples, summarise sections, abstract details, keep core concepts.

Promise: valid statements come first, in a ledger. A step runs only if the previous ones did not meet the target. The result
keeps the order of the text and, except for marks, adds no words. Passages with one of the caller's keywords are dropped last.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, chain, groupby, pairwise
from math import log
from typing import NamedTuple

from autogen_context.compressor.concepts import (
    RULES,
    Concept,
    Holdings,
    Strategy,
    flattened,
    keywords_in,
    sense_of,
    weight_of,
    without,
)
from autogen_context.compressor.passage import AUTHORITY, authority_of, passages_of
from autogen_context.compressor.shorten import MORE, extract_of
from autogen_context.ledger import Entry, Ledger
from autogen_context.ledger.ledger import MARKER, speeches
from autogen_context.ledger.reader import READ_CHARS, cues_in, looked_at
from autogen_context.ledger.rendering import render
from autogen_context.text.fit import CountText, fit
from autogen_context.text.passage import Passage, Speaker, joined
from autogen_context.text.work import COMPRESSED_CHARS

BORDER = "\n\n"  # between the ledger, which has no empty line, and the rest
STATED_FRACTION = 0.6  # of the target, for statements; all of it if some would be left out
LEAST_CHARS = 8  # shorter passages in ASCII (a brace, "else") may repeat
OPENING_CHARS = 80  # of a sentence that are searched for an example phrase
LABEL_SIGNS = re.compile("[:\u2013\u2014\n]| - ")
STATING = (  # every statement that stays has one of these cues, or a label
    *("forbid", "oblige", "limit", "if", "prefer", "person", "decide", "aim", "manner"),
    *("lasting", "sets", "is", "becomes", "lead", "interjection", "recast"),
    *("withdraw", "withdrawn", "no_longer", "not_but", "instead"),
)
# Lighter concepts (a name, a statement) may be dropped with their sentence.
INFORMATIVE_WEIGHT = 1.5
FIELD = re.compile(r"([^\W\d][\w .-]{0,39}?) ?[:=] ?\S+")
RECORDS = 3  # lines with the same field's name
ASIDE = re.compile(r" ?\([^()\n]{1,200}\)|[\u2013\u2014][^\u2013\u2014\n]{3,120}[\u2013\u2014]")
QUOTED = re.compile(r'("[^"\n]*"|\u201c[^\u201d\n]*\u201d|`[^`\n]*`)')
HOLLOW = re.compile(r"^[ \t]*,[ \t]*|,[ \t]*,|[ \t]+(?=[ \t,.;:!?])")  # left by a removed phrase
OPENING_VALUE = 1.0  # of the first passage of a section and the last of all
CENTRAL_VALUE = 2.0  # of a passage with only the most frequent words
CONCEPT_POWER = 0.75  # ten numbers in a row count less than ten sentences with one each
COST_BASE = 6  # tokens added to each cost, to limit the advantage of short passages
COST_POWER = 0.7
LONGEST = 10_000  # characters of an excerpt
KEYWORD_CHARS = 300  # from a keyword on, of the part of a long text that is not read otherwise


class Stated(NamedTuple):
    """What a text states: its valid statements, the passages with more than these, and all passages that are not outdated."""

    entries: tuple[Entry, ...]
    passages: list[Passage]
    current: list[Passage]


class SourceText:
    """A text to compress: cut into passages once, and read for its statements where these are needed.

    Attributes:
        text: the text.
        keep: keywords to keep.
        unread_chars: characters in the middle of a long text that are not read.
        passages: its passages, except those of a rendered ledger at its start.
        concepts: the distinct concepts of what is read of it, the keywords that it contains first.
    """

    def __init__(self, text: str, keep: Sequence[str] = ()) -> None:
        self.text, self.keep = text, keep
        read = within_work(text, keep)
        self.unread_chars = max(0, len(text) - len(read))
        self._ledger, rest = reopened(read)
        self.passages = passages_of(rest)
        all_passages = chain(passages_of(read[: len(read) - len(rest)]), self.passages)
        said = chain.from_iterable(sense_of(passage.text).concepts for passage in all_passages)
        self.concepts = tuple(dict.fromkeys([*keywords_in(text, keep), *said]))

    @property
    def has_records(self) -> bool:
        """True if at least half of the passages are fields of records, as in settings and lists of data."""
        return len(fields_in(self.passages)) * 2 >= max(1, len(self.passages))

    @cached_property
    def stated(self) -> Stated:
        """What it states; passages with a keyword are kept in addition to their statements."""
        said_at = learn(self._ledger, self.passages)
        unstated: list[Passage] = []
        current: list[Passage] = []
        for at, passage in enumerate(self.passages, 1):
            asked, entries = bool(keywords_in(passage.text, self.keep)), said_at.get(at)
            if asked or entries is None:
                current.append(passage)
                unstated.append(passage)
            elif entries:
                current.append(passage)
                stated = "\n".join(entry.text for entry in entries)
                says = sense_of(passage.text).concepts
                if passage.text.rstrip(" .") not in stated and not all(
                    map(Holdings(stated).has, says)
                ):
                    unstated.append(passage)
        return Stated(tuple(self._ledger), unstated, current)


def within_work(text: str, keep: Sequence[str]) -> str:
    """Return a text as far as its words are weighed: of a long one the ends, and between them errors and keywords."""
    if len(text) <= 2 * COMPRESSED_CHARS:
        return text
    mark = f"[… {len(text) - 2 * COMPRESSED_CHARS} characters …]"
    read = extract_of(text, mark, 2 * COMPRESSED_CHARS)
    lower, said = text.lower(), read.lower()
    found = [lower.find(word.lower()) for word in keep if word.lower() not in said]
    asked = [text[at : at + KEYWORD_CHARS].partition("\n")[0] for at in found if at >= 0]
    return read.replace(mark, "\n".join([mark, *asked]), 1)


def reopened(text: str) -> tuple[Ledger, str]:
    """Split off the rendered ledger at the start of a text; an empty ledger and the whole text if there is none."""
    said = (part for part in speeches(text, "person") if text[part[1] : part[2]].strip())
    author, start, end = next(said, ("person", 0, len(text)))
    head, _, rest = text[start:end].lstrip(" \t").partition(BORDER)
    ledger = Ledger.read(head if AUTHORITY[author] else "", only_sure=True)
    return ledger, (rest + text[end:]).lstrip("\n") if len(ledger) else text


def learn(ledger: Ledger, passages: Sequence[Passage]) -> dict[int, list[Entry]]:
    """Learn from either end of each turn; return the still valid entries of each passage that states something, by position from 1."""
    fields = fields_in(passages)
    stating = {
        at: list[Entry]()
        for at in at_ends(passages)
        if (passage := passages[at - 1]).form.kind in {"sentence", "item"}
        and at - 1 not in fields
        and may_state(passage.text)
        and ledger.learn_text(passage.text, author=passage.form.speaker.author, position=at)
    }
    for entry in ledger:
        if entry.position in stating:
            stating[entry.position].append(entry)
    return stating


def at_ends(passages: Sequence[Passage]) -> Iterator[int]:
    """Yield the positions from 1 of the passages that the ledger would read of each turn."""
    for speaker, turn in groupby(enumerate(passages, 1), lambda each: each[1].form.speaker):
        row = list(turn)
        before = [0, *accumulate(len(passage.text) for _, passage in row)]
        for (at, _), chars in zip(row, before, strict=False):
            if min(chars, before[-1] - chars) < READ_CHARS[speaker.author]:
                yield at


def fields_in(passages: Sequence[Passage]) -> set[int]:
    """Return the positions of fields of records: lines such as ``port: 8001`` with a name that is repeated in the turn."""
    named = {
        at: (p.form.speaker, f[1])
        for at, p in enumerate(passages)
        if (f := FIELD.fullmatch(p.text))
    }
    times = Counter(named.values())
    return {at for at, name in named.items() if times[name] >= RECORDS}


def may_state(sentence: str) -> bool:
    """Return False if a sentence surely states nothing that stays: a fast check, since most plain sentences have no cue."""
    if not sentence[:1].isalpha() or LABEL_SIGNS.search(sentence):
        return True
    return not cues_in(sentence).keys().isdisjoint(STATING)


def without_outdated(text: str, newer: Sequence[Entry]) -> str:
    """Remove the sentences of a text that newer statements replaced."""
    ledger, passages = Ledger(), passages_of(text)
    stating = learn(ledger, passages)
    for entry in newer:
        ledger.learn_text(entry.text, author=entry.author, position=len(passages) + 1)
    in_force = {entry.position for entry in ledger}
    return joined(p for at, p in enumerate(passages, 1) if at not in stating or at in in_force)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The token limit, the keywords to keep, and the rendered statements, which come first and count towards the limit."""

    tokens: int
    count: CountText
    keep: Sequence[str]
    stated: str = ""

    @property
    def room(self) -> int:
        """Tokens left for passages."""
        return self.tokens - self.count(self.stated) - 1

    def text(self, passages: Iterable[Passage]) -> str:
        """Return the statements followed by passages."""
        return BORDER.join(filter(None, (self.stated, joined(passages))))

    def is_met(self, passages: Sequence[Passage]) -> bool:
        """Return True if the text with these passages fits; the whole is counted only if the parts fit."""
        parts = sum(self.count(passage.text) for passage in passages)
        return parts <= self.room + 1 and self.count(self.text(passages)) <= self.tokens

    def asks_for(self, passage: Passage) -> bool:
        """Return True if a passage contains one of the keywords."""
        return bool(self.keep) and bool(keywords_in(passage.text, self.keep))

    def cost(self, passages: Iterable[Passage]) -> int:
        """Return the tokens of passages, each with the opening of its turn and a line break."""
        return sum(self.count(passage.written) + 1 for passage in passages)


def stepped(source: SourceText, target: Target) -> tuple[str, Strategy]:
    """Run the steps until one meets the target; return the text and the step, an empty text if nothing fits."""
    entries, passages, _ = source.stated
    asked = with_keywords(passages, target).values()
    room = max(0, target.tokens - target.cost(asked))
    rendering = render(entries, room_tokens=int(room * STATED_FRACTION), count=target.count)
    if rendering.left_out:
        rendering = render(entries, room_tokens=room, count=target.count)
    target = replace(target, stated=rendering.text)
    for strategy, shorter in drafts(passages, target):
        if target.is_met(shorter):
            return target.text(shorter), strategy
    return "", "shorten"


def drafts(
    passages: Sequence[Passage], target: Target
) -> Iterator[tuple[Strategy, Sequence[Passage]]]:
    """Yield what each step leaves."""
    yield "remove redundancy", (passages := without_redundancy(passages))
    yield "compress examples", (passages := with_short_examples(passages, target))
    passages, fresh = ranked(with_headings(passages))
    fewer = {
        at: passage
        for at, passage in enumerate(passages)
        if any(concept.weight >= INFORMATIVE_WEIGHT for concept in fresh[at])
        or target.asks_for(passage)
    }
    fill(fewer, dict(enumerate(passages)), target)
    yield "summarise sections", in_order(fewer)
    for at, passage in fewer.items():
        if passage.form.kind not in {"heading", "block"} and not target.asks_for(passage):
            fewer[at] = passage._replace(text=abstracted(passage.text))
    yield "abstract details", in_order(fewer)
    yield "keep core concepts", core_of([fewer[at] for at in sorted(fewer)], target)


def without_redundancy(passages: Sequence[Passage]) -> list[Passage]:
    """Remove duplicate passages, keeping the last one by the author with the most authority."""
    said = [flattened(passage.text).rstrip(".,;:! ") for passage in passages]
    stays: dict[str, int] = {}
    for at, passage in enumerate(passages):
        before = passages[stays.setdefault(said[at], at)]
        if authority_of(passage) >= authority_of(before):
            stays[said[at]] = at
    if any(MARKER.match(passage.text) for passage in passages):
        stays[said[0]] = 0  # else a role marker in a passage could open the text
    return [
        passage
        for at, passage in enumerate(passages)
        if stays[said[at]] == at
        or (len(said[at]) < LEAST_CHARS and said[at].isascii())
        or passage.form.kind == "heading"
    ]


def with_short_examples(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """Keep the first of several examples, with a mark that counts the others."""
    listed = {
        below.form.section
        for above, below in pairwise(passages)
        if above.text.endswith(":") and "announces" in sense_of(above.text).labels
    }

    def is_example(passage: Passage) -> bool:
        kind = passage.form.kind
        if target.asks_for(passage) or kind == "heading":
            return False
        if kind != "sentence" or passage.text.endswith(":"):
            return kind != "sentence" and passage.form.section in listed
        if "example" not in sense_of(passage.text).labels:
            return False
        return looked_at(passage.text[:OPENING_CHARS]).opens("example") is not None

    kept: list[Passage] = []
    for are_examples, row in groupby(passages, is_example):
        group = [*row]
        if are_examples and (others := len(group) - 1):
            mark = f"[… {others} more example{'s' * (others > 1)} …]"
            group = [group[0]._replace(text=f"{group[0].text} {mark}")]
        kept += group
    return kept


def fill(kept: dict[int, Passage], passages: Mapping[int, Passage], target: Target) -> None:
    """Add the passages with the highest rank for what they cost to ``kept``, by position, each with its heading, as far as they fit."""
    kept |= {p.under: passages[p.under] for p in [*kept.values()] if p.under >= 0}
    costs = {at: target.cost([passages[at]]) for at in sorted(passages)}
    found = fit(
        (at for at in costs if passages[at].under != at),
        target.room - target.cost(kept.values()),
        cost=costs.__getitem__,
        score=lambda at: passages[at].rank / float((costs[at] + COST_BASE) ** COST_POWER),
        needs=lambda at: [passages[at].under] if passages[at].under >= 0 else (),
        taken=kept,
    )
    kept |= {at: passages[at] for at in found.kept}


def with_headings(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages under the headings above them, each heading under itself."""
    places = (at if p.form.kind == "heading" else -1 for at, p in enumerate(passages))
    above = accumulate(places, max)
    return [p._replace(under=under) for p, under in zip(passages, above, strict=True)]


def in_order(kept: Mapping[int, Passage]) -> list[Passage]:
    """Return what is kept in the order of the text, without headings of which nothing is kept."""
    used = {p.under for at, p in kept.items() if p.under != at}
    return [kept[at] for at in sorted(kept) if kept[at].under != at or at in used]


def abstracted(sentence: str) -> str:
    """Remove fillers and asides without concepts of their own from a sentence; quotations are unchanged."""
    if "padding" not in sense_of(sentence).labels and not ASIDE.search(sentence):
        return sentence

    def aside_or_nothing(aside: re.Match[str]) -> str:
        concepts = sense_of(aside.group()).concepts
        return "" if all(concept.kind == "statement" for concept in concepts) else aside.group()

    parts = QUOTED.split(sentence)
    for at in range(0, len(parts), 2):
        part = ASIDE.sub(aside_or_nothing, parts[at])
        fillers = cues_in(part).get("padding", ())
        if part != parts[at] or fillers:
            parts[at] = HOLLOW.sub("", without(part, fillers))
    short = "".join(parts).strip()
    if not any(map(str.isalnum, short)):
        return sentence  # it is nothing but fillers, and without them nothing but punctuation
    opens = sentence[:1].isupper() and short[:2].isalpha() and short[0].islower()
    return short[0].upper() + short[1:] if opens else short


def core_of(passages: Sequence[Passage], target: Target) -> list[Passage]:
    """Keep passages for the keywords, then those with the highest rank for what they cost."""
    passages = with_headings(passages)
    kept = with_keywords(passages, target)
    fill(kept, dict(enumerate(passages)), target)
    while True:
        core = in_order(kept)
        if not core or target.is_met(core):
            return core
        kept.popitem()  # the whole may cost more than the sum of its parts


def with_keywords(passages: Sequence[Passage], target: Target) -> dict[int, Passage]:
    """Return, by position, the cheapest passage (or a part of it) for each keyword missing from the statements."""
    kept: dict[int, Passage] = {}
    for keyword in target.keep:
        having = [at for at, p in enumerate(passages) if keywords_in(p.text, [keyword])]
        if not having or keywords_in(f"{target.stated}\n{joined(kept.values())}", [keyword]):
            continue
        left = target.room - target.cost(kept.values())
        at = min(having, key=lambda at: (target.cost([passages[at]]), at))
        if target.cost([passages[at]]) <= left:
            kept[at] = passages[at]
        elif short := excerpt(passages[at].text, [keyword], left - 1, target.count):
            form = passages[at].form._replace(lead="", speaker=Speaker())
            kept[at] = passages[at]._replace(text=short, form=form)
    return kept


def ranked(passages: Sequence[Passage]) -> tuple[list[Passage], list[tuple[Concept, ...]]]:
    """Rank passages by new concepts, how frequent their words are in the text, and if they open a section; return these concepts too."""
    senses = [sense_of(passage.text) for passage in passages]
    frequency = Counter(chain.from_iterable(sense.about for sense in senses))
    common = {stem: log(1 + times) for stem, times in frequency.items()}
    most = max(common.values(), default=1)
    seen: set[Concept] = set()
    found, news = list[Passage](), list[tuple[Concept, ...]]()
    for at, (passage, sense) in enumerate(zip(passages, senses, strict=True)):
        fresh = tuple(concept for concept in sense.concepts if concept not in seen)
        seen.update(fresh)
        section, before = passage.form.section, passages[at - 1].form.section
        opens = at in {0, len(passages) - 1} or section != before
        central = sum(map(common.__getitem__, sense.about)) / (len(sense.about) + 2)
        rank = weight_of(fresh) ** CONCEPT_POWER
        rank += CENTRAL_VALUE * central / most + OPENING_VALUE * opens
        found.append(passage._replace(rank=rank))
        news.append(fresh)
    return found, news


def excerpt(text: str, keep: Sequence[str], room_tokens: int, count: CountText) -> str:
    """Return as much of a text as fits from its first keyword or rule on: whole words if one fits, with marks if these do."""
    lower = text.lower()
    asked = next((word.lower() for word in keep if word.lower() in lower), "")
    found = {} if asked else cues_in(text)
    rules = [each.start for label in RULES for each in found.get(label, ())]
    start = min(rules, default=lower.find(asked))
    rest, before = text[start : start + LONGEST].strip(), f"{MORE} " if text[:start].strip() else ""

    def shown(end: int, lead: str, mark: str) -> str:
        return f"{lead}{rest[:end]}{mark if end < len(rest) else ''}"

    def cost(end: int, lead: str, mark: str) -> int:
        return count(shown(end, lead, mark))

    ends, end = range(1, len(rest) + 1), 0
    for lead, mark in ((before, MORE), ("", "")):
        end = bisect_right(ends, room_tokens, key=partial(cost, lead=lead, mark=mark))
        border = max(rest.rfind(" ", 0, end + 1), rest.rfind("\n", 0, end + 1))
        if border > 0 and end < len(rest):
            end = min(end, max(border, len(asked)))
        if end >= max(1, len(asked)):
            return shown(end, lead, mark)
    return rest[:end]
