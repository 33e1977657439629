"""Hypothesis strategies for valid and broken conversations, as OpenAI chat dicts.

Promise: OpenAI accepts what ``transcripts`` draws, except for pending tool calls at the end, and rejects what
``broken_transcripts`` draws. Needs Hypothesis: ``pip install "autogen-context[testing]"``.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import itemgetter, mul
from typing import TypeAlias

from autogen_context.errors import MissingExtra
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.wire import ApiError, ChatMessage

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise MissingExtra("testing", needed_for="autogen_context.testing.transcripts") from error

Messages: TypeAlias = list[ChatMessage]
Texts: TypeAlias = st.SearchStrategy[str]
Drawn: TypeAlias = st.SearchStrategy[Messages]
Break: TypeAlias = Callable[[Messages, int], Messages]
"""Breaks messages at the place chosen by a number (0 or more); changed messages are copies."""

# Texts that have broken tokenizers, chat templates and counters.
_ODD_TEXTS = (
    *("", " ", "ok", "<|endoftext|>", "<|im_start|>system", "你好世界", "👩‍👩‍👧‍👦🏳️‍🌈"),
    *("مرحبا بالعالم", "a\u0000b", "\r\n\t", '{"rows": [1, null]}'),
)
_LINES = (
    "The quick brown fox jumps over the lazy dog. ",
    "    return self.total_cents + line.price_cents\n",
    "ERROR shop.billing: invoice 4711 charged twice\n",
    '{"id": 4711, "path": "src/app/main.py", "ok": false}\n',
    "検索結果が見つかりません。",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo",
    " ",
)
_TOOL_NAMES = ("read_file", "search", "run_tests")
_ID_FORMS = ("call_{}", "toolu_01{}", "{}", "chatcmpl-tool-{}")
_MOST_CALLS = 4  # of one message
_MOST_BREAKS = 3  # of one transcript


def transcripts(*, max_messages: int = 12, max_repeats: int = 200, pending: bool = True) -> Drawn:
    """Valid conversations: users, parallel calls, results in any order, images, names, thinking fields, odd texts.

    Args:
        max_messages: maximum number of messages; 2 or more.
        max_repeats: maximum repetitions of a line in a large text; 200 gives up to 3,000 tokens.
        pending: if True, some conversations end with tool calls without results.
    """
    if max_messages < 2:  # noqa: PLR2004  a call and its result
        raise ValueError(f"max_messages: 2 or more, not {max_messages}")
    large = st.builds(mul, st.sampled_from(_LINES), st.integers(1, max(1, max_repeats)))
    texts = st.one_of(st.sampled_from(_ODD_TEXTS), st.text(max_size=16), large)
    steps = _steps(texts, min(_MOST_CALLS, max_messages - 1))
    roles = st.sampled_from(("system", "developer"))
    instructions = _alone({"role": roles, "content": texts})
    said = {"role": st.just("assistant"), "content": texts}
    groups = st.one_of(_people(texts), _alone(said, _thinking(texts)), steps, instructions)
    end: Drawn = st.just([])
    return st.builds(
        _joined,
        st.lists(instructions, max_size=2),
        st.lists(groups, min_size=1, max_size=max_messages),
        st.one_of(end, steps.map(lambda step: step[:1])) if pending else end,
        id_form=st.sampled_from(_ID_FORMS),
        max_messages=st.just(max_messages),
    )


def broken_transcripts(*, max_messages: int = 12, max_repeats: int = 200) -> Drawn:
    """Conversations that OpenAI rejects, with one to three of the ``BREAKS``, each adding at most one message."""
    whole = transcripts(max_messages=max_messages, max_repeats=max_repeats, pending=False)
    changes = st.sampled_from(list(BREAKS.values()))
    breaks = st.tuples(changes, st.integers(0, 2 * max_messages))
    some = st.lists(breaks, min_size=1, max_size=_MOST_BREAKS)
    return st.builds(_broken, whole, some).filter(_is_refused)


def histories(
    *, max_messages: int = 12, max_repeats: int = 200
) -> st.SearchStrategy[list[list[ChatMessage]]]:
    """A growing conversation, as a host passes it turn by turn: prefixes of increasing length, the last one complete.

    No prefix separates a tool call from its results. The prefixes share their message objects.
    """
    whole = transcripts(max_messages=max_messages, max_repeats=max_repeats, pending=False)
    return whole.flatmap(_prefixes)


def _people(texts: Texts) -> Drawn:
    url = st.sampled_from(("https://example.org/a.png", "data:image/png;base64,iVBORw0KGgo="))
    detail = {"detail": st.sampled_from(("low", "high"))}
    image = st.fixed_dictionaries({"url": url}, optional=detail)
    pictures = st.fixed_dictionaries({"type": st.just("image_url"), "image_url": image})
    parts = st.lists(st.one_of(_text_part(texts), pictures), min_size=1, max_size=3)
    said = {"role": st.just("user"), "content": st.one_of(texts, parts)}
    return _alone(said, {"name": st.sampled_from(("ada", "grace_h"))})


def _thinking(texts: Texts) -> dict[str, st.SearchStrategy[object]]:
    """Return strategies for the fields in which providers send a model's thinking and expect it back."""
    block = {"type": st.just("thinking"), "thinking": texts, "signature": st.just("EqQBCg==")}
    blocks = st.lists(st.fixed_dictionaries(block), min_size=1, max_size=2)
    return {"reasoning_content": texts, "thinking_blocks": blocks}


