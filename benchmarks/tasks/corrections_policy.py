"""The policy of corrections: whose value of what a request states, and which one is the newest.

Promise: it reads sentences. A value belongs to the person named before it in its sentence, or behind it where none is before.

What the policy does where something is gone: a value that no person's sentence in sight states is looked up once, by thing and name;
of several statements in an answer, which need not be in order, corrections count above first statements and a value that is named as
outdated not at all. Then come notes and summaries that name no speaker, then a search of the mails, then whatever any text says. Else
the person is left out, and the answer says so. Where no task is in sight it reads on in the pack that it was in, or says that it sees none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from random import Random

from autogen_context.testing import Call, Say, Step
from tasks.corrections_words import BUDGET, DEADLINE, PLACE, PLACES
from tasks.office import FULL, NAME, NOTE, PERSON, TOOL, VOICES, days_in, spoken
from tasks.sight import SeenCall, Sight, content_of, legible

AT_ONCE = 3  # things done in one answer
MONEY = re.compile(
    r"(?i)(?:EUR|\u20ac) ?(\d{1,3}(?:[,.]\d{3})+|\d+)|\b(\d{1,3}(?:[,.]\d{3})+|\d+) ?(?:EUR\b|euros?\b|\u20ac)"
)
WHERE = re.compile(r"\b(?:" + "|".join(PLACES) + r")\b")
OLD_BEFORE = re.compile(
    r"(?i)\b(?:not|instead of|rather than|no longer|from|was|were|cannot be|formerly|previously|old)\W+(?:(?:on|in|at|the|until)\W+)*$"
)
MOVING = re.compile(
    r"(?i)\b(?:now|not|moved?|moves|instead|rather|no longer|chang\w+|correct\w*|new|make|wrong|mixed|after all|again|called)\b"
)
UNDOING = re.compile(r"(?i)\b(?:back|as it was|first|original|at the beginning|undo\w*|undone)\b")
ABOUT = {
    DEADLINE: re.compile(r"(?i)\b(?:deadline|due|report|until|deliver\w*|hands? in)\b"),
    BUDGET: re.compile(r"(?i)\b(?:budget|spend|amount)\b"),
    PLACE: re.compile(r"(?i)\b(?:place|room)\b"),
}
PACK = re.compile(r"\bpack (?:of )?(\w+)")
MAIL = re.compile(r"\bMail (\d+) of (\d+) in (\w+)")
ELSEWHERE = re.compile(r"(?i)\bproject\b")
ADDRESS = re.compile(r"\b([\w.]+@[\w.]+\w)")
ACTS = {DEADLINE: "book_review", PLACE: "reserve_place", BUDGET: "send_mail"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A value of a person's thing, as a sentence states it."""

    name: str
    thing: str
    value: str  # empty where the first one is meant
    old: tuple[str, ...] = ()  # values that it calls outdated
    rank: int = 0  # 0 states, 1 corrects, 2 corrects again, 3 undoes
    is_elsewhere: bool = False  # of another project


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be done: a pack read, or something for each of these people."""

    at: int
    pack: str = ""
    thing: str = ""
    names: tuple[str, ...] = ()


class Reading:
    """A request as the clerk reads it."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.stated: dict[str, list[Statement]] = {PERSON: [], NOTE: [], TOOL: []}
        self.asked = Asked(at=-1)
        answers = {
            call.result
            for call in sight.calls
            if sight.look_up_tool and call.name == sight.look_up_tool[0]
        }
        for at, message in enumerate(sight.messages):
            content = content_of(message)
            if not content or (message["role"] == "tool" and content in answers):
                continue
            content = content if message["role"] == "tool" else legible(content)
            voice = VOICES.get(str(message["role"]), NOTE)
            statements, asked = parsed(content, voice)
            for who, statement in statements:
                self.stated[who].append(statement)
            if asked:
                self.asked = Asked(at=at, pack=asked.pack, thing=asked.thing, names=asked.names)

    @property
    def step(self) -> Step:
        """What to do next."""
        sight, asked = self.sight, self.asked
        if sight.newest.role == "user" and asked.at < sight.newest.at:
            return Say("Noted.")
        if asked.thing:
            return self.acted()
        reads = [call for call in sight.calls_of("read_mail") if call.at > asked.at]
        if not reads:
            return (
                Call("read_mail", {"pack": asked.pack, "number": 1})
                if asked.pack
                else Say("I no longer see what is to be done.")
            )
        newest = reads[-1]
        if found := MAIL.search(newest.result or ""):
            if found[1] == found[2]:
                return Say(f"I have read the pack {found[3]}.")
        elif (newest.result or "").startswith("There is no mail"):
            return Say("I have read the pack.")
        number = int(str(newest.arguments.get("number", 0)))
        return Call(
            "read_mail", {"pack": newest.arguments.get("pack", asked.pack), "number": number + 1}
        )

    def acted(self) -> Step:
        """Do what is asked for the next people, those that are known, or find out about the first."""
        asked, calls = self.asked, list[Call]()
        for name in asked.names[self.reached() :]:
            value = self.said(name)
            if value is None and not calls:
                is_searched = self.is_searched(name)
                if not is_searched and (look := self.sight.look_up(f"{asked.thing} {name}")):
                    return look
                value = self.found_out(name, is_searched=is_searched)
                if value is None and not is_searched:
                    return Call("search_mail", {"words": f"{asked.thing} {name}"})
                if value is None:
                    continue
            if value is None or len(calls) == AT_ONCE:
                break
            call = self.act(name, value)
            if call.name == "find_contact" and calls:
                break
            calls.append(call)
            if call.name == "find_contact":
                break
        return calls or Say("That is done, as far as I can tell.")

    def reached(self) -> int:
        """Position of the next one in the list, by the newest call in sight."""
        asked = self.asked
        for call in reversed(self.sight.calls):
            if call.at > asked.at and (name := self.meant(call)):
                return asked.names.index(name) + (call.name == ACTS[asked.thing])
        return 0

    def is_searched(self, name: str) -> bool:
        """Whether the mails were searched for what is asked of a person, as far as is in sight."""
        words = f"{self.asked.thing} {name}"
        return any(
            call.arguments.get("words") == words for call in self.sight.calls_of("search_mail")
        )

    def meant(self, call: SeenCall) -> str:
        """Whom of the list a call is about."""
        words = " ".join(str(value) for value in call.arguments.values())
        if call.name == "send_mail":
            words = str(call.arguments.get("to", "")).partition("@")[0].replace(".", " ").title()
        names = [name for name in names_in(words) if name in self.asked.names]
        return names[0] if names else ""

    def act(self, name: str, value: str) -> Call:
        """The call that does it; the address of a mail is found first."""
        if self.asked.thing == DEADLINE:
            day = date.fromisoformat(value) - timedelta(days=1)
            return Call("book_review", {"person": name, "day": day.isoformat()})
        if self.asked.thing == PLACE:
            return Call("reserve_place", {"person": name, "place": value})
        to = self.address(name)
        if not to:
            return Call("find_contact", {"person": name})
        return Call(
            "send_mail",
            {
                "to": to,
                "subject": "Your budget",
                "text": f"Dear {name}, your budget is EUR {int(value):,}.",
            },
        )

    def address(self, name: str) -> str:
        """The address of a person, where a line in sight has both."""
        for seen in reversed(self.sight.texts):
            for line in seen.text.split("\n") if "@" in seen.text else ():
                if name in line and (found := ADDRESS.search(line)):
                    return found[1]
        return ""

    def of(self, voice: str, name: str) -> list[Statement]:
        """The statements in sight about what is asked of a person."""
        return [
            each
            for each in self.stated[voice]
            if (each.name, each.thing) == (name, self.asked.thing)
        ]

    def said(self, name: str) -> str | None:
        """The newest value that the person said, in sight."""
        return newest(self.of(PERSON, name))

    def found_out(self, name: str, *, is_searched: bool) -> str | None:
        """What an answer to a look-up says, or a note, or after a search the mails, or any text."""
        thing = self.asked.thing
        answer = parsed(self.sight.looked_up(f"{thing} {name}") or "", NOTE)[0]
        for voice in (PERSON, NOTE):
            about = [
                each
                for who, each in answer
                if who == voice and (each.name, each.thing) == (name, thing)
            ]
            if value := newest([*unordered(about), *self.of(PERSON, name)]):
                return value
        if value := newest(self.of(NOTE, name)):
            return value
        if not is_searched:
            return None
        shown = sorted(self.of(TOOL, name), key=lambda each: not each.is_elsewhere)
        return newest(shown)


