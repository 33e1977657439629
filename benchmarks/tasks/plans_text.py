"""What a text says of a plan: its order, how far it is, what steps take and told, and what people want.

Promise: any text that states it counts, of whatever layout; a value counts only beside the step that told it or the name people gave it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

VALUES = ("port", "checksum", "reference", "serial")
GIVEN = ("change ticket", "cost centre", "purchase order", "approval code", "contract number")
NAME = re.compile(r"\b[a-z]+-[a-z]+\b")
PAGE = re.compile(r"^\W*(Notes on|Check of|The) ([a-z -]+), page (\d+) of (\d+)\b", re.MULTILINE)
TAKES = re.compile(r"\bTakes: (.+?)\.(?:\n|$)")
TAKEN = re.compile(rf"\bthe (?:({'|'.join(VALUES)}) of ([a-z]+-[a-z]+)|({'|'.join(GIVEN)}))\b")
VALUE = r"([A-Z]{2}-\d{5}|[A-Z]\d{3}|[0-9a-f]{8}|\d{5})\b"
RETURNED = re.compile(
    rf"\b([a-z]+-[a-z]+)\b[^\n]{{0,60}}?\b({'|'.join(VALUES)})\b\W+(?:is\W+|was\W+)?{VALUE}"
)
OF_KIND = re.compile(rf"\b({'|'.join(VALUES)})\b\W+(?:is\W+|was\W+)?{VALUE}")
HAS = re.compile(rf"(?i)\b({'|'.join(GIVEN)})\b[^\n]{{0,40}}?\b([A-Z]{{2}}-\d{{4}})\b")
NUMBERED = re.compile(r"(?:^|[\s(])(\d{1,2})[.)]\s*[-*>\u2022]?\s*([a-z]+-[a-z]+)\b")
IN_ORDER = re.compile(r"(?i)\b(?:first|then|next|after that|finally|last)\b")
IS_FIRST = re.compile(r"(?i)\bfirst\b")
IS_LAST = re.compile(r"(?i)\b(?:finally|last)\b")
NOW = re.compile(r"(?i)\b(?:is now|from now on|renewed)\b")
RAN = re.compile(
    r"(?i)\brun_step\b|\bdone\b|\bfinished\b|\bcompleted?\b|\bran\b|\bchecked\b|\bcheck_step\b"
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
NOT_RUN = re.compile(r"(?i)\bnot (?:run|begun|done)\b|\bthere is no\b|\bcannot be told\b")


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
    values = [(found[1], found[3], False) for found in RETURNED.finditer(text)]
    for line in text.split("\n"):
        values += [
            (found[1].lower(), found[2], NOW.search(line) is not None)
            for found in HAS.finditer(line)
        ]
        if asked := asked_in(line):
            instructions.append(asked)
            continue
        names = NAME.findall(line)
        numbered = NUMBERED.search(line) is not None
        in_order = names if not numbered and len(names) >= 3 and IN_ORDER.search(line) else []
        if numbered or in_order:
            prose += in_order
            first = names[0] if in_order and IS_FIRST.search(line) else first
            last = names[-1] if names and IS_LAST.search(line) else last
        elif len(names) == 1 and line.rstrip().endswith("(last)"):
            last = names[0]
        elif names:
            events += events_in(line, names)
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
    by_number = {int(number): name for number, name in NUMBERED.findall(text)}
    return Parsed(
        events=tuple(events),
        follows=(
            *pairwise(prose),
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
    if found := ASIDE.search(line):
        return Instruction(
            kind="aside", record=found[2] or found[3], pages=int(found[1] or found[4])
        )
    if WRITE.search(line):
        return Instruction(kind="write")
    resumes = RESUMES.search(line) is not None
    if found := STOP.search(line):
        return Instruction(kind="plan", stop=found[1], resumes=resumes)
    return Instruction(kind="plan", resumes=True) if TO_THE_END.search(line) else None


def events_in(line: str, names: Sequence[str]) -> list[Event]:
    """What a line says was done with steps."""
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
    if NOT_RUN.search(line) or TAKES.search(line) or PAGE.search(line):
        return []
    if RAN.search(line) or RETURNED.search(line):
        return [Event(step=step, kind="run") for step in names]
    return [Event(step=step, kind="notes") for step in names] if UNDER_WAY.search(line) else []


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
