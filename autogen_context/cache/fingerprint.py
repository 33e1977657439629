"""Fingerprints of the dependencies of a value: files, folders, and patterns such as ``src/**/*.py``.

Promise: while a fingerprint is valid, its dependency is unchanged: it has the same times, or the same content. No path
makes this block or raise; a pipe is never opened. Why times are proof, and where not: docs/decisions/0016-cache.md.
"""

# ruff: noqa: PTH112, PTH115, PTH116, PTH118, PTH206, PTH208 - for 10,000 files, creating Paths costs more than stat

import errno
import math
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from fnmatch import translate
from hashlib import blake2b
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast, get_args

from autogen_context.messages.message import content_digest

Compare = Literal["times", "content"]
Kind = Literal["file", "folder", "missing", "special"]

NEVER_NS: Final = 2**63
# Two ticks of the slowest kernel in use (100 Hz), since timestamps show the last tick.
TICK_NS: Final = 20_000_000
# The granularity of FAT; a timestamp in whole seconds may come from such a file system.
COARSE_TICK_NS: Final = 2_000_000_000

_SECOND_NS = 1_000_000_000
_CHUNK_BYTES = 1024 * 1024
_FEW = 64  # at a few microseconds each, cheaper than switching to a thread
_GONE = {errno.ENOENT, errno.ENOTDIR}
# A path may become a pipe or a terminal between stat and open.
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_MAGIC = re.compile(r"[*?\[]")
_ANY_DEPTH = "**"

_Listed = dict[str, list["os.DirEntry[str]"]]


class FileState(NamedTuple):
    """Metadata of a path. For a missing path, ``beside`` has the times of the nearest existing parent folder."""

    kind: Kind
    times: str
    settled_ns: int = 0
    beside: str = ""
    size: int = 0


class Look(NamedTuple):
    """The metadata of a dependency and its files; for a pattern, ``listing`` is a digest of the matching names."""

    name: str
    times: str
    beside: str
    settled_ns: int
    listing: str
    states: tuple[tuple[str, FileState], ...]


class Fingerprint(NamedTuple):
    """The recorded state of a dependency: its absolute path or pattern, its times, and a content digest if it was read."""

    name: str
    times: str
    content: str


class FileReading(NamedTuple):
    """The state of all dependencies of a value at one moment.

    If ``settles_in_s`` is 0 or less, an equal mark later proves that nothing changed in between, not even back and forth;
    otherwise read again after that many seconds.
    """

    fingerprints: tuple[Fingerprint, ...]
    mark: str
    settles_in_s: float


