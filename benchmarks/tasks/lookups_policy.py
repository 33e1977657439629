"""How a model goes about ``lookups``: the queue by what its newest case says, a question by what any text states under that name.

Promise: a function of one request; what a text states is found the same way whoever wrote it.

A value belongs to the name before it in its sentence, else to the one after it, else to whom the call or heading above names. Of
several for one name the newest counts; sentences that say that something changed, was taken or stopped go before mere mentions.

Where a value of a name is nowhere in sight: the policy looks it up once by label and name; then reads record or log again, which
the world allows; then takes the newest value of that form that no text gives to anybody, as models guess; else it says that it
cannot. Where no instruction of a person is in sight it goes on with the queue.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from autogen_context.testing import Call, Say, Step
from tasks.lookups_words import DESKS, SURNAMES, TRADES
from tasks.people import SENTENCE, people_said
from tasks.sight import SeenCall, Sight

NAME = re.compile(rf"\b(?:{'|'.join(SURNAMES)}) (?:{'|'.join(TRADES)})\b")
FORMS = {
    "code": re.compile(r"\b[A-Z]\d[A-Z]\d-\d{4}\b"),
    "reading": re.compile(r"\b\d{4,6}\.\d\b"),  # since it was set back it is smaller
    "fault": re.compile(r"\bE-[0-9A-F]{4}-\d{2}\b"),
    "contract": re.compile(r"\b(?:K-\d{2}-\d{5}|LIC-\d{5}[A-Z]|FT\d{2}\.\d{5})\b"),
}
ANY_FORM = re.compile("|".join(form.pattern for form in FORMS.values()))
STRONG = {
    "code": re.compile(r""),
    "reading": re.compile(
        r"(?i)\btake_|\btaken?\b|\bread at\b|\bset (?:back )?to (?:zero|0)|\bbefore\b"
    ),
    "fault": re.compile(r"(?i)\bstopped\b|\bhalted\b|\bfatal\b"),
    "contract": re.compile(
        r"(?i)\bnew\b|\bnow\b|\bchanged\b|\bfrom (?:today|now)\b|\bas of today\b|\brenewed\b"
    ),
}
OUTDATED = re.compile(
    r"(?i)\b(?:out of date|outdated|expired|former\w*|last (?:week|month|year)|previous\w*|void|cleared|recovered|simulated)\b"
)
LABELS = {
    kind: re.compile("(?i)" + "|".join(sorted({desk.labels[kind] for desk in DESKS})))
    for kind in FORMS
}
WORK = re.compile(r"(?i)\bqueue\b")
ASKED = re.compile(r"(?i)\b(?:confirm(?:ed|s|ing)?|report)\b")
CASE = re.compile(r"(?i)\bcase (\d+)\b")
TO_DO = re.compile(r"(?i)\bto do: *(.+)")
PAGE = re.compile(r"read the (record|log)")
DISTRICT = re.compile(r"(?i)\bdistrict (\w+)")
BETWEEN = re.compile(r"(?i)\[(?!.*\b(?:call|result|tool)\b).*\]$|[-=]{3,}")  # stands between pieces
BULLET = re.compile(r"[-*\u2022] ")
DISTRICT_SQL = "SELECT name, contract, reading FROM customers WHERE district = '{}' ORDER BY name"
AGAIN = {"fault": "log", "contract": "record"}  # what the world tells again


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A value that a text states; without a name where it does not say whose it is."""

    name: str
    kind: str
    value: str
    is_strong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a person wants now: the queue, or a value of some customers."""

    at: int = -1  # position in the request; -1 where none is in sight
    kind: str = ""  # empty: the queue
    names: tuple[str, ...] = ()


class Reading:
    """A request as a clerk reads it."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.desk = next((desk for desk in DESKS if desk.read in sight.tool_names), DESKS[0])
        self.asked = self._asked()

    def _asked(self) -> Asked:
        """The newest instruction of a person."""
        for seen in reversed(self.sight.texts):
            if found := asked_in(seen.text, seen.role):
                return Asked(at=seen.at, kind=found.kind, names=found.names)
        return Asked()

    def step(self) -> Step:
        """What to do next."""
        return self._given() if self.asked.kind else self._worked()

    # ---- the queue

    def _worked(self) -> Step:
        """The next step of the newest case."""
        calls = [call for call in self.sight.calls if call.at > self.asked.at]
        of_queue = [n for n, call in enumerate(calls) if call.name == "next_case"]
        if not of_queue:
            return Call("next_case")
        result = calls[of_queue[-1]].result or ""
        name, steps = NAME.search(result), TO_DO.search(result)
        if CASE.search(result) is None or name is None or steps is None:
            if self.sight.newest.role == "tool" and of_queue[-1] == len(calls) - 1:
                return Say("Nothing is waiting in the queue.")
            return Call("next_case")
        done = [did(call) for call in calls[of_queue[-1] + 1 :]]
        left = [step for step in steps[1].strip(" .").split(", ") if (step, name[0]) not in done]
        return steps_on(
            name[0], [step for step in left if not any(is_query(step, what) for what, _ in done)]
        )

    # ---- questions

    def _given(self) -> Step:
        """Give the values that are known, then find the next that is not."""
        after = [call for call in self.sight.calls if call.at > self.asked.at]
        kind = self.asked.kind
        left = [
            name for name in self.asked.names if not any(self._gives(call, name) for call in after)
        ]
        known = {name: value for name in left if (value := self.value(name))}
        if known:
            return [self._act(name, value) for name, value in known.items()]
        for name in left:
            if look := self.sight.look_up(f"{self.desk.labels[kind]} {name}"):
                return look
            page = AGAIN.get(kind)
            if page and (f"read the {page}", name) not in [did(call) for call in after]:
                return Call("read", {"name": name, "what": page})
            if guess := self.value(""):
                return self._act(name, guess)
        if left:
            return Say(f"I cannot find the {self.desk.labels[kind]} of {', '.join(left)} any more.")
        return Say("That is done.")

    def value(self, name: str) -> str:
        """What the texts state for a name, or for nobody; empty where they state nothing."""
        weak = ""
        for fact in reversed(list(self._facts())):
            if (fact.name, fact.kind) == (name, self.asked.kind):
                if fact.is_strong:
                    return fact.value
                weak = weak or fact.value
        return weak

    def _facts(self) -> Iterator[Fact]:
        """What all texts state, in order; a result belongs to whom its call names."""
        owners = {
            str(id_): str(call.arguments.get("name") or "")
            for call, id_ in zip(self.sight.calls, ids_of(self.sight), strict=True)
        }
        for seen in self.sight.texts:
            message = self.sight.messages[seen.at]
            yield from facts_in(seen.text, owners.get(str(message.get("tool_call_id")), ""))

    def _act(self, name: str, value: str) -> Call:
        return Call("give_value", {"name": name, "what": self.asked.kind, "value": value})

    def _gives(self, call: SeenCall, name: str) -> bool:
        """Whether a call gave what is asked for."""
        said = (call.arguments.get("name"), call.arguments.get("what"))
        return call.name == "give_value" and said == (name, self.asked.kind)


