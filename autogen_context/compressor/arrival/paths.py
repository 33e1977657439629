"""Lines of paths: what a search found (``path:line:text``, as grep has it) and listings (``find``, ``ls``, ``tree``).

Promise: tightened, they are as they were, since each path is looked for whole. Cut, what is asked for stays first, then the
first lines of each file, and of each folder what lies less deep.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from autogen_context.compressor.arrival.lines import BLANK_RANK, GAP, cutting
from autogen_context.compressor.arrival.reducer import Reducer, are_enough

HIT = re.compile(r"((?:[A-Za-z]:(?=[\\/]))?[\w.@+~/\\-][^:\n]{0,250}+):(?=.)")
HIT_PATH = re.compile(r"(?=.*[A-Za-z])(?:\S*[/\\]\S+|\S+\.[A-Za-z]\w{0,9})\Z")
BREAK = ("--", GAP)  # between hits with context, or where some went
HIT_FRACTION = 0.6  # of the lines
LEAST_HITS = 2

NAME = r"[^\s(){}\[\];=<>,\"'`|:*?!&$#%^]{1,200}"
ENTRY = re.compile(rf"\s*{NAME}[:*@|]?(?:(?:\t| {{2}})\s*{NAME})*\s*\Z")
ENTRY_PATH = re.compile(r"/|\w\.[A-Za-z]\w{0,6}(?=\s|\Z)")
LONG_NAME = re.compile(r"[^\s/]{61}")  # it is data
DRAWN = re.compile(
    r"\s*[dlbcps-][rwxsStT-]{9}[.+@]?\s+\d+\s|total \d+|[│├└─|` +-]*(?:├──|└──|\|--|`--)"
)
ENTRY_FRACTION = 0.8  # of the lines
PATH_FRACTION = 0.4
LEAST_ENTRIES = 5
FOLDER_RANK = 1.5  # of a folder's line in ls -R
DEPTH_STEP = 0.5  # as part of the rank of the folder above
LATER_STEP = 0.1


def are_hits(_: str, lines: Sequence[str]) -> bool:
    """Whether most lines were found in files."""
    told = [line for line in lines if not line.startswith(BREAK)]
    return are_enough(told, path_of, share=HIT_FRACTION, least=LEAST_HITS)


def is_listing(_: str, lines: Sequence[str]) -> bool:
    """Whether nearly all lines are names, many of them paths."""
    if not are_enough(lines, is_entry, share=ENTRY_FRACTION, least=LEAST_ENTRIES):
        return False  # as most texts
    paths = sum(1 for line in lines if DRAWN.match(line) or ENTRY_PATH.search(line))
    return paths >= PATH_FRACTION * len(lines) and not any(map(LONG_NAME.search, lines))


def is_entry(line: str) -> bool:
    """Whether a line is of names, or drawn as a listing's are."""
    return (ENTRY.match(line) or DRAWN.match(line)) is not None


def path_of(line: str) -> str:
    """The path that a hit begins with; empty for what is none."""
    match = HIT.match(line) if ":" in line else None
    return match[1] if match and HIT_PATH.match(match[1]) else ""


def hit_ranks(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth as one of the hits in its file: of the n-th, the n-th part."""
    met: Counter[str] = Counter()
    for line in lines:
        path = path_of(line) or line
        met[path] += 1
        is_told = line and not line.isspace() and not line.startswith(BREAK)
        yield 1 / met[path] if is_told else BLANK_RANK


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
            drawn = DRAWN.match(line)
            deep = folder.count("/") + (drawn.end() / 4 if drawn else 0)
            yield 1 / (1 + DEPTH_STEP * deep + LATER_STEP * met[folder])


HITS = Reducer(kind="hits", recognises=are_hits, cut=cutting(hit_ranks, noun="hits"))
LISTING = Reducer(kind="listing", recognises=is_listing, cut=cutting(entry_ranks))
