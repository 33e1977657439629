"""Derive what a tool call does from the tool's name and the arguments.

Whole words of the name decide, unless the user has configured the tool. Any arguments are accepted, invalid JSON included,
in linear time.
"""

# ruff: noqa: SIM905 - words in a line

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, cast, get_args

from autogen_context.messages.message import ToolCall
from autogen_context.messages.segment import Unit
from autogen_context.messages.shell import action_of_command, rows_of
from autogen_context.messages.tool_action import (
    LAST_LINE,
    ToolAction,
    ToolKind,
    View,
    key_of,
    patched_files,
    path_of,
)
from autogen_context.text.memo import remembered

# "shell": its command line decides.
NamedKind = ToolKind | Literal["shell"]
Fields = Mapping[str, object]

NAME_CHARS = 200
ARGUMENT_CHARS = 4_000_000  # larger arguments are not parsed
NESTED = 3  # levels of nested arguments searched for files
MOST_FILES = 100  # of one call
REMEMBERED_CALLS = 2_000  # cached calls with short arguments
SHORT_CHARS = 4_096  # most characters of short arguments

# Words in a tool's name and the kind they indicate.
_SAYS: Mapping[NamedKind, str] = {
    "read": "read view open cat get fetch load show retrieve print display describe inspect head tail peek download "
    "browse look extract preview check",
    "write": "write edit editor create insert update delete remove replace patch modify append save add set put post send "
    "cancel book exchange apply move rename copy change submit undo",
    "search": "search find list ls grep glob rg tree query lookup locate scan match filter explore",
    "run": "run execute exec eval evaluate python ipython jupyter repl code calculate compute build compile start "
    "launch invoke simulate interpreter process",
    "test": "test tests pytest unittest jest lint",
    "shell": "bash sh zsh shell terminal console cmd command commands powershell",
}
NAME_WORDS = rows_of(_SAYS)

# Common names of arguments.
COMMAND_KEYS = "command cmd command_line commandline script commands shell_command".split()
PATH_KEYS = frozenset(
    "path paths file files file_path filepath file_paths filename file_name target_file absolute_path relative_path "
    "abs_path full_path notebook_path source_file target_path old_path new_path".split()
)
EDIT_KEYS = frozenset("old_str old_string old_text insert_line new_str edits".split())
CONTENT_KEYS = frozenset(
    "content contents file_text text new_content file_content body data".split()
)
PATTERN_KEYS = (
    "query pattern regex search_term search_query keyword keywords q term code_snippet symbol class_name "
    "function_name name glob glob_pattern file_pattern"
).split()
FIRST_LINE_KEYS = "start_line line_start startline first_line from_line start offset line".split()
LAST_LINE_KEYS = "end_line line_end endline last_line to_line end".split()
LENGTH_KEYS = "limit num_lines line_count lines max_lines".split()
RANGE_KEYS = ["view_range", "line_range", "range"]
PART_KEYS = "span_ids symbols symbol section pages page cell cell_id query pattern jsonpath".split()

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolKinds:
    """Classifies tools by name.

    Attributes:
        named: kinds of your own tools by name, case-insensitive; ``shell`` if the command line decides.

    Raises:
        ValueError: a kind is unknown.
    """

    named: Mapping[str, NamedKind] = field(default_factory=dict[str, NamedKind], hash=False)

    def __post_init__(self) -> None:
        """Validate the kinds and fold the case of the names."""
        kinds = (*get_args(ToolKind), "shell")
        for name, kind in self.named.items():
            if kind not in kinds:
                known = ", ".join(sorted(kinds))
                raise ValueError(f"named: tool {name!r} has kind {kind!r}; give one of {known}")
        lower = {name.casefold(): kind for name, kind in self.named.items()}
        object.__setattr__(self, "named", lower)


BY_NAME = ToolKinds()


def action_of(call: ToolCall, kinds: ToolKinds = BY_NAME) -> ToolAction:
    """Return what a call does, by its tool and its arguments."""
    return (read_action if len(call.arguments) > SHORT_CHARS else known_action)(call, kinds)


def read_action(call: ToolCall, kinds: ToolKinds) -> ToolAction:
    """Return what a call does, uncached."""
    said = kinds.named.get(call.name.casefold())
    words = kinds_in(call.name[:NAME_CHARS])
    kind = said or ("shell" if "shell" in words else kind_of_words(words))
    arguments = read_arguments(call.arguments)
    line = command_in(arguments) if said in (None, "shell") else ""
    if line.isidentifier() and not PATH_KEYS.isdisjoint(arguments):  # an editor's command
        return of_files(kind_of_words(kinds_in(line)), call, arguments)
    if kind == "shell" and not call.arguments.lstrip().startswith("{"):
        line = call.arguments
    if line and kind in ("shell", "run", "other"):
        return action_of_command(line)
    return of_files(kind_of_words(words) if kind == "shell" else kind, call, arguments)