class FingerprintReader:
    """Takes fingerprints and checks whether they are still valid. Thread-safe.

    With ``pattern_contents``, files that match a pattern are read as well, so that fingerprints are valid on other machines.
    For a file above ``limit_bytes``, only the times are used. ``now_ns`` is the clock of file timestamps.
    """

    def __init__(
        self,
        *,
        compare: Compare = "times",
        pattern_contents: bool = False,
        limit_bytes: int = 64 * 1024 * 1024,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        if compare not in get_args(Compare):
            raise ValueError(f"compare={compare!r}: give one of {', '.join(get_args(Compare))}")
        self._by_content = compare == "content"
        self._pattern_contents = pattern_contents or self._by_content
        self._limit_bytes = limit_bytes
        self._now_ns = now_ns

    def read(self, names: Iterable[str]) -> FileReading:
        """Take the fingerprints of all dependencies of a value."""
        now_ns = self._now_ns()  # taken first: later writes get later timestamps
        looks = [look_at(name) for name in names]
        contents = [self._content(look) for look in looks]
        settled_ns = max((look.settled_ns for look in looks), default=0)
        never = None in contents or settled_ns >= NEVER_NS
        return FileReading(
            tuple(
                Fingerprint(look.name, look.times, content or "")
                for look, content in zip(looks, contents, strict=True)
            ),
            _mark(looks, contents if self._by_content else ()),
            math.inf if never else (settled_ns - now_ns) / 1e9,
        )

    def mark(self, names: Iterable[str]) -> str:
        """Return the mark that ``read`` would give now; opens files only if ``compare`` is ``content``."""
        looks = [look_at(name) for name in names]
        return _mark(looks, [self._content(look) for look in looks] if self._by_content else ())

    def hold_at_a_glance(self, fingerprints: Collection[Fingerprint]) -> bool:
        """Return True if a few files have unchanged times, within microseconds; ``False`` (as for patterns) proves nothing."""
        if self._by_content or len(fingerprints) > _FEW:
            return False
        return all(state_of(old.name).times == old.times for old in fingerprints)

    def renewed(self, fingerprints: Iterable[Fingerprint]) -> tuple[Fingerprint, ...] | None:
        """Return the fingerprints, with new times where only times changed; ``None`` if a dependency may have changed."""
        renewed: list[Fingerprint] = []
        for old in fingerprints:
            now_ns = self._now_ns()
            look = look_at(old.name)
            same_times = old.times and look.times == old.times
            by_content = not same_times or (self._by_content and old.content)
            if by_content and not (old.content and self._content(look) == old.content):
                return None
            times = look.times if look.settled_ns <= now_ns else old.times
            renewed.append(old._replace(times=times))
        return tuple(renewed)

    def _content(self, look: Look) -> str | None:
        """Return a digest of all contents; empty if one was not read, ``None`` if one is changing or unreliable."""
        if _is_pattern(look.name) and not self._pattern_contents:
            return ""
        digests = [look.listing]
        for path, state in look.states:
            content = _content_of(path, state, limit_bytes=self._limit_bytes)
            if not content:
                return content
            digests.append(content)
        return content_digest(*digests).hex()


def _mark(looks: Iterable[Look], contents: Iterable[str | None]) -> str:
    times = (part for look in looks for part in (look.times, look.beside))
    return content_digest(*times, *(content or "" for content in contents)).hex()


def absolute_names(depends_on: object) -> tuple[str, ...]:
    """Make names of dependencies absolute, keeping links and ``..``. Raise ``ValueError`` for anything but paths."""
    if isinstance(depends_on, str | os.PathLike) or not isinstance(depends_on, Iterable):
        raise ValueError(f"depends_on={depends_on!r}: give a list of paths or patterns")  # noqa: TRY004 - as for every wrong argument
    names: list[str] = []
    for given in cast("Iterable[str | os.PathLike[str]]", depends_on):  # checked below
        try:
            name = os.fsdecode(given)
        except TypeError:
            name = ""
        if not name or "\0" in name:
            raise ValueError(f"depends_on has {given!r}: give paths or patterns of files")
        path = given if isinstance(given, Path) else Path(name)
        names.append(str(path.absolute()))
    return tuple(names)


def is_touched(name: str, path: str) -> bool:
    """Return True if a change at or below a path may affect a dependency; false positives are possible."""
    root = _split(name)[0] if _is_pattern(name) else name
    near, changed = os.path.join(root, ""), os.path.join(path, "")
    return near.startswith(changed) or (root != name and changed.startswith(near))


def _is_pattern(name: str) -> bool:
    return _MAGIC.search(name) is not None


def look_at(name: str) -> Look:
    """Read the metadata of a dependency without opening it. Folders and pipes matching a pattern count by name only."""
    if not _is_pattern(name):
        state = state_of(name)
        return Look(name, state.times, state.beside, state.settled_ns, "", ((name, state),))
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
    return content_digest("\0\0".join(texts)).hex()  # names cannot contain NUL


def matches(pattern: str) -> tuple[dict[str, str], set[str]]:
    """Return the matching paths, keyed by their path relative to the pattern's root, and the folders listed for it."""
    root, parts = _split(pattern)
    listed: _Listed = {}
    above = len(os.path.join(root, ""))
    found = {path[above:]: path for path in _below(root, parts, listed)}
    if os.path.lexists(pattern):
        found[pattern[above:]] = pattern
    return found, set(listed)


def _split(pattern: str) -> tuple[str, list[str]]:
    """Split a pattern into the folder above the first part with a wildcard, and the parts from there on."""
    parts = pattern.split(os.sep)
    first = next(index for index, part in enumerate(parts) if _is_pattern(part))
    return os.sep.join(parts[:first]) or os.sep, [part for part in parts[first:] if part]


def _below(root: str, parts: list[str], listed: _Listed) -> Iterator[str]:
    """Yield the paths below a folder that match the parts of a pattern, possibly with duplicates."""
    waiting = [(root, parts)]  # no recursion: a tree may exceed Python's stack
    while waiting:
        folder, (part, *rest) = waiting.pop()
        if part == _ANY_DEPTH:
            inner = [e.path for e in _entries(folder, listed) if e.is_dir(follow_symlinks=False)]
            waiting += [(folder, rest or ["*"]), *((path, [part, *rest]) for path in inner)]
            continue
        if _is_pattern(part):
            match = re.compile(translate(part)).match
            paths = [entry.path for entry in _entries(folder, listed) if match(entry.name)]
        else:
            path = os.path.join(folder, part)
            paths = [path] if os.path.lexists(path) else []
        if rest:
            waiting += [(path, rest) for path in paths if os.path.isdir(path)]
        else:
            yield from paths


def _entries(folder: str, listed: _Listed) -> list["os.DirEntry[str]"]:
    """List a folder; empty if it is missing, no folder or not readable, in which case a builder cannot read it either."""
    if folder not in listed:
        try:
            with os.scandir(folder) as entries:
                listed[folder] = list(entries)
        except OSError:
            listed[folder] = []
    return listed[folder]


def state_of(path: str) -> FileState:
    """Read the metadata of a path without opening it; ``times`` has device, inode, mode, size, mtime and ctime."""
    link, linked_ns = "", 0
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            link, linked_ns = f" by {_times(found)}", settled_ns(found.st_ctime_ns)
            link += f" to {os.readlink(path)!r}"
            found = os.stat(path)
    except OSError as error:
        return _absent(path, link) if error.errno in _GONE else FileState("special", "", NEVER_NS)
    is_file = stat.S_ISREG(found.st_mode)
    if not is_file and not stat.S_ISDIR(found.st_mode):
        return FileState("special", "", NEVER_NS)
    settled = max(linked_ns, settled_ns(found.st_ctime_ns))
    kind: Kind = "file" if is_file else "folder"
    return FileState(kind, _times(found) + link, settled, size=found.st_size)


def settled_ns(changed_ns: int) -> int:
    """Return when the clock tick of a change is certainly over, in nanoseconds since the epoch, as is the argument."""
    return changed_ns + (TICK_NS if changed_ns % _SECOND_NS else COARSE_TICK_NS)


def _absent(path: str, link: str) -> FileState:
    """Return the state of a missing path; the nearest existing parent changes if the path appears and disappears."""
    for above in Path(path).parents:
        with suppress(OSError):
            found = os.stat(above)
            settled = settled_ns(found.st_ctime_ns)
            return FileState("missing", f"missing{link}", settled, beside=_times(found))
    return FileState("missing", f"missing{link}", NEVER_NS)


def _times(found: os.stat_result) -> str:
    return (
        f"{found.st_dev}:{found.st_ino}:{found.st_mode:o}:{found.st_size}"
        f":{found.st_mtime_ns}:{found.st_ctime_ns}"
    )


def _content_of(path: str, state: FileState, *, limit_bytes: int) -> str | None:
    """Return a digest of a file's bytes or a folder's names; a missing path has a content as well.

    Empty if the file is too large or unreadable. ``None`` if the file does not match ``state`` before and after reading:
    it changed, or is a file such as those in ``/proc``, whose times are unreliable.
    """
    if state.kind == "special":
        return None
    if state.kind == "missing":
        return state.times
    try:
        if state.kind == "folder":
            return _digest(sorted(os.listdir(path)))
        if state.size > limit_bytes:
            return ""
        digest, read_bytes = blake2b(digest_size=16), 0
        descriptor = os.open(path, _OPEN)
        try:
            before = _times(os.fstat(descriptor))
            while read_bytes <= state.size and (chunk := os.read(descriptor, _CHUNK_BYTES)):
                digest.update(chunk)
                read_bytes += len(chunk)
            after = _times(os.fstat(descriptor))
        finally:
            os.close(descriptor)
    except OSError:
        return ""
    is_same = before == after and f"{state.times} ".startswith(f"{before} ")
    return digest.hexdigest() if is_same and read_bytes == state.size else None
