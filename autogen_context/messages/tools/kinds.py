"""What a tool call does, from the tool's name and the call's arguments.

Promise: whole words of a name decide, never parts of words; what the user says of a tool decides before them. Any
arguments go, those that are no JSON too, in time proportional to their length.

The words are data: ``pipeline.tools.words`` for names and arguments, ``pipeline.tools.command_words`` for programs.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import cast, get_args

from autogen_context.messages.message import ToolCall
from autogen_context.messages.segment import Unit
from autogen_context.messages.tools.action import (
    LAST_LINE,
    ToolAction,
    ToolKind,
    View,
    patched_files,
    path_of,
)
from autogen_context.messages.tools.command_action import action_of_command
from autogen_context.messages.tools.command_line import shell_line
from autogen_context.messages.tools.command_programs import key_of
from autogen_context.messages.tools.words import (
    COMMAND_KEYS,
    CONTENT_KEYS,
    EDIT_KEYS,
    EDITOR_COMMANDS,
    FIRST_LINE_KEYS,
    LAST_LINE_KEYS,
    LENGTH_KEYS,
    NAME_WORDS,
    PART_KEYS,
    PATH_KEYS,
    PATTERN_KEYS,
    RANGE_KEYS,
    NamedKind,
)

NAME_CHARS = 200
ARGUMENT_CHARS = 4_000_000  # of larger arguments nothing is read but that they are there
NESTED = 3  # lists and objects within arguments that are looked into
MOST_FILES = 100
REMEMBERED = 1_000
REMEMBERED_CALLS = 2_000  # the newest, as long as their arguments are short
SHORT_CHARS = 4_096  # of arguments

_LINE_KEYS = frozenset((*FIRST_LINE_KEYS, *LAST_LINE_KEYS, *LENGTH_KEYS, *RANGE_KEYS))
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_SORTED = json.JSONEncoder(sort_keys=True)
_KINDS = frozenset((*get_args(ToolKind), "shell"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolKinds:
    """What tools do by their names.

    Attributes:
        named: for tools of your own: a name, in any case, and what it does; ``shell`` where its command line says it.

    Raises:
        ValueError: a name has a kind that there is not.
    """

    named: Mapping[str, NamedKind] = field(default_factory=dict[str, NamedKind], hash=False)

    def __post_init__(self) -> None:
        """Check the kinds; keep the names without their case."""
        for name, kind in self.named.items():
            if kind not in _KINDS:
                known = ", ".join(sorted(_KINDS))
                raise ValueError(f"named: tool {name!r} has kind {kind!r}; give one of {known}")
        lower = {name.casefold(): kind for name, kind in self.named.items()}
        object.__setattr__(self, "named", lower)

    def of(self, name: str) -> NamedKind:
        """What a tool does; ``other`` where its name does not tell."""
        return self.named.get(name.casefold()) or kind_of_name(name[:NAME_CHARS])


BY_NAME = ToolKinds()


def action_of(call: ToolCall, kinds: ToolKinds = BY_NAME) -> ToolAction:
    """What a call does.

    Args:
        call: a tool call; its arguments are JSON text, as a rule.
        kinds: what the tools do; by the words in their names where nothing is given.
    """
    if len(call.arguments) > SHORT_CHARS:
        return read_action(call, kinds)
    return known_action(call, kinds)


def read_action(call: ToolCall, kinds: ToolKinds) -> ToolAction:
    """The same, read from the call."""
    kind = kinds.of(call.name)
    arguments = read_arguments(call.arguments)
    decided = call.name.casefold() in kinds.named and kind != "shell"
    line = "" if decided else command_in(arguments)
    if line in EDITOR_COMMANDS:
        return of_files(EDITOR_COMMANDS[line], call, arguments)
    if kind == "shell" and not call.arguments.lstrip().startswith("{"):
        line = call.arguments
    if line and kind in ("shell", "run", "other"):
        return action_of_command(line)
    return of_files(kind_without_line(call.name) if kind == "shell" else kind, call, arguments)


# Asked for as a call comes in, and again when its turn is over.
known_action = lru_cache(REMEMBERED_CALLS)(read_action)


def actions_of(unit: Unit, kinds: ToolKinds = BY_NAME) -> tuple[ToolAction, ...]:
    """What the calls of a unit do, in their order."""
    return tuple(action_of(call, kinds) for call in unit.messages[0].calls)


@lru_cache(REMEMBERED)
def kind_of_name(name: str) -> NamedKind:
    """What the words of a name say; where one is of a shell, its command line is to say it."""
    return "shell" if "shell" in kinds_in(name) else kind_without_line(name)


def kind_without_line(name: str) -> ToolKind:
    """What the words of a name say but for those of shells: the first that says something, and a few pairs."""
    found = kinds_in(name)
    said: list[ToolKind] = [kind for kind in found if kind != "shell"]
    first: ToolKind = said[0] if said else ("run" if found else "other")
    if first == "run" and "test" in said:
        return "test"
    if first == "search" and "write" in said:  # search_and_replace
        return "write"
    return first


def kinds_in(name: str) -> list[NamedKind]:
    """What each word of a name says, where it says something."""
    words = [part.lower() for part in _PART.findall(name[:NAME_CHARS])]
    return [NAME_WORDS[word] for word in words if word in NAME_WORDS]


def read_arguments(text: str) -> Mapping[str, object]:
    """The arguments by their names, in lower case; none where the text is no JSON object."""
    if len(text) > ARGUMENT_CHARS:
        return {}
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return (
        lower_keys(cast("dict[str, object]", value)) if isinstance(value, dict) else {}
    )  # JSON has no other keys


def lower_keys(fields: Mapping[str, object]) -> Mapping[str, object]:
    """An object with its keys as the tables have them: ``filePath`` is ``file_path``."""
    return {snake(key): item for key, item in fields.items()}


@lru_cache(REMEMBERED)
def snake(key: str) -> str:
    """A key in lower case, its words joined by underscores."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key[:NAME_CHARS]).replace("-", "_").lower()


