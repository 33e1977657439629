"""Which kind of content a text is, and what the lines of diffs, traces, search results, tables and prose are worth.

Promise: told by the text alone, from a sample whose size does not grow with it; a text that is nothing in particular has none.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from autogen_context.compressor.arrival.code import CODE
from autogen_context.compressor.arrival.json_text import JSON
from autogen_context.compressor.arrival.lines import (
    BLANK_RANK,
    ERROR_RANK,
    LOG,
    OUTPUT,
    WANTED_RANK,
    Reducer,
    Room,
    are_enough,
    choose,
    cutting,
    ranked,
    shown,
    tight_output,
)

# Diffs: files and hunks, then what changed

FILE = re.compile(r"diff -|Index: |--- \S|\+\+\+ \S|rename |new file|deleted file|Binary files ")
HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
BODY = re.compile(r"[ +\-\\]|@@|diff |index |new |deleted |rename |similarity ")


def is_diff(_: str, lines: Sequence[str]) -> bool:
    """Whether there are a hunk and a file, and most lines belong to such."""
    files = any(line.startswith(("+++ ", "--- ", "diff ")) for line in lines)
    return files and any(map(HUNK.match, lines)) and are_enough(lines, BODY.match, share=0.5)


def diff_ranks(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth as a part of a diff."""
    for line in lines:
        if FILE.match(line):
            yield WANTED_RANK + 1
        elif HUNK.match(line):
            yield 3.0
        else:
            yield 2.0 if line.startswith(("+", "-")) else 0.5


# Stack traces: heads, then the user's own frames

FRAME = re.compile(
    r'\s+File "[^"\n]+", line \d+'  # Python
    r"|\s+at \S.*[(:.]\S*:(?:line )?\d+(?::\d+)?\)?\s*$"  # JavaScript, Rust, Java, C#
    r"|\s+at [\w.<>`\[\], ]+\([^)\n]*\)(?: in .*:line \d+)?\s*$"  # C#
    r"|\t/?\S+\.go:\d+"  # Go
)
FOREIGN = re.compile(
    r"site-packages|dist-packages|/lib/python\d|node_modules|node:|/usr/(?:local/)?(?:lib/)?go/|/go/pkg/mod/|/rustc/|\.cargo/"
    r"|\bat (?:java|javax|jdk|sun|org\.springframework|org\.apache|org\.junit|System|Microsoft)\."
)
HEAD = re.compile(
    r"\s*(?:Traceback \(most|Caused by: |goroutine \d|panic: |thread '.*' panicked|Unhandled [Ee]xc|stack backtrace:)"
)


def frame_ranks(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth as a part of a trace; the source lines below a frame are worth what it is."""
    rank, depth = 1.0, 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if FRAME.match(line[:300]):
            rank, depth = 0.0 if FOREIGN.search(line) else 3.0, indent
        elif indent <= depth:
            rank, depth = 1.0, indent
        yield 4.0 if HEAD.match(line) else rank


def cut_trace(text: str, room: Room) -> str:
    """Errors, heads and the user's own frames; a library's function that is called like an error is none."""
    lines = tight_output(text).split("\n")
    own = list(frame_ranks(lines))
    ranks = zip(own, ranked(own, lines, room, errors=True), strict=True)
    return choose(lines, [new if rank or new < ERROR_RANK else 0.0 for rank, new in ranks], room)


# Search results and listings: some of each file or folder

HIT = re.compile(r"((?:[A-Za-z]:(?=[\\/]))?[\w.@+~/\\-][^:\n]{0,250}+):(?=.)")
PATH = re.compile(r"(?=.*[A-Za-z])(?:\S*[/\\]\S+|\S+\.[A-Za-z]\w{0,9})/?\Z")


def are_hits(_: str, lines: Sequence[str]) -> bool:
    """Whether most lines were found in files, or nearly all are paths."""
    told = [line for line in lines if not line.startswith(("--", "[… "))]
    return are_enough(told, path_of, share=0.6, least=2) or are_enough(
        lines, PATH.match, share=0.8, least=5
    )


def path_of(line: str) -> str:
    """The path that a hit begins with; empty for what is none."""
    match = HIT.match(line) if ":" in line else None
    return match[1] if match and PATH.match(match[1]) else ""


def hit_ranks(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth as one of those in its file or folder: of the n-th, the n-th part."""
    met: Counter[str] = Counter()
    for line in lines:
        group = path_of(line) or line.rpartition("/")[0]
        met[group] += 1
        yield 1 / met[group] if line.strip() and not line.startswith("--") else BLANK_RANK


# Tables: the header, then both ends

RULE = re.compile(r"(?=.*[+|│┃┼╪╬])(?=.*[-=─━═]{2})[ \t\r+=:|│┃─-╿-]+\Z")
BAR = re.compile("[|│┃║]")
QUOTED = re.compile(r'"[^"]*"')
NAME = re.compile(r"\s*\"?[^\W\d][^=(){}<>]{0,38}")
TABLE_LINES = 60  # to tell a table by


def is_table(text: str, _: Sequence[str]) -> bool:
    """Whether its beginning has the header of one."""
    return header_lines(text[:6_000].split("\n")) > 0


def header_lines(lines: Sequence[str]) -> int:
    """How many lines stand above the first row; 0 where there is no table."""
    lines = lines[:TABLE_LINES]
    drawn = sum(1 for line in lines if BAR.search(line) or RULE.match(line))
    rules = [i for i, line in enumerate(lines) if RULE.match(line)]
    if rules and drawn >= 0.6 * len(lines):
        named = [i for i, line in enumerate(lines) if BAR.search(line) and i not in rules]
        return next((i + 1 for i in rules if named and i > named[0]), 0)
    for delimiter in "\t,;":
        counts = [QUOTED.sub("", line).count(delimiter) for line in lines if line.strip()]
        names = (
            [name for name in lines[0].strip().split(delimiter) if name.strip()] if lines else []
        )
        if len(names) < 2 or len(set(names)) < len(names) or not all(map(NAME.fullmatch, names)):  # noqa: PLR2004 - columns
            continue
        if len(counts) > 3 and counts[0] > 1 and counts.count(counts[0]) >= 0.9 * len(counts):  # noqa: PLR2004 - rows
            return 1
    return 0


def cut_table(text: str, room: Room) -> str:
    """The header, and the rows that matter."""
    lines = text.split("\n")
    ranks = [1.5 if i < 2 or i == len(lines) - 1 else 0.0 for i in range(len(lines))]  # noqa: PLR2004 - the first two
    ranks = ranked(ranks, lines, room, errors=True)
    above = header_lines(lines)
    ranks[:above] = [ERROR_RANK + 2] * above
    return choose(lines, ranks, room, noun="rows")


# Prose: whole sentences

END = re.compile(
    r"[.!?…\u3002\uff01\uff1f](?:(?<=[.!?…])[\"')\]]*[ \t]+(?=[\"'(\[]?[A-Z0-9À-Þ])|(?<=[\u3002\uff01\uff1f])(?=.))"
)
HEADING = re.compile(r"#{1,6} \S|[=~-]{3,}\s*\Z|[A-Z][^.!?]{0,70}:\s*\Z")
ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)]) ")
EXACT = re.compile(
    r"[\d`_/]|[a-z][A-Z]|(?i:\b(?:not?|never|only|always|must|except|cannot|\w+n't)\b)"
)
UNSPOKEN = re.compile(r"[\W\d_](?<![ ,.'\u2019\u3001\u3002\uff01\uff1f])")
LEAST_WORDS = 8  # of a line, on average
LAST_LINES = 3  # of a text, which say what it comes to


