"""A scripted model: the same conversation always gets the same answers.

Promise: each request uses exactly one step of the script; everything in the answer, ids and usage included, depends only
on the script and the requests so far.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import TypeAlias

from autogen_context.errors import ContextError
from autogen_context.messages.message import ToolCall
from autogen_context.testing.usage import (
    PER_REQUEST,
    PromptCache,
    Usage,
    approximate_tokens,
    compact,
    message_tokens,
    prompt_parts,
    tools_tokens,
)
from autogen_context.testing.wire import ChatMessage, CountTokens


@dataclass(frozen=True, slots=True)
class Say:
    """The model answers with a text."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool; ``arguments`` is a mapping to encode as JSON, or the exact text to send."""

    name: str
    arguments: Mapping[str, object] | str = field(default_factory=dict[str, object])


Step: TypeAlias = Say | Call | Sequence[Say | Call]
"""One answer: a text, a call, or a list of at most one text and any number of parallel calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to the model."""

    number: int
    model: str
    messages: Sequence[ChatMessage]
    tools: Sequence[ChatMessage]


Script: TypeAlias = Iterable[Step] | Callable[[Request], Step]
"""Steps to use in order, or a function that returns the step for a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of the model and its usage; ``text`` is ``None`` if there are only tool calls."""

    number: int
    text: str | None
    calls: tuple[ToolCall, ...]
    usage: Usage

    def as_message(self) -> ChatMessage:
        """Return the answer as a new OpenAI assistant message."""
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in self.calls
        ]
        message: ChatMessage = {"role": "assistant", "content": self.text}
        return message | ({"tool_calls": calls} if calls else {})


class ScriptEnded(ContextError):
    """Raised for a request after the last step of the script."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        noun = "step" if steps == 1 else "steps"
        super().__init__(f"the script has {steps} {noun}; request {steps + 1} is one too many")


class ScriptedModel:
    """A deterministic, thread-safe replacement for a model.

    Args:
        steps: the answers in order (any iterable, even an infinite one), or a function from the request to the answer.
        count: token counter for a text; by default an approximation without a vocabulary.

    Attributes:
        bills: the usage of each answer so far.
    """

    def __init__(self, steps: Script, *, count: CountTokens = approximate_tokens) -> None:
        self._choose = steps if callable(steps) else _in_order(steps)
        # Each request repeats most of the texts of the one before, so counts are cached.
        self.count: CountTokens = lru_cache(maxsize=4096)(count)
        self.bills: list[Usage] = []
        self._cache = PromptCache()
        self._answered = 0
        self._lock = Lock()

    def prompt_tokens(
        self, messages: Sequence[ChatMessage], *, tools: Sequence[ChatMessage] = ()
    ) -> int:
        """Return the tokens of a request by OpenAI's chat format rules, without using a step."""
        counted = sum(message_tokens(message, self.count) for message in messages)
        return PER_REQUEST + tools_tokens(tools, self.count) + counted

    def answer(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ChatMessage] = (),
        model: str = "scripted-model",
    ) -> Answer:
        """Answer with the next step of the script; raise ``ScriptEnded`` if there is none."""
        with self._lock:
            number = self._answered + 1
            asked = Request(number=number, model=model, messages=messages, tools=tools)
            text, calls = _spoken(self._choose(asked), number=number)
            self._answered = number
            said = [text or "", *(each for call in calls for each in (call.name, call.arguments))]
            prompt = prompt_parts(messages, tools, count=self.count)
            usage = Usage(
                prompt_tokens=PER_REQUEST + sum(tokens for _, tokens in prompt),
                completion_tokens=sum(map(self.count, said)),
                cached_tokens=self._cache.cached_tokens(prompt),
            )
            self.bills.append(usage)
        return Answer(number=number, text=text, calls=calls, usage=usage)


def _in_order(steps: Iterable[Step]) -> Callable[[Request], Step]:
    """Return a function that gives the steps in order; the steps of a sequence are validated now, not when used."""
    if isinstance(steps, str | Say | Call):
        wanted = "steps: a list of steps is wanted"
        raise ValueError(f"{wanted}, not {steps!r}; write [Say(...)]")  # noqa: TRY004  like all wrong arguments
    for step in steps if isinstance(steps, Sequence) else ():
        _spoken(step, number=1)
    remaining = iter(steps)

    def following(request: Request) -> Step:
        for step in remaining:
            return step
        raise ScriptEnded(request.number - 1)

    return following


def _spoken(step: Step, *, number: int) -> tuple[str | None, tuple[ToolCall, ...]]:
    """Return the text and the tool calls of a step; call ids are built from the request number and position."""
    parts: Sequence[object] = step if isinstance(step, list | tuple) else [step]
    if unknown := [part for part in parts if not isinstance(part, Say | Call)]:
        raise ValueError(f"a step is Say(...), Call(...) or a list of them, not {unknown[0]!r}")
    texts = [part.text for part in parts if isinstance(part, Say)]
    if len(texts) > 1:
        raise ValueError(f"a step has one text at most, not {len(texts)}: {step!r}")
    made: list[ToolCall] = []
    for call in (part for part in parts if isinstance(part, Call)):
        given = call.arguments
        arguments = given if isinstance(given, str) else compact(dict(given))
        call_id = f"call_{number:06d}_{len(made)}"
        made.append(ToolCall(id=call_id, name=call.name, arguments=arguments))
    return (texts[0] if texts else None if made else ""), tuple(made)
