r"""Data that nobody reads, inside text: base64, hex, ``data:`` URLs, escaped and raw bytes, bundles on one line.

Promise: each becomes a mark that says what it was and how long; shorter data (hashes, UUIDs, tokens, keys of a few words),
long paths, numbers, and words of languages that write none apart stay. Linear time.
"""

import re

LEAST_CHARS = 200  # of one stretch of data
SAMPLED_CHARS = 600  # of a stretch, to tell data from long names
TURNS_SHARE = 0.25  # of neighbours of which one is small, capital, digit, and the other another
LEAST_LINES = 4  # of data over several lines
LEAST_WRAPPED = 40  # of one line of such
HASH_CHARS = frozenset({40, 56, 64, 96, 128})  # a line; lists of them are read
LEAST_BUNDLE = 1_500  # characters of one line
BUNDLE_HEAD = 160  # characters that tell which bundle it is
BUNDLE_BLANKS_SHARE = 0.12  # of its characters, at most
BUNDLE_SIGNS_SHARE = 0.08  # of its characters, at least

MOST_TEXT_SHARE = 0.8  # of bytes
MOST_OTHERS_SHARE = 0.25  # of the signs of code

RAW = r"\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\ud800-\udfff"
DATA_URL = re.compile(r"\bdata:([\w.+-]{1,60}/[\w.+-]{1,60})?[^,\s\"'<>]{0,60},[^\s\"'<>()]{200,}")
NO_TEXT = re.compile(rf"[{RAW}]")
RAW_BYTES = re.compile(rf"[{RAW}](?:[^{RAW}]{{0,16}}[{RAW}]){{19,}}+")
ESCAPED_BYTES = re.compile(r"\\x[0-9a-fA-F]{2}(?:[^\\\n]{0,4}\\x[0-9a-fA-F]{2}){39,}+")
STRETCH = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{200,}+={0,2}")
LINE = r"[ \t]{0,8}[A-Za-z0-9+/_-]"
WRAPPED = re.compile(
    rf"(?:^{LINE}{{40,120}}={{0,2}}\r?\n){{4,}}+(?:(?:{LINE}{{20,120}}={{0,2}}|{LINE}{{2,20}}={{1,2}})$)?",
    re.MULTILINE,
)
DUMPED = re.compile(
    r"(?:^(?:0x)?[0-9a-fA-F]{4,16}:?[ \t]+(?:[0-9a-fA-F]{2,8}[ \t]{1,3}){4,16}[^\n]{0,40}\n){6,}+",
    re.MULTILINE,
)
DUMP_BEGINS = re.compile(r"\n(?:0x)?[0-9a-fA-F]{4,16}:?[ \t]")
LONG_LINE = re.compile(r"^[^\n]{1500,}+", re.MULTILINE)
HEX = re.compile(r"[0-9a-fA-F]+=*")
SIGNS = re.compile(r"[;{}()]")
OTHER_SIGNS = re.compile(r"\"\s*:|[<\x1b\r]")  # of JSON, markup and terminals
KINDS = str.maketrans(
    {
        **dict.fromkeys(map(ord, "abcdefghijklmnopqrstuvwxyz"), "a"),
        **dict.fromkeys(map(ord, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), "A"),
        **dict.fromkeys(map(ord, "0123456789"), "0"),
    }
)
TURN = re.compile(r"(?=aA|Aa|a0|0a|A0|0A)")


def without_blobs(text: str) -> str:
    """The text with a mark in place of each long stretch of data; never longer."""
    if len(text) < LEAST_CHARS:
        return text
    longest = max(
        map(len, text.split()), default=0
    )  # of what has no blanks; most texts need no further look
    if longest >= LEAST_CHARS:
        text = DATA_URL.sub(lambda m: marked(f"data:{m[1] or 'text'}", m.group()), text)
    text = RAW_BYTES.sub(lambda m: of_bytes(m.group()), text)
    if "\\x" in text:
        text = ESCAPED_BYTES.sub(lambda m: marked("escaped bytes", m.group()), text)
    if DUMP_BEGINS.search(text):
        text = DUMPED.sub(lambda m: of_dump(m.group()), text)
    if longest >= LEAST_WRAPPED:
        text = WRAPPED.sub(lambda m: of_lines(m.group()), text)
    if longest >= LEAST_CHARS:
        text = STRETCH.sub(lambda m: of_stretch(m.group()), text)
    if len(text) < LEAST_BUNDLE:
        return text
    return LONG_LINE.sub(lambda m: of_bundle(m.group()), text)


def marked(kind: str, data: str) -> str:
    """A mark for data, the end of its last line kept; the data itself where it is short."""
    lines = data.rstrip("\n")
    if len(lines) < LEAST_CHARS:
        return data
    return f"[{kind}, {len(lines):,} characters]{data[len(lines) :]}"


def of_bytes(data: str) -> str:
    """A mark for what no text has; the data itself if it is short, or text with some characters lost."""
    if len(NO_TEXT.sub("", data)) > MOST_TEXT_SHARE * len(data):
        return data
    return marked("binary", data)


def of_stretch(stretch: str) -> str:
    """A mark for a stretch without blanks that is data; itself if it is a path, a name or a number."""
    kind = kind_of(stretch)
    return marked(kind, stretch) if kind else stretch


def of_dump(lines: str) -> str:
    """A mark for lines with addresses that go up evenly and bytes behind them; the lines themselves, if they do not."""
    addresses = [int(line.split(None, 1)[0].rstrip(":"), 16) for line in lines.split("\n")[:3]]
    first, second = addresses[1] - addresses[0], addresses[2] - addresses[1]
    return marked("hex dump", lines) if first == second > 1 else lines


def of_lines(lines: str) -> str:
    """A mark for lines of which all are data; the lines themselves, if they are names."""
    rows = lines.split()
    kind = kind_of("".join(rows))
    hashes = kind == "hex" and {len(row) for row in rows} <= HASH_CHARS
    if not kind or hashes or any(turns_share(row) < TURNS_SHARE for row in rows[:LEAST_LINES]):
        return lines
    return marked(kind, lines)


def kind_of(stretch: str) -> str:
    """What data it is, nothing if it is none."""
    sample = stretch[:SAMPLED_CHARS]
    if turns_share(sample) < TURNS_SHARE:
        return ""
    return "hex" if HEX.fullmatch(sample) else "base64"


def turns_share(stretch: str) -> float:
    """How often neighbours are of two kinds: small letters, capitals, digits."""
    sample = stretch[:SAMPLED_CHARS].translate(KINDS)
    return sum(1 for _ in TURN.finditer(sample)) / max(1, len(sample))


def of_bundle(line: str) -> str:
    """The beginning of a line of minified code and a mark for the rest; the line itself if it is something else."""
    sample = line[:LEAST_BUNDLE]
    blanks = sample.count(" ") + sample.count("\t")
    signs = sum(1 for _ in SIGNS.finditer(sample))
    others = sum(1 for _ in OTHER_SIGNS.finditer(sample))
    if blanks > BUNDLE_BLANKS_SHARE * len(sample) or signs < BUNDLE_SIGNS_SHARE * len(sample):
        return line
    if others > MOST_OTHERS_SHARE * signs:
        return line
    return f"{line[:BUNDLE_HEAD]}{marked('minified code', line[BUNDLE_HEAD:])}"
