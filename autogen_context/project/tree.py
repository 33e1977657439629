"""Which files are below a root, folder by folder.

Promise: no link is followed and nothing is opened but ``.gitignore`` files; what git ignores is not seen; the same tree gives
the same answer in the same order. What is seen and cannot be read is told with the reason.
"""

import os
import stat
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autogen_context.cache.files import RULES_FILE, Listing, Rules, listing
from autogen_context.project.source import Reason, Stamp, has_odd_name, refusal_of

ROOT = "."
MOST_BYTES = 1024 * 1024  # of one file


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLimits:
    """How much of a tree is looked at.

    Attributes:
        files: how many at most; what lies deepest is left out.
        file_bytes: what one may have; a larger one is left out.
    """

    files: int
    file_bytes: int = MOST_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """What is in a folder.

    Attributes:
        files: the stamps of regular files, by their names from the root.
        folders: the folders in it, by their names from the root.
        left_out: entries that are not read, and why.
    """

    files: Mapping[str, Stamp] = field(default_factory=dict[str, Stamp])
    folders: tuple[str, ...] = ()
    left_out: Mapping[str, Reason] = field(default_factory=dict[str, Reason])


def below(root: Path, folder: str = ROOT, *, limits: TreeLimits) -> dict[str, Folder]:
    """All folders at and below one, level by level.

    Args:
        root: the folder that all names are told from, resolved.
        folder: where to begin.
        limits: how much is told at most.
    """
    found: dict[str, Folder] = {}
    waiting = deque([(folder, rules_above(root, folder))])
    left = limits.files
    while waiting and left > 0:
        name, above = waiting.popleft()
        rules = above.within(os.fspath(root / name))
        seen = look(root, name, rules, most_bytes=limits.file_bytes)
        found[name] = seen if len(seen.files) <= left else cut(seen, left)
        left -= len(seen.files)
        waiting.extend((inner, rules) for inner in seen.folders)
    if waiting:
        found[folder] = with_left_out(found[folder], (name for name, _ in waiting))
    return found


def cut(seen: Folder, most_files: int) -> Folder:
    """A folder with its first files alone."""
    names = list(seen.files)
    kept = {name: seen.files[name] for name in names[:most_files]}
    return with_left_out(
        Folder(files=kept, folders=seen.folders, left_out=seen.left_out), names[most_files:]
    )


def with_left_out(seen: Folder, names: Iterable[str]) -> Folder:
    """A folder with more that lies beyond the limit."""
    beyond: dict[str, Reason] = dict.fromkeys(names, "beyond the limit of files")
    return Folder(files=seen.files, folders=seen.folders, left_out={**seen.left_out, **beyond})


def again(root: Path, folders: Collection[str], *, most_bytes: int) -> dict[str, Folder]:
    """Look into some folders again, not below them; those that are gone are empty."""
    return {
        name: look(
            root,
            name,
            rules_above(root, name).within(os.fspath(root / name)),
            most_bytes=most_bytes,
        )
        for name in sorted(folders)
    }


def rules_above(root: Path, folder: str) -> Rules:
    """What is ignored in the folder that holds one."""
    rules, place = Rules(), root
    for part in [] if folder == ROOT else folder.split("/"):
        rules = rules.within(os.fspath(place))
        place /= part
    return rules


def look(root: Path, name: str, rules: Rules, *, most_bytes: int) -> Folder:
    """What is in one folder."""
    path = os.fspath(root if name == ROOT else root / name)
    listed = listing(path, rules) if is_plain_folder(root, name) else Listing()
    prefix = "" if name == ROOT else f"{name}/"
    files: dict[str, Stamp] = {}
    left_out: dict[str, Reason] = {}
    for entry in listed.files:
        found = stamp_or_reason(entry, most_bytes=most_bytes)
        if isinstance(found, Stamp):
            files[prefix + entry.name] = found
        else:
            left_out[prefix + entry.name] = found
    odd = [prefix + entry.name for entry in listed.folders if has_odd_name(entry.name)]
    left_out.update(dict.fromkeys(odd, "an odd name"))
    plain = tuple(prefix + e.name for e in listed.folders if not has_odd_name(e.name))
    return Folder(files=files, folders=plain, left_out=left_out)


def is_plain_folder(root: Path, name: str) -> bool:
    """Whether no part of a name is a link: what was a folder may have become one."""
    path = root if name == ROOT else root / name
    return os.path.realpath(path) == os.fspath(path)


def stamp_or_reason(entry: "os.DirEntry[str]", *, most_bytes: int) -> Stamp | Reason:
    """The stamp of a file that may be read, or why it may not."""
    if has_odd_name(entry.name):
        return "an odd name"
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return "unreadable"
    return refusal_of(found, most_bytes=most_bytes) or Stamp.of(found)


def folder_of(name: str) -> str:
    """The folder of a file."""
    return name.rpartition("/")[0] or ROOT


def touched_by(root: Path, paths: Iterable[Path]) -> tuple[set[str], set[str]] | None:
    """Where changes of some paths show.

    Args:
        root: the folder, resolved.
        paths: what was heard of, absolute; a folder stands for all that is below it.

    Returns:
        Folders to look into, and folders to look below as well; ``None`` where all there is has to be looked at.
    """
    into: set[str] = set()
    under: set[str] = set()
    for path in paths:
        if path.name == RULES_FILE or path == root or not path.is_relative_to(root):
            return None
        name = path.relative_to(root).as_posix()
        into.add(folder_of(name))
        if is_folder(path):
            under.add(name)
    return into, under


def is_folder(path: Path) -> bool:
    """Whether there is a folder, and no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
