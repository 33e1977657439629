"""What a text is told by: some of its lines.

Promise: the sample's size does not depend on the text's, and what stands at both ends and in the middle is in it, as a
terminal would show it.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import filterfalse, islice
from math import ceil

from autogen_context.compressor.arrival.terminal import shown

SPAN_CHARS = 6_000  # of each of the three
LINE_CHARS = 400  # of one line


@lru_cache(maxsize=1)  # each kind of content in turn asks for the sample of the same text
def sample_of(text: str) -> tuple[str, ...]:
    """Lines from the head, the middle and the tail of a text, blank ones left out, long ones cut.

    Returns:
        All lines of a short text; of a long one some 18,000 characters, broken lines where a span begins or ends.
    """
    if len(text) > 3 * SPAN_CHARS:
        middle = (len(text) - SPAN_CHARS) // 2
        spans = text[:SPAN_CHARS], text[middle : middle + SPAN_CHARS], text[-SPAN_CHARS:]
        text = "\n".join(spans)
    lines = shown(text).split("\n")
    return tuple([line[:LINE_CHARS] for line in lines if line and not line.isspace()])


def are_enough(
    lines: Sequence[str], test: Callable[[str], object], *, share: float = 0.0, least: int = 1
) -> bool:
    """Whether so many lines pass a test; no line is looked at behind the one that makes it too few.

    Args:
        lines: n lines.
        test: what they are to pass.
        share: of the lines that pass, at least.
        least: how many pass, at least.
    """
    spare = len(lines) - max(least, ceil(share * len(lines)))
    others = filterfalse(test, lines)
    return spare >= 0 and next(islice(others, spare, None), None) is None
