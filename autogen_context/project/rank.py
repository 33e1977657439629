"""Rank the definitions of a tree of files by use, as a map of a repository wants it.

Promise: pure; the same symbols, in any order, give the same scores to the bit. Scores are of a fixed sum, so that a
definition that gains takes from others. Time in proportion to the references. A path that does not lead to a file of the
tree is no file in play, wherever it leads.

A file votes for the files whose definitions it uses (PageRank over files), and its votes go to the very definitions. What is
in play, a file or a name, has its vote counted more.

Source:
    Brin and Page, "The anatomy of a large-scale hypertextual web search engine", 1998; the weights of names after the
    repository map of aider; docs/decisions/0017-project-context.md.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath

from autogen_context.language.terms import STOP_WORDS
from autogen_context.project.symbols import Symbols

DAMPING = 0.85
ROUNDS = 20
MOST_OWNERS = 6  # of a name; what more files define says nothing where it is not imported
MEMBER_WEIGHT = 0.5  # of what is a member of something: of what, is not known
ASIDE_WEIGHT = 0.3  # of a file that is there for the others
ASIDE = frozenset(
    {"test", "tests", "__tests__", "spec", "benchmarks", "examples", "docs", "scripts"}
)
PRIVATE_WEIGHT = 0.1  # of names that their authors call private
CONSTANT_WEIGHT = 0.4  # of names in capitals
WANTED_WEIGHT = 10.0  # of a name that the task mentions
IN_PLAY_WEIGHT = 50.0  # of a file in play, beside 1 for any other
NAMED_WEIGHT = 10.0  # of a file whose name, or a name in which, the task mentions
OWN_FRACTION = (
    0.15  # of a file's score, for all of its definitions alike: what nobody uses is not nothing
)
FOLDER_STEMS = frozenset({"__init__", "index", "mod", "main"})  # a file that stands for its folder

READ_CHARS = 8_000  # of a task, from its beginning
LEAST_TOPIC = 4  # letters of a plain word
QUOTED = re.compile(r"`([^`\n]{1,80})`")
NAME = re.compile(r"[A-Za-z_$][\w$]*(?:[./][\w$]+)*")
COMPOUND = re.compile(r"_|\d|[./]|[a-z][A-Z]|[A-Z]{2,}[a-z]")

Place = tuple[str, str]  # a file, and a name that it defines; empty where the whole file is meant
Votes = Mapping[Place, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """What a task is about.

    Attributes:
        files: names of files in play.
        words: names that were mentioned, as they are written.
        topics: plain words that were, in lower case.
    """

    files: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How much what is used.

    Attributes:
        files: a score for each file; they add up to 1.
        places: a score for each definition; they add up to 1 at most.
        users: for each file the files that use it, those that use it most first.
    """

    files: Mapping[str, float]
    places: Mapping[Place, float]
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def focus_of(
    task: str, in_play: Iterable[str | PurePath], *, root: Path, files: Container[str]
) -> Focus:
    """What to look at first.

    Args:
        task: what is to be done, in plain words.
        in_play: files, from the root or absolute, and names of definitions.
        root: the folder.
        files: the names of all files.
    """
    played: set[str] = set()
    words: set[str] = set()
    for each in in_play:
        path = PurePath(each)
        name = path.relative_to(root) if path.is_relative_to(root) else path
        if name.as_posix() in files:
            played.add(name.as_posix())
        elif isinstance(each, str):
            words.add(each)
    found = NAME.findall(task[:READ_CHARS])
    marked = {name for quoted in QUOTED.findall(task[:READ_CHARS]) for name in NAME.findall(quoted)}
    for name in found:
        if name in files:
            played.add(name)
        if COMPOUND.search(name) or name in marked:
            words |= {name, *re.split(r"[./]", name)}
    plain = {name.lower() for name in found if name.isalpha() and len(name) >= LEAST_TOPIC}
    topics = frozenset(plain - STOP_WORDS)
    return Focus(files=frozenset(played), words=frozenset(words), topics=topics)


def ranked(files: Mapping[str, Symbols], focus: Focus) -> Ranking:
    """How much each file and each definition is used.

    Args:
        files: the symbols of n files by their names.
        focus: what the task is about.
    """
    definers = Definers(files)
    votes = {file: votes_of(file, files[file], definers, focus) for file in sorted(files)}
    by_file = {file: sums_by_file(given) for file, given in votes.items()}
    scores = spread(by_file, starts_of(files, focus))
    places: defaultdict[Place, float] = defaultdict(float)
    users: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for file, given in votes.items():
        whole = sum(given.values())
        for place, weight in given.items():
            places[place] += (1 - OWN_FRACTION) * scores[file] * weight / whole
        for other, weight in by_file[file].items():
            users[other][file] = weight
    for file, symbols in files.items():
        for each in symbols.definitions:
            places[file, each.name] += OWN_FRACTION * scores[file] / len(symbols.definitions)
    order = {
        file: tuple(sorted(weights, key=lambda user: (-weights[user], user)))
        for file, weights in users.items()
    }
    return Ranking(files=scores, places=places, users=order)


