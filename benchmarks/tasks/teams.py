"""Teams: one agent does a part of a list by somebody's rules and hands over; the next goes on with its report.

Promise: what is done twice, forgotten, or done against a rule is seen in the books, whoever did it. A log tells of half of the items
who tried them; of the others nobody can be asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from autogen_context.testing import Step
from tasks.office import OTHERS, sentence
from tasks.sight import Sight
from tasks.task import CLERK, Said, Task, Tool, Verdict
from tasks.teams_policy import Reading
from tasks.teams_words import (
    AGAIN,
    BEGIN,
    CITIES,
    HAND_OVER,
    KINDS,
    NAMED,
    OF_CITY,
    OF_SECTOR,
    OF_TIER,
    PAGES,
    PASSING,
    PLURALS,
    SECTORS,
    TAKE_OVER,
    TIERS,
)

ON_PAGE, FEWEST_PAGES, MOST_PAGES = 10, 7, 8
SENTENCES = (31, 36)  # of what else stands in an item
SILENT = 8  # items that give no answer at first
LOGGED = 0.5  # of the items have a log
SECOND, THIRD = "second", "third"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What is on the list."""

    page: int
    city: str
    tier: str
    sector: str
    key: str
    notes: str
    is_logged: bool


class Teams(Task):
    """Seventy or eighty items, two rules, some out of turn, two handovers."""

    family: ClassVar[str] = "teams"
    prompt: ClassVar[str] = (
        "You are one of a team that works through a list. Open items, two at a time, before you act; the key is in them. Each is done once "
        "and never twice. Rules of your person hold for the whole list and for all of the team. What gives no answer is left until you are "
        "told. Your report to the next one says what is done out of turn, what is open, and the rules. Where a report is not complete, read logs "
        "before you act. Look up what you need and no longer see."
    )

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        random = self.random
        self._words = random.choice(KINDS)
        self._pages = random.randint(FEWEST_PAGES, MOST_PAGES)
        self._last = random.choice((THIRD, CLERK))
        numbers = random.sample(range(1_000, 10_000), self._pages * ON_PAGE)
        names = [f"{self._words.prefix}-{number}" for number in numbers]
        self._items = {name: self._item(at // ON_PAGE + 1) for at, name in enumerate(names)}
        self._rules = random.sample(("city", "tier", "sector"), 2)
        some = random.choice([item for item in self._items.values() if item.tier in TIERS])
        self._spared: dict[str, str] = {kind: getattr(some, kind) for kind in self._rules}
        self._done = dict.fromkeys(names, 0)
        self._log: list[tuple[str, str]] = []  # item and what was written
        self._half = 0  # pages that the first agent does before it hears the second rule
        allowed = [name for name in names if not self._is_spared(name)]
        self._half = (self._pages - 3) // 2 + 1
        share = (self._pages - 3) * ON_PAGE  # of the first agent
        urgent = random.sample([name for name in allowed if name not in names[:share]], 8)
        self._urgent = (
            urgent[:5],
            [name for name in urgent[5:] if self._items[name].page == self._pages],
        )
        self._silent = set(random.sample([name for name in allowed if name not in urgent], SILENT))
        self.said = [*self._sayings()]

    @property
    @override
    def prompts(self) -> Mapping[str, str]:
        return dict.fromkeys((CLERK, SECOND, self._last), self.prompt)

    def _item(self, page: int) -> Item:
        random = self.random
        notes = [sentence(random) for _ in range(random.randrange(*SENTENCES))]
        lines: list[str] = []
        while notes:
            size = random.randrange(2, 6)
            lines.append(f"{random.choice(OTHERS)}: {' '.join(notes[:size])}")
            del notes[:size]
        return Item(
            page=page,
            city=random.choice(CITIES),
            tier=random.choices(("standard", *TIERS), weights=(6, 1, 1, 1, 1))[0],
            sector=random.choice(SECTORS),
            key=f"{random.randrange(10**9):09d}",
            notes="\n".join(lines),
            is_logged=random.random() < LOGGED,
        )

    def _is_spared(self, name: str) -> bool:
        """Whether a rule holds for an item; the second one is told when the first pages are done."""
        item = self._items[name]
        rules = self._rules if item.page > self._half else self._rules[:1]
        return any(getattr(item, kind) == self._spared[kind] for kind in rules)

    def _sayings(self) -> Iterator[Said]:
        """What the person says, and to whom."""
        random, own = self.random, self._pages - 3  # pages of the first agent
        first, second = self._urgent
        half = self._half
        rules = [self._rule(kind) for kind in self._rules]
        yield Said(text=f"{random.choice(BEGIN)} {rules[0]} {self._named(first)}")
        yield Said(text=self._part(1, half))
        yield Said(text=f"{self._part(half + 1, own)} {random.choice(PASSING)} {rules[1]}")
        yield Said(text=random.choice(HAND_OVER).format(name="the next one"))
        begin = random.choice(TAKE_OVER)
        yield Said(text=f"{begin}{self._part(own + 1, own + 2)}", to=SECOND)
        if second:
            yield Said(text=self._named(second), to=SECOND)
        yield Said(text=random.choice(HAND_OVER).format(name="the next one"), to=SECOND)
        begin = random.choice(TAKE_OVER)
        yield Said(text=f"{begin}{self._part(self._pages, self._pages)}", to=self._last)
        yield Said(text=random.choice(AGAIN), to=self._last)

    def _rule(self, kind: str) -> str:
        value, words = self._spared[kind], self._words
        framings = {"city": OF_CITY, "tier": OF_TIER, "sector": OF_SECTOR}[kind]
        plural = PLURALS.get(value, value)
        return self.random.choice(framings).format(
            noun=words.noun, act=words.act, acted=words.acted, city=value, tier=value, sectors=plural, Sectors=plural.capitalize()
        )  # fmt: skip

    def _named(self, names: Sequence[str]) -> str:
        text = self.random.choice(NAMED).format(act=self._words.act, items=", ".join(names))
        return text[0].upper() + text[1:]

    def _part(self, first: int, last: int) -> str:
        words = self._words
        text = self.random.choice(PAGES).format(
            first=first, last=last, noun=words.noun, act=words.act
        )
        return text.replace(f"ages {first} to {first}", f"age {first}")

    @override
    def tools(self, agent: str) -> Sequence[Tool]:
        words, items = self._words, self._items

        def list_page(page: int) -> str:
            """List a page of the list."""
            names = [name for name, item in items.items() if item.page == page]
            title = (
                f"Page {page} of {self._pages}" if names else f"There are pages 1 to {self._pages}."
            )
            return "\n".join([title, *names])

        def open_item(item: str) -> str:
            """Open an item of the list."""
            if item not in items:
                return f"There is no {item}."
            it = items[item]
            return f"{item}, on page {it.page}\ncity: {it.city}\ntier: {it.tier}\nsector: {it.sector}\n{it.notes}\n{words.key} of {item}: {it.key}"

        def read_log(item: str) -> str:
            """Read the log of an item, as far as there is one."""
            if item not in items or not items[item].is_logged:
                return f"There is no log of {item} before the evening."
            return (
                "\n".join(text for name, text in self._log if name == item)
                or f"Nobody tried {item}."
            )

        def act(item: str, key: str) -> str:
            """Do what is to be done with an item."""
            if item not in items or items[item].key != key:
                return f"{item} does not belong to {key}."
            if item in self._silent:  # the first time
                self._silent.discard(item)
                self._log.append((item, f"{item}: no answer, tried by {agent}."))
                return f"No answer from {item}."
            self._done[item] += 1
            text = f"{words.acted.capitalize()} {item}"
            self._log.append((item, f"{text}, by {agent}."))
            number = sum(each.endswith(f", by {agent}.") for _, each in self._log)
            return f"{text}; that makes {number} by you."

        act.__name__ = f"{words.act}_{words.noun}"
        return [list_page, open_item, read_log, act]

    @staticmethod
    @override
    def decide(sight: Sight) -> Step:
        return Reading(sight).step

    @override
    def verdict(self) -> Verdict:
        repeated = sum(max(0, times - 1) for times in self._done.values())
        broken = [name for name, times in self._done.items() if times and self._is_spared(name)]
        missing = [
            name for name, times in self._done.items() if not times and not self._is_spared(name)
        ]
        whys = [
            *([f"{len(broken)} done against a rule, such as {broken[0]}"] if broken else []),
            *([f"{len(missing)} not done, such as {missing[0]}"] if missing else []),
            *([f"{repeated} done twice"] if repeated else []),
        ]
        return Verdict(solved=not whys, repeated=repeated, broken=len(broken), why="; ".join(whys))