def newest(statements: Sequence[Statement]) -> str | None:
    """The value that holds after these, in order."""
    first = next((each.value for each in statements if each.value), None)
    value: str | None = None
    for each in statements:
        value = each.value or first
    return value


def unordered(statements: Sequence[Statement]) -> list[Statement]:
    """Statements out of order, the one that holds last."""
    old = {value for each in statements for value in each.old}
    return sorted(statements, key=lambda each: (each.rank, each.value not in old))


@lru_cache(maxsize=20_000)
def parsed(text: str, voice: str) -> tuple[tuple[tuple[str, Statement], ...], Asked | None]:
    """The statements of a text with who makes each, and the last thing that a person asks for in it."""
    statements: list[tuple[str, Statement]] = []
    asked: Asked | None = None
    for who, sentence in spoken(text, voice):
        if who == PERSON and (wish := wish_of(sentence)):
            asked = wish
        else:
            statements += [(who, each) for each in statements_of(sentence)]
    return tuple(statements), asked


def wish_of(sentence: str) -> Asked | None:
    """What a sentence asks for."""
    if found := PACK.search(sentence):
        return Asked(at=-1, pack=found[1])
    names = names_in(sentence)
    if len(names) < 3 or any(values_in(sentence)):
        return None
    if re.search(r"(?i)\bbudgets?\b", sentence):
        return Asked(at=-1, thing=BUDGET, names=names)
    place = re.search(r"(?i)\bplaces?\b|\breserve", sentence)
    return Asked(at=-1, thing=PLACE if place else DEADLINE, names=names)


