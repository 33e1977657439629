"""A map of the code within a token budget: the folders, and the most used definitions under their files.

Each file votes for the definitions that it uses. Votes of files in play, and for names in play, weigh more. The weights
follow aider's repository map; docs/decisions/0017-project-context.md.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from autogen_context.project.symbols import Symbols

MOST_OWNERS = 6  # files that define a name; with more, it counts only where it is imported
MEMBER_WEIGHT = 0.5  # of a reference to a member, whose owner is unknown
ASIDE_WEIGHT = 0.3  # of a supporting file, such as a test
ASIDE = frozenset(
    {"test", "tests", "__tests__", "spec", "benchmarks", "examples", "docs", "scripts"}
)
WANTED_WEIGHT = 10.0  # of a name mentioned in the task
IN_PLAY_WEIGHT = 50.0  # of a file in play; other files have 1
NAMED_WEIGHT = 10.0  # of a file that the task mentions by its name or a definition
OWN_FRACTION = 0.15  # share of a file's score spread equally over its own definitions
FOLDER_STEMS = frozenset({"__init__", "index", "mod", "main"})  # a file that represents its folder

READ_CHARS = 8_000  # read from the start of a task
QUOTED = re.compile(r"`([^`\n]{1,80})`")
NAME = re.compile(r"[A-Za-z_$][\w$]*(?:[./][\w$]+)*")
COMPOUND = re.compile(r"_|\d|[./]|[a-z][A-Z]|[A-Z]{2,}[a-z]")

OVERVIEW_FRACTION = 0.25  # share of the room reserved for the overview
MOST_FOLDERS = 14  # lines of the overview
MOST_ENDINGS = 3  # file types listed per folder
MOST_MISSES = 40  # consecutive definitions without room before stopping
SATIATION = 0.85  # factor on the score of each further definition of a file
CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor", "new"})
SPECIAL = re.compile(r"__\w+__$")  # special methods of Python, which are well known
CONSTRUCTOR_FRACTION = 0.4  # share of the score of its class

CountText = Callable[[str], int]
Place = tuple[str, str]  # a file and a name defined there; an empty name means the whole file


class Focus(NamedTuple):
    """The focus of a task: files in play, and names mentioned."""

    files: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


class Map(NamedTuple):
    """Overview lines of the folders, the shown files with their definition lines, and the tokens of all lines."""

    overview: tuple[str, ...]
    shown: Mapping[str, tuple[str, ...]]
    tokens: int

    def lines(self) -> Iterator[str]:
        """Yield the lines of the map: the overview, then each folder's files with their definitions."""
        yield from self.overview
        before = ""
        for file, lines in self.shown.items():
            folder, name = in_tree(file)
            if folder != before:
                yield f"{folder}/"
                before = folder
            margin = "  " if folder else ""
            yield f"{margin}{name}"
            yield from (f"{margin}  {line}" for line in lines)


def in_tree(file: str) -> tuple[str, str]:
    """Split a path into folder and name; as a sort key it puts files of the root first."""
    folder, _, name = file.rpartition("/")
    return folder, name


