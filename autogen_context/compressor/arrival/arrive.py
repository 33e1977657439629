"""What is done to a tool's result before it is first sent.

Promise: without loss, every word stays beside its neighbours, so that whoever looks for it, or edits by it, finds it as it
was; where a file is shown, each line of it stays to the character. With loss, what the call and the task ask for stays
before the rest, and the last line says how much there was and how to have it back. No more characters than there were.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from autogen_context.compressor.arrival.data import without_data
from autogen_context.compressor.arrival.deduplication import LinesAbove, without_lines_above
from autogen_context.compressor.arrival.json_text import minified
from autogen_context.compressor.arrival.output import OUTPUT
from autogen_context.compressor.arrival.recognise import reducer_for
from autogen_context.compressor.arrival.reducer import CountText, Room
from autogen_context.messages.identifiers import values_of
from autogen_context.messages.message import ToolCall, content_digest
from autogen_context.messages.tool_call import ToolKinds, action_of
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.prioritizer.blocks import parsed, strings_in

LEAST_CHARS = 200  # of a result; in a shorter one there is nothing to gain

# Of a result; of a larger one not all is sent where the rest can be asked back. Code is edited by its exact text.
MOST_TOKENS = 800
MOST_CODE_TOKENS = 5_000

WANTED = 60  # names that a call and the task ask for, those of the call first
ARGUMENT_CHARS = 400  # of one argument; a longer one is content
TASK_CHARS = 20_000  # of a task, to look for names; a longer one holds content


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a result answers.

    Attributes:
        call: the call, if it is known.
        task: what a person asked for last.
        shows_file: whether the result shows the content of a file.
    """

    call: ToolCall | None = None
    task: str = ""
    shows_file: bool = False

    @property
    def is_asked_back(self) -> bool:
        """Whether the result is the original of something reduced."""
        return self.call is not None and self.call.name == RECALL_TOOL_NAME

    @property
    def wanted(self) -> frozenset[str]:
        """What the call and the task name, in lower case."""
        named = (word.lower() for text in self._naming() for word in values_in_order(text))
        return frozenset(islice(dict.fromkeys(named), WANTED))

    def _naming(self) -> Iterator[str]:
        arguments = parsed(self.call.arguments) if self.call else None
        yield from (text for text in strings_in(arguments) if len(text) <= ARGUMENT_CHARS)
        yield self.task[:TASK_CHARS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A result as it is sent.

    Attributes:
        text: what is sent.
        handle: where its original is asked back, if something of it is lost; else empty.
    """

    text: str
    handle: str = ""


def asked_by(call: ToolCall | None, task: str, kinds: ToolKinds) -> Asked:
    """What a call asks for, in view of what a person asked for last."""
    shows_file = call is not None and bool(action_of(call, kinds).views)
    return Asked(call=call, task=task, shows_file=shows_file)


def values_in_order(text: str) -> list[str]:
    """The distinct values of a text, as they come in it; of those that begin at one place the shorter one first."""
    return sorted(values_of(text), key=lambda value: (text.find(value), value))


def by_itself(text: str, asked: Asked) -> str:
    """A result without what says nothing, whatever else is sent; itself where that is nothing.

    Args:
        text: what the tool returned.
        asked: what that answers; the task tells nothing here.
    """
    if asked.is_asked_back or len(text) < LEAST_CHARS:
        return text
    reducer = reducer_for(text)
    if reducer is None or (asked.shows_file and reducer.kind != "code"):
        return text  # whoever edits a file looks for its text to the character
    return minified(text) if reducer.kind == "json" else reducer.tighten(text)


def tidied(text: str, asked: Asked, above: LinesAbove) -> str:
    """A result without what is sent before it; itself where that is nothing."""
    return text if asked.is_asked_back else without_lines_above(text, above)


def cut(text: str, original: str, asked: Asked, count: CountText) -> Arrived:
    """A result of which no more is sent than has its place in a window.

    Args:
        text: the result, tidied.
        original: as the tool returned it.
        asked: what it answers.
        count: tokens of a text.

    Returns:
        The text itself where it has no more tokens than a result may have, or where what is cut of it would be longer.
    """
    tokens = 0 if asked.is_asked_back else count(text)
    if tokens <= MOST_TOKENS:
        return Arrived(text=text)
    readable = without_data(text)
    reducer = reducer_for(readable) or OUTPUT
    most = MOST_CODE_TOKENS if asked.shows_file or reducer.kind == "code" else MOST_TOKENS
    if tokens <= most:
        return Arrived(text=text)
    handle = handle_of(original)
    mark = mark_of(count(original), handle)
    room = Room(tokens=most - count(mark) - 1, count=count, wanted=asked.wanted)
    short = f"{reducer.cut(readable, room)}\n{mark}"
    return Arrived(text=short, handle=handle) if len(short) < len(text) else Arrived(text=text)


def handle_of(original: str) -> str:
    """What an original is asked back by: 12 hex digits."""
    return content_digest(original)[:6].hex()


def mark_of(tokens: int, handle: str) -> str:
    """The last line of what is cut."""
    return f'[reduced from {tokens} tokens; the whole: {RECALL_TOOL_NAME}(handle="{handle}")]'
