"""The strategies: what they draw, what they never draw, and how small it shrinks."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import pairwise

import pytest
from hypothesis import Phase, find, given, settings

from autogen_context.testing import ChatMessage, approximate_tokens
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.transcripts import BREAKS, broken_transcripts, histories, transcripts
from autogen_context.testing.wire import ApiError
from support.saying import asks, says, tells

Messages = list[ChatMessage]

DRAWN = settings(phases=[Phase.generate], max_examples=1_000, database=None)
SHRUNK = settings(phases=[Phase.generate, Phase.shrink], database=None)


def refusal(messages: Sequence[ChatMessage]) -> str:
    """What OpenAI would say; empty where it takes the messages."""
    try:
        check_chat([*messages])
    except ApiError as error:
        return error.message
    return ""


def call_ids(messages: Sequence[ChatMessage]) -> list[str]:
    """The ids of all calls, in order."""
    return [call["id"] for message in messages for call in message.get("tool_calls", ())]


def result_ids(messages: Sequence[ChatMessage]) -> list[str]:
    """The ids that results answer, in order."""
    return [message["tool_call_id"] for message in messages if message["role"] == "tool"]


def has_pending_call(messages: Sequence[ChatMessage]) -> bool:
    """The newest message calls tools, and no result has come."""
    return "tool_calls" in messages[-1]


@settings(max_examples=25)
@given(transcripts())
def test_transcripts_are_taken(messages: Messages) -> None:
    """OpenAI takes every drawn transcript but for a pending call at its end; each id comes once."""
    closed = messages[:-1] if has_pending_call(messages) else messages
    assert not closed or refusal(closed) == ""
    for ids in (call_ids(messages), result_ids(messages)):
        assert len(ids) == len(set(ids))


@settings(max_examples=25)
@given(broken_transcripts())
def test_broken_transcripts_are_refused(messages: Messages) -> None:
    """Each of them; and what is drawn survives a file."""
    assert refusal(messages)
    assert json.loads(json.dumps(messages)) == messages


STEPS = [says("go", "user"), asks("a", "b"), tells("a"), tells("b")]


@pytest.mark.parametrize("name", BREAKS)
def test_each_break_breaks(name: str) -> None:
    """One break alone makes a step that OpenAI refuses, except repeated ids, and copies what it changes."""
    before = deepcopy(STEPS)
    for choice in range(9):
        assert bool(refusal(BREAKS[name](STEPS, choice))) == (name != "repeated ids")
        assert BREAKS[name]([], choice) == []
    assert before == STEPS


@settings(max_examples=25)
@given(histories())
def test_histories_grow(prefixes: list[Messages]) -> None:
    """Each prefix is longer than the one before, begins with its very messages, and parts no call from its result."""
    for shorter, longer in pairwise(prefixes):
        assert len(shorter) < len(longer)
        assert all(old is new for old, new in zip(shorter, longer, strict=False))
    assert all(prefix and refusal(prefix) == "" for prefix in prefixes)


KINDS: dict[str, Callable[[Messages], bool]] = {
    "developer": lambda m: m[0]["role"] == "developer",
    "pending-call": has_pending_call,
    "parallel": lambda m: any(len(x.get("tool_calls", ())) > 2 for x in m),
    "any-order": lambda m: call_ids(m) != result_ids(m) and refusal(m) == "",
    "image": lambda m: "image_url" in json.dumps(m),
    "thinking": lambda m: any("thinking_blocks" in x for x in m),
    "empty-text": lambda m: any(x.get("content") == "" for x in m),
    "name": lambda m: any("name" in x and x["role"] == "user" for x in m),
    "special-token": lambda m: "<|endoftext|>" in json.dumps(m),
    "unicode": lambda m: not json.dumps(m, ensure_ascii=False).isascii(),
    "large": lambda m: approximate_tokens(json.dumps(m)) > 1_000,
}


def test_what_is_promised_is_drawn() -> None:
    """Each kind of message that the documentation names is found."""
    missing = set(KINDS)

    def finds(messages: Messages) -> bool:
        missing.difference_update([kind for kind in missing if KINDS[kind](messages)])
        return not missing

    find(transcripts(max_repeats=60), finds, settings=DRAWN)


def test_only_transcripts_need_hypothesis() -> None:
    """Without Hypothesis the package imports, and the strategies say what to install."""
    program = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import autogen_context.testing\n"
        "assert not {'openai', 'autogen_core', 'tiktoken', 'bpe_openai'} & set(sys.modules)\n"
        "from autogen_context.errors import MissingExtra\n"
        "try: import autogen_context.testing.transcripts\n"
        "except MissingExtra as error: print(error)"
    )
    done = subprocess.run(  # noqa: S603  our own interpreter and program
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert 'pip install "autogen-context[testing]"' in done.stdout
