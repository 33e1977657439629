"""What a text says of a rename: what is in files, what was done to them, and what people want.

Promise: any text that states it counts, of whatever layout; contents of files state nothing but themselves.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

TEAMS = (
    "app team", "partner desk", "mobile team", "warehouse crew", "finance group", "kiosk team", "support desk", "analytics crew",
)  # fmt: skip
TOP = "!"  # stands before the first file of a listing
PATH = r"(?:packages/)?((?:[a-z]+/){1,2}[a-z]+\.(?:py|ts|yaml|md))\b"
ANY_PATH = re.compile(PATH)
FOLDER = re.compile(r"packages/((?:[a-z]+/){2})(?![a-z])")
CONTENT = re.compile(rf"^{PATH} \((\d+) lines\)\n", re.MULTILINE)
LISTED = re.compile(rf"\s*{PATH}\s*")
TOTAL = re.compile(r"\s*(\d+) files:\s*")
BULLET = re.compile(r"\s*[-*\u2022] ")
TESTED = re.compile(r"^([a-z]+): (\d+) failed, \d+ passed", re.MULTILINE)
FAILED = re.compile(rf"\bFAILED {PATH}")
WAS_READ = re.compile(r"(?i)\bread(?:_file)?\b|\bopened\b|\blooked at\b")
WAS_EDITED = re.compile(
    r"(?i)\breplac\w+|\bedited\b|\brenamed\b|\bupdated\b|\bchanged\b|\bdone\b|\bdoes not contain\b"
)
LEAVE_WORDS = re.compile(
    r"(?i)\bleave alone\b|\bdo(?:n't| not) touch\b|\bhands off\b|\bmust stay\b|\bleft alone\b|\buntouched\b|\bvendored\b"
    r"|\bkeeps? (?:the|its) old name\b"
)
QUOTED = r"\\*[`\"\u201c\u2018]([A-Za-z]+(?:[_ -][A-Za-z]+|[A-Z][a-z]+)*)\\*[`\"\u201d\u2019]"
BECOMES = re.compile(
    rf"{QUOTED}\s*(?:becomes|to|is called|is now|is|as|by|with|->|\u2192|=>|=)\s*{QUOTED}"
)
REPLACED = re.compile(rf"\bold\W{{1,6}}?{QUOTED}\W{{1,4}}new\W{{1,6}}?{QUOTED}")
FROM_NOW_ON = re.compile(
    r"(?i)\bfrom (?:here|now) on\b|\bchanged (?:their|his|her|my|our) minds?\b"
)
PACKAGE_LIST = re.compile(r"\b[Pp]ackages ((?:[a-z]+, )*[a-z]+ and [a-z]+)\b")
ABOUT_TESTS = re.compile(r"(?i)\btests?\b")
RELEASE = re.compile(rf"(?i)\bthe ({'|'.join(TEAMS)})\b")
RELEASE_WORDS = re.compile(r"(?i)\brename|\bfollow\b|\bdone now\b|\bdo the file\b")

Words = tuple[str, str]


def joined(words: Words, style: str) -> str:
    """A name of two words in a style."""
    first, second = words
    return {
        "snake": f"{first}_{second}",
        "pascal": f"{first.capitalize()}{second.capitalize()}",
        "dashed": f"{first}-{second}",
        "phrase": f"{first} {second}",
        "camel": f"{first}{second.capitalize()}",
    }[style]


def spelled_all(words: Words) -> Mapping[str, str]:
    """Every spelling of a name, by style."""
    return {
        style: joined(words, style) for style in ("snake", "pascal", "dashed", "phrase", "camel")
    }


def words_of(name: str) -> Words | None:
    """The two words of a name in any style; None if it has not two."""
    parts = re.findall(r"[A-Z]?[a-z]+", name)
    return (parts[0].lower(), parts[1].lower()) if len(parts) == 2 else None


Kind = Literal["read", "edited", "failed", "content"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """That a file was read, edited, or failed; or what is in it."""

    path: str
    kind: Kind
    content: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What a text asks for; packages are those it names."""

    kind: Literal["rename", "tests", "release"]
    packages: tuple[str, ...] = ()
    team: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What one text says."""

    events: tuple[Event, ...] = ()
    total: int = 0  # files, as a listing says
    listed: tuple[tuple[str, str], ...] = ()  # a file, and the line before it
    spellings: tuple[tuple[str, str, bool], ...] = ()  # old, new, whether it holds from then on
    alone: tuple[tuple[str, str], ...] = ()  # path or folder, and the team it waits for
    tested: tuple[tuple[str, int], ...] = ()  # package, failures
    instructions: tuple[Instruction, ...] = ()


@lru_cache(maxsize=20_000)
def spelled_in(text: str, old: Words, *, pieces: bool) -> tuple[tuple[str, str], ...]:
    """The old spellings in a text as they are written there, each with its style."""
    found = [(name, style) for style, name in spelled_all(old).items() if name in text]
    if pieces:
        for style, between in (("snake", "_"), ("pascal", "")):
            whole = joined(old, style)
            first = whole[: len(old[0])]
            split = f'"{first}" "{between}{whole[len(first) + len(between) :]}"'
            found += [(split, style)] if split in text else []
    return tuple(found)


@lru_cache(maxsize=20_000)
def parsed_text(text: str) -> Parsed:
    """What a text says, the same for the same text."""
    contents, rest = without_contents(text)
    events: list[Event] = []
    alone: list[tuple[str, str]] = []
    spellings: list[tuple[str, str, bool]] = []
    instructions: list[Instruction] = []
    total, listed = listed_in(rest)
    heading: Kind | None = None
    for line in rest.split("\n"):
        if not line.strip() or LISTED.fullmatch(line):
            continue
        bullet = BULLET.match(line) is not None
        heading = heading if bullet else kind_of(line) if line.rstrip().endswith(":") else None
        team = RELEASE.search(line)
        paths = ANY_PATH.findall(line)
        if LEAVE_WORDS.search(line) and (named := [*paths, *FOLDER.findall(line)]):
            alone += [(path, team[1].lower() if team else "") for path in named]
        elif paths and (kind := kind_of(line) or heading):
            events += [Event(path=path, kind=kind) for path in paths]
        lasts = FROM_NOW_ON.search(line) is not None
        spellings += [(old, new, lasts) for old, new in BECOMES.findall(line)]
        spellings += [(old, new, False) for old, new in REPLACED.findall(line)]
        if asked := PACKAGE_LIST.search(line):
            packages = tuple(re.split(r", | and ", asked[1]))
            about = ABOUT_TESTS.search(line)
            instructions.append(Instruction(kind="tests" if about else "rename", packages=packages))
        elif team and not paths and RELEASE_WORDS.search(line):
            instructions.append(Instruction(kind="release", team=team[1].lower()))
    return Parsed(
        events=(*events, *contents),
        total=total,
        listed=tuple(listed),
        spellings=tuple(spellings),
        alone=tuple(alone),
        tested=tuple((found[1], int(found[2])) for found in TESTED.finditer(rest)),
        instructions=tuple(instructions),
    )


def without_contents(text: str) -> tuple[list[Event], str]:
    """The contents of files that a text shows, and the text without them."""
    contents: list[Event] = []
    rest, at = "", 0
    for found in CONTENT.finditer(text):
        if found.start() < at:
            continue
        lines = text[found.end() :].split("\n")[: int(found[2])]
        content = "\n".join(lines)
        whole = len(lines) == int(found[2])
        contents.append(Event(path=found[1], kind="content", content=content, whole=whole))
        rest, at = rest + text[at : found.start()], found.end() + len(content)
    return contents, rest + text[at:]


def listed_in(text: str) -> tuple[int, list[tuple[str, str]]]:
    """How many files a text says that there are, and those that it lists, each with the line before it."""
    total, before = 0, ""
    listed: list[tuple[str, str]] = []
    for line in text.split("\n"):
        if found := LISTED.fullmatch(line):
            listed.append((found[1], before))
            before = found[1]
        elif found := TOTAL.fullmatch(line):
            total, before = int(found[1]), TOP
        else:
            before = ""
    return total, listed


def kind_of(line: str) -> Kind | None:
    """What a line says of the files that it names."""
    if FAILED.search(line):
        return "failed"
    if WAS_EDITED.search(line):
        return "edited"
    return "read" if WAS_READ.search(line) else None