def statements_of(sentence: str) -> Iterator[Statement]:
    """What a sentence states."""
    named = [(found.start(), FULL[found[1]]) for found in NAME.finditer(sentence)]
    if not named:
        return
    rank = bool(MOVING.search(sentence)) + bool(re.search(r"(?i)\b(?:again|once more)\b", sentence))
    new: dict[tuple[str, str], list[str]] = {}
    old: dict[tuple[str, str], list[str]] = {}
    for start, thing, value in values_in(sentence):
        name = next((n for at, n in reversed(named) if at < start), named[0][1])
        into = old if OLD_BEFORE.search(sentence[:start]) else new
        into.setdefault((name, thing), []).append(value)
    for (name, thing), values in new.items():
        yield Statement(
            name=name, thing=thing, value=values[-1], old=tuple(old.get((name, thing), ())), rank=rank,
            is_elsewhere=ELSEWHERE.search(sentence) is not None,
        )  # fmt: skip
    if not new and UNDOING.search(sentence):
        for thing, about in ABOUT.items():
            if about.search(sentence):
                yield Statement(name=named[0][1], thing=thing, value="", rank=3)
                return


def values_in(sentence: str) -> Iterator[tuple[int, str, str]]:
    """Place in the sentence, thing and value, of all that it names."""
    if ABOUT[DEADLINE].search(sentence):
        for start, _, day in days_in(sentence):
            yield start, DEADLINE, day.isoformat()
    for found in MONEY.finditer(sentence):
        yield found.start(), BUDGET, re.sub(r"\D", "", found[1] or found[2])
    for found in WHERE.finditer(sentence):
        yield found.start(), PLACE, found[0]


def names_in(text: str) -> tuple[str, ...]:
    """The people that a text names, each once."""
    return tuple(dict.fromkeys(FULL[found[1]] for found in NAME.finditer(text)))


def amounts_in(text: str) -> list[str]:
    """The amounts that a text names."""
    return [value for _, thing, value in values_in(text) if thing == BUDGET]


def money(random: Random, amount: int) -> str:
    """An amount as people write it."""
    return random.choice(
        (f"EUR {amount:,}", f"{amount:,} euros", f"{amount} EUR", f"\u20ac{amount:,}")
    )
