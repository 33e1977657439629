"""What a tool call does, as a value: a read, write, search, run or test, on which files; and how it ended.

Paths are normalised: with ``/``, and without ``.`` and ``..`` inside.
"""

import re
from dataclasses import dataclass
from posixpath import join, normpath
from typing import Literal

from autogen_context.messages.message import ToolCall, content_digest
from autogen_context.messages.segment import Unit, pair
from autogen_context.text.outcome import UNKNOWN, ProgramOutcome, outcome_of

ToolKind = Literal["read", "write", "search", "run", "test", "other"]

RUNS: frozenset[ToolKind] = frozenset({"run", "test"})  # a program, whose output is about itself

LAST_LINE = 2**31  # stands for the end of the file
PATH_CHARS = 500  # longer strings are no paths
PATCH_CHARS = 100_000  # read from the beginning of a patch
KEY_CHARS = 200  # longer keys are replaced by a digest
NO_PATH = frozenset("$*?`{}\n\0")  # variables and patterns, whose files are unknown

_PATCHED = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?|\*\*\* Move to: )([^\t\n]{1,500})",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A file, or a part of it, that a call shows."""

    path: str
    lines: tuple[int, int] | None = None  # first and last, from 1, if given
    part: str = ""  # any other restriction, in the words of the call

    @property
    def whole(self) -> bool:
        """Whether the whole file is shown."""
        return self.lines is None and not self.part

    def covers(self, other: "View") -> bool:
        """Whether it shows all that another view shows, if the file is unchanged."""
        if self.path != other.path or self.part not in ("", other.part):
            return False
        if self.lines is None or other.lines is None:
            return self.lines is None
        return self.lines[0] <= other.lines[0] and other.lines[1] <= self.lines[1]

    def described(self) -> str:
        """Describe the view in words."""
        if self.lines is None:
            return f"{self.path} ({self.part})" if self.part else self.path
        first, last = self.lines
        return f"{self.path} from line {first}" + (f" to {last}" if last < LAST_LINE else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAction:
    """What one call does; if several things, ``kind`` is the strongest: test, run, write, search, read."""

    kind: ToolKind
    subjects: tuple[str, ...] = ()  # files, what is tested or run, the pattern searched and where
    views: tuple[View, ...] = ()  # what it or its result shows; a file written in full is whole
    writes: tuple[str, ...] = ()  # files that it changes
    key: str = ""  # equal for equal queries or commands; empty if views say it


def path_of(text: str, *, folder: str = "") -> str:
    """Normalise a path relative to ``folder``; empty if the text is no path or may match several."""
    if not text or len(text) > PATH_CHARS or not NO_PATH.isdisjoint(text):
        return ""
    return normpath(join(folder, text.replace("\\", "/")))


def patched_files(text: str) -> tuple[str, ...]:
    """Return the files that a patch changes, in either common format."""
    found = (path_of(path.strip()) for path in _PATCHED.findall(text[:PATCH_CHARS]))
    return tuple(dict.fromkeys(path for path in found if path and path != "/dev/null"))


def key_of(asked: str, document: str = "") -> str:
    """Return a short key for a command or query; ``document`` is the content of a here-document."""
    if document:
        asked = f"{asked} << {content_digest(document).hex()}"
    return asked if len(asked) <= KEY_CHARS else f"{asked[:40]}… {content_digest(asked).hex()}"


def answers_of(unit: Unit) -> list[tuple[ToolCall, str | None]]:
    """Return the calls of a unit in order, each with the text of its result, or ``None`` while pending."""
    calls = unit.messages[0].calls
    pairs, _ = pair(calls, [result for message in unit.messages for result in message.results])
    texts = {id(call): result.text for call, result in pairs if call is not None}
    return [(call, texts.get(id(call))) for call in calls]


def outcome_of_call(action: ToolAction, answer: str | None) -> ProgramOutcome:
    """Return how a call ended, by its result; a pending call (``None``) has not."""
    if answer is None:
        return UNKNOWN
    return outcome_of(answer, is_content=action.kind not in RUNS)
