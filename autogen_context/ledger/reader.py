"""Read what a text states: rules, limits, decisions, aims, wishes, who somebody is, facts, and what is taken back.

Promise: pure; linear in the text, of which 20,000 characters are read, of an assistant 2,000 from either end. A statement
is what stands in the text between two places. Rules, limits and wishes are read from people and the system prompt only;
what is quoted, asked, supposed, asked to be done now, or told of the work at hand states nothing.

A few cues of a language say which kind it is; without any, a short sentence that names or numbers something is a fact, in
whatever language, with less confidence.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from autogen_context.ledger.entry import AUTHORITIES, Author, Kind, Statement
from autogen_context.ledger.quoting import unquoted
from autogen_context.ledger.sentence import Sentence, looked_at

READ_CHARS = 20_000
REPORTED_CHARS = 2_000  # of an assistant, from either end
LEAST_CHARS, MOST_CHARS = 3, 400  # of a sentence; longer ones are pasted, not said
FACT_CHARS = 240  # of a sentence without a cue
LABEL_WORDS = 4
LEAST_TERMS = 3  # of a fact without a cue
RECAST_WORDS = 5  # "make that 45 people"
STOP = re.compile(
    r"[.!?\u2026]+[\"'\u201d\u00bb)\]]*(?:\s+|$)|[\u3002\uff01\uff1f]+[\u300d\u300f]?\s*|\s*\n\s*|;\s+"
)
ABBREVIATED = re.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Inc|Ltd|Co|Corp|vs|etc|approx|e\.g|i\.e|cf|Fig|Jr|Sr|Sra|Dra|ca|bzw|usw|z\.B|p\.ex|[A-Z])$"
)
ORDINAL = re.compile(r"(?<!\d)\d{1,2}$")
SPOKEN = re.compile(
    r"\"[^\"\n]{1,300}\"|\u201c[^\u201d\n]{1,300}\u201d|\u00ab[^\u00bb\n]{1,300}\u00bb"
)
BULLET = re.compile(r"\s*(?:[-*\u2022\u2013]|\d{1,2}[.)])\s+(?:\[[ x]\]\s+)?")
QUESTION = re.compile(r"[?\uff1f\u061f\u037e]")
PAUSE = re.compile(r"[\s,:;!\u2013\u2014-]*")
NAMED: tuple[tuple[str, Kind], ...] = (  # what a label in front of a statement says that it is
    ("names_rule", "constraint"),
    ("names_decision", "decision"),
    ("names_fact", "fact"),
    ("names_goal", "goal state"),
    ("names_wish", "preference"),
)

KINDS: tuple[
    tuple[str, Kind, float], ...
] = (  # what a cue says that a statement is, and how sure that is
    ("prefer", "preference", 0.9),
    ("person", "identity", 0.9),
    ("decide", "decision", 0.9),
    ("aim", "goal state", 0.6),  # from here on not in talk of the work at hand
    ("manner", "preference", 0.7),
)
NOTHING: tuple[Kind | None, float] = (None, 0.0)


def read(text: str, author: Author = "person") -> tuple[Statement, ...]:
    """What one speaker states in a text.

    Args:
        text: what was said.
        author: who said it; nothing is read of a tool.

    Returns:
        n statements, in the order of the text.
    """
    if author == "tool":
        return ()
    if author in AUTHORITIES:
        return tuple(read_part(text[:READ_CHARS], 0, author))
    if len(text) <= 2 * REPORTED_CHARS:
        return tuple(read_part(text, 0, author))
    tail = len(text) - REPORTED_CHARS
    return (
        *read_part(text[:REPORTED_CHARS], 0, author),
        *read_part(text[tail:], tail, author),
    )


def read_part(text: str, offset: int, author: Author) -> Iterator[Statement]:
    """What a part of a text states; ``offset`` is where it begins."""
    plain = unquoted(text)
    heading, label = "", None
    line = 0  # where the line ends for which the label counts
    for begin, stop, listed in sentences(plain):
        if begin >= line and not listed:
            heading, label = "", None
        if plain[stop - 1] == ":":
            heading, label = plain[begin : stop - 1], label_of(plain, begin, stop)[1]
            line = stop
            continue
        start, named = label_of(plain, begin, stop)
        if named:
            heading, label, line = "", named, plain.find("\n", start) % (len(plain) + 1)
        start, led = led_to(plain, start, stop)
        written = " ".join(text[start:stop].split())
        above = f"{heading}: " if heading and label is None and listed else ""
        found = stated(looked_at(above + written), label, author) if written else None
        if found is not None:
            changes = found.changes or "change" in led
            yield replace(found, start=offset + start, stop=offset + stop, changes=changes)


def sentences(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where sentences begin and end that may state something, without bullets and stops, and whether each is a list's."""
    quotations = [match.span() for match in SPOKEN.finditer(text)]
    start = at = 0
    for match in [*STOP.finditer(text), None]:
        stop = match.start() if match else len(text)
        while at < len(quotations) and quotations[at][1] <= stop:
            at += 1
        inside = at < len(quotations) and quotations[at][0] < stop
        if match and (inside or (match.group()[0] == "." and goes_on(text, stop, match.end()))):
            continue
        bullet = BULLET.match(text, start, stop)
        left = text[bullet.end() if bullet else start : stop]
        begin = stop - len(left.lstrip(" \t\n*_"))
        end = begin + len(text[begin:stop].rstrip(" \t\n*_,"))
        asks = match is not None and QUESTION.search(match.group())
        if LEAST_CHARS <= end - begin <= MOST_CHARS and not asks:
            yield begin, end, bullet is not None
        start = match.end() if match else stop


