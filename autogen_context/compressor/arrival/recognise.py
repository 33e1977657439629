"""Which kind of content a text is.

Promise: told by the text alone, from a sample whose size does not grow with it; the most telling kinds are asked first,
and a text that is nothing in particular has no reducer.
"""

from autogen_context.compressor.arrival.binary import Binary
from autogen_context.compressor.arrival.code import Code
from autogen_context.compressor.arrival.diff import Diff
from autogen_context.compressor.arrival.hits import Hits
from autogen_context.compressor.arrival.html import Html
from autogen_context.compressor.arrival.json_text import Json
from autogen_context.compressor.arrival.listing import Listing
from autogen_context.compressor.arrival.log import Log
from autogen_context.compressor.arrival.output import Output
from autogen_context.compressor.arrival.prose import Prose
from autogen_context.compressor.arrival.reducer import Reducer
from autogen_context.compressor.arrival.table import Table
from autogen_context.compressor.arrival.test_output import RunOfTests
from autogen_context.compressor.arrival.trace import Trace

REDUCERS: tuple[Reducer, ...] = (
    Binary(),
    Json(),
    Diff(),  # before what a file of which may be
    RunOfTests(),  # before traces, which are in it
    Trace(),
    Log(),
    Html(),
    Hits(),
    Listing(),
    Table(),
    Code(),
    Prose(),
    Output(),  # any other lines
)


def reducer_for(text: str) -> Reducer | None:
    """The reducer for a text; none where it is of no known kind, such as a single line of words."""
    return next((reducer for reducer in REDUCERS if reducer.recognises(text)), None)
