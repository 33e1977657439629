"""What a project's context becomes beside a conversation: a head, and notices of what is newer.

Promise: pure; what has no room is told by its name where something was told of it before, and counted where nothing was.
"""

from collections.abc import Collection, Iterator

from autogen_context.project.since import Current
from autogen_context.manager.preamble import FURTHER, Head
from autogen_context.view.notices import Notice

ALL_ELSE = "all else"


def head_of(current: Current, most_tokens: int) -> Head:
    """What is to stand in front; where the project has nothing to tell the opening, by which an older head is found."""
    parts = (current.opening, *current.parts)
    return Head(parts=parts, most_tokens=most_tokens)


def notices_of(current: Current, known: Collection[str]) -> Iterator[Notice]:
    """What is newer than the head, as it is told beside the messages.

    Args:
        current: what there is.
        known: the files of which something was told; of these it is said where they have no room any more.
    """
    for change in current.changes:
        detail = "\n".join(change.lines)
        yield Notice(topic="project", key=change.name, text=change.title, detail=detail)
    for name in sorted(current.missing & set(known)):
        yield Notice(topic="project", key=name, text=FURTHER.format(name=name))
    if more := len(current.missing - set(known)):
        text = f"{more} more files have changed." if more > 1 else "1 more file has changed."
        yield Notice(topic="project", key=ALL_ELSE, text=text)
