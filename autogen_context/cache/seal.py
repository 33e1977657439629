"""Seals of what is kept outside this process: whoever has no key can neither make, change nor move a value.

Promise: a seal opens only with its key, in its place and under its name, within its time; anything else is ``None``. A folder
without a key given has one of its own, readable by its owner alone, which is worth nothing in another folder.
"""

import logging
import math
import os
import secrets
import stat
import struct
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hmac import compare_digest
from importlib import import_module
from pathlib import Path
from typing import Final, Literal

from autogen_context.messages.message import content_digest

KEY_VARIABLE: Final = "AUTOGEN_CONTEXT_STORE_KEY"
LEAST_KEY_CHARS: Final = 16
KEY_FILE: Final = "cache.key"

_LOGGER = logging.getLogger(__name__)
# The version of the format, and until when the value may be used, in seconds since 1970.
_HEAD = struct.Struct(">Bd")
_VERSION: Final = 1
DIGEST_BYTES: Final = 16
SEAL_BYTES: Final = _HEAD.size + DIGEST_BYTES
_KEY_CHARS: Final = 64  # 32 random bytes in hex
_TO_WRITE: Final = 0o022  # rights of others
_TRIES, _PAUSE_S = 100, 0.02  # while another process writes the key that it has just made


class Seal:
    """Seals and opens values in one place, such as a folder, or the namespace of a tenant's agent on a server.

    Args:
        key: the secret of those who may write there; empty detects damage alone, since then anybody can make a seal.
        place: what a value must not be moved out of.
    """

    def __init__(self, key: bytes, *, place: str) -> None:
        self._key = content_digest("store", place, key=key) if key else b""
        self._place = place
        self.is_keyed = bool(key)

    def closed(self, name: str, data: bytes, *, ttl_s: float | None = None) -> bytes:
        """Return the data with a seal that opens under this name for ``ttl_s`` seconds."""
        until_s = math.inf if ttl_s is None else time.time() + ttl_s
        head = _HEAD.pack(_VERSION, until_s)
        return head + self.digest(name, head, data) + data

    def opened(self, name: str, value: bytes) -> bytes | None:
        """Return the data sealed under this name; ``None`` if it was not sealed so, or its time is over."""
        if len(value) < SEAL_BYTES:
            return None
        head, digest, data = value[: _HEAD.size], value[_HEAD.size : SEAL_BYTES], value[SEAL_BYTES:]
        version, until_s = _HEAD.unpack(head)
        is_ours = version == _VERSION and compare_digest(digest, self.digest(name, head, data))
        return data if is_ours and time.time() < until_s else None

    def digest(self, name: str, *parts: bytes) -> bytes:
        """Return what only the key can make of these, in this place and under this name."""
        return content_digest("seal", self._place, name, *parts, key=self._key)


def store_key(given: str | bytes | None) -> bytes:
    """Return the key of a store: as given, or of the environment; empty if there is none.

    Raises:
        ValueError: it is too short to be a secret.
    """
    source = "key" if given is not None else KEY_VARIABLE
    text = os.environ.get(KEY_VARIABLE, "") if given is None else given
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if (data or given is not None) and len(data) < LEAST_KEY_CHARS:
        raise ValueError(
            f"{source}: it has {len(data)} characters; give at least {LEAST_KEY_CHARS}, random ones, such as "
            'python -c "import secrets; print(secrets.token_hex(32))" prints'
        )
    return content_digest("key", data) + content_digest("more", data) if data else b""