def goes_on(text: str, stop: int, following: int) -> bool:
    """Whether a full stop ends no sentence: behind an abbreviation, or a day before its month."""
    before = text[max(0, stop - 8) : stop]
    if ABBREVIATED.search(before):
        return True
    word = text[following : following + 12].split()
    return bool(word) and ORDINAL.search(before) is not None and looked_at(word[0]).has("day")


def label_of(text: str, start: int, stop: int) -> tuple[int, Kind | None]:
    """Where a statement begins behind its label ("Rule:"), and what that says that it is."""
    for sign in (":", " - ", " \u2013 ", " \u2014 "):
        end = text.find(sign, start, stop)
        words = text[start:end].split() if end > 0 else []
        if 0 < len(words) <= LABEL_WORDS:
            prefix = looked_at(" ".join(words))
            kind: Kind | None = next((kind for label, kind in NAMED if prefix.has(label)), None)
            if kind is not None and (prefix.has("risk") and kind == "constraint"):
                kind = "safety rule"
            if kind is not None:
                return skipped(text, end + len(sign), stop), kind
    return start, None


def led_to(text: str, start: int, stop: int) -> tuple[int, set[str]]:
    """Where a sentence begins behind what only leads into it ("Please note that"), and what that says."""
    led: set[str] = set()
    while start < stop:
        sentence = looked_at(" ".join(text[start:stop].split()))
        lead = sentence.opens("lead") or sentence.opens("interjection")
        paused = lead and sentence.text[lead.stop : lead.stop + 1] in {",", ":", "!", "."}
        if (
            lead is None
            or (lead.label == "interjection" and not paused)
            or lead.stop >= len(sentence.text)
        ):
            break
        led.update(label for label in sentence.cues if sentence.opens(label))
        words = sentence.text[: lead.stop].split()
        for word in words:
            start = text.index(word, start, stop) + len(word)
        start = skipped(text, start, stop)
    return start, led


def skipped(text: str, start: int, stop: int) -> int:
    """The place behind spaces and commas."""
    match = PAUSE.match(text, start, stop)
    return match.end() if match else start


def stated(sentence: Sentence, label: Kind | None, author: Author) -> Statement | None:
    """What a sentence states, without its place."""
    kind: Kind | None
    withdraws, recasts = "", ""
    if author in AUTHORITIES:
        recasts = recast_in(sentence)
        withdraws = withdrawn_in(sentence)
        kind, confidence = (label, 1.0) if label else kind_of(sentence)
        if kind == "constraint" and is_risky(sentence):
            kind = "safety rule"
    else:
        kind, confidence = reported_kind(sentence)
    if withdraws or recasts:
        confidence = max(confidence, 0.8)
    elif kind is None:
        return None
    ordered = sentence.opens("withdraw")
    more = ordered and any(value.start > ordered.stop + len(withdraws) for value in sentence.values)
    takes_back = recasts or (withdraws and ordered and not more)
    return Statement(
        kind="withdrawal" if takes_back else kind or "decision",
        text=sentence.text,
        start=0,
        stop=0,
        subject=sentence.key,
        values=tuple(value.text for value in sentence.values),
        confidence=confidence,
        changes=sentence.changes,
        withdraws=withdraws,
        recasts=recasts,
    )


