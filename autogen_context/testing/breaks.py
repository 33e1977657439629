"""Ways to break a conversation, each as one small change.

Promise: no break changes the list or the messages that it is given. A break that finds nothing to break returns what
it got.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from autogen_context.testing.shapes import ChatMessage

Break: TypeAlias = Callable[[Sequence[ChatMessage], int], list[ChatMessage]]
"""From messages and a number that chooses the place, any from 0 on, to broken messages."""


def lose_result(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """A call stays unanswered."""
    place = _pick(_results(messages), choice)
    return [message for index, message in enumerate(messages) if index != place]


def lose_call(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """Results stay without their call."""
    place = _pick(_askers(messages), choice)
    return [message for index, message in enumerate(messages) if index != place]


def result_before_call(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """The first result of a step comes before its call."""
    place = _pick(_askers(messages), choice)
    if place is None or place + 1 == len(messages):
        return list(messages)
    call, result = messages[place : place + 2]
    return [*messages[:place], result, call, *messages[place + 2 :]]


def result_twice(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """A call is answered twice."""
    place = _pick(_results(messages), choice)
    again = [] if place is None else [messages[place]]
    return [*messages[:place], *again, *messages[place:]] if again else list(messages)


def stray_result(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """A result answers a call that nobody made."""
    place = choice % (len(messages) + 1)
    stray = {"role": "tool", "tool_call_id": "call_of_nobody", "content": "lost"}
    return [*messages[:place], stray, *messages[place:]]


def interrupted_step(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """A person speaks between a call and its result."""
    place = _pick(_results(messages), choice)
    between = [] if place is None else [{"role": "user", "content": "wait"}]
    return [*messages[:place], *between, *messages[place:]] if between else list(messages)


def same_id_twice(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """Two calls of a step have the same id."""

    def doubled(message: ChatMessage) -> ChatMessage:
        calls = message["tool_calls"]
        return {**message, "tool_calls": [*calls, {**calls[-1], "id": calls[0]["id"]}]}

    return _changed(messages, _pick(_askers(messages), choice), doubled)


def repeated_ids(messages: Sequence[ChatMessage], _choice: int) -> list[ChatMessage]:
    """Each step numbers its calls from 0 again; alone this breaks no rule, with another break it hides its pairs."""
    names: dict[str, str] = {}
    for place in _askers(messages):
        names |= {call["id"]: f"call_{at}" for at, call in enumerate(messages[place]["tool_calls"])}
    return [with_ids(message, lambda call_id: names.get(call_id, call_id)) for message in messages]


def empty_ids(messages: Sequence[ChatMessage], _choice: int) -> list[ChatMessage]:
    """No call has an id, and no result names one."""
    return [with_ids(message, lambda _: "") for message in messages]


def no_content(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """A message that needs a content has none."""
    places = [index for index, message in enumerate(messages) if not message.get("tool_calls")]
    return _without(messages, _pick(places, choice), "content")


def no_call_id(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """A result does not say what it answers."""
    return _without(messages, _pick(_results(messages), choice), "tool_call_id")


def no_role(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """A message does not say whose it is."""
    return _without(messages, _pick(range(len(messages)), choice), "role")


def unknown_role(messages: Sequence[ChatMessage], choice: int) -> list[ChatMessage]:
    """A message comes from somebody whom the API does not know."""
    place = _pick(range(len(messages)), choice)
    return _changed(messages, place, lambda message: {**message, "role": "narrator"})


BREAKS: tuple[Break, ...] = (
    lose_result,
    lose_call,
    result_before_call,
    result_twice,
    stray_result,
    interrupted_step,
    same_id_twice,
    repeated_ids,
    empty_ids,
    no_content,
    no_call_id,
    no_role,
    unknown_role,
)


def with_ids(message: ChatMessage, rename: Callable[[str], str]) -> ChatMessage:
    """The message with other ids for its calls, or for the call that it answers; a new one."""
    renamed = dict(message)
    if "tool_calls" in message:
        renamed["tool_calls"] = [
            {**call, "id": rename(call["id"])} for call in message["tool_calls"]
        ]
    if "tool_call_id" in message:
        renamed["tool_call_id"] = rename(message["tool_call_id"])
    return renamed


def _askers(messages: Sequence[ChatMessage]) -> list[int]:
    return [index for index, message in enumerate(messages) if message.get("tool_calls")]


def _results(messages: Sequence[ChatMessage]) -> list[int]:
    return [index for index, message in enumerate(messages) if message.get("role") == "tool"]


def _pick(places: Sequence[int], choice: int) -> int | None:
    return places[choice % len(places)] if places else None


def _changed(
    messages: Sequence[ChatMessage], place: int | None, change: Callable[[ChatMessage], ChatMessage]
) -> list[ChatMessage]:
    return [
        change(message) if index == place else message for index, message in enumerate(messages)
    ]


def _without(messages: Sequence[ChatMessage], place: int | None, key: str) -> list[ChatMessage]:
    def stripped(message: ChatMessage) -> ChatMessage:
        return {name: value for name, value in message.items() if name != key}

    return _changed(messages, place, stripped)