def is_prose(_: str, lines: Sequence[str]) -> bool:
    """Whether it is made of words, many on a line."""
    if sum(line.startswith("## ") for line in lines) > 1:
        return True
    joined = "".join(lines)
    words = joined.count(" ") + len(lines)
    if len(joined) < 120 or (words < LEAST_WORDS * len(lines) and joined.isascii()):  # noqa: PLR2004 - characters
        return False
    return len(UNSPOKEN.sub("", joined)) >= 0.85 * len(joined)


def cut_prose(text: str, room: Room) -> str:
    """Whole sentences, headings and list items, one a line."""
    if room.count(text) <= room.tokens:
        return text
    lines = END.sub(lambda end: end.group().rstrip(" \t") + "\n", text).split("\n")
    ranks = ranked(sentence_ranks(lines), lines, room)
    said = [at for at, line in enumerate(lines) if line.strip()]
    for at in {*said[:1], *said[-LAST_LINES:]}:
        ranks[at] = max(ranks[at], WANTED_RANK + 1)  # how it begins and what it comes to
    return choose(lines, ranks, room, noun="sentences", whole=True)


def sentence_ranks(sentences: Sequence[str]) -> Iterator[float]:
    """What each sentence is worth; the words that come often say what the text is about."""
    split = [[word for word in sentence.lower().split() if len(word) > 4] for sentence in sentences]  # noqa: PLR2004 - telling words
    counts = Counter(word for words in split for word in words)
    most = max(counts.values(), default=1)
    begins = True
    for sentence, words in zip(sentences, split, strict=True):
        if not sentence.strip():
            yield BLANK_RANK
        elif HEADING.match(sentence):
            yield 2.5
        else:
            topic = sum(counts[word] for word in words) / (most * (len(words) + 3))
            yield topic + 0.5 * begins + 0.6 * (EXACT.search(sentence) is not None)
        begins = not sentence.strip() or ITEM.match(sentence) is not None


REDUCERS: tuple[Reducer, ...] = (
    JSON,
    Reducer(kind="diff", recognises=is_diff, cut=cutting(diff_ranks)),  # before what a file may be
    Reducer(
        kind="trace",
        recognises=lambda _, lines: are_enough(lines, FRAME.match, share=0.2, least=2),
        tighten=tight_output,
        cut=cut_trace,
    ),
    LOG,
    Reducer(kind="hits", recognises=are_hits, cut=cutting(hit_ranks, "hits")),
    Reducer(kind="table", recognises=is_table, cut=cut_table),
    CODE,
    Reducer(kind="prose", recognises=is_prose, cut=cut_prose),
    OUTPUT,  # any other lines
)
SPAN_CHARS = 6_000  # of a text's head, middle and tail
LINE_CHARS = 400  # of one line


def reducer_for(text: str) -> Reducer | None:
    """The reducer for a text, by its head, middle and tail; none where it is of no known kind, such as a single line of words."""
    sample = text
    if len(text) > 3 * SPAN_CHARS:
        middle = (len(text) - SPAN_CHARS) // 2
        spans = text[:SPAN_CHARS], text[middle : middle + SPAN_CHARS], text[-SPAN_CHARS:]
        sample = "\n".join(spans)
    lines = [line[:LINE_CHARS] for line in shown(sample).split("\n") if line.strip()]
    return next((reducer for reducer in REDUCERS if reducer.recognises(text, lines)), None)
