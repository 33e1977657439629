r"""Detection of a text's kind of content, and the line ranks of each kind.

Promise: the kind depends only on the text, by a sample of bounded size; a text of no known kind has no reducer. Tightening
keeps every character that a terminal would finally show, but writes repeated consecutive lines once with a count.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import eq

from autogen_context.compressor.code import CODE, without_padding
from autogen_context.compressor.json_text import JSON
from autogen_context.compressor.lines import (
    BLANK_RANK,
    ERROR_RANK,
    WANTED_RANK,
    Reducer,
    TextLimit,
    are_enough,
    by_ranks,
    choose,
    error_lines,
    lines_of,
    most_of,
    ranked,
)
from autogen_context.compressor.passage import HEADING
from autogen_context.text.passage import Passage
from autogen_context.text.sentence import sentences_of

# Logs, and any output of no more specific kind

ERRORS_RANK = 4.5  # of errors where many lines are, except the first and last per template
WARNING_RANK = 4.0  # of a line that warns
RARE_RANK = 0.5  # of a template's first line, plus up to 1 for rarity
LAST_RANK = 0.4  # of a template's last line
LEAST_REPEATED = 80  # characters of repeated lines for which a note pays off
MANY_TIMES = 2_000  # repeats from which a note pays off for blank lines too

LOGGED = re.compile(
    r"\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d"  # 2024-05-14 12:00
    r"|\[?\d\d:\d\d:\d\d\b"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "  # May 14 12:00:00 (syslog)
    r"|\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:"  # web servers
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[ :|])"
)
TERMINAL_CODE = re.compile(
    r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-Za-z])"
)
OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n|\Z)[^\n]*", re.MULTILINE)
HEX = re.compile(r"[0-9a-fA-F][0-9a-fA-F-]{6,}")  # removed, like digits, to get the template
DIGITS = str.maketrans(dict.fromkeys("0123456789.,:-"))
WARNING = re.compile(r"(?i:\b(?:warn(?:ing|ings|ed)?|deprecat\w*)\b)|[a-z]Warning\b")


def tight_output(text: str) -> str:
    """Return what a terminal would show, with repeated lines written once and line numbers without padding."""
    lines = without_padding(shown(text)).split("\n")
    if not any(map(eq, lines, lines[1:])):
        return "\n".join(lines)
    parts: list[str] = []
    for line, run in groupby(lines):
        more = len(list(run)) - 1
        pays = more * len(line.strip()) >= LEAST_REPEATED or more >= MANY_TIMES
        parts += [line, note_of(more) + "\r" * line.endswith("\r")] if pays else [line] * (more + 1)
    return "\n".join(parts)


def shown(text: str) -> str:
    r"""Return an output as a screen shows it, without terminal codes and overwritten text; ``\r\n`` line ends are kept."""

    def last_state(match: re.Match[str]) -> str:
        line = match.group()
        seen, covered = "", 0
        for state in reversed(line.removesuffix("\r").split("\r")):
            seen += state[covered:]
            covered = max(covered, len(state))
        return f"{seen}\r" if line.endswith("\r") else seen

    if "\x1b" in text:
        text = TERMINAL_CODE.sub("", text).replace("\x1b", "")
    return OVERWRITTEN.sub(last_state, text) if "\r" in text else text


def note_of(times: int) -> str:
    """Return the note below a line that is repeated ``times`` more times."""
    return f"[the line above {times} more times]"


def cut_output(text: str, room: TextLimit) -> str:
    """Keep errors, warnings and rare lines; the first line of each template tells how many similar ones are hidden."""
    text = tight_output(text)
    lines, templates = lines_of(text), template_of(text).split("\n")
    if len(lines) < len(templates):  # some lines were merged with a note
        templates = [template_of(line) for line in lines]
    counts = Counter(templates)
    last = {template: i for i, template in enumerate(templates)}
    first = {template: i for i, template in reversed([*enumerate(templates)])}
    ranks: list[float] = []
    for i, (line, template) in enumerate(zip(lines, templates, strict=True)):
        if not line or line.isspace():
            ranks.append(BLANK_RANK)
        elif first[template] == i:
            rare = RARE_RANK + 1 / counts[template]
            ranks.append(WARNING_RANK if WARNING.search(line) else rare)
        else:
            ranks.append(LAST_RANK if last[template] == i else 0.0)
    ranks = ranked(ranks, lines, room)
    errors = error_lines(lines)
    are_few = len(errors) <= most_of(lines)
    for i in errors:  # the first and last of each template rank higher
        ends = i in (first[templates[i]], last[templates[i]])
        ranks[i] = ERROR_RANK + ends if are_few or ends else ERRORS_RANK
    return choose([*map(Passage, lines, ranks)], room, templates=templates)


def template_of(line: str) -> str:
    """Return the line without values; lines that differ only in values share it."""
    return HEX.sub("", line).translate(DIGITS)


# Diffs: files and hunks, then the changed lines

FILE = re.compile(r"diff -|Index: |--- \S|\+\+\+ \S|rename |new file|deleted file|Binary files ")
HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
BODY = re.compile(r"[ +\-\\]|@@|diff |index |new |deleted |rename |similarity ")


def is_diff(_: str, lines: Sequence[str]) -> bool:
    """Return True if there are a file and a hunk, and at least half of the lines look like a diff's."""
    files = any(line.startswith(("+++ ", "--- ", "diff ")) for line in lines)
    return files and any(map(HUNK.match, lines)) and are_enough(lines, BODY.match, fraction=0.5)


