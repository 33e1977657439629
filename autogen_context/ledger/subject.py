"""What a statement is about, so that a newer statement about the same can take its place.

Promise: pure; a function of the text alone, so that a statement which is read again is about what it was about. Words are
compared by stem and by meaning (spend, cost, budget); what stands for a value does not count, what the value belongs to does.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from autogen_context.language.stems import stem
from autogen_context.ledger.concepts import (
    CHOICE_PASSED_OVER,
    CHOSEN,
    CONCEPTS,
    DISCLOSING,
    DISCLOSING_PASSED_OVER,
    KEPT,
    PRODUCT,
    PRODUCTS,
    SPOKEN,
    Concept,
)
from autogen_context.ledger.content import PREPOSITION, noun_of, terms_of
from autogen_context.ledger.cue import Cue, group, words
from autogen_context.ledger.parts import Parts, parts_of
from autogen_context.ledger.personal import statement_in
from autogen_context.ledger.values import Value, ValueKind, values

MARKED_HEADS = frozenset(
    {"rule", "secret", "use", "wish"}
)  # another value is another rule, unless it is new
CONCEPT = {row.head: row for row in CONCEPTS}
DAY = re.compile(r"(?:(?:on|by|at|until|for|from) )?(?:the )?", re.IGNORECASE)
WISHED = Cue(
    r"(?:i|we|user|the user)(?:'d| would)?(?: really| now| rather)* (?:prefer|like|want|need|have)s? (?P<what>[a-z][\w' -]{2,40})",
    "prefer prefers like likes want wants need needs have haves",
)
NAMING: frozenset[ValueKind] = frozenset({"code", "name", "quoted", "link"})
NUMBERABLE = frozenset(
    {"branch", "date", "money", "duty"}
)  # concepts of which each has one for each thing
NOTHING: frozenset[str] = frozenset()
PLACING = words("happens happened sits stands lives lived meets")
BECOME = re.compile(
    r"(?P<what>[a-z]+(?:ed|en)|sent|paid|lost|sold|done|gone|shut|put|met|built|held|kept)\b(?P<by> by\b)?"
    r"(?P<place>(?<=held)(?: in| at)\b|(?<=located)(?: in| at)\b|(?<=placed)(?: in| at)\b)?"
)
COUNTED = re.compile(r" (?P<noun>(?:[a-z][\w-]+ )?[a-z][\w-]*s|people)\b")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a statement is about.

    Attributes:
        head: what is said of it: ``money``, ``date``, ``rule``, a verb, or the noun that has a value.
        terms: stems of the words that say which one.
        names: values that say which one: ``#4711`` in "order #4711 was refunded".
    """

    head: str
    terms: frozenset[str]
    names: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        """The subject as one line."""
        return " ".join([f"{self.head}:", *sorted(self.terms), *sorted(self.names)]).rstrip(":")


@lru_cache(4_096)
def subject_of(sentence: str) -> Subject:
    """What a sentence is about."""
    stated = statement_in(sentence)
    if stated is not None and stated.kind == "identity":
        return Subject("person", frozenset(stated.key.split()))
    parts, found = parts_of(sentence), values(sentence)
    return (
        subject_of_concept(sentence, parts, found)
        or subject_of_choice(sentence, parts)
        or subject_of_form(sentence, parts, found)
    )


def subject_of_concept(sentence: str, parts: Parts, found: tuple[Value, ...]) -> Subject | None:
    """The subject of a relation that is worded in many ways."""
    kinds = {value.kind for value in found}
    if kinds & {"code", "quoted"} and DISCLOSING.search(sentence):
        return Subject("secret", terms_of(sentence) - DISCLOSING_PASSED_OVER)
    for row in CONCEPTS:
        if is_meant(row, sentence, found):
            return Subject(row.head, scope_of(row, sentence, parts), names_of(row, parts))
    if SPOKEN.search(sentence):
        return Subject("spoken language", NOTHING)
    return subject_of_day(parts)


def subject_of_day(parts: Parts) -> Subject | None:
    """The subject of a statement that something is on a day."""
    day = DAY.match(parts.value) if parts.form in {"is", "listed"} else None
    when = [value.start for value in values(parts.value) if value.kind == "date"]
    if day is None or when[:1] != [day.end()]:
        return None
    names = named(parts.subject)
    return Subject("date", terms_of(parts.subject) - CONCEPT["date"].passed_over, names)


def is_meant(row: Concept, sentence: str, found: tuple[Value, ...]) -> bool:
    """Whether a sentence has a word and a value of a concept."""
    kinds = {value.kind for value in found}
    if row.kinds and row.kinds.isdisjoint(kinds):
        return False
    if row.head == "money" and "money" not in kinds and not has_plain_number(found):
        return False
    return row.cue.search(sentence) is not None


def has_plain_number(found: tuple[Value, ...]) -> bool:
    """Whether an amount is said without a unit."""
    return any(value.kind == "number" and value.text.replace(",", "").isdigit() for value in found)


