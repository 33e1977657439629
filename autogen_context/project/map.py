"""A map of the code within a token budget: the largest folders, and the most used definitions under their files.

Each file votes for the definitions that it uses. Votes of files in play, and for names in play, weigh more.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from autogen_context.project.symbols import Definition, Symbols
from autogen_context.text.fit import CountText
from autogen_context.text.passage import ONLY_ABOVE, Passage, chosen

ASIDE = frozenset(
    {"test", "tests", "__tests__", "spec", "benchmarks", "examples", "docs", "scripts"}
)
FOLDER_STEMS = frozenset({"__init__", "index", "mod", "main"})  # a file that represents its folder

READ_CHARS = 8_000  # read from the start of a task
QUOTED = re.compile(r"`([^`\n]{1,80})`")
NAME = re.compile(r"[A-Za-z_$][\w$]*(?:[./][\w$]+)*")
COMPOUND = re.compile(r"_|\d|[./]|[a-z][A-Z]|[A-Z]{2,}[a-z]")

MOST_FOLDERS = 14  # lines of the overview
MOST_ENDINGS = 3  # file types listed per folder
CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor", "new"})

Place = tuple[str, str]  # a file and a name defined there; an empty name means the whole file


@dataclass(frozen=True, slots=True, kw_only=True)
class MapWeights:
    """What decides which definitions a map shows: factors on a score.

    Source: aider's repository map (aider/repomap.py, read 2026-11), but in one round of votes; docs/decisions/0017-project-context.md.
    """

    most_owners: int = 6  # files that define a name; with more, it counts only where it is imported
    member: float = 0.5  # of a reference to a member, whose owner is unknown
    wanted: float = 10.0  # of a name mentioned in the task
    in_play: float = 50.0  # of a file in play; other files have 1
    named: float = 10.0  # of a file that the task mentions by its name or a definition
    aside: float = 0.3  # of a supporting file, such as a test
    own_fraction: float = 0.15  # of a file's score, spread equally over its own definitions
    further: float = 0.85  # of each further definition of a file
    constructor_fraction: float = 0.4  # of the score of its class
    overview_fraction: float = 0.25  # of the room, reserved for the overview


WEIGHTS = MapWeights()


class Focus(NamedTuple):
    """The focus of a task: files in play, and names mentioned."""

    files: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


class Map(NamedTuple):
    """The lines of a map, the files in it, and the tokens of all lines."""

    lines: tuple[str, ...]
    files: tuple[str, ...]
    tokens: int


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
        own = WEIGHTS.own_fraction * scores[file]
        for place, weight in votes.items():
            places[place] += (1 - WEIGHTS.own_fraction) * scores[file] * weight / whole
        for each in symbols.definitions:
            places[file, each.name] += own / len(symbols.definitions)
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
        many = len(owners) > WEIGHTS.most_owners
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
        weight = WEIGHTS.member if reference.startswith(".") else 1.0
        if reference.rpartition(":")[2].lstrip(".") in focus.words:
            weight *= WEIGHTS.wanted
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
            weights[file] = WEIGHTS.in_play
        elif not focus.words.isdisjoint({path.name, path.stem, *names}):
            weights[file] = WEIGHTS.named
        elif not ASIDE.isdisjoint(path.parts):
            weights[file] = WEIGHTS.aside
    whole = sum(weights.values())
    return {file: weight / whole for file, weight in weights.items()}


class CodeOutline:
    """All definitions of a tree below their files, and these below their folders, in tree order."""

    def __init__(
        self, names: Iterable[str], symbols: Mapping[str, Symbols], scores: Mapping[Place, float]
    ) -> None:
        self.overview = [*map(Passage, overview_of(names))]
        self.passages: list[Passage] = []  # folders, files and definitions
        self.files: list[str] = []  # of each passage; empty for a folder
        top, above = "", -1
        for file in sorted(symbols, key=in_tree):
            folder, name = in_tree(file)
            if folder != top:
                top, above = folder, self._add("", Passage(f"{folder}/", ONLY_ABOVE))
            margin = "  " if folder else ""
            around = [self._add(file, Passage(margin + name, ONLY_ABOVE, above))]
            for rank, each in ranks_of(file, symbols[file].definitions, scores):
                del around[each.depth + 1 :]
                line = Passage(f"{margin}  {each.line}", rank, around[-1])
                around.append(self._add(file, line))

    def _add(self, file: str, passage: Passage) -> int:
        self.passages.append(passage)
        self.files.append(file)
        return len(self.passages) - 1

    def map(self, *, room_tokens: int, count: CountText) -> Map:
        """Draw the map that fits; the overview gets a share of the room, and what the definitions leave."""
        _, tokens = chosen(self.overview, room_tokens=room_tokens, count=count)
        room = room_tokens - min(tokens, int(WEIGHTS.overview_fraction * room_tokens))
        taken, used = chosen(self.passages, room_tokens=room, count=count)
        first, more = chosen(self.overview, room_tokens=room_tokens - used, count=count)
        lines = [*(self.overview[at] for at in first), *(self.passages[at] for at in taken)]
        files = dict.fromkeys(self.files[at] for at in taken if self.files[at])
        return Map(tuple(each.text for each in lines), tuple(files), used + more)


def ranks_of(
    file: str, definitions: Iterable[Definition], scores: Mapping[Place, float]
) -> list[tuple[float, Definition]]:
    """Return the definitions of a file with their ranks: the most used first, each further one of the file later."""
    rows: list[tuple[float, Definition]] = []
    outer: list[float] = []
    for each in definitions:
        del outer[each.depth :]
        score = scores.get((file, each.name), 0.0)
        if outer and each.name in CONSTRUCTORS:
            score = max(score, WEIGHTS.constructor_fraction * outer[-1])
        outer.append(score)
        rows.append((score, each))
    order = sorted(range(len(rows)), key=lambda at: -rows[at][0])
    further = {at: n for n, at in enumerate(order)}
    factors = (WEIGHTS.further ** further[at] for at in range(len(rows)))
    return [(score * factor, each) for factor, (score, each) in zip(factors, rows, strict=True)]


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