def rank_in_diff(line: str) -> float:
    """Rank files, hunks and changed lines, then their context."""
    if line.startswith(" "):  # most lines
        return 0.5
    if line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- ")):
        return 2.0
    if FILE.match(line):
        return WANTED_RANK + 1
    return 3.0 if HUNK.match(line) else 2.0 if line[:1] in {"+", "-"} else 0.5


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
FOREIGN_RANK = -0.5  # never raised by an error's name
HEAD = re.compile(
    r"\s*(?:Traceback \(most|Caused by: |goroutine \d|panic: |thread '.*' panicked|Unhandled [Ee]xc|stack backtrace:)"
)


def ranks_in_trace(lines: Sequence[str]) -> Iterator[float]:
    """Rank heads and the user's own frames with the lines below; a library frame named like an error does not count."""
    rank, depth = 1.0, 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if FRAME.match(line[:300]):
            rank, depth = FOREIGN_RANK if FOREIGN.search(line) else 3.0, indent
        elif indent <= depth:
            rank, depth = 1.0, indent
        yield 4.0 if HEAD.match(line) else rank


# Search results and listings: some lines of each file or folder

HIT = re.compile(r"((?:[A-Za-z]:(?=[\\/]))?[\w.@+~/\\-][^:\n]{0,250}+):(?=.)")
PATH = re.compile(r"(?=.*[A-Za-z])(?:\S*[/\\]\S+|\S+\.[A-Za-z]\w{0,9})/?\Z")


def are_hits(_: str, lines: Sequence[str]) -> bool:
    """Return True if most lines are search hits, or nearly all are paths."""
    hits = [line for line in lines if not line.startswith(("--", "[… "))]
    return are_enough(hits, path_of, fraction=0.6, least=2) or are_enough(
        lines, PATH.match, fraction=0.8, least=5
    )


def path_of(line: str) -> str:
    """Return the path at the start of a hit; empty if the line is not a hit."""
    match = HIT.match(line) if ":" in line else None
    return match[1] if match and PATH.match(match[1]) else ""


def ranks_of_hits(lines: Sequence[str]) -> Iterator[float]:
    """Rank the n-th hit of a file, or the n-th path of a folder, 1/n of the first."""
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
TABLE_LINES = 60  # inspected to recognise a table


def header_lines(lines: Sequence[str]) -> int:
    """Return the number of lines above the first row; 0 if there is no table."""
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


def ranks_of_rows(lines: Sequence[str]) -> list[float]:
    """Rank the header, then both ends."""
    ranks = [1.5 if i < 2 or i == len(lines) - 1 else 0.0 for i in range(len(lines))]  # noqa: PLR2004 - the first two
    above = header_lines(lines)
    ranks[:above] = [ERROR_RANK + 2] * above
    return ranks


