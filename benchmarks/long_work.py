"""A long piece of work with tools, made up and always the same: what the model calls, and what the tools answer.

Promise: the same number of turns gives the same script on every machine. Results are logs, code and JSON, of 200 to 3,000
tokens unless it is said; each turn asks for a value that an earlier result told, so that one sees what a request still holds.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import exp, log
from random import Random
from time import process_time

from autogen_context.testing import Call, Say, Step, approximate_tokens

TURNS_PER_TASK = 20
SMALLEST, LARGEST = 200, 3_000  # tokens of a result, on a logarithmic scale
# How many results back the value of a call was told; as often from far as from near.
DISTANCES = (1, 1, 2, 3, 4, 6, 9, 14, 22, 35)
PROMPT = "You look after the billing of a shop. Use the tools, one step at a time, and say when you are done."
DONE = "Task {number} is done. TERMINATE"  # the word by which chats of classic agents end


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of the model with its calls: the value that it asks for, and where that was told."""

    about: str
    told_in: int  # number of the turn; -1 where the task tells it
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the person says, and the turns until it is done."""

    instruction: str
    turns: Sequence[Turn]
    done: str

    @property
    def steps(self) -> list[Step]:
        """All answers of the model."""
        return [*(turn.step for turn in self.turns), Say(self.done)]


class Work:
    """Tasks in order, and the tools that they take.

    Attributes:
        tasks: as the person gives them.
        ended: when the last tool had its result, by the clock.
    """

    def __init__(
        self,
        turns: int,
        *,
        sizes: tuple[int, int] = (SMALLEST, LARGEST),
        clock: Callable[[], float] = process_time,
    ) -> None:
        random = Random(turns)  # noqa: S311 - it makes up text
        self.ended = 0.0
        self._sizes, self._clock = sizes, clock
        self._results: list[str] = []
        told: list[tuple[str, ...]] = []
        self.tasks: list[Task] = []
        for first in range(0, turns, TURNS_PER_TASK):
            order = identifier(random, "order")
            made: list[Turn] = []
            for number in range(first, min(first + TURNS_PER_TASK, turns)):
                back = min(random.choice(DISTANCES), number)
                about = random.choice(told[number - back]) if back else order
                calls = [self._call(random, about, told)]
                if number % 7 == 6:  # two calls at once
                    calls.append(self._call(random, about, told, small=True))
                    told[-2:] = [(*told[-2], *told[-1])]
                made.append(Turn(about=about, told_in=number - back if back else -1, step=calls))
            number = len(self.tasks) + 1
            said = f"Task {number}: find out why {order} was billed twice, and leave {identifier(random, 'worker')} alone."
            self.tasks.append(Task(instruction=said, turns=made, done=DONE.format(number=number)))

    @cached_property
    def answers(self) -> list[tuple[Task, Turn | None]]:
        """What each request asks for: its task, and the turn; none where the task is done."""
        return list(
            chain.from_iterable(
                [(task, turn) for turn in (*task.turns, None)] for task in self.tasks
            )
        )

    def tools(self) -> list[Callable[[int, str], str]]:
        """The tools of the agent."""

        def read_log(page: int, about: str) -> str:  # noqa: ARG001 - for the model to fill in
            """Read a page of the log about something."""
            return self._result(page)

        def read_code(page: int, about: str) -> str:  # noqa: ARG001
            """Read a page of the code about something."""
            return self._result(page)

        def query(page: int, about: str) -> str:  # noqa: ARG001
            """Ask the database for the rows about something."""
            return self._result(page)

        return [read_log, read_code, query]

    def _result(self, page: int) -> str:
        self.ended = self._clock()
        return self._results[page]

    def _call(
        self, random: Random, about: str, told: list[tuple[str, ...]], *, small: bool = False
    ) -> Call:
        """A call whose result is made and kept; the values that it tells are noted."""
        smallest, largest = self._sizes
        ends = log(smallest), log(smallest if small else largest)
        tokens = round(exp(random.uniform(*ends)))
        name, write = random.choice(KINDS)
        text, values = write(random, tokens)
        told.append(values)
        self._results.append(text)
        return Call(name, {"page": len(self._results) - 1, "about": about})


def identifier(random: Random, kind: str) -> str:
    """A value that nothing else has."""
    return f"{kind}-{random.getrandbits(28):07x}"


def log_text(random: Random, tokens: int) -> tuple[str, tuple[str, ...]]:
    """A log; one value stands in an error, one in any line."""
    lines: list[str] = []
    jobs: list[str] = []
    while tokens > 0:
        jobs.append(identifier(random, "job"))
        day, level = random.randrange(1, 29), random.choice(("INFO", "INFO", "DEBUG"))
        clock = f"2026-03-{day:02d} {len(lines) // 60:02d}:{len(lines) % 60:02d}"
        what, took = random.choice(DEEDS), random.randrange(9_000)
        lines.append(
            f"{clock} {level} shop.{random.choice(NOUNS)} {jobs[-1]} {what} after {took} ms"
        )
        tokens -= approximate_tokens(lines[-1])
    failed = identifier(random, "job")
    lines.insert(
        random.randrange(len(lines)),
        f"2026-03-14 12:00 ERROR shop.billing {failed} charged a second time",
    )
    return "\n".join(lines), (failed, random.choice(jobs))


def code_text(random: Random, tokens: int) -> tuple[str, tuple[str, ...]]:
    """Code; one value is a constant at its head, one the default of a function."""
    constant = identifier(random, "key")
    functions: list[str] = []
    rules: list[str] = []
    while tokens > 0:
        noun, verb = random.choice(NOUNS), random.choice(VERBS)
        rules.append(identifier(random, "rule"))
        functions.append(
            f"""
def {verb}_{noun}_{len(rules)}({noun}: {noun.title()}, *, rule: str = "{rules[-1]}") -> int:
    \"\"\"{verb.title()} one {noun} and keep the others as they are.\"\"\"
    if {noun}.items > {random.randrange(200)}:
        return {noun}.price_cents * {random.randrange(2, 9)} - {noun}.discount(rule)
    log.info("{noun} {random.choice(DEEDS)}", extra={{"id": {noun}.id, "limit": {random.randrange(500)}}})
    return {noun}.total_cents
"""
        )
        tokens -= approximate_tokens(functions[-1])
    return f'LOCK = "{constant}"\n' + "\n".join(functions), (constant, random.choice(rules))


def json_text(random: Random, tokens: int) -> tuple[str, tuple[str, ...]]:
    """Rows of a table as JSON; one value is of the row that is held, one of any row."""
    rows: list[dict[str, object]] = []
    while tokens > 0:
        rows.append(
            {
                "id": identifier(random, "invoice"),
                "customer": f"{random.choice(VERBS)} {random.choice(NOUNS)} ltd",
                "total_cents": random.randrange(100, 999_999),
                "status": random.choice(("paid", "paid", "open")),
                "lines": [random.randrange(1, 99) for _ in range(random.randrange(1, 5))],
            }
        )
        tokens -= approximate_tokens(json.dumps(rows[-1], indent=2))
    held = random.choice(rows)
    held["status"] = "held"
    return json.dumps(rows, indent=2), (str(held["id"]), str(random.choice(rows)["id"]))


NOUNS = ("order", "invoice", "ledger", "basket", "refund", "coupon", "shipment", "customer")
VERBS = ("load", "merge", "split", "charge", "settle", "round", "validate", "publish")
DEEDS = ("charged", "queued", "sent to the bank", "rounded", "written to the ledger")
KINDS = (("read_log", log_text), ("read_code", code_text), ("query", json_text))
