"""Read a recording: a file, gzipped or not, or standard input.

Promise: what cannot be read is a ``ValueError`` that names the file, the place in it and the way out.
"""

import gzip
import json
import sys
import zlib
from pathlib import Path

from autogen_context.cli.recording.conversations import RecordedConversation, conversations_in
from autogen_context.cli.recording.documents import documents_in

STANDARD_INPUT = "-"
GZIP_MAGIC = b"\x1f\x8b"


def read_recording(path: str) -> list[RecordedConversation]:
    """The conversations in a file.

    Args:
        path: its name; ``"-"`` reads standard input.

    Returns:
        One conversation at least, each with one message at least.

    Raises:
        ValueError: it cannot be read, or holds no messages.
    """
    name = "standard input" if path == STANDARD_INPUT else path
    try:
        return conversations_in(documents_in(text_of(unpacked(bytes_of(path)))))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def bytes_of(path: str) -> bytes:
    """What is in the file, as it is.

    Raises:
        ValueError: there is no such file, or it may not be read.
    """
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except IsADirectoryError:
        raise ValueError("this is a folder; name one of the files in it") from None
    except FileNotFoundError:
        raise ValueError("there is no such file; check the path") from None
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}") from error


def unpacked(data: bytes) -> bytes:
    """The content of a gzip file; anything else as it is.

    Raises:
        ValueError: the gzip file is damaged or cut off.
    """
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"the gzip file is damaged ({error}); copy it again") from error


def text_of(data: bytes) -> str:
    """The text of a file in UTF-8, -16 or -32, with or without a mark that says so.

    Raises:
        ValueError: it is none of these.
    """
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: this is no text in {encoding}; save it as UTF-8") from error
