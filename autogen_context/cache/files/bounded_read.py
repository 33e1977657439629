"""Read a file that nobody vouches for.

Promise: only a regular file is read, at most so many bytes of it are held, and nothing blocks: a pipe, a socket or a
device is refused without waiting for whoever is at its other end.
"""

import errno
import os
import stat

# Where a system has no such flag, it has no such file either.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_CHUNK_BYTES = 1024 * 1024


def read_regular(path: str | os.PathLike[str], *, most_bytes: int) -> bytes:
    """The content of a regular file.

    Args:
        path: the file; its last part must not be a symbolic link.
        most_bytes: what it may have, in bytes.

    Returns:
        All bytes of it.

    Raises:
        OSError: it cannot be read; with ``errno.EINVAL`` it is no regular file, with ``errno.EFBIG`` it is larger.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        content = _read(descriptor, most_bytes + 1)
    finally:
        os.close(descriptor)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"larger than {most_bytes} bytes", os.fspath(path))
    return content


def _read(descriptor: int, most_bytes: int) -> bytes:
    """The first bytes of a file, whatever its size is said to be."""
    content = bytearray()
    while chunk := os.read(descriptor, min(_CHUNK_BYTES, most_bytes - len(content))):
        content += chunk
    return bytes(content)
