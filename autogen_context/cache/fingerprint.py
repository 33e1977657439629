"""Fingerprints of the dependencies of a value: files, folders, and patterns such as ``src/**/*.py``.

Promise: while a fingerprint is valid, its dependency is unchanged: it has the same times, or the same content. No path
makes this block or raise; a pipe is never opened. Why times are proof, and where not: docs/decisions/0016-cache.md.
"""

# ruff: noqa: PTH112, PTH115, PTH116, PTH118, PTH206, PTH208 - for 10,000 files, creating Paths costs more than stat

import math
import os
import re
import stat
import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import translate
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast, get_args

from autogen_context.argument import require_choice, require_several
from autogen_context.cache.files import open_flags
from autogen_context.messages.message import content_digest

Compare = Literal["times", "content"]

NEVER_NS: Final = 2**63  # later than any clock
# Two ticks of the slowest kernel in use (100 Hz), since timestamps show the last tick.
TICK_NS: Final = 20_000_000
# The granularity of FAT; a timestamp in whole seconds may come from such a file system.
COARSE_TICK_NS: Final = 2_000_000_000

_SECOND_NS = 1_000_000_000  # a second
_CHUNK_BYTES = 1024 * 1024
_MOST_BYTES = 64 * 1024 * 1024  # of a larger file, only the times are used
_FEW = 64  # at a few microseconds each, cheaper than switching to a thread
# A path may become a pipe or a terminal between stat and open.
_OPEN = open_flags("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")
_MAGIC = re.compile(r"[*?\[]")

Proof = tuple[int, ...]
"""What the system says of a path, device and times included; empty if that proves nothing, ``GONE`` if nothing is there."""
GONE: Final[Proof] = (0,)  # of no file
_SAID = attrgetter("st_dev", "st_ino", "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns")

_Listed = dict[str, list["os.DirEntry[str]"]]


class FileState(NamedTuple):
    """Metadata of a path, or of a pattern with ``files``, the files that match it, and ``listing``, a digest of their names.

    From ``stable_ns`` on, any change gives another state. It follows the newest change, also one of the folders listed for
    a pattern, or of the nearest folder of a missing path, which shows that something appeared and disappeared again.
    """

    kind: Literal["file", "folder", "missing", "special", "pattern"]
    times: str
    stable_ns: int = NEVER_NS
    size: int = 0
    listing: str = ""
    files: tuple[tuple[str, "FileState"], ...] = ()


class Fingerprint(NamedTuple):
    """The recorded state of a dependency: its absolute path or pattern, its times, and a content digest if it was read."""

    name: str
    times: str
    content: str


class FileReading(NamedTuple):
    """The state of all dependencies of a value at one moment.

    If ``stable_in_s`` is 0 or less, ``FingerprintReader.proves`` can tell later that nothing changed in between, not even
    back and forth; otherwise read again after that many seconds.
    """

    fingerprints: tuple[Fingerprint, ...]
    states: tuple[FileState, ...]
    stable_in_s: float


