"""Which kind of content a text is.

Promise: told by the text alone, from a sample whose size does not grow with it; the most telling kinds are asked first,
and a text that is nothing in particular has no reducer.
"""

from autogen_context.pipeline.reduce.binary import Binary
from autogen_context.pipeline.reduce.code import Code
from autogen_context.pipeline.reduce.diff import Diff
from autogen_context.pipeline.reduce.hits import Hits
from autogen_context.pipeline.reduce.html import Html
from autogen_context.pipeline.reduce.json_text import Json
from autogen_context.pipeline.reduce.listing import Listing
from autogen_context.pipeline.reduce.log import Log
from autogen_context.pipeline.reduce.output import Output
from autogen_context.pipeline.reduce.prose import Prose
from autogen_context.pipeline.reduce.reducer import Reducer
from autogen_context.pipeline.reduce.table import Table
from autogen_context.pipeline.reduce.test_output import RunOfTests
from autogen_context.pipeline.reduce.trace import Trace

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
