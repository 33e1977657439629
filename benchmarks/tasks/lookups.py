"""Lookups: at a service desk values are read in passing, and asked for some eighty requests later, each under its name.

Promise: contract numbers and the codes of faults can be read again, which is counted; a reading is set back when it is taken, and the
code of an order is told once. Hundreds of others have values of the same form, and nothing tells whether a value was right.
The policy is in ``lookups_policy``, with what it does where something is gone.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from autogen_context.testing import Step
from tasks import lookups_words as words_of
from tasks.lookups_policy import Reading
from tasks.lookups_words import code, fault, listed
from tasks.sight import Sight
from tasks.task import CLERK, Said, Task, Tool, Verdict

CUSTOMERS, CASES, STRETCHES = 240, 36, 4
STRETCH = CASES // STRETCHES
MOST_ROWS, MOST_CHARS = 26, 3_000  # of the answer to a query
KINDS = ("code", "reading", "fault", "contract")
ASKED_AT_ONCE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case of the queue."""

    number: int
    name: str
    steps: tuple[str, ...]  # what is to be done, as the queue says it


class Lookups(Task):
    """A queue of cases in four stretches, and late questions for values that were read on the way."""

    family: ClassVar[str] = "lookups"
    prompt: ClassVar[str] = (
        "You work at a service desk. Take cases with next_case until none is waiting and do what each says, in its order. Later you are "
        "asked for values. They have to be exact and of the right customer: look up what you need and no longer see. A wrong value is "
        "worse than none. Do not read twice without need."
    )

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        random = self.random
        self._words = random.choice(words_of.DESKS)
        every = [f"{surname} {trade}" for surname in words_of.SURNAMES for trade in words_of.TRADES]
        self._names = random.sample(every, CUSTOMERS)
        self._district = {
            name: words_of.DISTRICTS[n % len(words_of.DISTRICTS)]
            for n, name in enumerate(self._names)
        }
        self._contracts = {name: self._words.new_contract(random) for name in self._names}
        self._readings = {
            name: f"{random.randrange(2_000, 89_999)}.{random.randrange(10)}"
            for name in self._names
        }
        self._faults = {name: fault(random) for name in self._names}
        self._codes = {name: code(random) for name in self._names}
        self._cases = list(self._queue())
        self._left = {case.name: list(case.steps) for case in self._cases}
        self._waits = False  # whether the queue has just said that nothing is waiting
        self._told = 0  # cases of the stretches that are open
        self._reads = Counter[str]()
        self._changed: dict[str, str] = {}
        self._contracts_at_first = self._contracts
        self._taken: dict[str, str] = {}  # readings that were set back
        self._ordered = set[str]()
        self._written: list[tuple[str, str, str]] = []  # name, kind, value
        self._expected: dict[tuple[str, str], str] = {}
        self.said = [Said(text=text) for text in self._texts()]

    @property
    @override
    def prompts(self) -> Mapping[str, str]:
        return {CLERK: self.prompt.replace("a service desk", self._words.desk, 1)}

    def _queue(self) -> Iterator[Case]:
        """The cases; each district is queried once at most."""
        words, districts = self._words, list(words_of.DISTRICTS)
        self.random.shuffle(districts)
        for number, name in enumerate(self.random.sample(self._names, CASES), start=1):
            steps = ["read the record", "read the log"]
            if number % 4 == 2 and districts:
                steps.append(f"query the district {districts.pop()}")
            has = self.random.choice(((words.read, words.order), (words.read,), (words.order,)))
            yield Case(number=number, name=name, steps=(*steps, *has))

    def _texts(self) -> Iterator[str]:
        """What people say: four stretches of the queue, one question in between, the others at the end."""
        asks = self._asks()
        asked = [(kind, name) for kind, names in asks for name in names]
        told = self.random.sample(asked, len(asked) // 2)
        yield "\n".join(
            [
                self._say(words_of.START),
                *(self._say(words_of.ANNOUNCE, kind=k, name=n) for k, n in told),
            ]
        )
        yield f"{self._stray()}\n{self._say(words_of.GO_ON)}"
        yield f"{self._changes(asked)}\n{self._say(words_of.GO_ON)}"
        yield self._question(*asks[0])
        yield f"{self._stray()}\n{self._say(words_of.GO_ON)}"
        yield from (self._question(*ask) for ask in asks[1:])

    def _asks(self) -> list[tuple[str, list[str]]]:
        """Six to ten values to ask for, by kind, some of them together; nobody is asked for twice."""
        random, taken = self.random, set[str]()
        asks: list[tuple[str, list[str]]] = []
        many = random.randrange(6, 11)
        kinds = [*KINDS, *random.choices(KINDS, weights=(3, 3, 2, 2), k=many - len(KINDS))]
        for kind in sorted(kinds, key=KINDS.index):
            stop = CASES // 2 if random.random() < 0.75 else 3 * STRETCH
            names = [
                case.name
                for case in self._cases[:stop]
                if self._gives(case, kind) and case.name not in taken
            ]
            name = random.choice(names)
            taken.add(name)
            if (
                asks
                and asks[-1][0] == kind
                and len(asks[-1][1]) < ASKED_AT_ONCE
                and random.random() < 0.6
            ):
                asks[-1][1].append(name)
            else:
                asks.append((kind, [name]))
        random.shuffle(asks)
        early = {case.name for case in self._cases[: STRETCH * 2]}
        asks.sort(
            key=lambda ask: not early.issuperset(ask[1])
        )  # the first is asked before the last stretch
        return [asks[0], *random.sample(asks[1:], len(asks) - 1)]

    def _gives(self, case: Case, kind: str) -> bool:
        step = {"code": self._words.order, "reading": self._words.read}.get(kind)
        return step is None or step in case.steps

    def _say(self, framings: Sequence[str], kind: str = "", **values: str) -> str:
        text = self.random.choice(framings).format(
            label=self._words.labels.get(kind, ""), visit=self._words.visit, **values
        )
        return text[0].upper() + text[1:]

    def _question(self, kind: str, names: Sequence[str]) -> str:
        """A question, which is expected to lead to an act for each of the names."""
        values = {
            "code": self._codes,
            "reading": self._readings,
            "fault": self._faults,
            "contract": self._contracts,
        }[kind]
        self._expected.update({(name, kind): values[name] for name in names})
        text = self._say(
            words_of.CONFIRM if kind == "code" else words_of.REPORT, kind=kind, names=listed(names)
        )
        return f"{text} {self.random.choice(words_of.TAKEN)}" if kind == "reading" else text

    def _stray(self) -> str:
        """A value that is out of date, of somebody with a case."""
        name = self.random.choice(self._cases[: 2 * STRETCH]).name
        kind = self.random.choice(("code", "contract"))
        value = code(self.random) if kind == "code" else self._words.new_contract(self.random)
        return self._say(words_of.STRAY, kind=kind, name=name, value=value)

    def _changes(self, asked: Sequence[tuple[str, str]]) -> str:
        """Two contracts that get a new number after the second stretch, one of them asked for later."""
        counts = {case.name for case in self._cases[: 2 * STRETCH]}
        of_asked = [name for kind, name in asked if kind == "contract" and name in counts]
        others = sorted(counts - {name for _, name in asked})
        names = [*of_asked[:1], *self.random.sample(others, 2)][:2]
        self.random.shuffle(names)
        lines: list[str] = []
        self._changed = {name: self._words.new_contract(self.random) for name in names}
        for name, value in self._changed.items():
            lines.append(self._say(words_of.CHANGE, kind="contract", name=name, value=value))
        self._contracts_at_first, self._contracts = (
            self._contracts,
            {**self._contracts, **self._changed},
        )
        return "\n".join(lines)

    # ---- the tools

    @override
    def tools(self, agent: str) -> Sequence[Tool]:
        words = self._words

        def next_case() -> str:
            """The case to work on; the same one as long as something of it is to do."""
            return self._next()

        def read(name: str, what: str) -> str:
            """Read the record or the log of a customer."""
            page = {"record": self._record, "log": self._log}.get(what)
            return self._read(f"read the {what}", name, page) if page else f"There is no {what}."

        def query(sql: str) -> str:
            """Query customers(name, district, contract, reading)."""
            return self._query(sql)

        def take(name: str) -> str:
            """Read a customer's unit and set it to zero."""
            return self._read(words.read, name, self._take)

        def order(name: str) -> str:
            """Order for a customer; its code is shown once."""
            return self._read(words.order, name, self._order)

        def give_value(name: str, what: str, value: str) -> str:
            """Write reading, fault or contract of a customer into the report, or confirm an order by its code."""
            return self._write(name, what, value)

        take.__name__, order.__name__ = words.read, words.order
        return [next_case, read, query, take, order, give_value]

    def _next(self) -> str:
        open_ones = [case for case in self._cases[: self._told] if self._left[case.name]]
        if not open_ones and not self._waits and self._told:
            self._waits = True
            return "No case is waiting."
        if not open_ones:
            self._waits, self._told = False, min(CASES, self._told + STRETCH)
            open_ones = [case for case in self._cases[: self._told] if self._left[case.name]]
        if not open_ones:
            return "No case is waiting."
        case, random = open_ones[0], Random(f"{self.seed} {open_ones[0].number}")  # noqa: S311 - it makes up text
        return (
            f"Case {case.number} of today: {case.name}, {self._district[case.name]}\n"
            f"Came in {random.randrange(7, 18):02d}:{random.randrange(60):02d} by {random.choice(('phone', 'mail', 'portal'))}, taken by "
            f"{random.choice(words_of.STAFF)}: {random.choice(words_of.REASONS)}.\nTo do: {', '.join(self._left[case.name])}"
        )

    def _read(self, tool: str, name: str, text: Callable[[str], str]) -> str:
        """Read something of a customer; what was read before is counted."""
        if name not in self._contracts:
            return f"There is no customer {name}."
        self._reads[f"{tool} {name}"] += 1
        self._did(name, tool)
        return text(name)

    def _did(self, name: str, step: str) -> None:
        if step in self._left.get(name, ()):
            self._left[name].remove(step)

    def _record(self, name: str) -> str:
        random = Random(f"{self.seed} record {name}")  # noqa: S311 - it makes up text
        paid = "\n".join(
            f"  {2025 + month // 12}-{month % 12 + 1:02d}-{random.randrange(1, 28):02d}  {random.randrange(40, 990)},{random.randrange(100):02d} EUR  "
            f"ref {random.getrandbits(40):010X}  {random.choice(('transfer', 'debit', 'card'))}"
            for month in range(1, random.randrange(17, 21))
        )
        notes = "\n".join(
            f"- {random.choice(words_of.STAFF)}: {note}"
            for note in random.sample(words_of.NOTES, 12)
        )
        number = (
            self._contracts[name] if self._told > 2 * STRETCH else self._contracts_at_first[name]
        )
        lines = [
            f"Record of {name}",
            f"address: {random.choice(words_of.STREETS)} {random.randrange(1, 190)}, {self._district[name]}",
            f"phone: +49 {random.randrange(30, 999)} {random.randrange(10**6, 10**7)}",
            f"{self._words.labels['contract']}: {number}",
            f"customer since: {random.randrange(1998, 2025)}, group {random.choice('ABCDE')}{random.randrange(10, 99)}",
            f"payments:\n{paid}",
            f"former {self._words.labels['contract']}: {self._words.new_contract(random)}, ended {random.randrange(2001, 2020)}",
            f"notes:\n{notes}",
        ]
        return "\n".join(lines)

    def _log(self, name: str) -> str:
        random = Random(f"{self.seed} log {name}")  # noqa: S311 - it makes up text
        lines = [
            random.choice(words_of.EVENTS).format(n=random.randrange(2, 990))
            for _ in range(random.randrange(33, 40))
        ]
        for event in random.sample(words_of.PASSED, 2):
            lines.insert(
                random.randrange(len(lines)),
                event.format(fault=fault(random), n=random.randrange(2, 99)),
            )
        stop = f"{self._words.stopped} with {self._words.labels['fault']} {self._faults[name]}"
        lines.insert(random.randrange(4, len(lines)), stop)
        minute = random.randrange(300)
        stamped = [
            f"2026-11-{random.randrange(10, 29)} unit {random.randrange(1_000, 9_999)}, {name}: newest page"
        ]
        for line in lines:
            minute += random.randrange(1, 40)
            level = "FATAL" if line == stop else random.choice(("INFO", "INFO", "DEBUG"))
            stamped.append(
                f"{minute // 60:02d}:{minute % 60:02d}:{random.randrange(60):02d} {level} {line}"
            )
        return "\n".join(stamped)

    def _take(self, name: str) -> str:
        if name in self._taken:
            return f"{self._words.thing} of {name} shows 0.{self.seed % 10} {self._words.unit} since it was set to zero."
        self._taken[name] = self._readings[name]
        return (
            f"{self._words.thing} of {name} read at {self._readings[name]} {self._words.unit} and set to zero.\n"
            "Seal checked, cover closed, the next reading is due in a year."
        )

    def _order(self, name: str) -> str:
        if name in self._ordered:
            return f"A {self._words.visit} for {name} is ordered already; its code was shown then."
        self._ordered.add(name)
        random = Random(f"{self.seed} order {name}")  # noqa: S311 - it makes up text
        return (
            f"Ordered: {self._words.visit} for {name}, 2026-12-{random.randrange(1, 28):02d} between {random.randrange(7, 12)} and "
            f"{random.randrange(13, 18)} o'clock, {random.choice(words_of.STAFF)} comes.\n"
            f"The {self._words.labels['code']} of {name} is {self._codes[name]}. It is shown once.\n"
            f"Free of charge if called off {random.randrange(2, 9)} days before; lift {random.randrange(1, 9)}, access by the yard."
        )

    def _query(self, sql: str) -> str:
        """The answer of a database that is filled for this query, as far as it fits."""
        self._reads[sql] += 1
        for step in [
            step for left in self._left.values() for step in left if step.startswith("query")
        ]:
            for left in self._left.values():
                if step in left and f"'{step.split()[-1]}'" in sql:
                    left.remove(step)
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE TABLE customers (name, district, contract, reading)")
            database.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", self._rows())
            try:
                found = database.execute(sql)
                head = [column[0] for column in found.description or ()]
                rows = found.fetchmany(MOST_ROWS)
            except sqlite3.Error as error:
                return f"Error: {error}"
        lines = [" | ".join(map(str, row)) for row in [head, *rows]]
        return "\n".join([*lines, f"({len(rows)} rows)"])[:MOST_CHARS]

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Customers as they are now; what a unit shows has moved on a little since it was set back."""
        contracts = self._contracts if self._told > 2 * STRETCH else self._contracts_at_first
        for name in self._names:
            reading = float(self._readings[name])
            now = (reading % 90) / 2 if name in self._taken else reading - reading % 70 - 1
            yield name, self._district[name], contracts[name], f"{now:.1f}"

    def _write(self, name: str, what: str, value: str) -> str:
        kind = what.strip().lower()
        if name not in self._contracts or kind not in KINDS:
            return f"Error: no customer {name}, or what is none of reading, fault, contract, code."
        self._written.append((name, kind, value.strip()))
        return f"Noted for {name}, number {len(self._written)} of today."

    # ---- the policy and the verdict

    @staticmethod
    @override
    def decide(sight: Sight) -> Step:
        return Reading(sight).step()

    @override
    def verdict(self) -> Verdict:
        right = {(*key, value) for key, value in self._expected.items()}
        wrong = [each for each in self._written if each not in right]
        missing = sorted(right - set(self._written))
        repeated = (
            sum(times - 1 for times in self._reads.values())
            + len(self._written)
            - len(set(self._written))
        )
        open_ones = [case.number for case in self._cases if self._left[case.name]]
        whys = (
            [f"{kind} of {name} given as {value}" for name, kind, value in wrong[:1]],
            [
                f"{len(missing)} of {len(right)} not given, such as the {missing[0][1]} of {missing[0][0]}"
            ]
            if missing
            else [],
            [f"{len(open_ones)} cases not done, such as {open_ones[0]}"] if open_ones else [],
        )
        why = "; ".join(text for each in whys for text in each)
        return Verdict(solved=not why, repeated=repeated, broken=len(wrong), why=why)
