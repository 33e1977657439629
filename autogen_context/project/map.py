"""A map of the code: which folders there are, and the definitions that are used most, under their files.

Promise: pure; the map fits its room; files stand in the order of their names and definitions in the order of the file,
whatever their ranks, so that maps of like trees are alike. A definition stands under what it lies in.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from autogen_context.project.rank import Ranking
from autogen_context.project.symbols import Definition, Symbols
from autogen_context.project.tree import folder_of

CountText = Callable[[str], int]

OVERVIEW_FRACTION = 0.25  # of the room, at most
MOST_FOLDERS = 14  # lines of the overview
MOST_ENDINGS = 3  # named of a folder
SMALL_FOLDER = 8  # files; it is not divided further
MOST_MISSES = 40  # definitions in a row that have no room any more
SATIATION = 0.85  # what each further definition of a file is worth, of its score
CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor", "new"})
SPECIAL = re.compile(r"__\w+__$")  # what Python calls by itself; everybody knows what it does
CONSTRUCTOR_FRACTION = 0.4  # of the score of its class


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """A map of a tree.

    Attributes:
        overview: the folders, in lines.
        shown: the files shown, in order, each with the lines of its definitions.
        tokens: what was reckoned for all lines.
    """

    overview: tuple[str, ...] = ()
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    tokens: int = 0

    def lines(self) -> Iterator[str]:
        """The whole map: the folders, then files under theirs, each with its lines."""
        yield from self.overview
        before = "."
        for file, lines in self.shown.items():
            folder = folder_of(file)
            if folder != before:
                yield f"{folder}/"
                before = folder
            margin = "" if folder == "." else "  "
            yield f"{margin}{file.rpartition('/')[2]}"
            yield from (f"{margin}  {line}" for line in lines)


def in_tree(file: str) -> tuple[str, str]:
    """Where a file stands: those of the root first, then folder by folder."""
    folder, _, name = file.rpartition("/")
    return folder, name


def mapped(
    names: Iterable[str],
    files: Mapping[str, Symbols],
    ranking: Ranking,
    *,
    room_tokens: int,
    count: CountText,
) -> Map:
    """The map of a tree.

    Args:
        names: all files.
        files: the symbols of those that hold source text.
        ranking: how much what of it is used.
        room_tokens: what the lines may have, each with its end, in tokens.
        count: tokens of a text.
    """
    overview = [(line, count(f"{line}\n")) for line in overview_of(names)]
    kept = min(sum(cost for _, cost in overview), int(OVERVIEW_FRACTION * room_tokens))
    left, misses = room_tokens - kept, 0
    taken: dict[str, set[int]] = {}
    folders = {"."}
    for file, at in by_rank(files, ranking):
        definitions, folder = files[file].definitions, folder_of(file)
        needed = {at, *around(definitions, at)} - taken.get(file, set())
        lines = [f"    {definitions[each].line}" for each in needed]
        lines += [] if file in taken else [f"  {file.rpartition('/')[2]}"]
        lines += [] if folder in folders else [f"{folder}/"]
        cost = sum(count(f"{line}\n") for line in lines)
        if cost <= left:
            left, misses = left - cost, 0
            folders.add(folder)
            taken.setdefault(file, set()).update(needed)
        elif (misses := misses + 1) > MOST_MISSES:
            break
    left += kept  # what the definitions leave, the folders have
    first: list[str] = []
    for line, cost in overview:
        if cost > left:
            break
        left -= cost
        first.append(line)
    shown = {
        file: tuple(files[file].definitions[at].line for at in sorted(taken[file]))
        for file in sorted(taken, key=in_tree)
    }
    return Map(overview=tuple(first), shown=shown, tokens=room_tokens - left)


def by_rank(files: Mapping[str, Symbols], ranking: Ranking) -> list[tuple[str, int]]:
    """All definitions, each by its file and its place there, the most used first."""
    rows: list[tuple[float, str, int]] = []
    for file, symbols in files.items():
        scores = scores_in(file, symbols.definitions, ranking)
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
        rows += [(-scores[at] * SATIATION**further, file, at) for further, at in enumerate(order)]
    return [(file, at) for _, file, at in sorted(rows)]


def scores_in(file: str, definitions: Sequence[Definition], ranking: Ranking) -> list[float]:
    """What each definition of a file is worth; a constructor is used where its class is."""
    scores: list[float] = []
    outer: list[float] = []
    for each in definitions:
        del outer[each.depth :]
        score = ranking.places.get((file, each.name), 0.0)
        if outer and each.name in CONSTRUCTORS:
            score = max(score, CONSTRUCTOR_FRACTION * outer[-1])
        elif SPECIAL.match(each.name):
            score = 0.0
        outer.append(score)
        scores.append(score)
    return scores


def around(definitions: Sequence[Definition], at: int) -> Iterator[int]:
    """The definitions in which one lies."""
    depth = definitions[at].depth
    for before in range(at - 1, -1, -1):
        if definitions[before].depth < depth:
            yield before
            depth = definitions[before].depth


def overview_of(names: Iterable[str]) -> list[str]:
    """The folders of a tree with what they hold, the large ones divided."""
    endings: dict[str, Counter[str]] = {}
    for name in names:
        path = PurePosixPath(name)
        for parent in path.parents:
            endings.setdefault(str(parent), Counter())[path.suffix or path.name] += 1
    counts = {folder: found.total() for folder, found in endings.items()}
    inner: dict[str, set[str]] = {}
    for name in counts.keys() - {"."}:
        inner.setdefault(str(PurePosixPath(name).parent), set()).add(name)
    lines = {"."} & counts.keys()
    while len(lines) < MOST_FOLDERS:
        divisible = [
            folder
            for folder in lines & inner.keys()
            if not inner[folder] <= lines and counts[folder] > SMALL_FOLDER
        ]
        if not divisible:
            break
        lines |= inner[min(divisible, key=lambda folder: (-counts[folder], folder))]
    return [overview_line(folder, endings[folder]) for folder in sorted(lines)]


def overview_line(folder: str, endings: Counter[str]) -> str:
    """A folder, how many files are in it, and which."""
    kinds = sorted(endings, key=lambda ending: (-endings[ending], ending))[:MOST_ENDINGS]
    files = endings.total()
    return f"{folder}/ has {files} {'file' if files == 1 else 'files'}: {', '.join(kinds)}"
