"""Plans: twelve steps in an order that people choose, each done once, with values that earlier steps told.

Promise: a step that is run again makes a second thing, as a second ``create-database`` does, and says nothing of the first; a value
that a step returned is told by nothing else. Steps take what they are given, right or wrong.

What the policy does is in ``plans_policy``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from autogen_context.testing import Step
from tasks.plans_policy import Reading
from tasks.plans_text import GIVEN, VALUES
from tasks.sight import Sight
from tasks.sources import DEEDS, REASONS, THINGS, manual_text
from tasks.task import Said, Task, Tool, Verdict

STEPS = 12
FIRST_STOP, SECOND_STOP = (3, 6), (7, 10)  # after which the person has another question
TOLD_BY_STATUS = 0.5  # of the steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a plan is about."""

    name: str
    steps: Sequence[str]
    records: Sequence[str]  # what people ask about in between


KINDS = (
    Kind(
        name="move of the database",
        steps=(
            "create-database", "open-port", "issue-certificate", "create-role", "link-replica", "mount-volume", "register-service",
            "reserve-address", "enroll-monitor", "seed-cache", "add-queue", "grant-access", "export-schema", "create-bucket",
        ),
        records=("incident log", "audit trail", "query log"),
    ),
    Kind(
        name="autumn conference",
        steps=(
            "book-hall", "hire-caterer", "open-registration", "order-badges", "rent-chairs", "rent-projector", "invite-speaker",
            "reserve-rooms", "sign-insurance", "engage-guards", "print-program", "ship-banners", "hire-shuttle", "order-flowers",
        ),
        records=("guest list", "feedback of last year", "list of stands"),
    ),
    Kind(
        name="release",
        steps=(
            "build-image", "sign-archive", "rotate-key", "upload-package", "tag-commit", "open-milestone", "book-window", "render-notes",
            "mirror-wheel", "register-webhook", "deploy-canary", "stage-banner", "scan-licenses", "file-advisory",
        ),
        records=("crash reports", "list of open issues", "download statistics"),
    ),
)  # fmt: skip
LISTED = (
    "The {name}. This is the plan, in this order:",
    "Here is the plan for the {name}, please keep to its order:",
    "We do the {name} today, by this plan:",
    "For the {name} we agreed on these steps:",
)
TOLD = (
    "The {name} is due. Write the plan down first, numbered, and wait for me:",
    "I tell you how the {name} goes; write it down as a numbered plan before you do anything:",
    "Please note the plan of the {name}, numbered, and do nothing yet:",
    "Let us plan the {name}. Write these down as a numbered plan, then I say go:",
)
PROSE = (
    ("First {0}, then {1}, then {2}, then {3}.", "After that {0}, then {1}, then {2}, then {3}.", "Then {0}, then {1}, then {2}, and finally {3}."),
    ("First comes {0}, then {1}, {2} and {3}.", "Then come {0}, {1}, {2} and {3}.", "Then {0}, {1}, {2}, and last of all {3}."),
    ("First do {0}, {1}, {2}, {3}.", "Next {0}, {1}, {2}, {3}.", "Then {0}, {1}, {2}, and at last {3}."),
)  # fmt: skip
GO = (
    "Go up to and with {stop}, then stop.",
    "Begin, and stop after {stop}.",
    "Do it as far as {stop} for now.",
    "Please start; stop after {stop} and tell me.",
    "Start with the first one and go through {stop}.",
    "You can begin. Up to and with {stop} for the time being.",
    "Off you go, as far as {stop}.",
    "Run it through {stop}, no further.",
)
ASIDE = (
    "Something else before you go on: read all {pages} pages of the {record} and tell me if anything is odd.",
    "Leave that for a moment. Can you go through the {pages} pages of the {record}?",
    "In between, please read the {pages} pages of the {record} for me.",
    "A question from the board: is anything wrong in the {pages} pages of the {record}? Read them all.",
    "Put the plan aside for now and look through all {pages} pages of the {record}.",
    "Could you read the {pages} pages of the {record} first? I want to know what you think.",
    "Short break: all {pages} pages of the {record} want reading.",
    "Please have a look at the {record}, it has {pages} pages. All of it.",
)
GO_ON = (
    "Thanks. Go on with the plan where you left it, up to and with {stop}.",
    "Fine. Back to the plan, as far as {stop}.",
    "Good, now continue with the plan and stop after {stop}.",
    "Then carry on where you were, through {stop}.",
    "All right, pick the plan up again, up to and with {stop}.",
    "Now go on with the steps; stop after {stop} please.",
    "Back to work: the plan, as far as {stop}.",
    "Please resume the plan and go through {stop}.",
)
REST = (
    "Good. Now the rest of the plan.",
    "Thank you. Go on with the plan to the end.",
    "Please do the rest of the steps now.",
    "Then finish the plan, the rest can be done today.",
    "And now what is left: the rest of the plan.",
    "Carry on to the end of the plan please.",
    "I am back. Do the rest of the plan.",
    "Now all the rest, until the plan is through, to the end.",
)
HAS = (
    "The {given} is {value}.",
    "You will need the {given}: {value}.",
    "For the {given} take {value}.",
    "The {given} we have is {value}.",
)
HAS_NOW = (
    "By the way, the {given} is now {value}.",
    "The {given} has been renewed, it is now {value}.",
    "From now on the {given} is {value}, the old one expired.",
    "Mind that the {given} is {value} from now on.",
)