def command_in(arguments: Mapping[str, object]) -> str:
    """The command line in arguments; empty where there is none."""
    for key in COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            words = tuple(str(word) for word in cast("list[object]", value))
            return shell_line(words) or shlex.join(words)
    return ""


def of_files(kind: ToolKind, call: ToolCall, arguments: Mapping[str, object]) -> ToolAction:
    """What a call does with the files that it names; one that names none is known by its arguments."""
    views = tuple(dict.fromkeys(islice(views_in(arguments), MOST_FILES)))
    files = tuple(dict.fromkeys(view.path for view in views))
    if kind == "read" and views:
        return ToolAction(kind=kind, subjects=files, views=views)
    if kind == "write":
        files = files or patched_files(
            "\n".join(v for v in arguments.values() if isinstance(v, str))
        )
        anew = CONTENT_KEYS & arguments.keys() and not EDIT_KEYS & arguments.keys()
        shown = tuple(View(path=path) for path in files) if anew else ()
        return ToolAction(kind=kind, subjects=files or (call.name,), views=shown, writes=files)
    key = "" if kind == "other" else asked(call, arguments)
    return ToolAction(
        kind=kind, subjects=(*patterns_in(arguments), *files) or (call.name,), key=key
    )


def asked(call: ToolCall, arguments: Mapping[str, object]) -> str:
    """What stands for a call: equal for the same arguments in any order."""
    if not arguments:
        return key_of(f"{call.name} {call.arguments}")
    given = {key: value for key, value in arguments.items() if value is not None}
    return key_of(f"{call.name} {_SORTED.encode(given)}")


def patterns_in(arguments: Mapping[str, object]) -> Iterator[str]:
    """What is looked for."""
    for key in PATTERN_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            yield value


def views_in(arguments: Mapping[str, object], depth: int = 0) -> Iterator[View]:
    """The files that arguments name, each with the lines and parts named beside it."""
    for key, value in arguments.items():
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        for item in items:
            if isinstance(item, str) and key in PATH_KEYS:
                path = path_of(item)
                yield from (
                    [View(path=path, lines=lines_in(arguments), part=part_in(arguments))]
                    if path
                    else []
                )
            elif isinstance(item, dict) and depth < NESTED:
                yield from views_in(lower_keys(cast("dict[str, object]", item)), depth + 1)


def lines_in(arguments: Mapping[str, object]) -> tuple[int, int] | None:
    """The lines that arguments name; ``None`` where they name none."""
    if _LINE_KEYS.isdisjoint(arguments):
        return None
    for key in RANGE_KEYS:
        value = arguments.get(key)
        if isinstance(value, list):
            numbers = [n for n in cast("list[object]", value) if isinstance(n, int)]
            if len(numbers) == 2:  # noqa: PLR2004 - first and last
                return numbers[0], numbers[1] if numbers[1] >= 0 else LAST_LINE
    first, last, length = (
        number_in(arguments, keys) for keys in (FIRST_LINE_KEYS, LAST_LINE_KEYS, LENGTH_KEYS)
    )
    if first is None and last is None and length is None:
        return None
    start = first or 1
    return start, last or (start + length - 1 if length else LAST_LINE)


def number_in(arguments: Mapping[str, object], keys: tuple[str, ...]) -> int | None:
    """The first of these arguments that is a number."""
    values = (arguments.get(key) for key in keys)
    return next((value for value in values if isinstance(value, int)), None)


def part_in(arguments: Mapping[str, object]) -> str:
    """What a read is limited to beside lines, in words; empty where it is not."""
    parts = [f"{key}={json.dumps(arguments[key])}" for key in PART_KEYS if arguments.get(key)]
    return key_of(" ".join(parts))
