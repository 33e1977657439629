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

CountText = Callable[[str], int]

OVERVIEW_SHARE = 0.25  # of the room, at most
MOST_FOLDERS = 14  # lines of the overview
MOST_ENDINGS = 3  # named of a folder
SMALL_FOLDER = 8  # files; it is not divided further
MOST_MISSES = 40  # definitions in a row that have no room any more
SATIATION = 0.85  # what each further definition of a file is worth, of its score
CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor", "new"})
SPECIAL = re.compile(r"__\w+__$")  # what Python calls by itself; everybody knows what it does
CONSTRUCTOR_SHARE = 0.4  # of the score of its class


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

    def lines(self) -> list[str]:
        """The whole map."""
        return [*self.overview, *tree_lines(self.shown)]


def tree_lines(shown: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Files under their folders, with the lines of each."""
    before = "."
    for file in sorted(shown, key=in_tree):
        folder, name = folder_and_name(file)
        if folder != before:
            yield f"{folder}/"
            before = folder
        margin = "" if folder == "." else "  "
        yield f"{margin}{name}"
        yield from (f"{margin}  {line}" for line in shown[file])


def in_tree(file: str) -> tuple[str, str]:
    """Where a file stands: those of the root first, then folder by folder."""
    folder, name = folder_and_name(file)
    return ("" if folder == "." else folder), name


def folder_and_name(file: str) -> tuple[str, str]:
    """The folder of a file from the root, ``.`` where it lies there, and its name."""
    folder, _, name = file.rpartition("/")
    return folder or ".", name


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
    overview = overview_of(names)
    whole = sum(count(f"{line}\n") for line in overview)
    kept = min(whole, int(OVERVIEW_SHARE * room_tokens))
    chosen = Choice(files, room_tokens=room_tokens - kept, count=count)
    misses = 0
    for file, at in by_rank(files, ranking):
        misses = 0 if chosen.takes(file, at) else misses + 1
        if misses > MOST_MISSES:
            break
    left = chosen.left + kept  # what the definitions leave, the folders have
    lines = tuple(fitting(overview, room_tokens=left, count=count))
    spent = room_tokens - left + sum(count(f"{line}\n") for line in lines)
    return Map(overview=lines, shown=chosen.shown(), tokens=spent)


def fitting(lines: Iterable[str], *, room_tokens: int, count: CountText) -> Iterator[str]:
    """The first lines, as many as have room."""
    for line in lines:
        room_tokens -= count(f"{line}\n")
        if room_tokens < 0:
            return
        yield line


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
    around: list[float] = []
    for each in definitions:
        del around[each.depth :]
        score = ranking.places.get((file, each.name), 0.0)
        if around and each.name in CONSTRUCTORS:
            score = max(score, CONSTRUCTOR_SHARE * around[-1])
        elif SPECIAL.match(each.name):
            score = 0.0
        around.append(score)
        scores.append(score)
    return scores


class Choice:
    """Takes definitions while they have room, each with the lines that it stands under.

    Args:
        files: the symbols of all files.
        room_tokens: what all lines may have, in tokens.
        count: tokens of a text.

    Attributes:
        left: what of the room is left, in tokens.
    """

    def __init__(self, files: Mapping[str, Symbols], *, room_tokens: int, count: CountText) -> None:
        self._files = files
        self.left = room_tokens
        self._count = count
        self._taken: dict[str, set[int]] = {}
        self._folders = {"."}

    def takes(self, file: str, at: int) -> bool:
        """Take a definition, if it has room; whether it had."""
        needed = {*self._around(file, at), at} - self._taken.get(file, set())
        folder, name = folder_and_name(file)
        lines = [f"    {line_of(self._files[file].definitions[each])}" for each in sorted(needed)]
        if file not in self._taken:
            lines.append(f"  {name}")
        if folder not in self._folders:
            lines.append(f"{folder}/")
        cost = sum(self._count(f"{line}\n") for line in lines)
        if cost > self.left:
            return False
        self.left -= cost
        self._folders.add(folder)
        self._taken.setdefault(file, set()).update(needed)
        return True

    def shown(self) -> dict[str, tuple[str, ...]]:
        """The files of which something was taken, in the order of the tree."""
        return {
            file: tuple(line_of(self._files[file].definitions[at]) for at in sorted(taken))
            for file, taken in sorted(self._taken.items(), key=lambda item: in_tree(item[0]))
        }

    def _around(self, file: str, at: int) -> Iterator[int]:
        """The definitions in which one lies."""
        definitions = self._files[file].definitions
        depth = definitions[at].depth
        for before in range(at - 1, -1, -1):
            if definitions[before].depth < depth:
                yield before
                depth = definitions[before].depth


def line_of(definition: Definition) -> str:
    """A definition as a line below its file."""
    return "  " * definition.depth + definition.head


def overview_of(names: Iterable[str]) -> list[str]:
    """The folders of a tree with what they hold, the large ones divided."""
    counts: Counter[str] = Counter()
    endings: dict[str, Counter[str]] = {}
    for name in names:
        path = PurePosixPath(name)
        for folder in path.parents:
            counts[str(folder)] += 1
            endings.setdefault(str(folder), Counter())[path.suffix or path.name] += 1
    inner = children(counts)
    lines = {"."} & counts.keys()
    while len(lines) < MOST_FOLDERS:
        divisible = [
            f for f in lines if f in inner and not inner[f] <= lines and counts[f] > SMALL_FOLDER
        ]
        if not divisible:
            break
        largest = min(divisible, key=lambda folder: (-counts[folder], folder))
        lines |= inner[largest]
    return [overview_line(folder, counts[folder], endings[folder]) for folder in sorted(lines)]


def children(folders: Iterable[str]) -> dict[str, set[str]]:
    """For each folder those that lie in it."""
    found: dict[str, set[str]] = {}
    for folder in folders:
        if folder != ".":
            found.setdefault(str(PurePosixPath(folder).parent), set()).add(folder)
    return found


def overview_line(folder: str, files: int, endings: Counter[str]) -> str:
    """A folder, how many files are in it, and which."""
    kinds = sorted(endings, key=lambda ending: (-endings[ending], ending))[:MOST_ENDINGS]
    noun = "file" if files == 1 else "files"
    return f"{folder}/ has {files} {noun}: {', '.join(kinds)}"