def folder_key(folder: Path, given: bytes, *, could_be_planted: bool = False) -> tuple[bytes, bool]:
    """Return the key of a folder, from a file in it that is made once, and whether it was made just now.

    With a key ``given`` the file keeps the folder apart from others with the same key. Without one it is the secret itself;
    then a copy of file and folder has another key, so that nobody can hand over a folder of his own making; and one that others
    could write, or read while what it seals ``could_be_planted``, is made anew. The caller has it ``locked_alone``.

    Raises:
        OSError: the file cannot be read or made, or is not ours alone.
    """
    path = folder / KEY_FILE
    for _ in range(_TRIES):
        with suppress(FileExistsError):
            return _key_in(_made(path), given), True
        with suppress(FileNotFoundError):  # another process has just deleted it
            if is_loose(path):
                if not given and (could_be_planted or path.lstat().st_mode & _TO_WRITE):
                    break
                path.chmod(0o600)
                if not given:
                    _LOGGER.warning("%s could be read by others; its rights are taken away", path)
            file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(file, "rb") as opened:
                text, found = opened.read(_KEY_CHARS + 1), os.fstat(file)
            if len(text) == _KEY_CHARS:
                return _key_in((text, found.st_ino), given), False
            if time.time() - found.st_mtime > _TRIES * _PAUSE_S:
                break  # who wrote it was killed
            time.sleep(_PAUSE_S)
    path.unlink(missing_ok=True)
    return _key_in(_made(path), given), True


@contextmanager
def locked_alone(folder: Path) -> Generator[None]:
    """Hold a folder, so that one at a time checks and replaces what is in it: of all threads and processes that ask for it here.

    Windows has no such lock; there nobody takes rights away, and a key is replaced only if its maker was killed. Nor has a
    Python that was built without ``fcntl``.

    Raises:
        OSError: the folder cannot be opened, or somebody else holds it for too long.
    """
    if sys.platform == "win32" or not _has_locks():
        yield
        return
    import fcntl  # noqa: PLC0415 - not on every system

    file = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(_TRIES):
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(_PAUSE_S)
        else:
            raise TimeoutError(f"{folder} is in use by another process")
        try:
            yield
        finally:
            # Closing alone leaves it to a child that was forked meanwhile.
            fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        os.close(file)


def _has_locks() -> bool:
    with suppress(ImportError):
        return bool(import_module("fcntl"))
    return False


def _made(path: Path) -> tuple[bytes, int]:
    """Make the file of a key; return its text and its number. Raises ``FileExistsError``."""
    text = secrets.token_hex(_KEY_CHARS // 2).encode()
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(file, "wb") as opened:
        opened.write(text)
        return text, os.fstat(file).st_ino


def _key_in(made: tuple[bytes, int], given: bytes) -> bytes:
    text, number = made
    return content_digest("folder", text, given or str(number))


def take_folder(folder: Path, *, ours: frozenset[str]) -> None:
    """Make a folder for its owner alone, or close one that is ours: to all others if it has only ``ours`` in it, else to writers.

    Raises:
        OSError: it is a link or another user's, or cannot be made.
    """
    for missing in reversed([folder, *folder.parents]):
        with suppress(FileExistsError):
            if not missing.is_dir():
                missing.mkdir(mode=0o700)
    if is_loose(folder, kind="folder"):
        is_all_ours = all(each.name in ours for each in folder.iterdir())
        folder.chmod(0o700 if is_all_ours else stat.S_IMODE(folder.lstat().st_mode) & ~_TO_WRITE)


def take_file(path: Path) -> bool:
    """Close a file to all others, if there is one. Returns whether they could write it.

    Raises:
        OSError: it is a link, another user's, or no file.
    """
    with suppress(FileNotFoundError):
        if is_loose(path):
            mode = path.lstat().st_mode
            path.chmod(0o600)
            return bool(mode & _TO_WRITE)
    return False


def is_loose(path: Path, *, kind: Literal["folder", "file"] = "file") -> bool:
    """Return whether others have rights on something of ours. Raises ``OSError`` if it is not ours alone or not there."""
    found = path.lstat()
    if stat.S_IFMT(found.st_mode) != (stat.S_IFDIR if kind == "folder" else stat.S_IFREG):
        raise PermissionError(f"{path} is a link, or no {kind}; delete it, or name another folder")
    if kind == "file" and found.st_nlink > 1:
        raise PermissionError(
            f"{path} has a second name (a hard link); delete it, or name another folder"
        )
    own = getattr(os, "geteuid", None)
    if own is None:  # on Windows, where modes say nothing
        return False
    if found.st_uid != own():
        raise PermissionError(f"{path} belongs to another user; name a folder of your own")
    return bool(stat.S_IMODE(found.st_mode) & 0o077)