def focus_of(
    task: str, in_play: Iterable[str | PurePath], *, root: Path, files: Container[str]
) -> Focus:
    """Return the files and names in play or mentioned in the task; paths to no file of the tree are ignored."""
    played: set[str] = set()
    words: set[str] = set()
    for each in in_play:
        path = PurePath(each)
        name = (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()
        if name in files:
            played.add(name)
        elif isinstance(each, str):
            words.add(each)
    found = NAME.findall(task[:READ_CHARS])
    marked = {name for quoted in QUOTED.findall(task[:READ_CHARS]) for name in NAME.findall(quoted)}
    for name in found:
        if name in files:
            played.add(name)
        if COMPOUND.search(name) or name in marked:
            words |= {name, *re.split(r"[./]", name)}
    return Focus(frozenset(played), frozenset(words))


def ranked(files: Mapping[str, Symbols], focus: Focus) -> dict[Place, float]:
    """Score each definition by how much it is used; all scores sum to at most 1."""
    definers, scores = Definers(files), weights_of(files, focus)
    places: defaultdict[Place, float] = defaultdict(float)
    for file in sorted(files):
        symbols = files[file]
        votes = votes_of(file, symbols, definers, focus)
        whole = sum(votes.values())
        for place, weight in votes.items():
            places[place] += (1 - OWN_FRACTION) * scores[file] * weight / whole
        for each in symbols.definitions:
            places[file, each.name] += OWN_FRACTION * scores[file] / len(symbols.definitions)
    return places


class Definers:
    """The files that define each name. A name with many definers is ambiguous unless imported from one of them."""

    def __init__(self, files: Mapping[str, Symbols]) -> None:
        self._outer: defaultdict[str, list[str]] = defaultdict(list)
        self._any: defaultdict[str, list[str]] = defaultdict(list)
        self._modules: defaultdict[str, list[str]] = defaultdict(list)
        for file in sorted(files):
            definitions = files[file].definitions
            for name in sorted({each.name for each in definitions}):
                self._any[name].append(file)
            for name in sorted({each.name for each in definitions if not each.depth}):
                self._outer[name].append(file)
            self._modules[module_of(file)].append(file)

    def places(self, reference: str) -> list[Place]:
        """Return the definitions a reference can mean; an empty name means the whole file."""
        hint, colon, name = reference.rpartition(":")
        outer = self._outer.get(name, [])
        if not colon:
            owners = self._any.get(name[1:], []) if name.startswith(".") else outer
        elif outer:  # imported from a module of that name, else re-exported by one
            exact = [file for file in outer if module_of(file) == hint]
            if exact:
                return [(file, name) for file in exact]
            owners = outer
        else:  # a module itself
            owners, name = self._modules.get(name, []) or self._modules.get(hint, []), ""
        many = len(owners) > MOST_OWNERS
        return [] if many else [(file, name.lstrip(".")) for file in owners]


def module_of(file: str) -> str:
    """Return the name under which a module is imported."""
    path = PurePosixPath(file)
    return path.parent.name if path.stem in FOLDER_STEMS else path.stem


def votes_of(file: str, symbols: Symbols, definers: Definers, focus: Focus) -> dict[Place, float]:
    """Return the definitions of other files that a file uses, with their weights.

    A lower-case member counts only if its owner is also referenced by name: ``.get`` alone could belong to anything.
    """
    own = {each.name for each in symbols.definitions}
    weights: defaultdict[Place, float] = defaultdict(float)
    members = [each for each in symbols.references if each.startswith(".")]
    spoken = {each for each in symbols.references if not each.startswith(".")}
    known: set[str] = set()
    for reference in (*sorted(spoken - own), *members):
        places = [place for place in definers.places(reference) if place[0] != file]
        if reference.startswith("."):
            places = [
                (other, name)
                for other, name in places
                if other in known or name[0].isupper() or PurePosixPath(other).parent.name in spoken
            ]
        else:
            known |= {other for other, _ in places}
        weight = MEMBER_WEIGHT if reference.startswith(".") else 1.0
        if reference.rpartition(":")[2].lstrip(".") in focus.words:
            weight *= WANTED_WEIGHT
        for place in places:
            weights[place] += weight / len(places)
    return weights


def weights_of(files: Mapping[str, Symbols], focus: Focus) -> dict[str, float]:
    """Return the vote of each file: more if in play or mentioned, less if supporting; the votes sum to 1."""
    weights = dict.fromkeys(sorted(files), 1.0)
    for file in weights:
        path = PurePosixPath(file)
        names = {each.name for each in files[file].definitions if not each.depth}
        if file in focus.files:
            weights[file] = IN_PLAY_WEIGHT
        elif not focus.words.isdisjoint({path.name, path.stem, *names}):
            weights[file] = NAMED_WEIGHT
        elif not ASIDE.isdisjoint(path.parts):
            weights[file] = ASIDE_WEIGHT
    whole = sum(weights.values())
    return {file: weight / whole for file, weight in weights.items()}


def mapped(
    names: Iterable[str],
    files: Mapping[str, Symbols],
    places: Mapping[Place, float],
    *,
    room_tokens: int,
    count: CountText,
) -> Map:
    """Build the map from the names of all files, the symbols of the sources, and the scores of the definitions."""
    overview = [(line, count(f"{line}\n")) for line in overview_of(names)]
    kept = min(sum(cost for _, cost in overview), int(OVERVIEW_FRACTION * room_tokens))
    left, misses = room_tokens - kept, 0
    taken: dict[str, set[int]] = {}
    folders = {""}
    for file, at in by_rank(files, places):
        definitions, (folder, name) = files[file].definitions, in_tree(file)
        needed = {at}
        depth = definitions[at].depth
        for before in range(at - 1, -1, -1):  # enclosing definitions
            if definitions[before].depth < depth:
                needed.add(before)
                depth = definitions[before].depth
        needed -= taken.get(file, set())
        lines = [f"    {definitions[each].line}" for each in needed]
        lines += [] if file in taken else [f"  {name}"]
        lines += [] if folder in folders else [f"{folder}/"]
        cost = sum(count(f"{line}\n") for line in lines)
        if cost <= left:
            left, misses = left - cost, 0
            folders.add(folder)
            taken.setdefault(file, set()).update(needed)
        elif (misses := misses + 1) > MOST_MISSES:
            break
    left += kept  # the overview also gets the room that the definitions leave
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
    return Map(tuple(first), shown, room_tokens - left)


def by_rank(
    files: Mapping[str, Symbols], places: Mapping[Place, float]
) -> Iterator[tuple[str, int]]:
    """Yield all definitions as (file, index), the most used first; a constructor gets a share of its class's score."""
    rows: list[tuple[float, str, int]] = []
    for file, symbols in files.items():
        scores: list[float] = []
        outer: list[float] = []
        for each in symbols.definitions:
            del outer[each.depth :]
            score = places.get((file, each.name), 0.0)
            if outer and each.name in CONSTRUCTORS:
                score = max(score, CONSTRUCTOR_FRACTION * outer[-1])
            elif SPECIAL.match(each.name):
                score = 0.0
            outer.append(score)
            scores.append(score)
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
        rows += [(-scores[at] * SATIATION**further, file, at) for further, at in enumerate(order)]
    return ((file, at) for _, file, at in sorted(rows))


def overview_of(names: Iterable[str]) -> list[str]:
    """Return a line for each of the largest folders, in tree order, with its number and types of files."""
    endings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name in names:
        path = PurePosixPath(name)
        for parent in path.parents:
            endings[str(parent)][path.suffix or path.name] += 1
    largest = sorted(endings, key=lambda folder: (-endings[folder].total(), folder))
    lines: list[str] = []
    for folder in sorted(largest[:MOST_FOLDERS]):
        ends = endings[folder]
        kinds = [kind for _, kind in sorted((-files, kind) for kind, files in ends.items())]
        files = "1 file" if ends.total() == 1 else f"{ends.total()} files"
        lines.append(f"{folder}/ has {files}: {', '.join(kinds[:MOST_ENDINGS])}")
    return lines
