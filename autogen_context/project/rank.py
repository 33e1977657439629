"""Rank the definitions of a tree of files by use, as a map of a repository wants it.

Promise: pure; the same symbols, in any order, give the same scores to the bit. Scores are of a fixed sum, so that a
definition that gains takes from others. Time in proportion to the references.

A file votes for the files whose definitions it uses (PageRank over files), and its votes go to the very definitions. What is
in play, a file or a name, has its vote counted more.

Source:
    Brin and Page, "The anatomy of a large-scale hypertextual web search engine", 1998; the weights of names after the
    repository map of aider; docs/decisions/0017-project-context.md.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from autogen_context.project.definers import Definers, Place
from autogen_context.project.symbols import Symbols

DAMPING = 0.85
ROUNDS = 20
MOST_OWNERS = (
    6  # files that define a name; one that more define says nothing where it is not imported
)
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
OWN_SHARE = (
    0.15  # of a file's score, for all of its definitions alike: what nobody uses is not nothing
)


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


def ranked(files: Mapping[str, Symbols], focus: Focus) -> Ranking:
    """How much each file and each definition is used.

    Args:
        files: the symbols of n files by their names.
        focus: what the task is about.
    """
    definers = Definers(files)
    votes = {file: dict(votes_of(file, files[file], definers, focus)) for file in sorted(files)}
    scores = spread(votes, starts_of(files, focus))
    places: defaultdict[Place, float] = defaultdict(float)
    for file, given in votes.items():
        whole = sum(given.values())
        for place, weight in given.items():
            places[place] += (1 - OWN_SHARE) * scores[file] * weight / whole
    for file, symbols in files.items():
        for each in symbols.definitions:
            places[file, each.name] += OWN_SHARE * scores[file] / len(symbols.definitions)
    return Ranking(files=scores, places=places, users=users_of(votes))


def votes_of(
    file: str, symbols: Symbols, definers: Definers, focus: Focus
) -> Iterator[tuple[Place, float]]:
    """What a file uses of others, and with which weight.

    A member counts where what owns it is used by its own name as well: ``.get`` alone may be anybody's.
    """
    own = {each.name for each in symbols.definitions}
    plain = [each for each in symbols.references if not each.startswith(".")]
    members = [each for each in symbols.references if each.startswith(".")]
    weights: defaultdict[Place, float] = defaultdict(float)
    for reference in plain:
        places = [] if reference in own else definers.places(reference)
        add(weights, [place for place in places if place[0] != file], weight_of(reference, focus))
    known = {other for other, _ in weights}
    spoken = frozenset(plain)
    for reference in members:
        places = [
            place
            for place in definers.places(reference)
            if place[0] != file and is_known(place, known, spoken)
        ]
        add(weights, places, weight_of(reference, focus))
    yield from weights.items()


def add(weights: defaultdict[Place, float], places: list[Place], weight: float) -> None:
    """Share a weight among places."""
    for place in places:
        weights[place] += weight / len(places)


def is_known(place: Place, known: Collection[str], spoken: Collection[str]) -> bool:
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


def starts_of(files: Mapping[str, Symbols], focus: Focus) -> dict[str, float]:
    """Where votes come from: all files alike, but for those in play or mentioned; they add up to 1."""
    weights = dict.fromkeys(sorted(files), 1.0)
    for file in weights:
        if file in focus.files:
            weights[file] = IN_PLAY_WEIGHT
        elif is_mentioned(file, files[file], focus):
            weights[file] = NAMED_WEIGHT
        elif not ASIDE.isdisjoint(file.split("/")):
            weights[file] = ASIDE_WEIGHT
    whole = sum(weights.values())
    return {file: weight / whole for file, weight in weights.items()}


def is_mentioned(file: str, symbols: Symbols, focus: Focus) -> bool:
    """Whether a task mentions a file, or something that it defines for others."""
    path = PurePosixPath(file)
    if path.name in focus.words or path.stem.lower() in focus.topics:
        return True
    return any(each.name in focus.words for each in symbols.definitions if not each.depth)


def spread(
    votes: Mapping[str, Mapping[Place, float]], starts: Mapping[str, float]
) -> dict[str, float]:
    """The share of each file in the votes, once they were passed on again and again."""
    edges = {file: edges_of(given) for file, given in votes.items()}
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
            file: (1 - DAMPING + DAMPING * kept) * starts[file] + DAMPING * passed[file]
            for file in starts
        }
    return scores


def edges_of(given: Mapping[Place, float]) -> list[tuple[str, float]]:
    """The files that a file votes for, with their shares."""
    weights = by_file(given)
    whole = sum(weights.values())
    return [(file, weight / whole) for file, weight in weights.items()]


def by_file(given: Mapping[Place, float]) -> dict[str, float]:
    """The files that a file votes for, with the sums of its votes."""
    weights: defaultdict[str, float] = defaultdict(float)
    for (file, _), weight in given.items():
        weights[file] += weight
    return weights


def users_of(votes: Mapping[str, Mapping[Place, float]]) -> dict[str, tuple[str, ...]]:
    """For each file that others use, these, by how much of it they use."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for user, given in votes.items():
        for file, weight in by_file(given).items():
            found[file][user] = weight
    return {
        file: tuple(sorted(users, key=lambda user: (-users[user], user)))
        for file, users in found.items()
    }