def ids_of(sight: Sight) -> list[str]:
    """The ids of all calls, in order."""
    return [
        str(call["id"]) for message in sight.messages for call in message.get("tool_calls") or ()
    ]


def did(call: SeenCall) -> tuple[str, str]:
    """A call as a step of a case, and whom it was for."""
    if call.name == "query":
        return str(call.arguments.get("sql")), ""
    if call.name == "read":
        return f"read the {call.arguments.get('what')}", str(call.arguments.get("name"))
    return call.name, str(call.arguments.get("name"))


def is_query(step: str, sql: str) -> bool:
    """Whether a query is the one that a step asks for."""
    found = DISTRICT.search(step)
    return found is not None and f"'{found[1]}'" in sql


def steps_on(name: str, left: Sequence[str]) -> Step:
    """The next of what is left to do of a case; record and log are read at once."""
    if pages := [found[1] for step in left if (found := PAGE.fullmatch(step))]:
        return [Call("read", {"name": name, "what": page}) for page in pages]
    if not left:
        return Call("next_case")
    if district := DISTRICT.search(left[0]):
        return Call("query", {"sql": DISTRICT_SQL.format(district[1])})
    return Call(left[0], {"name": name})


@lru_cache(maxsize=20_000)
def asked_in(text: str, role: str) -> Asked | None:
    """The last thing that a person asks for in a text."""
    found: Asked | None = None
    so_far: list[str] = []
    for sentence in people_said(text, role):
        so_far = [*so_far[-1:], sentence]  # who is meant may be said one sentence before
        if WORK.search(sentence):
            found, so_far = Asked(), []
            continue
        for words in (sentence, " ".join(so_far)):
            if (asked := question_in(words)) is not None:
                found = asked
                break
    return found


def question_in(words: str) -> Asked | None:
    """The question that some words are, if they are one."""
    names = tuple(dict.fromkeys(NAME.findall(words)))
    kinds = [kind for kind, label in LABELS.items() if label.search(words)]
    if not names or not kinds or not ASKED.search(words) or ANY_FORM.search(words):
        return None
    return Asked(kind=kinds[0], names=names)


@lru_cache(maxsize=20_000)
def facts_in(text: str, owner: str) -> tuple[Fact, ...]:
    """What a text states, under the name that its call has, if any."""
    if not ANY_FORM.search(text):
        return ()
    facts: list[Fact] = []
    heading = current = owner
    for raw in text.split("\n"):
        line = raw.lstrip("> \t")
        if BETWEEN.match(line):
            heading = current = owner
        is_bullet = BULLET.match(line) is not None
        if is_bullet:
            current = heading
        for sentence in SENTENCE.split(line):
            facts += sentence_facts(sentence, current)
            current = owner or ([current, *NAME.findall(sentence)])[-1]
        if not is_bullet:
            heading = owner if line.rstrip().endswith(":") and not NAME.search(line) else current
    return tuple(facts)


def sentence_facts(sentence: str, current: str) -> Sequence[Fact]:
    """What a sentence states; nothing where it says itself that this is past."""
    values = [
        (m.start(), kind, m[0]) for kind, form in FORMS.items() for m in form.finditer(sentence)
    ]
    if not values or OUTDATED.search(sentence):
        return ()
    names = [(m.start(), m[0]) for m in NAME.finditer(sentence)]
    return [
        Fact(
            name=owner_of(at, names, current),
            kind=kind,
            value=value,
            is_strong=STRONG[kind].search(sentence) is not None,
        )
        for at, kind, value in sorted(values)
    ]


def owner_of(at: int, names: Sequence[tuple[int, str]], current: str) -> str:
    """The name before a place, else the first one after it, else whoever was spoken of."""
    before = [name for place, name in names if place < at]
    return before[-1] if before else names[0][1] if names else current
