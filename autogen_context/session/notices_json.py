"""Notices as JSON data, and back.

Promise: what is read equals what was written; two notices of one name are refused.
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import cast

from autogen_context.messages.record import Record
from autogen_context.session.integrity import faults_of_notices
from autogen_context.session.notices import LABELS, Name, Notice, Notices, Topic


def dump_notices(notices: Notices) -> dict[str, object]:
    """Notices as JSON data."""
    return {
        "standing": [asdict(notice) for notice in notices.standing],
        "due": [asdict(notice) for notice in notices.due],
        "in_sight": [{"topic": topic, "key": key} for topic, key in sorted(notices.in_sight)],
        "waits": notices.waits,
    }


def load_notices(data: Record) -> Notices:
    """Notices from JSON data.

    Raises:
        ValueError: a topic is not known, or two notices are about the same.
    """
    notices = Notices(
        standing=load_all(data.records("standing")),
        due=load_all(data.records("due")),
        in_sight=frozenset(map(load_name, data.records("in_sight"))),
        waits=data.flag("waits"),
    )
    for fault in faults_of_notices(notices):
        raise ValueError(fault)
    return notices


def load_all(records: Iterable[Record]) -> tuple[Notice, ...]:
    """The notices of a list."""
    return tuple(map(load_notice, records))


def load_notice(data: Record) -> Notice:
    """A notice from JSON data."""
    topic, key = load_name(data)
    return Notice(
        topic=topic,
        key=key,
        text=data.text("text"),
        position=data.whole("position"),
        detail=data.text("detail"),
        news=data.text("news"),
    )


def load_name(data: Record) -> Name:
    """What a notice is about, from JSON data."""
    topic = data.text("topic")
    if topic not in LABELS:
        raise ValueError(f"no such topic: {topic}")
    return cast("Topic", topic), data.text("key")  # checked above