# Needed when a call arrives and again when its turn ends.
known_action = remembered(REMEMBERED_CALLS)(read_action)


def actions_of(unit: Unit, kinds: ToolKinds = BY_NAME) -> tuple[ToolAction, ...]:
    """Return what the calls of a unit do, in order."""
    return tuple(action_of(call, kinds) for call in unit.messages[0].calls)


def kinds_in(name: str) -> tuple[NamedKind, ...]:
    """Return the kinds that the words of a name indicate."""
    words = [part.lower() for part in _PART.findall(name)]
    return tuple(NAME_WORDS[word] for word in words if word in NAME_WORDS)


def kind_of_words(words: tuple[NamedKind, ...]) -> ToolKind:
    """Return the kind that a name indicates: the first one, with two exceptions; shells are skipped."""
    said: list[ToolKind] = [kind for kind in words if kind != "shell"]
    first: ToolKind = said[0] if said else ("run" if words else "other")
    if first == "run" and "test" in said:
        return "test"
    if first == "search" and "write" in said:  # search_and_replace
        return "write"
    return first


def read_arguments(text: str) -> Fields:
    """Parse arguments, with names in snake case; empty if the text is no JSON object."""
    try:
        value: object = json.loads(text) if len(text) <= ARGUMENT_CHARS else None
    except (ValueError, RecursionError):
        return {}
    return snake_keys(cast("dict[str, object]", value)) if isinstance(value, dict) else {}


def snake_keys(fields: Fields) -> Fields:
    """Convert the keys of an object to snake case: ``filePath`` to ``file_path``."""
    return {snake(key[:NAME_CHARS]): item for key, item in fields.items()}


def snake(key: str) -> str:
    """Convert a key to snake case."""
    return _NEW_WORD.sub("_", key).replace("-", "_").lower()


def command_in(arguments: Fields) -> str:
    """Return the command line in arguments; empty if there is none."""
    for value in filter(None, map(arguments.get, COMMAND_KEYS)):
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return shlex.join(map(str, cast("list[object]", value)))
    return ""


def of_files(kind: ToolKind, call: ToolCall, arguments: Fields) -> ToolAction:
    """Return what a call does with the files in its arguments; without files its sorted arguments are the key."""
    views = tuple(dict.fromkeys(islice(views_in(arguments), MOST_FILES)))
    files = tuple(dict.fromkeys(view.path for view in views))
    if kind == "read" and views:
        return ToolAction(kind=kind, subjects=files, views=views)
    texts = {key: value for key, value in arguments.items() if isinstance(value, str) and value}
    if kind == "write":
        files = files or patched_files("\n".join(texts.values()))
        anew = CONTENT_KEYS & arguments.keys() and not EDIT_KEYS & arguments.keys()
        shown = tuple(View(path=path) for path in files) if anew else ()
        return ToolAction(kind=kind, subjects=files or (call.name,), views=shown, writes=files)
    asked = call.arguments
    if arguments:
        given = {key: value for key, value in arguments.items() if value is not None}
        asked = json.dumps(given, sort_keys=True)
    key = "" if kind == "other" else key_of(f"{call.name} {asked}")
    subjects = (*(texts[key] for key in PATTERN_KEYS if key in texts), *files)
    return ToolAction(kind=kind, subjects=subjects or (call.name,), key=key)


def views_in(arguments: Fields, depth: int = 0) -> Iterator[View]:
    """Yield the files in arguments, each with the lines and parts given for it."""
    for key, value in arguments.items():
        for item in cast("list[object]", value) if isinstance(value, list) else [value]:
            if isinstance(item, str) and key in PATH_KEYS and (path := path_of(item)):
                parts = (k for k in PART_KEYS if arguments.get(k))
                part = key_of(" ".join(f"{k}={json.dumps(arguments[k])}" for k in parts))
                yield View(path=path, lines=lines_in(arguments), part=part)
            elif isinstance(item, dict) and depth < NESTED:
                yield from views_in(snake_keys(cast("dict[str, object]", item)), depth + 1)


def lines_in(arguments: Fields) -> tuple[int, int] | None:
    """Return the range of lines in arguments, or ``None``."""
    for value in map(arguments.get, RANGE_KEYS):
        if isinstance(value, list):
            numbers = [n for n in cast("list[object]", value) if isinstance(n, int)]
            if len(numbers) == len(("first", "last")):
                return numbers[0], numbers[1] if numbers[1] >= 0 else LAST_LINE
    first, last, length = (
        next((n for n in map(arguments.get, keys) if isinstance(n, int)), None)
        for keys in (FIRST_LINE_KEYS, LAST_LINE_KEYS, LENGTH_KEYS)
    )
    if first is None and last is None and length is None:
        return None
    start = first or 1
    return start, last or (start + length - 1 if length else LAST_LINE)