class FingerprintReader:
    """Takes fingerprints and checks whether they are still valid. Thread-safe.

    With ``pattern_contents``, files that match a pattern are read as well, so that fingerprints are valid on other machines.
    ``now_ns`` is the clock of file timestamps.
    """

    def __init__(
        self,
        *,
        compare: Compare = "times",
        pattern_contents: bool = False,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        require_choice("compare", compare, get_args(Compare))
        self._by_content = compare == "content"
        self._pattern_contents = pattern_contents or self._by_content
        self._now_ns = now_ns

    def read(self, names: Iterable[str]) -> FileReading:
        """Take the fingerprints of all dependencies of a value."""
        now_ns = self._now_ns()  # taken first: later writes get later timestamps
        found = [(name, state_of_name(name)) for name in names]
        contents = [self._content(*each) for each in found]
        stable_ns = max((state.stable_ns for _, state in found), default=0)
        never = None in contents or stable_ns >= NEVER_NS
        return FileReading(
            tuple(
                Fingerprint(name, state.times, content or "")
                for (name, state), content in zip(found, contents, strict=True)
            ),
            tuple(state for _, state in found),
            math.inf if never else (stable_ns - now_ns) / 1e9,
        )

    def proves(self, reading: FileReading) -> bool:
        """Return True if a reading proves that nothing has changed since; opens files only to compare contents."""
        if reading.stable_in_s > 0:
            return False
        names = [each.name for each in reading.fingerprints]
        if self._by_content:
            return self.read(names)[:2] == reading[:2]
        return tuple(map(state_of_name, names)) == reading.states

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
            state = state_of_name(old.name)
            same_times = old.times and state.times == old.times
            by_content = not same_times or (self._by_content and old.content)
            if by_content and not (old.content and self._content(old.name, state) == old.content):
                return None
            times = state.times if state.stable_ns <= now_ns else old.times
            renewed.append(old._replace(times=times))
        return tuple(renewed)

    def _content(self, path: str, state: FileState) -> str | None:
        """Return a digest of what a path or pattern contains; a missing path has a content as well.

        Empty if a file is unreadable, too large, or not to be read. ``None`` if its times prove nothing: it is changing, or
        a file such as those in ``/proc``.
        """
        if state.kind in {"missing", "special"}:
            return state.times
        if state.kind == "pattern":
            return self._contents(state) if self._pattern_contents else ""
        try:
            if state.kind == "folder":
                return _digest(sorted(os.listdir(path)))
            return _digest_of(path, state) if state.size <= _MOST_BYTES else ""
        except OSError:
            return ""

    def _contents(self, state: FileState) -> str | None:
        """Return the digest of all files that match a pattern; of the first that has none, what it has instead."""
        digests = [state.listing]
        for path, each in state.files:
            content = self._content(path, each)
            if not content:
                return content
            digests.append(content)
        return _digest(digests)


def _digest_of(path: str, state: FileState) -> str | None:
    """Return a digest of a file's bytes; ``None`` if it does not match ``state`` before and after reading."""
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
    is_same = before == after and f"{state.times} ".startswith(f"{before} ")
    return digest.hexdigest() if is_same and read_bytes == state.size else None


def _digest(texts: Iterable[str]) -> str:
    return content_digest("\0\0".join(texts)).hex()  # names cannot contain NUL


def absolute_names(depends_on: object) -> tuple[str, ...]:
    """Make names of dependencies absolute, keeping links and ``..``. Raise ``ValueError`` for anything but paths."""
    require_several("depends_on", depends_on, give="a list of paths or patterns")
    names: list[str] = []
    for given in cast("Iterable[str | os.PathLike[str]]", depends_on):  # each is checked
        try:
            name = os.fsdecode(given)
        except TypeError:
            name = ""
        if not name or "\0" in name:
            raise ValueError(f"depends_on has {given!r}: give paths or patterns of files")
        # Making one costs more than a look-up.
        path = given if isinstance(given, Path) else Path(name)
        names.append(str(path.absolute()))
    return tuple(names)


class ChangedPaths:
    """Paths at or below which something changed; asking costs the same for one path and for many."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._all = {os.path.join(path, "") for path in paths}
        self._sorted = sorted(self._all)

    def touch(self, name: str) -> bool:
        """Return True if they may affect a dependency; false positives are possible."""
        root = _split(name)[0] if _is_pattern(name) else name
        near = os.path.join(root, "")
        ends = (at for at, char in enumerate(near, 1) if char == os.sep)
        if any(near[:end] in self._all for end in ends):
            return True
        at = bisect_left(self._sorted, near)
        return root != name and at < len(self._sorted) and self._sorted[at].startswith(near)


def _is_pattern(name: str) -> bool:
    return _MAGIC.search(name) is not None


def state_of_name(name: str) -> FileState:
    """Read the metadata of a path, or of what matches a pattern; there, folders and pipes count by name only."""
    if not _is_pattern(name):
        return state_of(name)
    found, folders = matches(name)
    seen = [(relative, path, state_of(path)) for relative, path in sorted(found.items())]
    files = tuple([(path, state) for _, path, state in seen if state.kind == "file"])
    states, listed = [state for _, state in files], [state_of(folder) for folder in folders]
    listing = _digest(f"{relative}\0{state.kind}" for relative, _, state in seen)
    return FileState(
        "pattern",
        times=_digest([listing, *[state.times for state in states]]),
        stable_ns=max([state.stable_ns for state in (*states, *listed)]),
        listing=listing,
        files=files,
    )


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
        if part == "**":
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
            link, linked_ns = f" by {_times(found)}", stable_ns(found.st_ctime_ns)
            link += f" to {os.readlink(path)!r}"
            found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _absent(path, f"missing{link}")
    except OSError:
        return FileState("special", "")
    is_file = stat.S_ISREG(found.st_mode)
    if not is_file and not stat.S_ISDIR(found.st_mode):
        return FileState("special", "")
    stable_from = max(linked_ns, stable_ns(found.st_ctime_ns))
    return FileState(
        "file" if is_file else "folder", _times(found) + link, stable_from, size=found.st_size
    )


def stable_ns(changed_ns: int) -> int:
    """Return when the clock tick of a change is certainly over, in nanoseconds since the epoch, as is the argument."""
    return changed_ns + (TICK_NS if changed_ns % _SECOND_NS else COARSE_TICK_NS)


def _absent(path: str, times: str) -> FileState:
    """Return the state of a missing path; the nearest existing parent changes if the path appears and disappears."""
    for above in Path(path).parents:
        with suppress(OSError):
            return FileState("missing", times, stable_ns(os.stat(above).st_ctime_ns))
    return FileState("missing", times)


def _times(found: os.stat_result) -> str:
    return ":".join(map(str, _SAID(found)))


def changed(proofs: Mapping[str, Proof], *, now_ns: int | None = None) -> dict[str, Proof]:
    """Return the paths that may have changed, each with its new proof; of a link, what it leads to counts.

    A file changed within the last clock tick can be changed again with the same metadata, so its proof is empty for now.
    """
    now_ns = now_ns or time.time_ns()
    found: dict[str, Proof] = {}
    for path, proof in proofs.items():
        try:
            said = _SAID(os.stat(path))
        except (OSError, ValueError):
            said = GONE
        if said != proof:
            found[path] = said if said == GONE or stable_ns(max(said[-2:])) <= now_ns else ()
    return found
