"""Fingerprints of files, folders and patterns such as ``src/**/*.py``: what a value was built from.

Promise: while a fingerprint holds, what it was taken of is what it was: its times are those of then, or its content is. No
path makes this wait or raise; a pipe is never opened. Why times prove it, and where not: docs/decisions/0016-cache.md.
"""

# ruff: noqa: PTH112, PTH115, PTH116, PTH118, PTH206, PTH208 - a Path for each of ten thousand files costs more than asking

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
# Two ticks of the slowest kernel in use (100 Hz), since stamps are of the last tick.
TICK_NS: Final = 20_000_000
# FAT; a stamp of whole seconds may come from such a file system.
COARSE_TICK_NS: Final = 2_000_000_000

_SECOND_NS = 1_000_000_000
_CHUNK_BYTES = 1024 * 1024
_FEW = 64  # of some microseconds each: less than a thread costs to ask for them
_GONE = {errno.ENOENT, errno.ENOTDIR}
# A path may become a pipe or a terminal between looking and opening.
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_MAGIC = re.compile(r"[*?\[]")
_ANY_DEPTH = "**"

_Listed = dict[str, list["os.DirEntry[str]"]]


class FileState(NamedTuple):
    """What the system says of a path; ``beside`` has the times of the folder that would show that something was here."""

    kind: Kind
    times: str
    settled_ns: int = 0
    beside: str = ""
    size: int = 0


class Look(NamedTuple):
    """A dependency as it was seen, with its files; of a pattern ``listing`` has the names below its root."""

    name: str
    times: str
    beside: str
    settled_ns: int
    listing: str
    states: tuple[tuple[str, FileState], ...]


class Fingerprint(NamedTuple):
    """What one dependency was: its absolute path or pattern, what the system said of it, and a digest if it was read."""

    name: str
    times: str
    content: str


class Reading(NamedTuple):
    """What all dependencies of a value were at one moment.

    Marks are equal only if nothing changed in between, not even there and back; that is true in ``settles_in_s`` seconds.
    """

    fingerprints: tuple[Fingerprint, ...]
    mark: str
    settles_in_s: float


class FingerprintReader:
    """Takes fingerprints, and says whether they hold; by any thread.

    With ``pattern_contents`` what matches a pattern is read, too, so that its fingerprint holds on other machines. Of a file
    above ``limit_bytes`` the times are all that is known. ``now_ns`` is the clock that stamps files.
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

    def read(self, names: Iterable[str]) -> Reading:
        """Take the fingerprints of everything that a value depends on."""
        now_ns = self._now_ns()  # before looking: what is written from here on is stamped later
        looks = [look_at(name) for name in names]
        contents = [self._content(look) for look in looks]
        settled_ns = max((look.settled_ns for look in looks), default=0)
        never = None in contents or settled_ns >= NEVER_NS
        return Reading(
            tuple(
                Fingerprint(look.name, look.times, content or "")
                for look, content in zip(looks, contents, strict=True)
            ),
            _mark(looks, contents if self._by_content else ()),
            math.inf if never else (settled_ns - now_ns) / 1e9,
        )

    def mark(self, names: Iterable[str]) -> str:
        """The mark that a reading would have now; nothing is opened for it, unless contents are what counts."""
        looks = [look_at(name) for name in names]
        return _mark(looks, [self._content(look) for look in looks] if self._by_content else ())

    def hold_at_a_glance(self, fingerprints: Collection[Fingerprint]) -> bool:
        """Whether a few files have the times they had, which takes microseconds; ``False`` says nothing, as for patterns."""
        if self._by_content or len(fingerprints) > _FEW:
            return False
        return all(state_of(old.name).times == old.times for old in fingerprints)

    def renewed(self, fingerprints: Iterable[Fingerprint]) -> tuple[Fingerprint, ...] | None:
        """The fingerprints, with the times of now where only these changed; ``None`` if a dependency may be another now."""
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
        """A digest of all contents; empty if one is not read, ``None`` if one of them can be anything by now."""
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
    """Names of dependencies made absolute, links and ``..`` as they are; ``ValueError`` for what names nothing."""
    if isinstance(depends_on, str | os.PathLike) or not isinstance(depends_on, Iterable):
        raise ValueError(f"depends_on={depends_on!r}: give a list of paths or patterns")  # noqa: TRY004 - as every wrong argument
    names: list[str] = []
    for given in cast(
        "Iterable[str | os.PathLike[str]]", depends_on
    ):  # what is no path says so itself
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
    """Whether a change at a path, or below it, may be one of a dependency; rather once too often."""
    root = _split(name)[0] if _is_pattern(name) else name
    near, changed = os.path.join(root, ""), os.path.join(path, "")
    return near.startswith(changed) or (root != name and changed.startswith(near))


def _is_pattern(name: str) -> bool:
    return _MAGIC.search(name) is not None


def look_at(name: str) -> Look:
    """Look at a dependency without opening it. Of folders and pipes that match a pattern the names count."""
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
    return content_digest("\0\0".join(texts)).hex()  # no name has a NUL in it


def matches(pattern: str) -> tuple[dict[str, str], set[str]]:
    """The paths that match by their names below the pattern's root, and the folders that were looked into."""
    root, parts = _split(pattern)
    listed: _Listed = {}
    above = len(os.path.join(root, ""))
    found = {path[above:]: path for path in _below(root, parts, listed)}
    if os.path.lexists(pattern):
        found[pattern[above:]] = pattern
    return found, set(listed)


def _split(pattern: str) -> tuple[str, list[str]]:
    """The folder above the first part that stands for others, and the parts from there on."""
    parts = pattern.split(os.sep)
    first = next(index for index, part in enumerate(parts) if _is_pattern(part))
    return os.sep.join(parts[:first]) or os.sep, [part for part in parts[first:] if part]


def _below(root: str, parts: list[str], listed: _Listed) -> Iterator[str]:
    """Paths below a folder that match the parts of a pattern; some of them twice."""
    waiting = [(root, parts)]  # a tree may be deeper than Python's stack
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
    """What is in a folder; nothing where it is none, gone, or not ours to read, and so out of a builder's reach too."""
    if folder not in listed:
        try:
            with os.scandir(folder) as entries:
                listed[folder] = list(entries)
        except OSError:
            listed[folder] = []
    return listed[folder]


def state_of(path: str) -> FileState:
    """Look at a path without opening it; the times are device, inode, mode, size, modification and change."""
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
    """When the tick of a change is over for sure; both in nanoseconds since the epoch."""
    return changed_ns + (TICK_NS if changed_ns % _SECOND_NS else COARSE_TICK_NS)


def _absent(path: str, link: str) -> FileState:
    """Nothing is there: the nearest folder above changes when a name comes or goes."""
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
    """A digest of what is in a file, or of the names in a folder; that nothing is there is a content too.

    Empty if it is too large or may not be read; ``None`` if what is read is not what ``state`` says, before and after: it
    has changed, or is a file like those in ``/proc``, whose times prove nothing.
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
