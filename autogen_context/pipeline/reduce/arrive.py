"""What is done to a tool's result before it is first sent.

Promise: without loss, every word stays beside its neighbours, so that whoever looks for it, or edits by it, finds it as it
was; where a file is shown, each line of it stays to the character. With loss, what the call and the task ask for stays
before the rest, and the last line says how much there was and how to have it back. Never larger.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from autogen_context.pipeline.blocks.extract import parsed, strings_in
from autogen_context.pipeline.blocks.values import values_of
from autogen_context.pipeline.message import ToolCall, content_digest
from autogen_context.pipeline.reduce.blobs import without_blobs
from autogen_context.pipeline.reduce.echo import Sight, echoed
from autogen_context.pipeline.reduce.json_text import minified
from autogen_context.pipeline.reduce.output import Output
from autogen_context.pipeline.reduce.recognise import reducer_for
from autogen_context.pipeline.reduce.reducer import Reducer, Room
from autogen_context.pipeline.tools.kinds import ToolKinds, action_of
from autogen_context.pipeline.tools.recall_tool import RECALL_TOOL_NAME

CountText = Callable[[str], int]

LEAST_CHARS = 200  # of a result; in a shorter one there is nothing to gain
MOST_TOKENS = 800  # of a result that is sent whole, where the rest can be asked back
MOST_CODE_TOKENS = 5_000  # the same of what shows files or code, which is needed whole
TIDY = frozenset(
    {"code", "log", "output", "table", "tests", "trace"}
)  # kinds that tighten without moving a word
EXACT = frozenset({"code"})  # of these, the one that leaves the lines of a file as they are
WANTED = 60  # names that a call and the task ask for, those of the call first
ARGUMENT_CHARS = 400  # of one argument; a longer one is content


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a result answers.

    Attributes:
        shows_file: whether it shows the content of a file.
        asked_back: whether it is the original of something reduced.
        wanted: what the call and the task name, in lower case.
    """

    shows_file: bool = False
    asked_back: bool = False
    wanted: frozenset[str] = frozenset()


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
    if call is None:
        return Asked()
    if call.name == RECALL_TOOL_NAME:
        return Asked(asked_back=True)
    value = parsed(call.arguments)
    named = [text for text in strings_in(value) if len(text) <= ARGUMENT_CHARS]
    words = {word: None for text in [*named, task] for word in values_of(text)}
    return Asked(
        shows_file=bool(action_of(call, kinds).views),
        wanted=frozenset(word.lower() for word in islice(words, WANTED)),
    )


def tidied(text: str, asked: Asked, sight: Sight) -> str:
    """A result without what can go without loss; itself where that is nothing.

    Args:
        text: what the tool returned.
        asked: what that answers.
        sight: what is sent before it.
    """
    if asked.asked_back or len(text) < LEAST_CHARS:
        return text
    return echoed(tight(text, reducer_for(text), asked), sight)


def tight(text: str, reducer: Reducer | None, asked: Asked) -> str:
    """The text by itself with nothing in it that says nothing."""
    if reducer is None:
        return text
    if reducer.kind == "json" and not asked.shows_file:
        return minified(text)
    return reducer.tighten(text) if reducer.kind in (EXACT if asked.shows_file else TIDY) else text


def cut(text: str, original: str, asked: Asked, count: CountText) -> Arrived:
    """A result of which no more is sent than has its place in a window.

    Args:
        text: the result, tidied.
        original: as the tool returned it.
        asked: what it answers.
        count: tokens of a text.
    """
    tokens = 0 if asked.asked_back else count(text)
    readable = without_blobs(text) if tokens > MOST_TOKENS else text
    reducer = reducer_for(readable) or Output()
    most = MOST_CODE_TOKENS if asked.shows_file or reducer.kind == "code" else MOST_TOKENS
    if tokens <= most:
        return Arrived(text=text)
    handle = content_digest(original)[:6].hex()
    mark = (
        f'[reduced from {count(original)} tokens; the whole: {RECALL_TOOL_NAME}(handle="{handle}")]'
    )
    room = Room(tokens=most - count(mark) - 1, count=count, wanted=asked.wanted)
    return Arrived(text=f"{reducer.cut(readable, room)}\n{mark}", handle=handle)
