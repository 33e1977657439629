"""Long strings and long runs of numbers inside a line of JSON, shortened where they stand.

Promise: the ends stay, and of a string what is around the first wanted word; a mark says how much went.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

LEAST_NUMBERS = 24
HEAD_NUMBERS = 6
TAIL_NUMBERS = 2
LONG_STRING = re.compile(r'"([^"]{200,})"')
HEAD_CHARS = 90
TAIL_CHARS = 40
AROUND_CHARS = 30  # on both sides of a wanted word


@dataclass(frozen=True, kw_only=True)
class LongValues:
    """Shortens the long values of one text.

    Attributes:
        bar: what stands on both sides of a number, inside quotes.
        wanted: lower-case words, identifiers and paths.
    """

    bar: str
    wanted: Collection[str]

    def shortened(self, line: str) -> str:
        """A line with its long values shortened; no string of it has a quote inside."""
        if self.bar in line:
            line = self.numbers.sub(lambda match: self.few(match.group()), line)
        return LONG_STRING.sub(lambda match: f'"{shortened_string(match[1], self.wanted)}"', line)

    @cached_property
    def numbers(self) -> re.Pattern[str]:
        """Runs of numbers with a comma behind each."""
        return re.compile(rf'(?:"{self.bar}[^"]*",){{{LEAST_NUMBERS},}}+')

    def few(self, run: str) -> str:
        """The first and the last numbers of a run."""
        numbers = run.split(",")[:-1]  # the last comma ends the last number
        mark = f'"{self.bar}[… {len(numbers) - HEAD_NUMBERS - TAIL_NUMBERS:,} numbers …]{self.bar}"'
        return ",".join((*numbers[:HEAD_NUMBERS], mark, *numbers[-TAIL_NUMBERS:], ""))


def shortened_string(string: str, wanted: Collection[str]) -> str:
    """The ends of a string of at least 200 characters, and what is around the first wanted word between them."""
    middle = string[HEAD_CHARS:-TAIL_CHARS]
    low = middle.lower()
    start, end = min(
        ((spot, spot + len(word)) for word in wanted if (spot := low.find(word)) >= 0),
        default=(0, 0),
    )
    around = middle[max(0, start - AROUND_CHARS) : end + AROUND_CHARS] if end else ""
    before = mark_of(start - AROUND_CHARS if end else len(middle))
    after = mark_of(len(middle) - end - AROUND_CHARS) if end else ""
    return f"{string[:HEAD_CHARS]}{before}{around}{after}{string[-TAIL_CHARS:]}"


def mark_of(chars: int) -> str:
    """What stands where so many characters were."""
    return f"[… {chars:,} characters …]" if chars > 0 else ""