class Plans(Task):
    """A plan in three stretches with long questions in between, and a value that changes on the way."""

    family: ClassVar[str] = "plans"
    prompt: ClassVar[str] = (
        "You carry out plans, step by step, in their order. Of each step read all pages of its notes, which say what it takes: values "
        "that people gave, or that earlier steps told. Run it once with these values, in the order of the notes, divided by commas; then "
        "read all pages of its check. Never run a step twice: it would be done twice. The status tells of some steps only. Look up what "
        "you need and no longer see."
    )

    most_requests: ClassVar[int] = 260

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        random = self.random
        self._kind = random.choice(KINDS)
        self._order = random.sample(self._kind.steps, STEPS)
        self._value_of = {step: random.choice(VALUES) for step in self._order}
        self._given = random.sample(GIVEN, 2)
        self._told = {given: value_like("number", random) for given in self._given}
        self._renewed = {**self._told, self._given[0]: value_like("number", random)}
        self._takes = {step: self._taken(at) for at, step in enumerate(self._order)}
        self._pages = {
            step: (random.randrange(4, 7), random.randrange(2, 4)) for step in self._order
        }
        self._takes_on = {step: self._pages[step][0] - random.randrange(2) for step in self._order}
        self._visible = set(random.sample(self._order, int(STEPS * TOLD_BY_STATUS)))
        self._stops = random.randrange(*FIRST_STOP), random.randrange(*SECOND_STOP)
        self._ran: list[tuple[str, str, str]] = []  # step, values as given, value returned
        self._records = [
            (record, random.randrange(13, 18)) for record in random.sample(self._kind.records, 2)
        ]
        self.said = [Said(text=text) for text in self._texts()]

    def _taken(self, at: int) -> list[str]:
        """What a step takes: steps before it, more often from far, and what people gave."""
        random = self.random
        steps = random.sample(self._order[:at], min(at, 1 + (random.random() < 0.5)))
        if at >= 8 and random.random() < 0.7:
            far = random.choice(self._order[: at - 5])
            steps = list(dict.fromkeys([far, *steps]))[:2]
        given = (
            [random.choice(self._given)] if random.random() < 0.3 or at in {0, STEPS - 1} else []
        )
        return [*steps, *given]

    def _texts(self) -> Iterator[str]:
        """What the person says."""
        random, order = self.random, self._order
        first, second = (order[at] for at in self._stops)
        has = [
            random.choice(HAS).format(given=given, value=self._told[given]) for given in self._given
        ]
        go = random.choice(GO).format(stop=first)
        if random.random() < 0.5:
            numbered = [f"{n}. {step}" for n, step in enumerate(order, 1)]
            numbered[-1] += " (last)"
            yield "\n".join([self._say(LISTED, name=self._kind.name), *numbered, *has, go])
        else:
            parts = zip(random.choice(PROSE), (order[:4], order[4:8], order[8:]), strict=True)
            prose = [form.format(*steps) for form, steps in parts]
            yield "\n".join([self._say(TOLD, name=self._kind.name), *prose, *has])
            yield go
        (one, its_pages), (other, other_pages) = self._records
        yield self._say(ASIDE, record=one, pages=its_pages)
        now = self._say(HAS_NOW, given=self._given[0], value=self._renewed[self._given[0]])
        yield "\n".join([now, self._say(GO_ON, stop=second)])
        yield self._say(ASIDE, record=other, pages=other_pages)
        yield self._say(REST)

    def _say(self, framings: Sequence[str], **values: object) -> str:
        return self.random.choice(framings).format(**values)

    @override
    def tools(self, agent: str) -> Sequence[Tool]:
        random = self.random

        def read_notes(step: str, page: int) -> str:
            """Read a page of the notes on a step."""
            pages, _ = self._pages.get(step, (0, 0))
            if not 1 <= page <= pages:
                return f"There is no page {page} of the notes on {step}; they have {pages}."
            takes = [f"\nTakes: {self._spelled(step)}."] if page == self._takes_on[step] else []
            return f"Notes on {step}, page {page} of {pages}\n{manual_text(random, takes)}"

        def run_step(step: str, values: str) -> str:
            """Run a step with the values that it takes."""
            if step not in self._pages:
                return f"There is no step {step}."
            value = value_like(self._value_of[step], random)
            self._ran.append((step, values, value))
            return f"{step} done; its {self._value_of[step]} is {value}.\n{log_text(random, 8)}"

        def check_step(step: str, page: int) -> str:
            """Read a page of the check of a step that was run."""
            _, pages = self._pages.get(step, (0, 0))
            if not 1 <= page <= pages:
                return f"There is no page {page} of the check of {step}; it has {pages}."
            if step not in {ran for ran, _, _ in self._ran}:
                return f"{step} was not run."
            return f"Check of {step}, page {page} of {pages}\n{log_text(random, 17)}"

        def status() -> str:
            """Tell of some of the steps whether they are done."""
            done = {step for step, _, _ in self._ran}
            states = {True: "done", False: "not begun"}
            return "\n".join(
                f"{step}: {states[step in done] if step in self._visible else 'cannot be told'}"
                for step in sorted(self._order)
            )

        def read_record(name: str, page: int) -> str:
            """Read a page of a list or a log."""
            pages = dict(self._records).get(name, 0)
            if not 1 <= page <= pages:
                return f"There is no page {page} of {name}."
            return f"The {name}, page {page} of {pages}\n{record_text(random)}"

        return [read_notes, run_step, check_step, status, read_record]

    def _spelled(self, step: str) -> str:
        """What a step takes, in words."""
        words = [
            f"the {self._value_of[taken]} of {taken}" if taken in self._value_of else f"the {taken}"
            for taken in self._takes[step]
        ]
        return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)

    @staticmethod
    @override
    def decide(sight: Sight) -> Step:
        return Reading(sight).step()

    @override
    def verdict(self) -> Verdict:
        ran = [step for step, _, _ in self._ran]
        again = len(ran) - len(set(ran))
        missing = [step for step in self._order if step not in ran]
        whys = [f"{again} steps were run twice, such as {twice(ran)}"] if again else []
        whys += [f"{step} was not run" for step in missing[:1]]
        if not again and not missing and ran != self._order:
            whys.append("the steps were run in another order")
        whys += list(self._wrong_values())[:1]
        return Verdict(solved=not whys, repeated=again, why="; ".join(whys))

    def _wrong_values(self) -> Iterator[str]:
        """Steps that were run with other values than they take."""
        told: dict[str, str] = {}
        for step, values, value in self._ran:
            given = self._told if self._is_before_change(step) else self._renewed
            right = [told.get(taken) or given.get(taken, "?") for taken in self._takes[step]]
            if right != [each.strip() for each in values.split(",")]:
                yield f"{step} was run with {values!r} in place of {', '.join(right)!r}"
            told.setdefault(step, value)

    def _is_before_change(self, step: str) -> bool:
        return self._order.index(step) <= self._stops[0]


