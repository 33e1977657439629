"""Listings of files: ``find``, ``ls -R``, ``ls -l``, ``tree``, plain lists of paths.

Promise: ``tighten`` writes the folder of entries that follow each other once, above them, where that is smaller: a line
that begins with a blank belongs to the folder above, which ends in ``/:``. ``cut`` keeps what is asked for, then what
lies less deep, then the first entries of each folder.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autogen_context.compressor.arrival.lines import GAP, choose, first_and_last
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.repeats import lines_in
from autogen_context.compressor.arrival.sample import are_enough, sample_of
from autogen_context.compressor.arrival.wanted import raised, wanted_in

NAME_CHARS = r"[^\s(){}\[\];=<>,\"'`|:*?!&$#%^]"
ENTRY = re.compile(
    rf"\s*{NAME_CHARS}{{1,200}}[:*@|]?(?:(?:\t| {{2}})\s*{NAME_CHARS}{{1,200}})*\s*\Z"
)
A_PATH = re.compile(r"/|\w\.[A-Za-z]\w{0,6}(?=\s|\Z)")
LONG = re.compile(r"\s*[dlbcps-][rwxsStT-]{9}[.+@]?\s+\d+\s|total \d+")
BRANCH = re.compile(r"[│├└─|` +-]*(?:├──|└──|\|--|`--)")
ABOVE_OR_BELOW = re.compile(r"^[^\S\n]|/:[^\S\n]*$", re.MULTILINE)
DATA_CHARS = 60  # of one name in a path; a longer one is data

ENTRY_SHARE = 0.8  # of the lines
PATH_SHARE = 0.4
LEAST_LINES = 5
LEAST_SAVED = 4  # words

WANTED_RANK = 3.0
FOLDER_RANK = 1.5  # of a folder's line in ls -R
DEPTH_STEP = 0.5  # as part of the rank of the folder above
LATER_STEP = 0.1
BLANK_RANK = -1.0


@dataclass(frozen=True, slots=True)
class Listing:
    """Names of files and folders."""

    kind: str = "listing"

    def recognises(self, text: str, /) -> bool:
        """Whether nearly all lines are names, many of them paths."""
        lines = sample_of(text)
        told = sum(1 for line in lines if LONG.match(line) or BRANCH.match(line))
        if not (told or are_enough(lines, ENTRY.match, share=ENTRY_SHARE)):
            return False  # as most texts
        names = [line for line in lines if is_name(line)]
        paths = told + sum(1 for line in names if A_PATH.search(line))
        size, entries = len(lines), told + len(names)
        if len(set(map(len, lines[:-1]))) == 1 and len(lines[0]) >= DATA_CHARS:
            return False  # broken into lines of one length
        return size >= LEAST_LINES and entries >= ENTRY_SHARE * size and paths >= PATH_SHARE * size

    def tighten(self, text: str, /) -> str:
        """The folder of each run of entries once, above them."""
        if ABOVE_OR_BELOW.search(text):
            return text
        lines = text.split("\n")
        return "\n".join(line for folder, run in runs(lines) for line in headed(folder, run))

    def cut(self, text: str, room: Room, /) -> str:
        """What is asked for, what lies less deep, some entries of each folder."""
        lines = list(with_folders(lines_in(text)))
        ranks = raised(entry_ranks(lines), wanted_in(lines, room.wanted), to=WANTED_RANK)
        short = self.tighten(choose(lines, ranks, room))
        return short if len(short) <= len(text) else first_and_last(text, room)


def with_folders(lines: Sequence[str]) -> Iterator[str]:
    """The entries with their folders again, where these were written once."""
    folder = ""
    for line in lines:
        if line.endswith("/:"):
            folder = line[:-1]
        elif folder and line[:1] == " ":
            yield folder + line[1:]
        elif line.startswith(GAP):
            yield line
        else:
            folder = ""
            yield line


def is_name(line: str) -> bool:
    """Whether a line is a name, or several in columns, and no stretch of data."""
    return ENTRY.match(line) is not None and all(
        len(part) <= DATA_CHARS for part in line.replace("/", " ").split()
    )


def folder_of(line: str) -> str:
    """What a path has before its last name; empty where it has no folder, or is the folder itself."""
    folder, slash, name = line.rpartition("/")
    return folder + slash if name and not name.isspace() and not line[:1].isspace() else ""


def runs(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The lines in runs of one folder, which is empty where there is none; gaps are in the run that they are in."""
    folder, run = "", list[str]()
    for line in lines:
        its = folder if line.startswith(GAP) else folder_of(line)
        if run and its != folder:
            yield folder, run
            run = []
        folder = its
        run.append(line)
    yield folder, run


def headed(folder: str, lines: list[str]) -> list[str]:
    """Entries with their folder above, where that saves something for certain."""
    words = len(re.findall(r"[A-Za-z]+|\d+", folder[:400]))
    entries = sum(1 for line in lines if not line.startswith(GAP))
    if words * (entries - 1) < LEAST_SAVED:
        return lines
    return [
        f"{folder}:",
        *(line if line.startswith(GAP) else f" {line[len(folder) :]}" for line in lines),
    ]


def entry_ranks(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth as an entry of its folder."""
    met: Counter[str] = Counter()
    above = ""
    for line in lines:
        name = line.strip()
        if not name:
            yield BLANK_RANK
        elif name.endswith(":"):
            above = name
            yield FOLDER_RANK / (1 + DEPTH_STEP * depth_of(name))
        else:
            folder = folder_of(line) or above
            met[folder] += 1
            yield 1 / (
                1 + DEPTH_STEP * depth_of(folder) + LATER_STEP * met[folder] + depth_in_tree(line)
            )


def depth_of(path: str) -> int:
    """How many folders a path goes down."""
    return path.count("/")


def depth_in_tree(line: str) -> float:
    """How far a name stands to the right, as in ``tree``."""
    branch = BRANCH.match(line)
    return DEPTH_STEP * branch.end() / 4 if branch else 0.0
