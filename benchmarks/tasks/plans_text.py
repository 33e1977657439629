"""What a text says of a plan: its order, how far it is, what steps take and told, and what people want.

Promise: any text that states it counts, of whatever layout; a value counts only beside the step that told it or the name people gave it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from tasks.accounts import Told, sentences_of, states_in

VALUES = ("port", "checksum", "reference", "serial")
GIVEN = ("change ticket", "cost centre", "purchase order", "approval code", "contract number")
NAME = re.compile(r"\b[a-z]+-[a-z]+\b")
PAGE = re.compile(  # at the beginning of a line, a sentence, or what a speaker says
    r"(?:^|[.:] )\W*(Notes on|Check of|The) ([a-z -]+), page (\d+) of (\d+)\b", re.MULTILINE
)
TAKES = re.compile(r"\bTakes: (.+?)\.(?:\n|$)")
TAKEN = re.compile(rf"\bthe (?:({'|'.join(VALUES)}) of ([a-z]+-[a-z]+)|({'|'.join(GIVEN)}))\b")
VALUE = r"([A-Z]{2}-\d{5}|[A-Z]\d{3}|[0-9a-f]{8}|\d{5})\b"
KIND = "|".join(VALUES)
RETURNED = re.compile(  # no other step between
    rf"\b([a-z]+-[a-z]+)\b(?:(?!\b[a-z]+-[a-z]+\b)[^\n]){{0,60}}?\b({KIND})\b\W+(?:is\W+|was\W+)?{VALUE}"
)
ITS_VALUE = re.compile(rf"\b([a-z]+-[a-z]+)\b[^\w\n]{{1,8}}{VALUE}")  # "open-port: 51234"
IS_RUN = re.compile(r"\brun_step\b|\b(?i:ran|run|with)\b")  # what follows the step is what it took
OF_STEP = re.compile(  # "the port of open-port is 51234", "port 51234 of open-port"
    rf"\b({KIND})\W+(?:(?:value|number)\W+)?(?:of|from|for|by)\W+(?:the\W+)?([a-z]+-[a-z]+)\b\W+(?:(?:is|was)\W+)?{VALUE}"
    rf"|\b({KIND})\W+{VALUE}\W+(?:of|from|by|for)\W+([a-z]+-[a-z]+)\b"
    rf"|\b{VALUE}\W+(?:is|as|was)\W+(?:the\W+)?({KIND})\W+(?:of|from|by|for)\W+([a-z]+-[a-z]+)\b"
)
OF_KIND = re.compile(rf"\b({'|'.join(VALUES)})\b\W+(?:is\W+|was\W+)?{VALUE}")
IS_GIVEN = re.compile(rf"(?i)\b({'|'.join(GIVEN)})\b")
NUMBER = re.compile(r"\b[A-Z]{2}-\d{4}\b")
NO_MORE = re.compile(
    r"(?i)\b(?:instead of|in place of|replac\w+|no longer|formerly|previously|old|was|from)\W{1,3}(?:the )?$"
)
IN_FRONT = re.compile(r"(?i)^\W+(?:(?:is|as|for|replac\w+ [A-Z]{2}-\d{4} as)\W+)?(?:the |our )?$")
NUMBERED = re.compile(r"(?:^|[\s(])(\d{1,2})[.)]\s*[^\w\n]{0,6}([a-z]+-[a-z]+)\b")
CHAIN = re.compile(  # names alone, one behind the other
    r"[a-z]+-[a-z]+\b(?:\W{1,6}(?:(?:and|then)\W{1,4}){0,2}[a-z]+-[a-z]+\b){2,}"
)
ARROW = re.compile(r"->|=>|\u2192|\u279c|>")
IS_PLAN = re.compile(r"(?i)\b(?:plan|order|sequence|steps)\b")
IN_ORDER = re.compile(r"(?i)\b(?:first|then|next|after that|finally|last)\b")
IS_FIRST = re.compile(r"(?i)\bfirst\b")
IS_LAST = re.compile(r"(?i)\b(?:finally|last)\b")
NOW = re.compile(r"(?i)\b(?:now|from now on|renewed|replac\w+|changed|new)\b")
RAN = re.compile(
    r"(?i)\brun_step\b|\bdone\b|\bfinished\b|\bcompleted?\b|\bran\b|\b(?:was|were|been) run\b|\bexecuted\b|\bchecked\b|\bcheck_step\b"
    r"|[\u2705\u2713\u2714]|\[x\]"
)
BY_NUMBER = re.compile(
    r"(?i)\bsteps? (\d{1,2}(?:(?:,| and| to| through|[-\u2013]) ?(?:and )?\d{1,2})*)\b"
)
UNDER_WAY = re.compile(r"(?i)\bread_notes\b|\bnotes\b|\bin progress\b|\bworking on\b")
STOP = re.compile(
    r"(?i)\b(?:up to and with|stop after|as far as|through)\b[^\n]{0,12}?\b([a-z]+-[a-z]+)\b"
)
TO_THE_END = re.compile(r"(?i)\bthe rest (?:of the (?:plan|steps)|can be done)\b|\bto the end\b")
ASIDE = re.compile(
    r"(?i)\b(\d+) pages of the ([a-z ]+?)(?=[?,.]| for me| first| and\b| want)|\bat the ([a-z ]+), it has (\d+) pages"
)
RESUMES = re.compile(r"(?i)\b(?:go on|back to|continue|carry on|pick|resume|the rest|to the end)\b")
WRITE = re.compile(r"(?i)\bnumbered\b")
STATE = re.compile(r"^\W*([a-z]+-[a-z]+): (done|not begun|cannot be told)", re.MULTILINE)
NO_PAGE = re.compile(
    r"There is no page (\d+) of the (notes|check) o[nf] ([a-z]+-[a-z]+); (?:they have|it has) (\d+)"
)
CALLED = re.compile(
    r"\b(read_notes|check_step|run_step)\b[^\n]{0,80}?\bstep\W{1,8}([a-z]+-[a-z]+)(?:\W{1,8}page\W{1,8}(\d+))?"
)
NOT_RUN = re.compile(
    r"(?i)\bnot (?:yet )?(?:been )?(?:run|begun|done|started|executed|finished|completed)\b|\bthere is no\b|\bcannot be told\b"
    r"|\b(?:next|pending|remaining|outstanding|to do|todo|(?:yet|still) to|must|should|will)\b|\[ \]|^\W*(?:before|if|once|until|when)\b"
)
READ_ALREADY = re.compile(
    r"(?i)\b(?:has|had|have|was|were|been|already|I) read\b|\bnothing odd\b|\bfinished\b|\bcompleted\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What a text asks for: to write the plan down, to go on with it (as far as ``stop``), or to read something else."""

    kind: Literal["write", "plan", "aside"]
    stop: str = ""
    resumes: bool = False
    record: str = ""
    pages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """That a step was met: a page of its notes or its check (0 where no page is told), or that it was run."""

    step: str
    kind: Literal["notes", "run", "check", "told"]  # told: a status says that it is done
    page: int = 0
    pages: int = 0  # in all; 0 where it is not told


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What one text says."""

    events: tuple[Event, ...] = ()
    follows: tuple[tuple[str, str], ...] = ()  # a step and the next
    first: str = ""
    last: str = ""
    takes: tuple[
        tuple[str, tuple[tuple[str, str], ...]], ...
    ] = ()  # of a step: kind and step, or what people gave and nothing
    values: tuple[
        tuple[str, str, bool], ...
    ] = ()  # of a step or given, and whether it is a newer one
    of_kind: tuple[tuple[str, str], ...] = ()
    named: tuple[tuple[str, str], ...] = ()  # by a status, with what it says
    records: tuple[tuple[str, int, int], ...] = ()  # name, page, pages
    instructions: tuple[Instruction, ...] = ()


@lru_cache(maxsize=20_000)
def parsed_text(text: str) -> Parsed:
    """What a text says, the same for the same text."""
    pages = list(PAGE.finditer(text))
    events: list[Event] = []
    instructions: list[Instruction] = []
    prose: list[str] = []
    first, last = "", ""
    values = values_in(text)
    by_number = {int(number): name for number, name in NUMBERED.findall(text)}
    listed: list[str] = []
    for told in sentences_of(text, NAME):
        line = told.sentence
        values += [
            (given, number, NOW.search(line) is not None) for given, number in given_in(line)
        ]
        names = NAME.findall(line)
        chain = CHAIN.search(line) if len(names) >= 3 else None
        if asked := asked_in(line):
            instructions.append(asked)
            if asked.kind != "write" or chain is None:
                continue
        numbered = NUMBERED.search(line) is not None
        in_order = names if not numbered and len(names) >= 3 and IN_ORDER.search(line) else []
        if chain and not (numbered or in_order) and (ARROW.search(line) or IS_PLAN.search(line)):
            in_order = NAME.findall(chain[0])
        if numbered or in_order:
            prose += in_order
            first = names[0] if in_order and IS_FIRST.search(line) else first
            last = names[-1] if names and IS_LAST.search(line) else last
            events += account_of(told, all_of_one=False)
        elif len(names) == 1 and line.rstrip().endswith("(last)"):
            last = names[0]
        elif names:
            events += events_in(told)
        elif RAN.search(line) and not NOT_RUN.search(line):
            events += [
                Event(step=by_number[n], kind="run") for n in numbers_in(line) if n in by_number
            ]
        if told.heading and names and not numbered and len(names) == 1:
            is_plan = IS_PLAN.search(told.heading) and not RAN.search(told.heading)
            listed += names if is_plan else []
    events += [
        Event(
            step=found[2],
            kind="notes" if found[1] == "Notes on" else "check",
            page=int(found[3]),
            pages=int(found[4]),
        )
        for found in pages
        if found[1] != "The"
    ]
    return Parsed(
        events=tuple(events),
        follows=(
            *pairwise(prose),
            *pairwise(listed),
            *((step, by_number[n + 1]) for n, step in by_number.items() if n + 1 in by_number),
        ),
        first=by_number.get(1, first),
        last=last,
        takes=tuple(takes_in(text, pages)),
        values=tuple(values),
        of_kind=tuple((found[1], found[2]) for found in OF_KIND.finditer(text)),
        named=tuple(STATE.findall(text)),
        records=tuple(
            (found[2], int(found[3]), int(found[4])) for found in pages if found[1] == "The"
        ),
        instructions=tuple(instructions),
    )


def asked_in(line: str) -> Instruction | None:
    """The instruction that a line is, or None."""
    if (found := ASIDE.search(line)) and not READ_ALREADY.search(line):
        return Instruction(
            kind="aside", record=found[2] or found[3], pages=int(found[1] or found[4])
        )
    if WRITE.search(line):
        return Instruction(kind="write")
    resumes = RESUMES.search(line) is not None
    if (found := STOP.search(line)) and not RAN.search(line):
        return Instruction(kind="plan", stop=found[1], resumes=resumes)
    return Instruction(kind="plan", resumes=True) if TO_THE_END.search(line) else None


def events_in(told: Told) -> list[Event]:
    """What a sentence says was done with steps."""
    line = told.sentence
    if found := NO_PAGE.search(line):
        kind: Literal["notes", "check"] = "notes" if found[2] == "notes" else "check"
        return [Event(step=found[3], kind=kind, page=int(found[4]), pages=int(found[4]))]
    if called := CALLED.findall(line):
        kinds: Mapping[str, Literal["notes", "run", "check"]] = {
            "read_notes": "notes",
            "run_step": "run",
            "check_step": "check",
        }
        return [
            Event(step=step, kind=kinds[tool], page=int(page or 0)) for tool, step, page in called
        ]
    if state := STATE.search(line):
        return [Event(step=state[1], kind="told")] if state[0].endswith(": done") else []
    if TAKES.search(line) or PAGE.search(line):
        return []
    return account_of(told, all_of_one=RETURNED.search(line) is not None)


def account_of(told: Told, *, all_of_one: bool) -> list[Event]:
    """What a sentence says of the steps that it names, and of those only; a value that a step returned says that it was run."""
    kinds: Mapping[str, Literal["run", "notes"]] = {"run": "run", "notes": "notes"}
    states = [
        (step, state or ("run" if all_of_one else ""))
        for step, state in states_in(told, NAME, state_of)
    ]
    return [Event(step=step, kind=kinds[state]) for step, state in states if state in kinds]


def state_of(clause: str) -> str:
    """Whether a clause says that its steps were run, are under way or are still to do."""
    if NOT_RUN.search(clause):
        return "to do"
    if RAN.search(clause):
        return "run"
    return "notes" if UNDER_WAY.search(clause) else ""


def numbers_in(line: str) -> Iterator[int]:
    """The numbers of steps in a line, with those between the ends of a span."""
    for found in BY_NUMBER.findall(line):
        numbers = [int(number) for number in re.findall(r"\d+", found)]
        is_span = len(numbers) == 2 and re.search(r"-|to|through|\u2013", found)
        yield from range(numbers[0], numbers[1] + 1) if is_span else numbers


def values_in(text: str) -> list[tuple[str, str, bool]]:
    """The values that steps returned, whichever stands first: step, kind or value."""
    values = [(found[1], found[3], False) for found in RETURNED.finditer(text)]
    values += [
        (found[1], found[2], False)
        for found in ITS_VALUE.finditer(text)
        if not IS_RUN.search(text, text.rfind("\n", 0, found.start()) + 1, found.start())
    ]
    for found in OF_STEP.finditer(text):
        step = found[2] or found[6] or found[9]
        values.append((step, found[3] or found[5] or found[7], False))
    return values


def given_in(line: str) -> Iterator[tuple[str, str]]:
    """What a sentence says people gave: a number in front of its name, else the last one behind it that still holds."""
    names = list(IS_GIVEN.finditer(line))
    numbers = list(NUMBER.finditer(line))
    for n, name in enumerate(names):
        stop = names[n + 1].start() if n + 1 < len(names) else len(line)
        front = [x for x in numbers if IN_FRONT.match(line[x.end() : name.start()])]
        behind = [x for x in numbers if name.end() <= x.start() and x.end() <= stop]
        holding = [x for x in behind if not NO_MORE.search(line[: x.start()])] or behind
        if front or holding:
            yield name[1].lower(), front[0][0] if front else holding[-1][0]


def takes_in(
    text: str, pages: Sequence[re.Match[str]]
) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """What the notes in a text say that their steps take."""
    found: list[tuple[str, tuple[tuple[str, str], ...]]] = []
    for takes in TAKES.finditer(text):
        step = next((page[2] for page in reversed(pages) if page.start() < takes.start()), "")
        found.append(
            (step, tuple((kind or given, of) for kind, of, given in TAKEN.findall(takes[1])))
        )
    return [(step, takes) for step, takes in found if step]
