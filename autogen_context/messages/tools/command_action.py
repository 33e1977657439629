"""What a command line does.

Promise: of several commands the action has the strongest kind, the views and writes of all, and a key of what was
asked; the folder that a line changes to is part of its paths. Time in proportion to the line.
"""

from collections.abc import Sequence
from dataclasses import replace

from autogen_context.messages.tools.action import ToolAction, ToolKind, View, path_of
from autogen_context.messages.tools.command_line import Command, bare, commands_of, shell_line
from autogen_context.messages.tools.command_programs import (
    action_of_words,
    narrowed,
    paths_of,
)

STRENGTH: tuple[ToolKind, ...] = ("test", "run", "write", "search", "read", "other")
NESTED = 3  # shells within shells


def action_of_command(line: str, *, folder: str = "", depth: int = 0) -> ToolAction:
    """What a command line does.

    Args:
        line: as it is given to a shell.
        folder: where it is run, as far as that is known.
        depth: how many shells it stands in.
    """
    done: list[ToolAction] = []
    for command in commands_of(line):
        words = bare(command.words)
        if words[:1] in (("cd",), ("pushd",)):
            folder = path_of(words[-1], folder=folder) or folder
            continue
        inner = shell_line(words) if depth < NESTED else ""
        if inner:
            action = action_of_command(inner, folder=folder, depth=depth + 1)
        else:
            action = action_of_words(words, command, folder=folder)
        action = redirected(action, command, folder)
        if command.piped and done:
            done[-1] = piped(done[-1], action, words)
        else:
            done.append(action)
    return merged(done, folder=folder)


def redirected(action: ToolAction, command: Command, folder: str) -> ToolAction:
    """The action with the files that its output goes to; what does nothing but fill a file writes it."""
    if not (command.writes or command.appends):
        return action
    anew = paths_of(command.writes, folder)
    files = (*anew, *paths_of(command.appends, folder))
    if action.kind in ("write", "run", "test"):
        return replace(action, writes=(*action.writes, *files))
    told = command.document or action.kind == "other"  # the content stands in the line itself
    views = tuple(View(path=path) for path in anew) if told else ()
    return ToolAction(kind="write", subjects=files, views=views, writes=files)


def piped(source: ToolAction, action: ToolAction, words: tuple[str, ...]) -> ToolAction:
    """What two commands do together, of which one reads what the other writes."""
    if action.kind in ("write", "run", "test"):
        both = merged([source, action])
        asks_both = both.kind == action.kind and action.key and source.key
        return replace(both, key=f"{source.key} | {action.key}") if asks_both else both
    if source.kind in ("write", "run", "test", "other"):
        return source
    key = " | ".join((source.key or " ".join(source.subjects), " ".join(words)))
    if action.kind == "search":
        subjects = (*action.subjects, *source.subjects)
        return replace(source, kind="search", subjects=subjects, views=(), key=key)
    if source.views:
        return replace(source, views=tuple(narrowed(view, words) for view in source.views))
    return replace(source, key=key)


def merged(actions: Sequence[ToolAction], *, folder: str = "") -> ToolAction:
    """Several actions as one."""
    if not actions:
        return ToolAction(kind="other")
    if len(actions) == 1 and not folder:
        return actions[0]
    strongest = min(actions, key=lambda action: STRENGTH.index(action.kind))
    chief = [action for action in actions if action.kind == strongest.kind]
    keys = [action.key for action in chief if action.key]
    place = f"{folder}$ " if folder and keys else ""
    return ToolAction(
        kind=strongest.kind,
        subjects=tuple(dict.fromkeys(s for action in chief for s in action.subjects)),
        views=tuple(dict.fromkeys(view for action in actions for view in action.views)),
        writes=tuple(dict.fromkeys(path for action in actions for path in action.writes)),
        key=place + "; ".join(keys),
    )
