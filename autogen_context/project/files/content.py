"""What a file holds, as far as it is told: its text, or in words what it is.

Promise: what differs has another digest; how lines end, and whether the last one does, makes no difference to a text.
"""

import errno
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from autogen_context.cache.files import read_regular

SNIFFED_BYTES = 8_192  # a zero byte among these is what git takes for the sign of a binary file


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a file holds.

    Attributes:
        digest: of it.
        text: it; ``None`` where it is not to be shown.
        words: what it is, then.
    """

    digest: bytes
    text: str | None
    words: str = ""

    @property
    def size(self) -> int:
        """What it takes, in characters."""
        return len(self.text or "")


def read(real: Path, most_bytes: int) -> Content:
    """What a file holds now.

    Args:
        real: the file, without links.
        most_bytes: a larger one is told by its size and its times.

    Raises:
        OSError: it cannot be read.
    """
    try:
        content = read_regular(real, most_bytes=most_bytes)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        return large(real)
    if b"\0" in content[:SNIFFED_BYTES]:
        words = f"binary, {len(content):,} bytes"
        return Content(digest=digest_of(content), text=None, words=words)
    return of_text(content.decode("utf-8", "replace"), most_bytes)


def of_text(text: str, most_bytes: int) -> Content:
    """A text as content; a longer one is told by its length."""
    plain = text.replace("\r\n", "\n").rstrip("\n")
    digest = digest_of(plain.encode("utf-8", "surrogatepass"))
    if len(plain) > most_bytes:
        return Content(digest=digest, text=None, words=f"{len(plain):,} characters")
    return Content(digest=digest, text=plain)


def large(path: Path) -> Content:
    """What stands for a file that is too large to be read: its size, its time and which file it is."""
    found = path.stat()
    stamp = f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"
    words = f"too large to show, {found.st_size:,} bytes"
    return Content(digest=digest_of(stamp.encode()), text=None, words=words)


def digest_of(content: bytes) -> bytes:
    """16 bytes that stand for others."""
    return blake2b(content, digest_size=16).digest()
