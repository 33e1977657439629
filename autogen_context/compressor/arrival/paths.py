"""Lines of paths: what a search found (``path:line:text``, as grep has it) and listings (``find``, ``ls``, ``tree``).

Promise: tightened, they are as they were, since each path is looked for whole. Cut, what is asked for stays first, then the
first lines of each file, and of each folder what lies less deep.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from autogen_context.compressor.arrival.lines import (
    BLANK_RANK,
    GAP,
    choose,
    lines_of,
    ranked,
)
from autogen_context.compressor.arrival.reducer import Reducer, Room, are_enough

HIT = re.compile(r"((?:[A-Za-z]:(?=[\\/]))?[\w.@+~/\\-][^:\n]{0,250}+):(?=.)")
HIT_PATH = re.compile(r"(?=.*[A-Za-z])(?:\S*[/\\]\S+|\S+\.[A-Za-z]\w{0,9})\Z")
BREAK = "--"  # between hits with context
HIT_FRACTION = 0.6  # of the lines
LEAST_HITS = 2

NAME = r"[^\s(){}\[\];=<>,\"'`|:*?!&$#%^]{1,200}"
ENTRY = re.compile(rf"\s*{NAME}[:*@|]?(?:(?:\t| {{2}})\s*{NAME})*\s*\Z")
ENTRY_PATH = re.compile(r"/|\w\.[A-Za-z]\w{0,6}(?=\s|\Z)")
LONG_ENTRY = re.compile(r"\s*[dlbcps-][rwxsStT-]{9}[.+@]?\s+\d+\s|total \d+")
BRANCH = re.compile(r"[│├└─|` +-]*(?:├──|└──|\|--|`--)")
DATA_CHARS = 60  # of one name in a path; a longer one is data
ENTRY_FRACTION = 0.8  # of the lines
PATH_FRACTION = 0.4
LEAST_ENTRIES = 5

FOLDER_RANK = 1.5  # of a folder's line in ls -R
DEPTH_STEP = 0.5  # as part of the rank of the folder above
LATER_STEP = 0.1


def are_hits(_: str, lines: Sequence[str]) -> bool:
    """Whether most lines were found in files."""
    told = [line for line in lines if not is_break(line)]
    return are_enough(told, path_of, share=HIT_FRACTION, least=LEAST_HITS)


def is_listing(_: str, lines: Sequence[str]) -> bool:
    """Whether nearly all lines are names, many of them paths."""
    told = sum(1 for line in lines if LONG_ENTRY.match(line) or BRANCH.match(line))
    if len(lines) < LEAST_ENTRIES:
        return False
    if not (told or are_enough(lines, ENTRY.match, share=ENTRY_FRACTION)):
        return False  # as most texts
    names = [line for line in lines if ENTRY.match(line)]
    if any(len(part) > DATA_CHARS for line in names for part in line.replace("/", " ").split()):
        return False
    paths = told + sum(1 for line in names if ENTRY_PATH.search(line))
    return told + len(names) >= ENTRY_FRACTION * len(lines) and paths >= PATH_FRACTION * len(lines)


def cut_hits(text: str, room: Room) -> str:
    """Some hits of each file; what is asked for first."""
    lines = lines_of(text)
    return choose(lines, ranked(hit_ranks(lines), lines, room), room, noun="hits")


def cut_listing(text: str, room: Room) -> str:
    """What is asked for, what lies less deep, some entries of each folder."""
    lines = lines_of(text)
    return choose(lines, ranked(entry_ranks(lines), lines, room), room)


def path_of(line: str) -> str:
    """The path that a hit begins with; empty for what is none."""
    match = HIT.match(line) if ":" in line else None
    return match[1] if match and HIT_PATH.match(match[1]) else ""


def is_break(line: str) -> bool:
    """Whether a line stands between hits: those that a search skipped, or those that went."""
    return line == BREAK or line.startswith(GAP)


def hit_ranks(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth as one of the hits in its file: of the n-th, the n-th part."""
    met: Counter[str] = Counter()
    for line in lines:
        path = path_of(line) or line
        met[path] += 1
        yield 1 / met[path] if line.strip() and not is_break(line) else BLANK_RANK


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
            yield FOLDER_RANK / (1 + DEPTH_STEP * name.count("/"))
        else:
            folder = line.rpartition("/")[0] or above
            met[folder] += 1
            branch = BRANCH.match(line)
            deep = folder.count("/") + (branch.end() / 4 if branch else 0)
            yield 1 / (1 + DEPTH_STEP * deep + LATER_STEP * met[folder])


HITS = Reducer(kind="hits", recognises=are_hits, cut=cut_hits)
LISTING = Reducer(kind="listing", recognises=is_listing, cut=cut_listing)
