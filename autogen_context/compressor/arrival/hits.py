"""What a search or a compiler found: ``path:line:text`` and ``path:text``, as grep and ripgrep write it.

Promise: ``tighten`` writes the path of hits that follow each other once, above them, and nothing else changes: below it, a
line that begins with a number and a colon, or with a colon, is a hit in that file; with a hyphen it is the context of
one. ``cut`` keeps what is asked for, then the first hits of each file.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autogen_context.compressor.arrival.lines import GAP, choose, first_and_last
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.repeats import lines_in
from autogen_context.compressor.arrival.sample import are_enough, sample_of
from autogen_context.compressor.arrival.wanted import raised, wanted_in

HIT = re.compile(r"((?:[A-Za-z]:(?=[\\/]))?[\w.@+~/\\-][^:\n]{0,250}+):(?=.)")
A_PATH = re.compile(r"(?=.*[A-Za-z])(?:\S*[/\\]\S+|\S+\.[A-Za-z]\w{0,9})\Z")
NUMBER = re.compile(r"\d+([:-])")
BELOW = re.compile(r"\d+[:-]|:")  # what lines begin with that stand below their path
ANY_BELOW = re.compile(rf"^(?:{BELOW.pattern})", re.MULTILINE)
BREAK = "--"  # between hits with context

HIT_SHARE = 0.6  # of the lines
LEAST_HITS = 2

WANTED_RANK = 2.0
FOUND_RANK = 1.0  # of the first hit of a file; of the n-th, the n-th part
BLANK_RANK = -1.0


@dataclass(frozen=True, slots=True)
class Hits:
    """Lines of files, with their places."""

    kind: str = "hits"

    def recognises(self, text: str, /) -> bool:
        """Whether most lines are hits."""
        lines = [line for line in sample_of(text) if not is_break(line)]
        return are_enough(lines, path_of, share=HIT_SHARE, least=LEAST_HITS)

    def tighten(self, text: str, /) -> str:
        """The path of each run of hits once, above them."""
        if ANY_BELOW.search(text):
            return text
        return "\n".join(line for path, run in runs(text.split("\n")) for line in headed(path, run))

    def cut(self, text: str, room: Room, /) -> str:
        """Some hits of each file; what is asked for first."""
        lines = list(with_paths(lines_in(text)))
        ranks = raised(hit_ranks(lines), wanted_in(lines, room.wanted), to=WANTED_RANK)
        short = self.tighten(choose(lines, ranks, room))
        return short if len(short) <= len(text) else first_and_last(text, room)


def path_of(line: str) -> str:
    """The path that a hit begins with; empty for what is none."""
    match = HIT.match(line) if ":" in line else None
    return match[1] if match and A_PATH.match(match[1]) else ""


def is_break(line: str) -> bool:
    """Whether a line stands between hits: those that a search skipped, or those that went."""
    return line == BREAK or line.startswith(GAP)


def runs(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The lines in runs that begin with one path, which is empty where there is none."""
    path, run = "", list[str]()
    for line in lines:
        if path and (is_break(line) or below(line, path)):
            run.append(line)
            continue
        if run:
            yield path, run
        path, run = path_of(line), [line]
    yield path, run


def below(line: str, path: str) -> str:
    """What is left of a hit in a file, or of its context, when the path is gone; empty for what is neither."""
    if not line.startswith(path):
        return ""
    at = len(path)
    number = NUMBER.match(line, at + 1)
    if number and line[at] == number[1]:
        return line[at + 1 :]
    return line[at:] if line[at : at + 1] == ":" else ""


def headed(path: str, run: list[str]) -> list[str]:
    """A run with its path above, where there are two hits to share it."""
    if not path or sum(1 for line in run if not is_break(line)) < LEAST_HITS:
        return run
    return [path, *(line if is_break(line) else below(line, path) for line in run)]


def with_paths(lines: Sequence[str]) -> Iterator[str]:
    """The hits with their paths again, where these were written once."""
    path = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        number = NUMBER.match(line)
        if path and number:
            yield f"{path}{number[1]}{line}"
        elif path and (is_break(line) or line[:1] == ":"):
            yield line if is_break(line) else path + line
        elif A_PATH.match(line) and BELOW.match(following):
            path = line
        else:
            path = ""
            yield line


def hit_ranks(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth as one of the hits in its file."""
    met: Counter[str] = Counter()
    for line in lines:
        path = path_of(line) or line
        met[path] += 1
        yield FOUND_RANK / met[path] if line.strip() and not is_break(line) else BLANK_RANK
