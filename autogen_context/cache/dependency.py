"""What a value depends on, as the system shows it now: a path, or all that a pattern names.

Promise: looking opens no file. Two looks have the same ``times`` if the same files are there, settled and unchanged.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from autogen_context.cache.file_pattern import is_pattern, matches, root_of
from autogen_context.cache.file_state import FileState, state_of
from autogen_context.messages.message import content_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A dependency as it was seen.

    Attributes:
        name: an absolute path or pattern.
        times: what the system says of all its files together.
        beside: the times of the folders that would show that something was there in between.
        settled_ns: from when on the times tell this from everything later, in nanoseconds since the epoch.
        listing: the names below the root of a pattern, and what they are; empty for a path.
        states: its files with their paths, in the order of the names.
    """

    name: str
    times: str
    beside: str
    settled_ns: int
    listing: str
    states: tuple[tuple[str, FileState], ...]


def absolute_names(depends_on: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Names of dependencies made absolute, in order, links and ``..`` as they are.

    Raises:
        ValueError: a name is no path, is empty or has a NUL in it, or one was given instead of a list.
    """
    names = [_path_text(name) for name in _listed(depends_on)]
    for name in names:
        if not name or "\0" in name:
            raise ValueError(f"depends_on has {name!r}: give paths or patterns of files")
    return tuple(str(Path(name).absolute()) for name in names)


def _listed(depends_on: object) -> Iterable[object]:
    if isinstance(depends_on, str | os.PathLike) or not isinstance(depends_on, Iterable):
        raise ValueError(f"depends_on={depends_on!r}: give a list of paths or patterns")  # noqa: TRY004 - as every wrong argument
    return cast("Iterable[object]", depends_on)  # whatever is in it is looked at next


def _path_text(name: object) -> str:
    try:
        return os.fsdecode(cast("str", name))  # what is no path says so itself
    except TypeError:
        raise ValueError(f"depends_on has {name!r}: give paths or patterns of files") from None


def is_touched(name: str, path: str) -> bool:
    """Whether a change at a path, or below it, may be one of a dependency; rather once too often."""
    if is_pattern(name):
        root = root_of(name)
        return _is_at_or_below(root, path) or _is_at_or_below(path, root)
    return _is_at_or_below(name, path)


def look_at(name: str) -> Look:
    """Look at a dependency."""
    return _look_at_pattern(name) if is_pattern(name) else _look_at_path(name)


def _look_at_path(name: str) -> Look:
    state = state_of(name)
    return Look(
        name=name,
        times=state.times,
        beside=state.beside,
        settled_ns=state.settled_ns,
        listing="",
        states=((name, state),),
    )


def _look_at_pattern(name: str) -> Look:
    """Of folders and pipes that match, the names count; of files everything."""
    found, folders = matches(name)
    seen = [(relative, path, state_of(path)) for relative, path in sorted(found.items())]
    files = tuple((path, state) for _, path, state in seen if state.kind == "file")
    walked = [state_of(folder) for folder in sorted(folders)]
    listing = _digest(f"{relative}\0{state.kind}" for relative, _, state in seen)
    settled = [state.settled_ns for _, state in files] + [state.settled_ns for state in walked]
    return Look(
        name=name,
        times=_digest((listing, *(state.times for _, state in files))),
        beside=_digest(state.times + state.beside for state in walked),
        settled_ns=max(settled, default=0),
        listing=listing,
        states=files,
    )


def _digest(texts: Iterable[str]) -> str:
    return content_digest("\0\0".join(texts)).hex()  # no name has a NUL in it


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
