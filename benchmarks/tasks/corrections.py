"""Corrections: somebody plans reviews with a clerk, states facts and corrects them over the day, and at the end the newest hold.

Promise: a value that is no longer true, or another person's, is seen in the calendar and in the mails that were sent. Mails and minutes
hold old values as well; what the person said counts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import ClassVar

from typing_extensions import override

from autogen_context.testing import Step
from tasks.corrections_policy import Reading, amounts_in, money
from tasks.corrections_words import (
    BEGIN,
    BOOK,
    BUDGET,
    DEADLINE,
    FIRST,
    IN_PASSING,
    MOVED,
    OF_ANOTHER,
    OLD,
    PLACE,
    PLACES,
    READ,
    RESERVE,
    THEN,
    UNDONE,
    UNDONE_WITH_VALUE,
    WRITE,
)
from tasks.office import OTHERS, PAIRS, PROJECTS, YEAR, address_of, day_in_words, mail, sentence
from tasks.sight import Sight
from tasks.task import Said, Task, Tool, Verdict

PACKS, SENTENCES = 8, (28, 37)  # of mails, and sentences of a mail
MAILS = (11, 14)  # in a pack
THINGS = (DEADLINE, BUDGET, PLACE)
TRAPS = 0.3  # of the mails name an old value, or one of another project
KNOWN_TO_MAILS = 0.6  # of the first values
Fact = tuple[str, str]
"""A person, and which of the things."""


class Corrections(Task):
    """Six people, three facts of each, about fourteen corrections."""

    family: ClassVar[str] = "corrections"
    prompt: ClassVar[str] = (
        "You are the clerk of somebody who plans reviews. Note facts and corrections: the newest holds. Read packs mail by mail. What mails "
        "and minutes say may be old; your person knows better. Look up what you need and no longer see. Do nothing twice. Say when you are done."
    )

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        random = self.random
        self._people = [name for pair in random.sample(PAIRS, 3) for name in pair]
        self._values = {DEADLINE: self._days(), BUDGET: self._amounts(), PLACE: self._places()}
        facts = [(name, thing) for name in self._people for thing in THINGS]
        self._said_of: dict[Fact, list[str]] = {fact: [self._new(fact[1])] for fact in facts}
        self._old = {
            fact: values[0]
            for fact, values in self._said_of.items()
            if random.random() < KNOWN_TO_MAILS
        }
        self._elsewhere = {
            fact: (random.choice(PROJECTS), self._new(fact[1])) for fact in random.sample(facts, 9)
        }
        self._packs = {
            pack: random.randrange(*MAILS) for pack in random.sample(sorted(PROJECTS), PACKS)
        }
        self._booked: list[tuple[str, str]] = []  # person and day
        self._reserved: list[tuple[str, str]] = []
        self._sent: list[tuple[str, str]] = []  # address and text
        self.said = [Said(text=text) for text in self._texts()]
        self._mails = {
            (pack, number): self._mail()
            for pack, size in self._packs.items()
            for number in range(1, size + 1)
        }

    def _days(self) -> list[str]:
        first = date(YEAR, 4, 1)
        days = self.random.sample(range(180), 60)
        return [(first + timedelta(days=day)).isoformat() for day in days]

    def _amounts(self) -> list[str]:
        return [str(n * 50) for n in self.random.sample(range(20, 600), 60)]

    def _places(self) -> list[str]:
        return self.random.sample(PLACES, len(PLACES))

    def _new(self, thing: str) -> str:
        """A value that nothing else has."""
        return self._values[thing].pop()

    def _written(self, thing: str, value: str) -> str:
        """A value as people write it."""
        if thing == DEADLINE:
            return day_in_words(self.random, date.fromisoformat(value))
        return money(self.random, int(value)) if thing == BUDGET else value

    def _texts(self) -> Iterator[str]:
        """What the person says, in order."""
        random, packs = self.random, list(self._packs)
        facts = list(self._said_of)
        random.shuffle(facts)
        for at in range(0, len(facts), 6):
            told = " ".join(self._first(fact) for fact in facts[at : at + 6])
            yield capital(f"{random.choice(BEGIN)} {told}")
        rounds: list[list[str]] = [[] for _ in packs]
        corrections = list(self._corrections())
        for number, text in enumerate(corrections):
            rounds[number * (PACKS - 1) // len(corrections)].append(text)
        for pack, texts in zip(packs, rounds, strict=True):
            reading = random.choice(READ).format(pack=pack)
            if random.random() < 0.4 and texts:
                yield capital(f"{random.choice(IN_PASSING)} {' '.join(texts)}")
                texts.clear()
            passing = f" {random.choice(IN_PASSING)} {' '.join(texts)}" if texts else ""
            yield f"{reading}{passing} {random.choice(THEN)}"
        for framings in (BOOK, RESERVE, WRITE):
            names = random.sample(self._people, len(self._people))
            listed = f"{', '.join(names[:-1])} and {names[-1]}"
            yield random.choice(framings).format(names=listed)

    def _first(self, fact: Fact) -> str:
        name, thing = fact
        value = self._written(thing, self._said_of[fact][0])
        return capital(self.random.choice(FIRST[thing]).format(name=name, value=value))

    def _corrections(self) -> Iterator[str]:
        """Corrections in order: some moved once, two moved twice, two moved and put back."""
        random = self.random
        deadlines = [(name, DEADLINE) for name in self._people]
        twice = random.choice(deadlines)
        others = random.sample([fact for fact in self._said_of if fact != twice], 9)
        undone = set(others[1:3])
        order = [*(fact for fact in (twice, *others[:3]) for _ in range(2)), *others[3:]]
        random.shuffle(order)
        for fact in order:
            values = self._said_of[fact]
            if fact in undone and len(values) == 2:
                values.append(values[0])
                yield self._undone(fact)
            else:
                values.append(self._new(fact[1]))
                yield self._moved(fact)

    def _moved(self, fact: Fact) -> str:
        (name, thing), (*_, old, value) = fact, self._said_of[fact]
        framing = self.random.choice(MOVED[thing])
        text = framing.format(
            name=name, last=name.split()[1], value=self._written(thing, value), old=self._written(thing, old)
        )  # fmt: skip
        return capital(text)

    def _undone(self, fact: Fact) -> str:
        (name, thing), random = fact, self.random
        value = self._written(thing, self._said_of[fact][-1])
        framing = random.choice(UNDONE if random.random() < 0.7 else UNDONE_WITH_VALUE)
        return capital(framing.format(name=name, thing=thing, value=value))

    def _mail(self) -> str:
        """A mail of a pack, perhaps with an old value in it, or one of another project."""
        random, about = self.random, list[str]()
        if random.random() < TRAPS:
            name = random.choice(self._people)
            about = random.sample(lines, 1) if (lines := [*self._traps(name, *THINGS)]) else []
        return mail(random, about, random.randrange(*SENTENCES))

    def _traps(self, name: str, *things: str) -> Iterator[str]:
        """What mails say of a person."""
        for thing in things:
            fact = name, thing
            if fact in self._old:
                value = self._written(thing, self._old[fact])
                yield self.random.choice(OLD[thing]).format(name=name, value=value)
            if fact in self._elsewhere:
                project, other = self._elsewhere[fact]
                value = self._written(thing, other)
                yield OF_ANOTHER[thing].format(name=name, value=value, project=project)

    @override
    def tools(self, agent: str) -> Sequence[Tool]:
        def read_mail(pack: str, number: int) -> str:
            """Read a mail of a pack; the first is number 1."""
            text = self._mails.get((pack, number))
            if text is None:
                return f"There is no mail {number} in the pack {pack}."
            return f"Mail {number} of {self._packs[pack]} in {pack}\n{text}"

        def search_mail(words: str) -> str:
            """Search mails and minutes, such as for 'budget Priya Nair'."""
            thing, _, name = words.partition(" ")
            hits = [*self._traps(name, thing)] if name in self._people else []
            lines = [
                f"{self.random.choice(OTHERS)}: {text}"
                for text in (*hits, *(sentence(self.random) for _ in range(4)))
            ]
            return "\n".join([f"{len(lines)} lines", *lines])

        def book_review(person: str, day: str) -> str:
            """Book the review of a person; the day like 2026-01-31."""
            self._booked.append((person, day))
            return f"Booked: review of {person}."

        def reserve_place(person: str, place: str) -> str:
            """Reserve the place of a person's review."""
            self._reserved.append((person, place))
            return f"Reserved for {person}."

        def find_contact(person: str) -> str:
            """Find the mail address of a person, and those of similar names."""
            pairs = [pair for pair in PAIRS if person in pair]
            return (
                "\n".join(f"{name}, {address_of(name)}" for pair in pairs for name in pair)
                or f"There is no {person}."
            )

        def send_mail(to: str, subject: str, text: str) -> str:
            """Send a mail to an address."""
            self._sent.append((to, f"{subject}\n{text}"))
            return f"Sent to {to}."

        return [read_mail, search_mail, book_review, reserve_place, find_contact, send_mail]

    @staticmethod
    @override
    def decide(sight: Sight) -> Step:
        return Reading(sight).step

    @override
    def verdict(self) -> Verdict:
        """What was done for each person and thing, beside what the person said last."""
        addresses = {address_of(name): name for name in self._people}
        done = [
            *(((name, DEADLINE), day_after(day)) for name, day in self._booked),
            *(((name, PLACE), place) for name, place in self._reserved),
            *(((addresses.get(to, to), BUDGET), each) for to, text in self._sent for each in amounts_in(text)),
        ]  # fmt: skip
        times = Counter(fact for fact, _ in done)
        wrong = [
            (fact, value) for fact, value in done if value != self._said_of.get(fact, [""])[-1]
        ]
        missing = [fact for fact in self._said_of if not times[fact]]
        repeated = sum(number - 1 for number in times.values())
        whys = [
            *(f"{thing} of {name}: {value}, {self._why(value, (name, thing))}" for (name, thing), value in wrong),
            *(f"{thing} of {name} is missing" for name, thing in missing),
            *([f"{repeated} done twice"] if repeated else []),
        ]  # fmt: skip
        return Verdict(solved=not whys, repeated=repeated, broken=len(wrong), why="".join(whys[:1]))

    def _why(self, value: str, fact: Fact) -> str:
        """What is wrong with a value."""
        if value in self._said_of.get(fact, ()):
            return "which was corrected"
        others = {each for values in self._said_of.values() for each in values}
        return "which is another's" if value in others else "which nobody said"


def capital(text: str) -> str:
    """The text with a capital in front."""
    return text[0].upper() + text[1:]


def day_after(day: str) -> str:
    """The next day; the text itself where it is no day."""
    try:
        return (date.fromisoformat(day) + timedelta(days=1)).isoformat()
    except ValueError:
        return day
