"""What the scripted model does: how somebody repairs a project that he does not know.

Promise: the steps are a script, the outputs of the tools are real; each edit is made for a reason that an output shows,
one goes wrong at first, and one is made from memory and misses.
"""

from collections.abc import Iterator

from autogen_context.testing import Call, Say, Step

SYSTEM = (
    "You are a careful engineer. You look before you change something, change as little as possible, "
    "and run the tests after each change."
)
RULE = "Do not touch anything in roombook/tests or data: both are as the house wants them."
TASK = (
    "Tests of roombook fail. Find out why and repair the code until all of them pass. "
    f"{RULE} In the end name each file that you changed, with the reason."
)
PACKAGE = "roombook/"
TESTS = "roombook/tests/"

OVERLAPS = "return self.start <= other.end and other.start <= self.end"
OVERLAPS_REPAIRED = "return self.start < other.end and other.start < self.end"
CLAMPED = "    return date(year, month, min(day.day, monthrange(year, month)[1]))\n"
CLAMPED_WRONGLY = """\
    last = monthrange(year, month)[1]
    if day.day == monthrange(day.year, day.month)[1]:
        return date(year, month, last)
    return date(year, month, min(day.day, last))
"""
MISREMEMBERED = """\
    current = start
    while True:
        yield current
        current = add_months(current, every)
"""
DRIFTING = """\
    day = start
    while True:
        yield day
        day = add_months(day, every)
"""
FROM_THE_START = "    return (add_months(start, every * n) for n in count())\n"


def look(path: str, first: int = 1, last: int | None = None) -> Call:
    """Read lines of a file."""
    return Call(
        "read_file",
        {"path": path, "first_line": first} | ({"last_line": last} if last else {}),
    )


def find(text: str, folder: str = "roombook") -> Call:
    """Search for a text."""
    return Call("search", {"text": text, "folder": folder})


def change(module: str, old: str, new: str) -> Call:
    """Replace a piece of a module."""
    return Call("edit_file", {"path": f"{PACKAGE}{module}.py", "old": old, "new": new})


def check(module: str = "") -> Call:
    """Run tests."""
    return Call("run_tests", {"module": module} if module else {})


def steps() -> Iterator[Step]:
    """All steps but the answer."""
    yield from looking_around()
    yield from repairing_periods()
    yield from repairing_series()
    yield from repairing_cents()
    yield from reviewing()


def looking_around() -> Iterator[Step]:
    """What is there, and what fails."""
    yield [Say("I look at what there is."), Call("list_files")]
    yield look("README.md")
    yield [Say("Now I see what fails."), check()]
    yield [
        Say("Three kinds: periods that touch, series by month, and cents. The simplest first."),
        check("test_period"),
    ]


def repairing_periods() -> Iterator[Step]:
    """Two bookings that follow each other without a gap are refused."""
    yield look(f"{TESTS}test_period.py", 1, 60)
    yield look(f"{PACKAGE}period.py", 1, 75)
    yield look(f"{PACKAGE}period.py", 75)
    yield [Say("Who relies on periods that touch?"), find("overlaps(")]
    yield find("touches(")
    yield look(f"{PACKAGE}schedule.py", 60, 110)
    yield look(f"{PACKAGE}schedule.py", 110)
    yield [
        Say("A period is half-open, so overlapping must be strict on both sides."),
        change("period", OVERLAPS, OVERLAPS_REPAIRED),
    ]
    yield check("test_period")
    yield [Say("What merged() joined by overlapping, it joins by touching."), find("merged(")]
    yield look(f"{TESTS}test_period.py", 60)
    yield check("test_schedule")
    yield look(f"{TESTS}test_schedule.py", 1, 70)
    yield look(f"{TESTS}test_schedule.py", 70, 135)
    yield look(f"{TESTS}test_schedule.py", 135)
    yield [Say("What is left there is the series by month."), check("test_recurrence")]


def repairing_series() -> Iterator[Step]:
    """A series on the 31st stays on the 28th after February."""
    yield look(f"{TESTS}test_recurrences.py")
    yield [
        Say("The name is another."),
        Call("list_files", {"folder": "roombook/tests"}),
        look(f"{TESTS}test_recurrence.py", 72),
    ]
    yield look(f"{PACKAGE}recurrence.py", 1, 72)
    yield look(f"{PACKAGE}recurrence.py", 72)
    yield find("add_months")
    yield [
        Say("From the last day of a month one should come to the last day of the next."),
        change("recurrence", CLAMPED, CLAMPED_WRONGLY),
    ]
    yield [check("test_recurrence"), look("README.md", 18, 26)]
    yield [
        Say("That moved the 30th to the 31st: the last day was the wrong idea. I take it back."),
        change("recurrence", CLAMPED_WRONGLY, CLAMPED),
    ]
    yield [
        Say(
            "The day drifts since each month is counted from the one before; count from the start."
        ),
        change("recurrence", MISREMEMBERED, FROM_THE_START),
    ]
    yield [Say("I remembered that wrongly."), look(f"{PACKAGE}recurrence.py", 88)]
    yield change("recurrence", DRIFTING, FROM_THE_START)
    yield check("test_recurrence")
    yield check("test_schedule")
    yield look(f"{TESTS}test_recurrence.py", 1, 72)
    yield [Say("Series are right. What fails now?"), check()]


def repairing_cents() -> Iterator[Step]:
    """Half a cent is rounded to the even cent."""
    yield [check("test_pricing"), check("test_march")]
    yield look(f"{TESTS}test_pricing.py", 1, 75)
    yield look(f"{PACKAGE}pricing.py", 1, 80)
    yield look(f"{PACKAGE}pricing.py", 80)
    yield look(f"{TESTS}test_march.py")
    yield [Say("How large is the difference on paper?"), look("data/march-choir.txt")]
    yield [look("data/march-totals.txt"), look("data/rooms.txt")]
    yield [Say("Which bookings are these? I read all of them."), look("data/bookings.jsonl")]
    yield [Say("That was much. Only the Choir."), find("Choir", "data")]
    yield [find("quantize"), find("round(")]
    yield [
        Say("quantize() rounds half a cent to the even one; the house rounds it up."),
        change("pricing", "money.quantize(CENT)", "money.quantize(CENT, rounding=ROUND_HALF_UP)"),
    ]
    yield [Say("And the name is needed."), find("from decimal import")]
    yield change(
        "pricing", "from decimal import Decimal\n", "from decimal import ROUND_HALF_UP, Decimal\n"
    )
    yield check("test_pricing")
    yield check("test_march")
    yield look(f"{TESTS}test_pricing.py", 75)
    yield [Say("Is there a float in the money somewhere?"), find("float")]
    yield look(f"{PACKAGE}report.py")


def reviewing() -> Iterator[Step]:
    """Whether anything else relied on what was changed."""
    yield [Say("Now all tests, and then what else used the old behaviour."), check()]
    yield look(f"{PACKAGE}booking.py")
    yield look(f"{PACKAGE}rooms.py")
    yield look(f"{PACKAGE}storage.py")
    yield look(f"{TESTS}test_storage.py")
    yield look(f"{PACKAGE}textform.py", 1, 70)
    yield look(f"{PACKAGE}textform.py", 70)
    yield look(f"{TESTS}test_textform.py")
    yield look(f"{PACKAGE}__main__.py")
    yield look(f"{PACKAGE}schedule.py", 1, 75)
    yield [
        Say("The three places as they are now."),
        find("def overlaps"),
        find("every * n"),
        find("ROUND_HALF_UP"),
    ]
    yield [Say("Nothing else. Once more everything."), check()]
