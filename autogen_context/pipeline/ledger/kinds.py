"""Tell of which kind a statement is: a rule, a wish, a decision, an aim, a fact, or nothing that need be kept.

Promise: pure; time in proportion to the sentence. It rather says nothing than makes a statement up.
"""

import re
from functools import lru_cache
from typing import Literal, cast

from autogen_context.pipeline.ledger import english_cues as cues
from autogen_context.pipeline.ledger.cue import Cue, words
from autogen_context.pipeline.ledger.entry import Kind
from autogen_context.pipeline.ledger.parts import parts_of
from autogen_context.pipeline.ledger.personal import statement_in
from autogen_context.pipeline.ledger.subject import BECOME, subject_of
from autogen_context.pipeline.ledger.values import is_strong, values

LabelKind = Literal["rule", "constraint", "decision", "fact", "goal state", "preference"]

LABEL = re.compile(r"(?P<words>[A-Za-z][\w /-]{1,30}?)\s*(?::|\s[-\u2013\u2014])\s+(?P<rest>\S.*)")
MOST_COMPLEMENT = 6  # words that a definite thing is said to be


def cue(name: str) -> Cue:
    """A pattern of the table with its words."""
    return Cue(getattr(cues, name), cues.WORDS.get(name, ""))


FORBIDS, OBLIGES, RISKS, TRAITS = cue("FORBIDS"), cue("OBLIGES"), cue("RISKS"), cue("TRAITS")
CONDITIONAL, THEN, TOLD, UNSURE = cue("CONDITIONAL"), cue("THEN"), cue("TOLD"), cue("UNSURE")
WISHES, WISHED_WAY, FOR_ME = cue("WISHES"), cue("WISHED_WAY"), cue("FOR_ME")
DECIDES, AIMS, AIMS_WITH_VALUE = cue("DECIDES"), cue("AIMS"), cue("AIMS_WITH_VALUE")
TASKS, CHATTER, DEADLINES = cue("TASKS"), cue("CHATTER"), cue("DEADLINES")
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
    if CHATTER.search(sentence):
        return None
    if TOLD.search(sentence):
        quoted = any(value.kind == "quoted" for value in values(sentence))
        return "fact" if fact_kind(sentence) and not quoted else None
    return (
        rule_kind(sentence) or wish_kind(sentence) or course_kind(sentence) or fact_kind(sentence)
    )


@lru_cache(4_096)
def reported_kind(sentence: str) -> Kind | None:
    """The kind of what an assistant or a tool says; never a rule or a wish."""
    if CHATTER.search(sentence) or UNSURE.search(sentence):
        return None
    if any(pattern.search(sentence) for pattern in (CONDITIONAL, FORBIDS, OBLIGES, WISHES)):
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
        FORBIDS.search(sentence) or CONDITIONAL.search(sentence)
    )


def rule_kind(sentence: str) -> Kind | None:
    """A safety rule or a constraint."""
    if CONDITIONAL.search(sentence):
        if not THEN.search(sentence):
            return None
        return "safety rule" if RISKS.search(sentence) else "constraint"
    if subject_of(sentence).head in {"manner", "spoken language", "units"} or WISHES.search(
        sentence
    ):
        return None
    if FORBIDS.search(sentence):
        return "safety rule" if RISKS.search(sentence) else "constraint"
    return "constraint" if OBLIGES.search(sentence) and not UNSURE.search(sentence) else None


def wish_kind(sentence: str) -> Kind | None:
    """A preference, or who somebody is."""
    stated = statement_in(sentence)
    if stated is not None:
        return stated.kind
    if TRAITS.search(sentence):
        return "identity"
    if WISHES.search(sentence) or FOR_ME.search(sentence):
        return "preference"
    styled = subject_of(sentence).head in {"manner", "spoken language", "units"}
    return "preference" if styled and WISHED_WAY.search(sentence) else None


def course_kind(sentence: str) -> Kind | None:
    """A decision, or where things stand."""
    if UNSURE.search(sentence):
        return None
    if DECIDES.search(sentence):
        return "decision"
    if AIMS.search(sentence):
        return "goal state"
    told = parts_of(sentence).form in {"is", "moved", "listed"}
    wanted = AIMS_WITH_VALUE.search(sentence) or (TASKS.search(sentence) and not told)
    return "goal state" if wanted and has_strong_value(sentence) else None


def fact_kind(sentence: str) -> Kind | None:
    """A fact, or what has been set."""
    if UNSURE.search(sentence):
        return None
    head, parts = subject_of(sentence).head, parts_of(sentence)
    if head in {"money", "zone"} or (head == "date" and DEADLINES.search(sentence)):
        return "constraint"
    if has_strong_value(sentence) or parts.form == "owner":
        return "fact" if parts.form or head != "said" or STATES.search(sentence) else None
    settled = parts.form in {"is", "moved", "owner"} and DEFINITE.match(sentence)
    short = len(parts.value.split()) <= MOST_COMPLEMENT and not OPEN.match(parts.value)
    return "fact" if settled and short else None


STATES = re.compile(r"(?:(?i:i|we|the|our|my|there|he|she|they|it)|[A-Z]\w+ [A-Z]\w+)\b")


def has_strong_value(sentence: str) -> bool:
    """Whether it names one thing or amount."""
    return any(is_strong(value) for value in values(sentence))
