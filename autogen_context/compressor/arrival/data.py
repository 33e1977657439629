r"""Data that nobody reads, inside text: base64, hex, ``data:`` URLs, raw and escaped bytes.

Promise: each becomes a mark that says what it was and how long; shorter data (hashes, UUIDs, tokens, keys of a few words),
long paths, numbers, and words of languages that write none apart stay. Linear time.
"""

import re
from collections.abc import Sequence

from autogen_context.compressor.arrival.lines import choose, lines_of, ranked
from autogen_context.compressor.arrival.reducer import Reducer, Room

LEAST_CHARS = 200  # of one stretch of data
SAMPLED_CHARS = 600  # of a stretch, to tell data from long names
TURNS_FRACTION = 0.25  # of neighbours that are of two kinds: small letters, capitals, digits
MOST_TEXT_FRACTION = 0.8  # of bytes
HASH_CHARS = frozenset({40, 56, 64, 96, 128})  # a line; lists of them are read
SAMPLE_CHARS = 6_000
MOST_LEFT_FRACTION = 0.5  # of a sample, once its data is gone

RAW = r"\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\ud800-\udfff"
NO_TEXT = re.compile(rf"[{RAW}]")
RAW_BYTES = re.compile(rf"[{RAW}](?:[^{RAW}]{{0,16}}[{RAW}]){{19,}}+")
ESCAPED_BYTES = re.compile(r"\\x[0-9a-fA-F]{2}(?:[^\\\n]{0,4}\\x[0-9a-fA-F]{2}){39,}+")
DATA_URL = re.compile(
    r"\bdata:(?:[\w.+-]{1,60}/[\w.+-]{1,60})?[^,\s\"'<>]{0,60},[^\s\"'<>()]{200,}"
)
STRETCH = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{200,}+={0,2}")
WRAPPED = re.compile(
    r"(?:^[ \t]{0,8}[A-Za-z0-9+/_-]{40,120}={0,2}\r?\n){4,}+(?:[ \t]{0,8}[A-Za-z0-9+/_-]{20,120}={0,2}$)?",
    re.MULTILINE,
)
HEX = re.compile(r"[0-9a-fA-F]+=*")
TURN = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[a-zA-Z])")


def without_data(text: str) -> str:
    """The text with a mark in place of each long stretch of data; never longer."""
    longest = max(map(len, text.split()), default=0)  # of what has no blanks; most texts end here
    text = RAW_BYTES.sub(of_bytes, text)
    if "\\x" in text:
        text = ESCAPED_BYTES.sub(lambda data: marked("escaped bytes", data.group()), text)
    if longest >= LEAST_CHARS:
        text = DATA_URL.sub(lambda data: marked("data URL", data.group()), text)
        text = STRETCH.sub(of_stretch, text)
    return WRAPPED.sub(of_stretch, text) if longest >= LEAST_CHARS / 5 else text


def marked(kind: str, data: str) -> str:
    """A mark for data, the end of its last line kept; the data itself where it is short."""
    size = len(data.rstrip("\n"))
    return f"[{kind}, {size:,} characters]{data[size:]}" if size >= LEAST_CHARS else data


def of_bytes(match: re.Match[str]) -> str:
    """A mark for what no text has; the data itself if it is text with some characters lost."""
    data = match.group()
    is_text = len(NO_TEXT.sub("", data)) > MOST_TEXT_FRACTION * len(data)
    return data if is_text else marked("binary", data)


def of_stretch(match: re.Match[str]) -> str:
    """A mark for a stretch that is data, on one line or on several; itself if it is a path, names, numbers or hashes."""
    data = match.group()
    rows = data.split()
    sample = "".join(rows)[:SAMPLED_CHARS]
    is_hex = HEX.fullmatch(sample) is not None
    hashes = is_hex and len(rows) > 1 and {len(row) for row in rows} <= HASH_CHARS
    if hashes or any(turns(each) < TURNS_FRACTION for each in (sample, *rows[:4])):
        return data
    return marked("hex" if is_hex else "base64", data)


def turns(stretch: str) -> float:
    """How often neighbours are of two kinds: small letters, capitals, digits; 0..1."""
    sample = stretch[:SAMPLED_CHARS]
    return len(TURN.findall(sample)) / max(1, len(sample))


def recognises(text: str, _: Sequence[str]) -> bool:
    """Whether data is half of what a text begins with."""
    sample = text[:SAMPLE_CHARS]
    return len(without_data(sample)) < MOST_LEFT_FRACTION * len(sample)


def cut(text: str, room: Room) -> str:
    """The text around the data, with marks in place of it."""
    lines = lines_of(without_data(text))
    return choose(lines, ranked([0.0] * len(lines), lines, room, errors=True), room)


BINARY = Reducer(kind="binary", recognises=recognises, cut=cut)
