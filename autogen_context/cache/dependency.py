"""What a value depends on: a path, or all that a pattern such as ``src/**/*.py`` names now.

Promise: looking opens no file. Every file that a pattern matches is found once, hidden ones too, and the file whose name is
the pattern itself; no walk runs in circles, since ``**`` does not go into linked folders. Two looks have the same ``times``
if the same files are there, settled and unchanged.
"""

# ruff: noqa: PTH112, PTH118, PTH206 - a Path for each of ten thousand files costs more than asking

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import cast

from autogen_context.cache.file_state import FileState, state_of
from autogen_context.messages.message import content_digest

_Listed = dict[str, list["os.DirEntry[str]"]]

_MAGIC = re.compile(r"[*?\[]")
_ANY_DEPTH = "**"


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
    if is_pattern(name):
        return _look_at_pattern(name)
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


def is_pattern(name: str) -> bool:
    """Whether a name has a character that stands for others."""
    return _MAGIC.search(name) is not None


def root_of(pattern: str) -> str:
    """The folder above the first part that stands for others."""
    return _split(pattern)[0]


def matches(pattern: str) -> tuple[dict[str, str], set[str]]:
    """Look for what a pattern names.

    Args:
        pattern: an absolute path; ``*``, ``?`` and ``[…]`` within a name, ``**`` for any number of folders.

    Returns:
        The paths that match by their names below ``root_of(pattern)``, and the folders that were looked into.
    """
    root, parts = _split(pattern)
    listed: _Listed = {}
    above = len(os.path.join(root, ""))
    found = {path[above:]: path for path in _below(root, parts, listed)}
    if os.path.lexists(pattern):
        found[pattern[above:]] = pattern
    return found, set(listed)


def _split(pattern: str) -> tuple[str, list[str]]:
    parts = pattern.split(os.sep)
    first = next(index for index, part in enumerate(parts) if is_pattern(part))
    return os.sep.join(parts[:first]) or os.sep, [part for part in parts[first:] if part]


def _below(root: str, parts: list[str], listed: _Listed) -> Iterator[str]:
    """Paths below a folder that match the parts of a pattern; some of them twice."""
    waiting = [(root, parts)]  # a tree may be deeper than Python's stack
    while waiting:
        folder, (part, *rest) = waiting.pop()
        if part == _ANY_DEPTH:
            waiting.append((folder, rest or ["*"]))
            waiting += [(path, [part, *rest]) for path in _folders(folder, listed)]
            continue
        paths = _matching(folder, part, listed)
        if rest:
            waiting += [(path, rest) for path in paths if os.path.isdir(path)]
        else:
            yield from paths


def _folders(folder: str, listed: _Listed) -> Iterator[str]:
    entries = _entries(folder, listed)
    return (entry.path for entry in entries if entry.is_dir(follow_symlinks=False))


def _matching(folder: str, part: str, listed: _Listed) -> list[str]:
    """Paths in a folder whose names match one part of a pattern."""
    if not is_pattern(part):
        path = os.path.join(folder, part)
        return [path] if os.path.lexists(path) else []
    match = re.compile(translate(part)).match
    return [entry.path for entry in _entries(folder, listed) if match(entry.name)]


def _entries(folder: str, listed: _Listed) -> list["os.DirEntry[str]"]:
    if folder not in listed:
        try:
            with os.scandir(folder) as entries:
                listed[folder] = list(entries)
        except (
            OSError
        ):  # none, gone, or not ours to read: what is in it is out of a builder's reach too
            listed[folder] = []
    return listed[folder]
