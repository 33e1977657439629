"""The head of a project's context: requirements, decisions, map and conventions, fitted to their shares.

Promise: pure; the head has no more tokens than its room; the same material gives the same bytes. What one section leaves
of its share the others have.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from autogen_context.budget.allocate import TokenBudget, flow
from autogen_context.budget.profile import Section
from autogen_context.prioritizer.attention import ContextPart
from autogen_context.project.documents import Paper
from autogen_context.project.extract import Document, Extracts, extracts
from autogen_context.project.rank import Ranking
from autogen_context.project.structure import Map, mapped
from autogen_context.project.symbols import Symbols
from autogen_context.project.view import MARK, OPENING, TITLES, framed, marked, quoted

CountText = Callable[[str], int]
Papers = Mapping[Paper, tuple[Document, ...]]

ORDER: tuple[Section, ...] = ("requirements", "design", "project_structure", "memory_patterns")
PAPERS: tuple[Paper, ...] = ("requirements", "design", "memory_patterns")
LABELS: Mapping[Section, str] = {
    "requirements": "requirements",
    "design": "design",
    "project_structure": "project structure",
    "memory_patterns": "memory patterns",
    "execution_history": "execution history",
}
ATTEMPTS = 6  # to fit what was measured line by line


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a head is made of.

    Attributes:
        name: of the project.
        files: the names of all files.
        symbols: of the source files.
        ranking: how much what of them is used.
        papers: the documents of each kind.
        words: what is asked for, in lower case.
    """

    name: str
    files: Collection[str]
    symbols: Mapping[str, Symbols]
    ranking: Ranking
    papers: Papers
    words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A head as it was built.

    Attributes:
        text: what is placed.
        parts: its sections, each by itself.
        tokens: of the text.
        rooms: what each section had, in tokens.
        told: what was taken of the documents of each kind.
        map: of the code.
        users: for each file those that use it.
    """

    text: str = ""
    parts: tuple[ContextPart, ...] = ()
    tokens: int = 0
    rooms: Mapping[Section, int] = field(default_factory=dict[Section, int])
    told: Mapping[Paper, Extracts] = field(default_factory=dict[Paper, Extracts])
    map: Map = field(default_factory=Map)
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def built(material: Material, budget: TokenBudget, *, count: CountText) -> Head:
    """A head.

    Args:
        material: what there is.
        budget: what each section may have; what is for the execution history and the buffer stays free.
        count: tokens of a text.
    """
    count_line = line_counter(count)
    whole = sum(budget.allocations.get(section, 0) for section in ORDER)
    needs = needs_of(material, whole, count_line)
    needs["execution_history"] = budget.allocations["execution_history"]
    flowed = flow(budget, needs)
    rooms: dict[Section, int] = {section: flowed[section] for section in ORDER}
    share = 1.0
    for _ in range(ATTEMPTS):
        fitted: dict[Section, int] = {section: int(room * share) for section, room in rooms.items()}
        head = written(material, fitted, count_line, count)
        if head.tokens <= whole:
            return head
        share *= 0.95 * whole / head.tokens
    return Head(rooms=dict.fromkeys(ORDER, 0))


def line_counter(count: CountText) -> CountText:
    """Counts a line as it is written, each once."""
    known: dict[str, int] = {}

    def counted(line: str) -> int:
        if line not in known:
            known[line] = count(MARK + line)
        return known[line]

    return counted


def needs_of(material: Material, room: int, count: CountText) -> dict[Section, int]:
    """What each section could use, within the room of all."""
    needs: dict[Section, int] = {
        paper: extracts(material.papers.get(paper, ()), room_tokens=room, count=count).tokens
        for paper in PAPERS
    }
    needs["project_structure"] = map_within(material, room, count).tokens
    return needs


def map_within(material: Material, room: int, count: CountText) -> Map:
    """The map of the code."""
    return mapped(material.files, material.symbols, material.ranking, room_tokens=room, count=count)


def written(
    material: Material, rooms: Mapping[Section, int], count_line: CountText, count: CountText
) -> Head:
    """The head with these rooms."""
    told: dict[Paper, Extracts] = {
        paper: extracts(
            material.papers.get(paper, ()),
            room_tokens=rooms[paper],
            count=count_line,
            words=material.words,
        ).lines
        for paper in PAPERS
    }
    chart = map_within(material, rooms["project_structure"], count_line)
    texts: dict[Section, str] = {paper: quoted(told[paper]) for paper in PAPERS}
    texts["project_structure"] = marked(chart.lines())
    parts = tuple(
        ContextPart(LABELS[section], f"{TITLES[section]}\n{texts[section]}")
        for section in ORDER
        if texts[section]
    )
    text = framed(OPENING.format(name=material.name), [part.text for part in parts])
    return Head(
        text=text,
        parts=parts,
        tokens=count(text),
        rooms=rooms,
        told=told,
        map=chart,
        users=material.ranking.users,
    )
