"""Which files a pattern names now: ``src/**/*.py``.

Promise: every file that the pattern matches is found once, hidden ones too, and the file whose name is the pattern
itself; no walk runs in circles, since ``**`` does not go into linked folders.
"""

# ruff: noqa: PTH112, PTH118, PTH206 - a Path for each of ten thousand files costs more than asking

import os
import re
from collections.abc import Iterator
from fnmatch import translate

_Listed = dict[str, list["os.DirEntry[str]"]]

_MAGIC = re.compile(r"[*?\[]")
_ANY_DEPTH = "**"


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
