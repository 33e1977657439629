"""What stands in front, as JSON data, and back.

Promise: what is read equals what was written; what is told of anything but a project is refused.
"""

from collections.abc import Iterable
from dataclasses import asdict

from autogen_context.messages.record import Record
from autogen_context.session.front import Fronted, Head
from autogen_context.session.notices import Notice
from autogen_context.session.notices_json import load_all


def dump_front(fronted: Fronted) -> dict[str, object]:
    """What stands in front, as JSON data."""
    return {
        "text": fronted.text,
        "parts": list(fronted.head.parts),
        "most_tokens": fronted.head.most_tokens,
        "is_placed": fronted.is_placed,
        "is_told": fronted.is_told,
        "since": [asdict(notice) for notice in fronted.since],
    }


def load_front(data: Record) -> Fronted:
    """What stands in front, from JSON data.

    Raises:
        ValueError: it tells of something else than a project.
    """
    parts, most_tokens = tuple(data.texts("parts")), data.whole("most_tokens")
    return Fronted(
        text=data.text("text"),
        head=Head(parts=parts, most_tokens=most_tokens),
        is_placed=data.flag("is_placed"),
        is_told=data.flag("is_told"),
        since=of_project(load_all(data.records("since"))),
    )


def of_project(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Notices that all are of a project."""
    found = tuple(notices)
    for notice in found:
        if notice.topic != "project":
            raise ValueError(f"no notice of a project: {notice.topic}")
    return found
