"""What a tool call does, as a value: a read, write, search, run or test, of which files, and whether it worked.

Paths are written alike however a call wrote them: with ``/``, without ``.`` and ``..`` inside.
"""

import re
from dataclasses import dataclass
from posixpath import join, normpath
from typing import Literal

from autogen_context.messages.message import ToolCall, content_digest
from autogen_context.messages.segment import Unit, pair

ToolKind = Literal["read", "write", "search", "run", "test", "other"]

LAST_LINE = 2**31  # of a view that goes to the end
PATH_CHARS = 500  # what is longer is no path
PATCH_CHARS = 100_000  # of a patch, from its beginning
KEY_CHARS = 200  # a longer key is known by its digest
FAILURE_CHARS = 1_000  # at most, of a result that tells of a failure and of nothing else
NO_PATH = frozenset("$*?`{}\n\0")  # a variable or a pattern: which files it means is not known

_PATCHED = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?|\*\*\* Move to: )([^\t\n]{1,500})",
    re.MULTILINE,
)
_FAILURE = re.compile(
    r"^\W*(?:(?:error|exception|traceback|failed|failure|fatal|usage:|cannot|can't|could not|unable to|invalid|unknown)\b"
    r"|(?:no|file not|not) (?:such|replacement|match|found))",
    re.MULTILINE,
)
_FAILURE_PHRASES = (  # anywhere; looked for one by one, which is far quicker than all at once
    "no such file or directory",
    "command not found",
    "permission denied",
    "does not exist",
    "did not appear verbatim",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The part of a file that a call shows."""

    path: str
    lines: tuple[int, int] | None = None  # the first and the last, from 1, where some are named
    part: str = ""  # what else it is limited to, in words of the call

    @property
    def whole(self) -> bool:
        """Whether all of the file is shown."""
        return self.lines is None and not self.part

    def covers(self, other: "View") -> bool:
        """Whether it shows all that another view shows, as long as the file stays the same."""
        if self.path != other.path or self.part not in ("", other.part):
            return False
        if self.lines is None or other.lines is None:
            return self.lines is None
        return self.lines[0] <= other.lines[0] and other.lines[1] <= self.lines[1]

    def told(self) -> str:
        """The view in words."""
        if self.lines is None:
            return f"{self.path} ({self.part})" if self.part else self.path
        first, last = self.lines
        return f"{self.path} from line {first}" + (f" to {last}" if last < LAST_LINE else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAction:
    """What one call does; of several things its kind is the one that says most: a test, a run, a write, a search, a read."""

    kind: ToolKind
    subjects: tuple[str, ...] = ()  # files, what is tested or run, the pattern searched and where
    views: tuple[View, ...] = ()  # what the call or its result shows; a file written anew is whole
    writes: tuple[str, ...] = ()  # the files whose content it changes
    key: str = ""  # equal where the same is asked; empty where views say it, or nothing is asked


def path_of(text: str, *, folder: str = "") -> str:
    """A path as it is written here, seen from ``folder``; empty where the text is none, or stands for several."""
    if not text or len(text) > PATH_CHARS or not NO_PATH.isdisjoint(text):
        return ""
    return normpath(join(folder, text.replace("\\", "/")))


def patched_files(text: str) -> tuple[str, ...]:
    """The files that a patch changes, in either of the usual forms."""
    found = (path_of(path.strip()) for path in _PATCHED.findall(text[:PATCH_CHARS]))
    return tuple(dict.fromkeys(path for path in found if path and path != "/dev/null"))


def key_of(asked: str, document: str = "") -> str:
    """What stands for what was asked, however long that is; ``document`` is what stood in a here-document."""
    if document:
        asked = f"{asked} << {content_digest(document).hex()}"
    return asked if len(asked) <= KEY_CHARS else f"{asked[:40]}… {content_digest(asked).hex()}"


def answers_of(unit: Unit) -> list[tuple[ToolCall, str | None]]:
    """The calls of a unit in their order, each with the text of its result; ``None`` where there is none yet."""
    calls = unit.messages[0].calls
    pairs, _ = pair(calls, [result for message in unit.messages for result in message.results])
    texts = {id(call): result.text for call, result in pairs if call is not None}
    return [(call, texts.get(id(call))) for call in calls]


def is_failure(answer: str) -> bool:
    """Whether a result tells of nothing but that the call did not do what it should."""
    if len(answer) > FAILURE_CHARS:
        return False
    text = answer.lower()
    return any(phrase in text for phrase in _FAILURE_PHRASES) or _FAILURE.search(text) is not None