def scope_of(row: Concept, sentence: str, parts: Parts) -> frozenset[str]:
    """The words that say which one: of what it speaks of, or of the whole sentence where that does not tell."""
    if row.head == "manner":
        return NOTHING
    tells = row.head not in {"units", "zone"} and bool(
        terms_of(parts.subject) or row.cue.search(parts.subject)
    )
    spoken_of = f"{parts.subject} {parts.verb}" if tells else sentence
    return terms_of(row.cue.without(spoken_of, KEPT)) - row.passed_over


def names_of(row: Concept, parts: Parts) -> frozenset[str]:
    """The codes and numbers that say of which one a statement speaks, such as the branch."""
    spoken_of = values(parts.subject) if row.head in NUMBERABLE else ()
    return frozenset(value.text for value in spoken_of if value.kind in {"code", "number"})


def subject_of_choice(sentence: str, parts: Parts) -> Subject | None:
    """The subject of a choice among things of which one is used at a time."""
    product = PRODUCTS.search(sentence)
    if product is None or (parts.form == "does" and terms_of(parts.subject)):
        return None
    kind = PRODUCT[product.group()]
    chosen = CHOSEN.search(sentence)
    if not chosen and kind not in parts.subject.lower():
        return None
    spoken_of = parts.subject if parts.form == "is" and not chosen else PRODUCTS.without(sentence)
    kept = terms_of(spoken_of) - CHOICE_PASSED_OVER - {stem(kind)}
    return Subject(f"choice of {kind}", kept)


def subject_of_form(sentence: str, parts: Parts, found: tuple[Value, ...]) -> Subject:
    """The subject of a statement by its form alone."""
    known = count_of(sentence, parts, found) or use_of(parts) or wish_of(sentence)
    if known is not None:
        return known
    everything = Subject("", terms_of(sentence), frozenset(value.text.lower() for value in found))
    if parts.form in {"", "rule"}:
        return Subject("rule" if parts.form else "said", everything.terms, everything.names)
    terms = terms_of(parts.subject)
    names = named(parts.subject)
    if not terms and not names:
        return Subject("said", everything.terms, everything.names)
    if parts.form == "owner":
        return Subject(noun_of(parts.subject), terms)
    if parts.form == "does":
        return subject_of_deed(parts, terms, names)
    return Subject(f"{noun_of(parts.subject)} {aspect_of(parts)}".strip(), terms, names)


def subject_of_deed(parts: Parts, terms: frozenset[str], names: frozenset[str]) -> Subject:
    """Who does what; where, when or with what may change."""
    done = parts.value.lstrip().removeprefix("place ")
    manner = PREPOSITION.match(done)
    if manner and (done != parts.value.lstrip() or parts.verb in PLACING):
        return Subject(f"{noun_of(parts.subject)} {manner.group().lower()}".strip(), terms, names)
    if manner:
        return Subject(f"{stem(parts.verb)} {manner.group().lower()}", terms, names)
    done_to = {value.text.lower() for value in values(parts.value) if value.kind in NAMING}
    return Subject(stem(parts.verb), terms | terms_of(parts.value), names | done_to)


def aspect_of(parts: Parts) -> str:
    """Which side of its subject a statement tells: where it is, what has become of it; empty for what it is."""
    if parts.form != "is":
        return ""
    place = PREPOSITION.match(parts.value)
    if place:
        return place.group().lower()
    become = BECOME.match(parts.value)
    if become and become["place"]:
        return become["place"].strip()
    if become:
        return stem(become["what"].lower()) if become["by"] else "state"
    found = values(parts.value)
    if terms_of(parts.subject) or not found or found[0].start:
        return "" if terms_of(parts.subject) else " ".join(sorted(terms_of(parts.value)))
    return found[0].kind


def use_of(parts: Parts) -> Subject | None:
    """What something is used for; another thing takes its place only where that is said."""
    if parts.form != "used":
        return None
    return Subject("use", terms_of(parts.subject), terms_of(parts.value) | named(parts.value))


def wish_of(sentence: str) -> Subject | None:
    """Which kind of thing is wished for: ``mode`` in "I prefer dark mode"."""
    match = WISHED.fullmatch(sentence)
    what = group(match, "what", sentence) if match else ""
    noun = noun_of(what)
    return Subject("wish", frozenset({noun}), terms_of(what) | named(what)) if noun else None


def named(text: str) -> frozenset[str]:
    """The values of a text, in lower case."""
    return frozenset(value.text.lower() for value in values(text))


def count_of(sentence: str, parts: Parts, found: tuple[Value, ...]) -> Subject | None:
    """What is counted, where the sentence speaks of nothing else: ``there are 28 projects``."""
    speaks = terms_of(parts.subject) and parts.form != "used"
    if parts.form == "limit" or speaks or len(found) != 1:
        return None
    value = found[0]
    noun = COUNTED.match(sentence, value.end) if value.text.isdigit() else None
    if noun is None:
        return None
    return Subject(noun_of(noun["noun"]), terms_of(sentence[value.end :]))