# Prose: whole sentences

SIGN = re.compile(r"[\d`_/]")  # a fast check
EXACT = frozenset(["not", "no", "never", "only", "always", "must", "except", "cannot"])
UNSPOKEN = re.compile(r"[\W\d_](?<![ ,.'\u2019\u3001\u3002\uff01\uff1f])")
LEAST_WORDS = 8  # per line, on average
LAST_LINES = 3  # of a text, which hold its conclusion


def is_prose(_: str, lines: Sequence[str]) -> bool:
    """Return True if the lines are mostly words, many per line, or there are several ``##`` headings."""
    if sum(line.startswith("## ") for line in lines) > 1:
        return True
    joined = "".join(lines)
    words = joined.count(" ") + len(lines)
    if len(joined) < 120 or (words < LEAST_WORDS * len(lines) and joined.isascii()):  # noqa: PLR2004 - characters
        return False
    return len(UNSPOKEN.sub("", joined)) >= 0.85 * len(joined)


def sentences_in(text: str) -> list[str]:
    """Split a text into sentences and empty lines."""
    lines = (sentences_of(line) or [""] for line in text.split("\n"))
    return [sentence.rstrip() for line in lines for sentence in line]


def ranks_of_sentences(lines: Sequence[str]) -> list[float]:
    """Rank the beginning and the conclusion, headings, sentences with a value or a negation."""
    ranks: list[float] = []
    begins = True
    for line in lines:
        if not line:
            rank = BLANK_RANK
        elif (line[0] in "#=-*_" or line[-1] == ":") and HEADING.match(line):
            rank = 2.5
        else:
            exact = SIGN.search(line) or "n't" in line or not EXACT.isdisjoint(line.lower().split())
            rank = 0.6 * bool(exact) + 0.5 * begins
        ranks.append(rank)
        begins = not line
    said = [at for at, line in enumerate(lines) if line]
    for at in {*said[:1], *said[-LAST_LINES:]}:
        ranks[at] = WANTED_RANK + 1
    return ranks


OUTPUT = Reducer(
    "output",
    lambda text, lines: len(lines) > 1 and "\0" not in text and "\ufffd" not in text,
    cut_output,
    tight_output,
)
REDUCERS = (
    JSON,
    Reducer("diff", is_diff, by_ranks(partial(map, rank_in_diff))),  # before the diffed file's kind
    Reducer(
        "trace",
        lambda _, lines: are_enough(lines, FRAME.match, fraction=0.2, least=2),
        by_ranks(ranks_in_trace, split=lambda text: tight_output(text).split("\n"), errors=True),
        tight_output,
    ),
    Reducer(
        "log",
        lambda _, lines: are_enough(lines, LOGGED.match, fraction=0.5, least=4),
        cut_output,
        tight_output,
    ),
    Reducer("hits", are_hits, by_ranks(ranks_of_hits, noun="hits")),
    Reducer(
        "table",
        lambda text, _: header_lines(text[:6_000].split("\n")) > 0,
        by_ranks(ranks_of_rows, noun="rows", errors=True),
    ),
    CODE,
    Reducer("prose", is_prose, by_ranks(ranks_of_sentences, split=sentences_in, noun="sentences")),
    OUTPUT,  # any other lines
)
SPAN_CHARS = 6_000  # of a text's head, middle and tail
LINE_CHARS = 400  # of one line


def reducer_for(text: str) -> Reducer | None:
    """Return the reducer for a text, by its head, middle and tail; ``None`` if no kind fits, as for a single line of words."""
    sample = text
    if len(text) > 3 * SPAN_CHARS:
        middle = (len(text) - SPAN_CHARS) // 2
        spans = text[:SPAN_CHARS], text[middle : middle + SPAN_CHARS], text[-SPAN_CHARS:]
        sample = "\n".join(spans)
    lines = [line[:LINE_CHARS] for line in shown(sample).split("\n") if line.strip()]
    return next((reducer for reducer in REDUCERS if reducer.recognises(text, lines)), None)