class Definers:
    """Who defines what. A name that many define means none of them, unless it was imported from one.

    Args:
        files: the symbols of all files by their names.
    """

    def __init__(self, files: Mapping[str, Symbols]) -> None:
        self._outer: defaultdict[str, list[str]] = defaultdict(list)
        self._any: defaultdict[str, list[str]] = defaultdict(list)
        self._modules: defaultdict[str, list[str]] = defaultdict(list)
        for file in sorted(files):
            depths: dict[str, int] = {}
            for each in files[file].definitions:
                depths[each.name] = min(each.depth, depths.get(each.name, each.depth))
            for name, depth in sorted(depths.items()):
                self._any[name].append(file)
                if not depth:
                    self._outer[name].append(file)
            self._modules[module_of(file)[1]].append(file)

    def places(self, reference: str) -> list[Place]:
        """What a reference can mean; a file without a name where it means the whole."""
        hint, colon, name = reference.partition(":")
        if not colon:
            name = reference.lstrip(".")
            owners = (self._any if reference.startswith(".") else self._outer).get(name, [])
            return owned(owners, name)
        owners = self._outer.get(name, [])
        exact = [file for file in owners if module_of(file)[1] == hint]
        if exact:  # imported from a module of that name
            return [(file, name) for file in exact]
        if owners:  # passed on by one
            return owned(owners, name)
        modules = self._modules.get(name, [])  # a module itself
        near = [file for file in modules if module_of(file)[0] == hint]
        return owned(near or modules or self._modules.get(hint, []), "")


def owned(owners: list[str], name: str) -> list[Place]:
    """A name in its files, unless these are many."""
    return [(file, name) for file in owners] if len(owners) <= MOST_OWNERS else []


def module_of(file: str) -> tuple[str, str]:
    """The folder of a module, and the name under which it is imported."""
    path = PurePosixPath(file)
    module = path.parent if path.stem in FOLDER_STEMS else path
    return module.parent.name, path.parent.name if module is not path else path.stem


def votes_of(file: str, symbols: Symbols, definers: Definers, focus: Focus) -> dict[Place, float]:
    """What a file uses of others, and with which weight.

    A member counts where what owns it is used by its own name as well: ``.get`` alone may be anybody's.
    """
    own = {each.name for each in symbols.definitions}
    weights: defaultdict[Place, float] = defaultdict(float)
    members: list[str] = []
    spoken: set[str] = set()

    def vote(reference: str, places: list[Place]) -> None:
        for place in places:
            weights[place] += weight_of(reference, focus) / len(places)

    for reference in symbols.references:
        if reference.startswith("."):
            members.append(reference)
            continue
        spoken.add(reference)
        if reference not in own:
            vote(reference, [place for place in definers.places(reference) if place[0] != file])
    known = {other for other, _ in weights}
    for reference in members:
        found = [place for place in definers.places(reference) if place[0] != file]
        vote(reference, [place for place in found if is_known(place, known, spoken)])
    return dict(weights)


def is_known(place: Place, known: set[str], spoken: set[str]) -> bool:
    """Whether a file that uses these files and names can mean a member of this place."""
    file, name = place
    return file in known or name[0].isupper() or PurePosixPath(file).parent.name in spoken


def weight_of(reference: str, focus: Focus) -> float:
    """What a reference counts."""
    name = reference.rpartition(":")[2].lstrip(".")
    weight = MEMBER_WEIGHT if reference.startswith(".") else 1.0
    if name.startswith("_"):
        weight *= PRIVATE_WEIGHT
    elif name.isupper():
        weight *= CONSTANT_WEIGHT
    return weight * WANTED_WEIGHT if name in focus.words else weight


def sums_by_file(given: Votes) -> dict[str, float]:
    """The files that a file votes for, with the sums of its votes."""
    weights: defaultdict[str, float] = defaultdict(float)
    for (file, _), weight in given.items():
        weights[file] += weight
    return dict(weights)


def starts_of(files: Mapping[str, Symbols], focus: Focus) -> dict[str, float]:
    """Where votes come from: all files alike, but for those in play or mentioned; they add up to 1."""
    weights = dict.fromkeys(sorted(files), 1.0)
    for file in weights:
        path = PurePosixPath(file)
        names = {each.name for each in files[file].definitions if not each.depth}
        if file in focus.files:
            weights[file] = IN_PLAY_WEIGHT
        elif not focus.words.isdisjoint({path.name, *names}) or path.stem.lower() in focus.topics:
            weights[file] = NAMED_WEIGHT
        elif not ASIDE.isdisjoint(path.parts):
            weights[file] = ASIDE_WEIGHT
    whole = sum(weights.values())
    return {file: weight / whole for file, weight in weights.items()}


def spread(
    votes: Mapping[str, Mapping[str, float]], starts: Mapping[str, float]
) -> dict[str, float]:
    """The share of each file in the votes, once they were passed on again and again."""
    edges = {
        file: [(other, weight / sum(given.values())) for other, weight in given.items()]
        for file, given in votes.items()
    }
    scores = dict(starts)
    for _ in range(ROUNDS):
        passed = dict.fromkeys(starts, 0.0)
        kept = 0.0  # by files that use nothing
        for file, out in edges.items():
            for other, share in out:
                passed[other] += scores[file] * share
            if not out:
                kept += scores[file]
        scores = {
            file: (1 - DAMPING + DAMPING * kept) * start + DAMPING * passed[file]
            for file, start in starts.items()
        }
    return scores
