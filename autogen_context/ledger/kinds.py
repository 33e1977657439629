"""Tell of which kind a statement is: a rule, a wish, a decision, an aim, a fact, or nothing that need be kept.

Promise: pure; time in proportion to the sentence. It rather says nothing than makes a statement up.
"""

import re
from functools import lru_cache
from typing import Literal, cast

from autogen_context.ledger import english_cues as cues
from autogen_context.ledger.cue import Cue, words
from autogen_context.ledger.entry import Kind
from autogen_context.ledger.parts import Parts, is_owned, parts_of
from autogen_context.ledger.personal import statement_in
from autogen_context.ledger.phrases import (
    AIMS,
    AIMS_WITH_VALUE,
    BUSY,
    CHATTER,
    CONDITIONAL,
    DEADLINES,
    DECIDES,
    FOR_ME,
    FORBIDS,
    FORMER,
    OBLIGES,
    RISKS,
    TASKS,
    THEN,
    TOLD,
    TRAITS,
    UNSURE,
    VAGUE,
    WISHED_WAY,
    WISHES,
    possible,
    says,
)
from autogen_context.ledger.subject import BECOME, subject_of
from autogen_context.ledger.values import ValueKind, is_strong, values

LabelKind = Literal["rule", "constraint", "decision", "fact", "goal state", "preference"]

LABEL = re.compile(r"(?P<words>[A-Za-z][\w /-]{1,30}?)\s*(?::|\s[-\u2013\u2014])\s+(?P<rest>\S.*)")
MOST_COMPLEMENT = 6  # words that a definite thing is said to be


SMALL_TALK = frozenset({CHATTER, FORMER, VAGUE})
NOT_REPORTED = frozenset({UNSURE, WISHES})
AMOUNTS: frozenset[ValueKind] = frozenset({"money", "number", "date", "time"})
LEAST_SAID = 3  # spaces in what says of what it gives an amount
SETTABLE: frozenset[ValueKind] = frozenset({"money", "number", "zone", "date"})
DEFINITE = re.compile(
    r"(?:the|our|my|its|his|her|their|(?:one|two|three|four|five|some|most|half|all) of the) \w",
    re.IGNORECASE,
)
OPEN = re.compile(
    r"(?:too|so|very|not|really|quite|pretty|a bit|still|\w+ing|only|just|good|great|nice|fine|ok|bad|hard|easy|important|there|here|up|down|in|on|at|that|what|how|why|because|for|as|like)\b",
    re.IGNORECASE,
)


def labelled(sentence: str) -> tuple[Kind, str] | None:
    """The kind that a label names, and what stands behind it."""
    match = LABEL.match(sentence)
    if match is None:
        return None
    *qualifiers, head = match["words"].lower().replace("-", " ").split()
    kind = cues.LABELS.get(head)
    if kind is None or not words(cues.QUALIFIERS).issuperset(qualifiers):
        return None
    rest = match["rest"]
    if kind == "rule":
        safe = words(cues.SAFE_QUALIFIERS).intersection(qualifiers) or is_risky(rest)
        return ("safety rule" if safe else "constraint"), rest
    return cast("Kind", kind), rest  # the other values of the table are kinds


@lru_cache(4_096)
def kind_of(sentence: str) -> Kind | None:
    """The kind of what somebody with authority says; ``None`` where it states nothing."""
    if is_chatter(sentence):
        return None
    found = possible(sentence)
    unsure = UNSURE in found and UNSURE.search(sentence) is not None
    if TOLD in found and TOLD.search(sentence):
        quoted = any(value.kind == "quoted" for value in values(sentence))
        return None if quoted or unsure else fact_kind(sentence) and "fact"
    kind = rule_kind(sentence, found, unsure=unsure) or wish_kind(sentence, found)
    return kind or (None if unsure else course_kind(sentence, found) or fact_kind(sentence))


def is_chatter(sentence: str) -> bool:
    """Whether it says what one is about to do, greets, or tells that something changed and not to what."""
    if "ing" in sentence.partition(" ")[0] and BUSY.match(sentence):
        return True
    return says(SMALL_TALK, sentence)


@lru_cache(4_096)
def reported_kind(sentence: str) -> Kind | None:
    """The kind of what an assistant or a tool says; never a rule or a wish."""
    if is_chatter(sentence) or CONDITIONAL.match(sentence):
        return None
    if says(FORBIDS, sentence) or says(OBLIGES, sentence) or says(NOT_REPORTED, sentence):
        return None
    if DECIDES.search(sentence):
        return "decision"
    if not has_strong_value(sentence):
        return None
    return "goal state" if AIMS.search(sentence) else reported_fact_kind(sentence)


