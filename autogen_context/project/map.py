"""A map of the code within its room: which folders there are, and the definitions that are used most, under their files.

A file votes for the definitions that it uses. What is in play, a file or a name, has its vote counted more. Weights are
after the repository map of aider; docs/decisions/0017-project-context.md.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from autogen_context.project.symbols import Symbols

MOST_OWNERS = 6  # of a name; what more files define says nothing where it is not imported
MEMBER_WEIGHT = 0.5  # of what is a member of something: of what, is not known
ASIDE_WEIGHT = 0.3  # of a file that is there for the others
ASIDE = frozenset(
    {"test", "tests", "__tests__", "spec", "benchmarks", "examples", "docs", "scripts"}
)
WANTED_WEIGHT = 10.0  # of a name that the task mentions
IN_PLAY_WEIGHT = 50.0  # of a file in play, beside 1 for any other
NAMED_WEIGHT = 10.0  # of a file whose name, or a name in which, the task mentions
OWN_FRACTION = 0.15  # of a file's score, for all of its definitions alike
FOLDER_STEMS = frozenset({"__init__", "index", "mod", "main"})  # a file that stands for its folder

READ_CHARS = 8_000  # of a task, from its beginning
QUOTED = re.compile(r"`([^`\n]{1,80})`")
NAME = re.compile(r"[A-Za-z_$][\w$]*(?:[./][\w$]+)*")
COMPOUND = re.compile(r"_|\d|[./]|[a-z][A-Z]|[A-Z]{2,}[a-z]")

OVERVIEW_FRACTION = 0.25  # of the room, at most
MOST_FOLDERS = 14  # lines of the overview
MOST_ENDINGS = 3  # named of a folder
MOST_MISSES = 40  # definitions in a row that have no room any more
SATIATION = 0.85  # what each further definition of a file is worth, of its score
CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor", "new"})
SPECIAL = re.compile(r"__\w+__$")  # what Python calls by itself; everybody knows what it does
CONSTRUCTOR_FRACTION = 0.4  # of the score of its class

CountText = Callable[[str], int]
Place = tuple[str, str]  # a file, and a name that it defines; empty where the whole file is meant


class Focus(NamedTuple):
    """What a task is about: files in play, and names that were mentioned."""

    files: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


class Map(NamedTuple):
    """The folders in lines; the files shown, each with the lines of its definitions; what was reckoned for all lines."""

    overview: tuple[str, ...]
    shown: Mapping[str, tuple[str, ...]]
    tokens: int

    def lines(self) -> Iterator[str]:
        """The whole map: the folders, then files under theirs, each with its lines."""
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
    """Where a file stands: those of the root first, then folder by folder."""
    folder, _, name = file.rpartition("/")
    return folder, name


def focus_of(
    task: str, in_play: Iterable[str | PurePath], *, root: Path, files: Container[str]
) -> Focus:
    """What to look at first: what a task names, and what is in play; a path that leads to no file of the tree is not."""
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
    """How much each definition is used; all scores together are 1 at most."""
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
    """Who defines what. A name that many define means none of them, unless it was imported from one."""

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
        """What a reference can mean; a file without a name where it means the whole."""
        hint, colon, name = reference.rpartition(":")
        outer = self._outer.get(name, [])
        if not colon:
            owners = self._any.get(name[1:], []) if name.startswith(".") else outer
        elif outer:  # imported from a module of that name, else passed on by one
            exact = [file for file in outer if module_of(file) == hint]
            if exact:
                return [(file, name) for file in exact]
            owners = outer
        else:  # a module itself
            owners, name = self._modules.get(name, []) or self._modules.get(hint, []), ""
        many = len(owners) > MOST_OWNERS
        return [] if many else [(file, name.lstrip(".")) for file in owners]


def module_of(file: str) -> str:
    """The name under which a module is imported."""
    path = PurePosixPath(file)
    return path.parent.name if path.stem in FOLDER_STEMS else path.stem


def votes_of(file: str, symbols: Symbols, definers: Definers, focus: Focus) -> dict[Place, float]:
    """What a file uses of others, and with which weight.

    A member counts where what owns it is used by its own name as well: ``.get`` alone may be anybody's.
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
    """The votes of the files: all alike, but for those in play or mentioned; they add up to 1."""
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
    """The map of a tree, by the names of all files, the symbols of the sources, and how much each definition is used."""
    overview = [(line, count(f"{line}\n")) for line in overview_of(names)]
    kept = min(sum(cost for _, cost in overview), int(OVERVIEW_FRACTION * room_tokens))
    left, misses = room_tokens - kept, 0
    taken: dict[str, set[int]] = {}
    folders = {""}
    for file, at in by_rank(files, places):
        definitions, (folder, name) = files[file].definitions, in_tree(file)
        needed = {at}
        depth = definitions[at].depth
        for before in range(at - 1, -1, -1):  # what it lies in
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
    return Map(tuple(first), shown, room_tokens - left)


def by_rank(
    files: Mapping[str, Symbols], places: Mapping[Place, float]
) -> Iterator[tuple[str, int]]:
    """All definitions, each by its file and its place there, the most used first; a constructor is used where its class is."""
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
    """The largest folders of a tree, in its order, with what they hold."""
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
