"""In what the values of a statement are measured: hours, an amount, a day, a count of things, a channel.

Promise: pure. Values of one measure can take each other's place. A number that says which thing is meant ("invoice 881 is
paid") measures nothing.
"""

import re
from functools import lru_cache

from autogen_context.language.stems import stem
from autogen_context.ledger.content import stems_of
from autogen_context.ledger.english import NUMBERED, UNITS
from autogen_context.ledger.parts import parts_of
from autogen_context.ledger.values import Value, ValueKind, values

AMOUNT = "amount"  # of money, or of what is not said: 5.80 may be a price
COUNT = "count "  # in front of the things that are counted
NAMING: frozenset[ValueKind] = frozenset({"name", "code", "acronym"})
UNIT = {name: row.split()[0] for row in UNITS.strip().splitlines() for name in row.split()}
OWN_UNIT = re.compile(r"[^\d\s.,+-]+$")
HOUR = re.compile(r" (?:in the (?:morning|afternoon|evening)|o'clock|at night)\b")
FOLLOWING = re.compile(r"[ -]?(?P<first>%|[A-Za-z°][\w/°]*)(?: (?P<second>[a-z]\w*))?")
PRECEDING = re.compile(rf"\b(?P<noun>{NUMBERED}) (?:is |are |no\.? |number )?$", re.IGNORECASE)


@lru_cache(4_096)
def measures_of(text: str) -> tuple[str, ...]:
    """The measure of each value of a statement that has one, in their order."""
    found = [measure_of(value, text) for value in values(text) if not is_name(value, text)]
    return tuple(filter(None, found))


def is_name(value: Value, text: str) -> bool:
    """Whether a value says which thing a statement speaks of: a code, a number without a unit in front of what is said."""
    is_bare = value.kind == "number" and value.text.isdigit()
    return value.kind in NAMING or (is_bare and value.text in parts_of(text).subject)


def measure_of(value: Value, text: str) -> str:
    """In what a value is measured; empty for names and the like."""
    if value.kind == "money":
        return AMOUNT
    if value.kind in {"date", "time"}:
        return value.kind
    return measure_of_number(value, text) if value.kind == "number" else ""


def measure_of_number(value: Value, text: str) -> str:
    """The unit of a number, or what is counted, or what has it for a name."""
    own = OWN_UNIT.search(value.text)
    if own:
        return UNIT.get(own.group().lower(), own.group().lower())
    if HOUR.match(text, value.end):
        return "time"
    before = PRECEDING.search(text[: value.start])
    return behind(text, value.end) or (before["noun"].lower() if before else AMOUNT)


def behind(text: str, end: int) -> str:
    """The unit behind a number, or the things that it counts; empty where neither is said."""
    after = FOLLOWING.match(text, end)
    if after is None:
        return ""
    first, second = after["first"].lower(), after["second"]
    if first in UNIT:
        return UNIT[first]
    if not stems_of(first):  # "745 a day", "2,200 these days"
        return ""
    if second in UNIT:
        return UNIT[second]
    counts = after["first"].islower() and first.endswith("s")
    return f"{COUNT}{stem(first)}" if counts else ""