def twice(ran: Sequence[str]) -> str:
    """The first that is there twice."""
    return next(step for at, step in enumerate(ran) if step in ran[:at])


def value_like(kind: str, random: Random) -> str:
    """A value of a kind."""
    forms: Mapping[str, str] = {
        "port": f"{random.randrange(10_000, 65_000)}",
        "checksum": f"{random.getrandbits(28):07x}{random.randrange(10)}",
        "reference": f"{random.choice('ABCDEFGH')}{random.choice('KLMNPQ')}-{random.randrange(10_000, 99_999)}",
        "serial": f"{random.choice('RSTUVW')}{random.randrange(100, 999)}",
        "number": f"{random.choice('CPQX')}{random.choice('HOS')}-{random.randrange(1_000, 9_999)}",
    }
    return forms[kind]


def log_text(random: Random, lines: int) -> str:
    """Lines of a log, with values of other things."""
    return "\n".join(log_line(random) for _ in range(lines))


def log_line(random: Random) -> str:
    """One line of it, some 35 tokens."""
    thing, other = random.sample(THINGS, 2)
    deed = random.choice(DEEDS)
    kind = random.choice(VALUES)
    clock = f"{random.randrange(24):02}:{random.randrange(60):02}:{random.randrange(60):02}"
    forms = (
        f"{clock} {thing}.{deed} took {random.randrange(9_000)} ms, {other} {random.randrange(999)} of {random.randrange(1_000, 9_999)}",
        f"{clock} {other} of the test system has {kind} {value_like(kind, random)}, {thing} waits for {random.randrange(60)} s",
        f'{clock} {{"{thing}": {random.randrange(9_999)}, "{other}": "{deed}", "tries": {random.randrange(5)}, "load": 0.{random.randrange(99)}}}',
        f"{clock} note: {thing} and {other} differ by {random.randrange(90)}, {random.choice(REASONS)}",
    )
    return random.choice(forms)


def record_text(random: Random) -> str:
    """A page of a record that people ask about."""
    rows = [
        f"{random.randrange(1_000, 9_999)} | {random.choice(THINGS)} {random.choice(DEEDS)}s {random.choice(THINGS)} | "
        f"{random.randrange(1, 29)} May | {random.randrange(9_999) / 100} | {random.choice(REASONS)}"
        for _ in range(20)
    ]
    return "\n".join(rows)