def reported_fact_kind(sentence: str) -> Kind | None:
    """A fact where something definite is said to be a value."""
    parts = parts_of(sentence)
    if parts.form not in {"is", "owner", "moved"}:
        return None
    told = parts.form != "is" or any(value.start <= MOST_BEFORE for value in values(parts.value))
    become = BECOME.match(parts.value) and values(parts.subject)
    return "fact" if told or become else None


MOST_BEFORE = 4  # characters in front of a value: an article


def is_risky(sentence: str) -> bool:
    """Whether a rule guards against harm."""
    return RISKS.search(sentence) is not None and bool(
        says(FORBIDS, sentence) or CONDITIONAL.match(sentence)
    )


def rule_kind(sentence: str, found: frozenset[Cue], *, unsure: bool) -> Kind | None:
    """A safety rule or a constraint."""
    if CONDITIONAL in found and CONDITIONAL.match(sentence):
        if not THEN.search(sentence):
            return None
        return "safety rule" if RISKS.search(sentence) else "constraint"
    forbids = says(FORBIDS, sentence)
    obliges = not forbids and not unsure and says(OBLIGES, sentence)
    if not (forbids or obliges) or is_of_style(sentence):
        return None
    if WISHES in found and WISHES.search(sentence):
        return None
    return "safety rule" if forbids and RISKS.search(sentence) else "constraint"


def is_of_style(sentence: str) -> bool:
    """Whether it is about how something is worded or measured, which is a matter of taste."""
    return subject_of(sentence).head in {"manner", "spoken language", "units"}


def wish_kind(sentence: str, found: frozenset[Cue]) -> Kind | None:
    """A preference, or who somebody is."""
    stated = statement_in(sentence)
    if stated is not None:
        return stated.kind
    if TRAITS in found and TRAITS.match(sentence):
        return "identity"
    if (WISHES in found and WISHES.search(sentence)) or (
        FOR_ME in found and FOR_ME.match(sentence)
    ):
        return "preference"
    wanted = WISHED_WAY in found and WISHED_WAY.match(sentence)
    return "preference" if wanted and is_of_style(sentence) else None


def course_kind(sentence: str, found: frozenset[Cue]) -> Kind | None:
    """A decision, or where things stand."""
    if DECIDES in found and DECIDES.search(sentence):
        return "decision"
    if AIMS in found and AIMS.search(sentence):
        return "goal state"
    wanted = (AIMS_WITH_VALUE in found and AIMS_WITH_VALUE.match(sentence)) or (
        TASKS in found and TASKS.match(sentence) and not is_told(sentence)
    )
    return "goal state" if wanted and has_strong_value(sentence) else None


def is_told(sentence: str) -> bool:
    """Whether it says how something is."""
    return parts_of(sentence).form in {"is", "moved", "listed"}


def fact_kind(sentence: str) -> Kind | None:
    """A fact, or what has been set."""
    if is_set(sentence):
        return "constraint"
    if has_strong_value(sentence) or is_owned(sentence):
        told = parts_of(sentence).form or STATES.search(sentence) or has_amount(sentence)
        return "fact" if told or subject_of(sentence).head != "said" else None
    return "fact" if DEFINITE.match(sentence) and is_settled(parts_of(sentence)) else None


def has_amount(sentence: str) -> bool:
    """Whether it says how much or when, and of what."""
    amounts = any(value.kind in AMOUNTS for value in values(sentence))
    return amounts and sentence.count(" ") >= LEAST_SAID


def is_set(sentence: str) -> bool:
    """Whether it sets an amount of money, a time zone or a last day."""
    kinds = {value.kind for value in values(sentence)}
    if kinds.isdisjoint(SETTABLE):
        return False
    head = subject_of(sentence).head
    return head in {"money", "zone"} or (head == "date" and DEADLINES.search(sentence) is not None)


def is_settled(parts: Parts) -> bool:
    """Whether something definite is said to be something, in few words."""
    if parts.form not in {"is", "moved", "owner"}:
        return False
    return len(parts.value.split()) <= MOST_COMPLEMENT and not OPEN.match(parts.value)


STATES = re.compile(r"(?:(?i:i|we|the|our|my|there|he|she|they|it)|[A-Z]\w+ [A-Z]\w+)\b")


def has_strong_value(sentence: str) -> bool:
    """Whether it names one thing or amount."""
    return any(is_strong(value) for value in values(sentence))
