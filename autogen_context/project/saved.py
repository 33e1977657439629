"""A head, and what had changed since it was written, as JSON data for another process.

Promise: what is read back tells the same of the same files. It has no more than the head and the definitions, as they were,
of the files that have changed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from autogen_context.messages.record import Record
from autogen_context.prioritizer.attention import ContextPart
from autogen_context.project.changes import unlike
from autogen_context.project.head import ORDER, PAPERS, Head
from autogen_context.project.index import Index
from autogen_context.project.since import Since
from autogen_context.project.structure import Map
from autogen_context.project.symbols import Symbols
from autogen_context.project.view import OPENING, framed


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What was saved.

    Attributes:
        data: as it was read.
        head: without who uses what.
        words: what it was written for.
        shown: the files of its map, each with a digest of what it defined.
        before: what the files that have changed defined when it was written; ``None`` where there was no file.
    """

    data: Mapping[str, object]
    head: Head
    words: frozenset[str]
    shown: Mapping[str, str]
    before: Mapping[str, Symbols | None]


def dump(since: Since, index: Index) -> dict[str, object]:
    """A head as JSON data, with what has changed since."""
    head = since.head
    return {
        "parts": [{"label": part.label, "text": part.text} for part in head.parts],
        "rooms": dict(head.rooms),
        "told": {
            paper: {name: list(lines) for name, lines in head.told.get(paper, {}).items()}
            for paper in PAPERS
        },
        "shown": dict(since.shown),
        "words": sorted(since.words),
        "changed": [changed(name, before) for name, (before, _) in since.changed(index).items()],
    }


def load(data: Mapping[str, object], *, name: str, count: Callable[[str], int]) -> Saved:
    """What ``dump`` made.

    Args:
        data: what it made.
        name: of the project.
        count: tokens of a text.

    Raises:
        ValueError: it is damaged.
    """
    try:
        return loaded(Record(data), name=name, count=count)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def loaded(record: Record, *, name: str, count: Callable[[str], int]) -> Saved:
    """What is in a record."""
    parts = tuple(
        ContextPart(part.text("label"), part.text("text")) for part in record.records("parts")
    )
    text = framed(OPENING.format(name=name), [part.text for part in parts])
    rooms, told = record.record("rooms"), record.record("told")
    shown = dict(record.record("shown").items())
    head = Head(
        text=text,
        parts=parts,
        tokens=count(text),
        rooms={section: rooms.whole(section) for section in ORDER},
        told={
            paper: {key: tuple(of_paper.texts(key)) for key in of_paper.fields}
            for paper in PAPERS
            for of_paper in [told.record(paper)]
        },
        map=Map(shown=dict.fromkeys(shown, ())),
    )
    words = frozenset(record.texts("words"))
    before = dict(before_in(record))
    return Saved(data=record.fields, head=head, words=words, shown=shown, before=before)


def resumed(saved: Saved, index: Index, *, count: Callable[[str], int]) -> Since:
    """Go on with what was saved; a file that does not define what it did then has changed when nobody looked.

    Args:
        saved: what was saved.
        index: the files as they are; from here on it counts changes from the head on.
        count: tokens of a text.
    """
    index.mark(saved.before)
    known = {name: digest for name, digest in saved.shown.items() if name not in saved.before}
    unseen = frozenset(change.name for change in unlike(known, index.symbols))
    return Since(saved.head, saved.words, shown=saved.shown, unseen=unseen, count=count)


def before_in(record: Record) -> Iterator[tuple[str, Symbols | None]]:
    """What files defined, by their names."""
    for each in record.records("changed"):
        gone = each.is_null("symbols")
        yield each.text("name"), None if gone else Symbols.from_json(each.text("symbols"))


def changed(name: str, before: Symbols | None) -> dict[str, object]:
    """What a file defined, as JSON data; what it used is not told of any more."""
    bare = Symbols(definitions=before.definitions).to_json() if before else None
    return {"name": name, "symbols": bare}