def _steps(texts: Texts, most_calls: int) -> Drawn:
    """Return a strategy for a message with tool calls and their results in any order; ids start at 0 in each step."""
    head = {"role": st.just("assistant"), "content": st.one_of(st.none(), texts)}
    answered = st.one_of(texts, st.lists(_text_part(texts), min_size=1, max_size=2))
    written = st.fixed_dictionaries({"path": st.just("a.py"), "text": texts}).map(json.dumps)
    arguments = st.one_of(st.sampled_from(("{}", "", '{"path": "src/')), written)
    durations = st.integers(0, most_calls)
    exchanges = st.tuples(st.sampled_from(_TOOL_NAMES), arguments, answered, durations)
    return st.builds(
        _step,
        st.fixed_dictionaries(head, optional=_thinking(texts)),
        st.lists(exchanges, min_size=1, max_size=most_calls),
        named=st.booleans(),
    )


def _step(
    head: ChatMessage, exchanges: Sequence[tuple[str, str, object, int]], *, named: bool
) -> Messages:
    """Return the message with tool calls, then the results by increasing duration."""
    calls: Messages = []
    results: list[tuple[int, ChatMessage]] = []
    for place, (name, arguments, content, duration) in enumerate(exchanges):
        function = {"name": name, "arguments": arguments}
        calls.append({"id": str(place), "type": "function", "function": function})
        result = {"role": "tool", "tool_call_id": str(place), "content": content}
        results.append((duration, {**result, "name": name} if named else result))
    ordered = [result for _, result in sorted(results, key=itemgetter(0))]
    return [{**head, "tool_calls": calls}, *ordered]


def _text_part(texts: Texts) -> st.SearchStrategy[ChatMessage]:
    return st.fixed_dictionaries({"type": st.just("text"), "text": texts})


def _alone(
    fields: Mapping[str, st.SearchStrategy[object]],
    optional: Mapping[str, st.SearchStrategy[object]] | None = None,
) -> Drawn:
    drawn = st.fixed_dictionaries(dict(fields), optional=dict(optional or {}))
    return drawn.map(lambda message: [message])


def _joined(
    opening: list[Messages],
    groups: list[Messages],
    end: Messages,
    *,
    id_form: str,
    max_messages: int,
) -> Messages:
    """Concatenate the groups up to ``max_messages``, making each id unique."""
    joined: Messages = []
    for place, group in enumerate([*opening, *groups, end]):
        if len(joined) + len(group) > max_messages:
            break
        form = id_form.format(f"{place}_{{}}")
        joined += [_with_ids(message, form.format) for message in group]
    return joined


