"""What is at a path right now: what the system says of it, and what is in it.

Promise: no path makes this wait or raise; a pipe is never opened. From ``settled_ns`` on, equal ``times`` mean that
nothing was written, replaced, renamed or retargeted since, whatever was done to modification times: the time of the last
change of the inode is among them, and no program sets that one.

A change can leave the times as they are only within one tick of the clock that stamps files, as a second write does
right after the first. ``settled_ns`` is when that tick has passed for sure.
"""

# ruff: noqa: PTH115, PTH116, PTH120, PTH208 - a Path for each of ten thousand files costs more than asking

import errno
import os
import stat
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal

Kind = Literal["file", "folder", "missing", "unreachable", "special"]

NEVER_NS: Final = 2**63
TICK_NS: Final = (
    20_000_000  # two ticks of the slowest kernel in use (100 Hz), since stamps are of the last tick
)
COARSE_TICK_NS: Final = (
    2_000_000_000  # FAT; a stamp of whole seconds may come from such a file system
)

_SECOND_NS = 1_000_000_000
_CHUNK_BYTES = 1024 * 1024
_GONE = {errno.ENOENT, errno.ENOTDIR}
_OUT_OF_REACH = {errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG}
# A path may become a pipe or a terminal between looking and opening.
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """What the system says of a path.

    Attributes:
        kind: what is there, symbolic links followed; ``special`` is a pipe, a socket, a device, or what cannot be asked.
        times: device, inode, mode, size, times of modification and change; of a link its own as well, and its target.
        settled_ns: from when on the times tell this state from every later one, in nanoseconds since the epoch.
        beside: the times of the folder that would show that something was here in between; of what is missing.
        size: in bytes.
    """

    kind: Kind
    times: str
    settled_ns: int = 0
    beside: str = ""
    size: int = 0


def state_of(path: str) -> FileState:
    """Look at a path without opening it."""
    try:
        own = os.lstat(path)
    except OSError as error:
        return _absent(path, error)
    return _of_link(path, own) if stat.S_ISLNK(own.st_mode) else _present(own)


def content_of(path: str, state: FileState, *, limit_bytes: int) -> str | None:
    """A digest of what is in a file, or of the names that are in a folder.

    Args:
        path: what ``state`` was seen of.
        state: what was seen just now.
        limit_bytes: a larger file is not read.

    Returns:
        The digest in hex; that nothing is there is a content too. Empty if it is not read, since it is too large or may
        not be; ``None`` if what is read is not what ``state`` says: it has changed, or is a file like those in
        ``/proc``, whose times prove nothing.
    """
    if state.kind == "missing":
        return state.times
    try:
        if state.kind == "folder":
            return _names(path)
        if state.kind == "file" and state.size <= limit_bytes:
            return _bytes(path, state)
    except OSError:
        return ""
    return "" if state.kind != "special" else None


def settled_ns(changed_ns: int) -> int:
    """When the tick of a change is over for sure; both in nanoseconds since the epoch."""
    return changed_ns + (TICK_NS if changed_ns % _SECOND_NS else COARSE_TICK_NS)


def _absent(path: str, error: OSError, *, link: str = "") -> FileState:
    if error.errno in _GONE:
        beside, beside_ns = _nearest_folder(path)
        return FileState(
            kind="missing", times=f"missing{link}", beside=beside, settled_ns=beside_ns
        )
    if error.errno in _OUT_OF_REACH:
        return FileState(kind="unreachable", times=f"unreachable:{error.errno}{link}")
    return FileState(kind="special", times="", settled_ns=NEVER_NS)


def _nearest_folder(path: str) -> tuple[str, int]:
    """Times of the nearest folder above, and when they are settled: it changes when a name comes or goes."""
    above = os.path.dirname(path)
    while True:
        try:
            found = os.stat(above)
        except OSError:
            if above == os.path.dirname(above):
                return "", NEVER_NS
            above = os.path.dirname(above)
        else:
            return _times(found), settled_ns(found.st_ctime_ns)


def _of_link(path: str, own: os.stat_result) -> FileState:
    try:
        link = f" by {_times(own)} to {os.readlink(path)!r}"
        target = os.stat(path)
    except OSError as error:
        return _absent(path, error, link=f" by {_times(own)}")
    state = _present(target)
    own_ns = settled_ns(own.st_ctime_ns)
    return FileState(
        kind=state.kind,
        times=state.times + link,
        settled_ns=max(state.settled_ns, own_ns),
        size=state.size,
    )


def _present(found: os.stat_result) -> FileState:
    if stat.S_ISREG(found.st_mode):
        kind: Kind = "file"
    elif stat.S_ISDIR(found.st_mode):
        kind = "folder"
    else:
        return FileState(kind="special", times="", settled_ns=NEVER_NS)
    return FileState(
        kind=kind, times=_times(found), settled_ns=settled_ns(found.st_ctime_ns), size=found.st_size
    )


def _times(found: os.stat_result) -> str:
    return (
        f"{found.st_dev}:{found.st_ino}:{found.st_mode:o}:{found.st_size}"
        f":{found.st_mtime_ns}:{found.st_ctime_ns}"
    )


def _names(path: str) -> str:
    names = sorted(os.fsencode(name) for name in os.listdir(path))
    return blake2b(b"\0".join(names), digest_size=16).hexdigest()


def _bytes(path: str, state: FileState) -> str | None:
    """The digest, if what was read is what the system said it would be, before and after."""
    digest = blake2b(digest_size=16)
    descriptor = os.open(path, _OPEN)
    try:
        before = _times(os.fstat(descriptor))
        read_bytes = 0
        while read_bytes <= state.size and (chunk := os.read(descriptor, _CHUNK_BYTES)):
            digest.update(chunk)
            read_bytes += len(chunk)
        after = _times(os.fstat(descriptor))
    finally:
        os.close(descriptor)
    is_same = before == after and f"{state.times} ".startswith(f"{before} ")
    return digest.hexdigest() if is_same and read_bytes == state.size else None
