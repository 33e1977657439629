"""What a text is told by: some of its lines.

Promise: the sample's size does not depend on the text's, and what stands at both ends and in the middle is in it, as a
terminal would show it.
"""

from functools import lru_cache

from autogen_context.pipeline.reduce.terminal import shown

SPAN_CHARS = 6_000  # of each of the three
LINE_CHARS = 400  # of one line


def sample_of(text: str) -> list[str]:
    """Lines from the head, the middle and the tail of a text, blank ones left out, long ones cut.

    Returns:
        All lines of a short text; of a long one some 18,000 characters, broken lines where a span begins or ends.
    """
    return list(sampled(text))


@lru_cache(maxsize=1)  # each kind of content in turn asks for the sample of the same text
def sampled(text: str) -> tuple[str, ...]:
    """The lines of the sample."""
    if len(text) > 3 * SPAN_CHARS:
        middle = (len(text) - SPAN_CHARS) // 2
        spans = text[:SPAN_CHARS], text[middle : middle + SPAN_CHARS], text[-SPAN_CHARS:]
        text = "\n".join(spans)
    lines = shown(text).split("\n")
    return tuple([line[:LINE_CHARS] for line in lines if line and not line.isspace()])
