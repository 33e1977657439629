"""Which kind of content a text is.

Promise: told by the text alone, from a sample whose size does not grow with it; the most telling kinds are asked first,
and a text that is nothing in particular has no reducer.
"""

from autogen_context.compressor.arrival.code import CODE
from autogen_context.compressor.arrival.data import BINARY
from autogen_context.compressor.arrival.diff import DIFF
from autogen_context.compressor.arrival.html import HTML
from autogen_context.compressor.arrival.json_text import JSON
from autogen_context.compressor.arrival.output import LOG, OUTPUT, shown
from autogen_context.compressor.arrival.paths import HITS, LISTING
from autogen_context.compressor.arrival.prose import PROSE
from autogen_context.compressor.arrival.reducer import Reducer
from autogen_context.compressor.arrival.table import TABLE
from autogen_context.compressor.arrival.trace import TRACE

REDUCERS: tuple[Reducer, ...] = (
    BINARY,
    JSON,
    DIFF,  # before what a file of which may be
    TRACE,  # runs of tests as well
    LOG,
    HTML,
    HITS,
    LISTING,
    TABLE,
    CODE,
    PROSE,
    OUTPUT,  # any other lines
)
SPAN_CHARS = 6_000  # of a text's head, middle and tail
LINE_CHARS = 400  # of one line


def reducer_for(text: str) -> Reducer | None:
    """The reducer for a text; none where it is of no known kind, such as a single line of words."""
    lines = sample_of(text)
    return next((reducer for reducer in REDUCERS if reducer.recognises(text, lines)), None)


def sample_of(text: str) -> list[str]:
    """Lines from the head, the middle and the tail of a text as a terminal shows them, blank ones left out, long ones cut.

    Returns:
        All lines of a short text; of a long one some 18,000 characters, broken lines where a span begins or ends.
    """
    if len(text) > 3 * SPAN_CHARS:
        middle = (len(text) - SPAN_CHARS) // 2
        spans = text[:SPAN_CHARS], text[middle : middle + SPAN_CHARS], text[-SPAN_CHARS:]
        text = "\n".join(spans)
    lines = shown(text).split("\n")
    return [line[:LINE_CHARS] for line in lines if line and not line.isspace()]