def _with_ids(message: ChatMessage, rename: Callable[[str], str]) -> ChatMessage:
    """Return a copy of the message with renamed tool call ids."""
    renamed = dict(message)
    if "tool_calls" in message:
        calls = [{**each, "id": rename(each["id"])} for each in message["tool_calls"]]
        renamed["tool_calls"] = calls
    if "tool_call_id" in message:
        renamed["tool_call_id"] = rename(message["tool_call_id"])
    return renamed


def _broken(messages: Messages, breaks: Sequence[tuple[Break, int]]) -> Messages:
    return reduce(lambda broken, each: each[0](broken, each[1]), breaks, messages)


def _is_refused(messages: Messages) -> bool:
    try:
        check_chat([*messages])
    except ApiError:
        return True
    return False


def _prefixes(messages: Messages) -> st.SearchStrategy[list[Messages]]:
    whole = len(messages)
    ends = [end for end in range(1, whole) if messages[end].get("role") != "tool"]
    chosen = st.lists(st.sampled_from(ends), unique=True) if ends else st.just(list[int]())
    return chosen.map(lambda cuts: [messages[:cut] for cut in [*sorted(cuts), whole]])


def _one(kind: Callable[[ChatMessage], object], change: Callable[[ChatMessage], Messages]) -> Break:
    """Return a break that replaces one message of a kind with the messages that ``change`` returns."""

    def broken(messages: Messages, choice: int) -> Messages:
        places = [place for place, message in enumerate(messages) if kind(message)]
        if not places:
            return list(messages)
        place = places[choice % len(places)]
        return [*messages[:place], *change(messages[place]), *messages[place + 1 :]]

    return broken


def _calls(message: ChatMessage) -> Messages:
    return message.get("tool_calls") or []


def _is_result(message: ChatMessage) -> bool:
    return message.get("role") == "tool"


def _without(key: str) -> Callable[[ChatMessage], Messages]:
    return lambda message: [{name: value for name, value in message.items() if name != key}]


def _result_first(messages: Messages, choice: int) -> Messages:
    places = [place for place, message in enumerate(messages[:-1]) if _calls(message)]
    if not places:
        return list(messages)
    place = places[choice % len(places)]
    return [*messages[:place], messages[place + 1], messages[place], *messages[place + 2 :]]


def _doubled(message: ChatMessage) -> Messages:
    calls = _calls(message)
    return [{**message, "tool_calls": [*calls, {**calls[-1], "id": calls[0]["id"]}]}]


def _numbered_again(messages: Messages, _choice: int) -> Messages:
    names = {each["id"]: f"call_{at}" for one in messages for at, each in enumerate(_calls(one))}
    return [_with_ids(one, lambda call_id: names.get(call_id, call_id)) for one in messages]


BREAKS: Mapping[str, Break] = {
    "lost result": _one(_is_result, lambda _: []),
    "lost call": _one(_calls, lambda _: []),
    "result before its call": _result_first,
    "result twice": _one(_is_result, lambda result: [result, result]),
    "result of no call": _one(
        bool,
        lambda one: [one, {"role": "tool", "tool_call_id": "call_of_nobody", "content": "lost"}],
    ),
    "interrupted step": _one(_is_result, lambda one: [{"role": "user", "content": "wait"}, one]),
    "one id for two calls": _one(_calls, _doubled),
    # Ids start at 0 in each message: valid by itself, but with another break it obscures the pairs.
    "repeated ids": _numbered_again,
    "empty ids": lambda messages, _: [_with_ids(one, lambda _: "") for one in messages],
    "no content": _one(lambda message: not _calls(message), _without("content")),
    "no call id": _one(_is_result, _without("tool_call_id")),
    "no role": _one(bool, _without("role")),
    "unknown role": _one(bool, lambda message: [{**message, "role": "narrator"}]),
}
"""Small changes, each making a conversation invalid; messages without a matching place stay as they are."""