def kind_of(sentence: Sentence) -> tuple[Kind | None, float]:
    """The kind of what somebody with authority says, and how sure that is."""
    told = sentence.has("told") and not sentence.has("own_words") and not sentence.opens("if")
    idle = sentence.has("idle") and not sentence.values
    if sentence.opens("ask") or idle or (sentence.has("hedge") and not told):
        return NOTHING
    ruled = not told and (is_rule(sentence) or (bool(sentence.opens("if")) and orders(sentence)))
    if ruled:
        return "constraint", 0.9
    works = (sentence.opens("request") and not sentence.key) or sentence.has("progress")
    for label, kind, confidence in KINDS[: 3 if works else None]:
        if not told and sentence.has(label):
            return kind, confidence
    if works:
        return ("constraint", 0.6) if sentence.has("standing") else NOTHING
    return fact_of(sentence)


def is_rule(sentence: Sentence) -> bool:
    """Whether something is forbidden, demanded or limited."""
    if sentence.has("forbid"):
        return True
    if sentence.has("oblige") and not sentence.has("intent"):
        return True
    ends = [each.stop for each in sentence.cues.get("limit", ())]
    return any(0 < value.start - end <= 2 for value in sentence.values for end in ends)  # noqa: PLR2004


def orders(sentence: Sentence) -> bool:
    """Whether a condition is followed by what is to be done."""
    _, comma, then = sentence.text.partition(", ")
    return bool(comma) and looked_at(then).has("request", "order", "forbid", "oblige", "manner")


def fact_of(sentence: Sentence) -> tuple[Kind | None, float]:
    """A fact: something definite that is something, or a short sentence with a value."""
    told = sentence.has("told") and any(value.kind == "quoted" for value in sentence.values)
    if told or len(sentence.text) > FACT_CHARS or sentence.opens("if"):
        return NOTHING
    link = sentence.has("is", "becomes") or bool(sentence.key)
    if link and sentence.values:
        return ("constraint", 0.9) if sentence.has("bounds") else ("fact", 0.7)
    if sentence.opens("unbound") or sentence.has("vague"):
        return NOTHING
    if link:
        return "fact", 0.5 if sentence.opens("definite") else 0.3
    tells = len(sentence.terms) >= LEAST_TERMS or not sentence.text.isascii()
    return ("fact", 0.4) if tells and sentence.values else NOTHING


def is_risky(sentence: Sentence) -> bool:
    """Whether a rule guards against harm."""
    return sentence.has("risk") and (sentence.has("forbid") or bool(sentence.opens("if")))


def reported_kind(sentence: Sentence) -> tuple[Kind | None, float]:
    """The kind of what an assistant says; never a rule or a wish."""
    if sentence.opens("ask") or sentence.has(
        "hedge", "idle", "forbid", "oblige", "prefer", "person"
    ):
        return NOTHING
    if sentence.opens("if") or QUESTION.search(sentence.text):
        return NOTHING
    if sentence.has("decide"):
        return "decision", 0.5
    if not sentence.values or sentence.opens("request"):
        return NOTHING
    if sentence.has("aim"):
        return "goal state", 0.4
    return ("fact", 0.4) if sentence.key and not sentence.has("progress") else (None, 0.0)


def withdrawn_in(sentence: Sentence) -> str:
    """What a sentence takes back, in its words."""
    if order := sentence.opens("withdraw"):
        return clause(sentence.text[order.stop :])
    for label in ("withdrawn", "no_longer"):
        for each in sentence.cues.get(label, ()):
            before = sentence.text[: each.start]
            return clause(
                before if label == "withdrawn" else f"{before} {sentence.text[each.stop :]}"
            )
    for each in sentence.cues.get("not_but", ()):
        return " ".join(sentence.text[each.start : each.stop].split()[1:-1])
    for each in sentence.cues.get("instead", ()):
        value = next((v for v in sentence.values if 0 < v.start - each.stop <= 5), None)  # noqa: PLR2004
        return (
            value.text if value else " ".join(sentence.text[each.stop :].split()[:1]).strip(".,;")
        )
    return ""


def clause(text: str) -> str:
    """The words up to a comma."""
    return re.split(r"[,;:(]\s", text.strip(" ,;:"), maxsplit=1)[0].strip(" .,;:!\"'")


def recast_in(sentence: Sentence) -> str:
    """The value that the statement before should have: "make that 45"."""
    order = sentence.opens("recast")
    if order is None:
        return ""
    rest = sentence.text[order.stop :].strip(" .,:;!")
    found = [value for value in sentence.values if value.start >= order.stop]
    return rest if len(found) == 1 and len(rest.split()) <= RECAST_WORDS else ""
