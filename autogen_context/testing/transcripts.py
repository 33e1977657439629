"""Hypothesis strategies for conversations as OpenAI chat dicts, well-formed and broken.

Promise: OpenAI would take what ``transcripts`` draws, but for a pending call at the end, and would refuse what
``broken_transcripts`` draws. Examples shrink to few messages with short texts.

Needs Hypothesis: ``pip install "autogen-context[testing]"``.
"""

import json
from collections.abc import Sequence
from operator import itemgetter, mul

from autogen_context.errors import MissingExtra
from autogen_context.testing.breaks import BREAKS, Break, with_ids
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.shapes import ChatMessage
from autogen_context.testing.wire import ApiError

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise MissingExtra("testing", needed_for="autogen_context.testing.transcripts") from error

# What has broken tokenizers, templates and counters before.
_ODD_TEXTS = (
    "",
    " ",
    "ok",
    "<|endoftext|>",
    "<|im_start|>system",
    "你好世界",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "مرحبا بالعالم",
    "a\u0000b",
    "\r\n\t",
    '{"rows": [1, null]}',
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
_MOST_CALLS = 4
_MOST_BREAKS = 3


def transcripts(
    *, max_messages: int = 12, max_repeats: int = 200, pending: bool = True
) -> st.SearchStrategy[list[ChatMessage]]:
    """Well-formed conversations.

    System prompts, people, assistants with text or parallel calls, results in any order, parts with images, names,
    thinking fields, empty and odd texts.

    Args:
        max_messages: the most messages of one; 1 at least.
        max_repeats: how often a line is repeated at most in a large text; 200 is up to 3,000 tokens.
        pending: some end with calls whose results have not come.

    Raises:
        ValueError: ``max_messages`` is below 2, so that no call with its result would have room.
    """
    if max_messages < 2:  # noqa: PLR2004  a call and its result
        raise ValueError(f"max_messages: 2 or more, not {max_messages}")
    texts = _texts(max_repeats)
    calls = min(_MOST_CALLS, max_messages - 1)
    steps = _steps(texts, calls)
    groups = st.one_of(_people(texts), _sayings(texts), steps, _instructions(texts))
    ends = [
        st.just(list[ChatMessage]()),
        *([steps.map(lambda step: step[:1])] if pending else []),
    ]
    return st.builds(
        _joined,
        st.lists(_instructions(texts), max_size=2),
        st.lists(groups, min_size=1, max_size=max_messages),
        st.one_of(ends),
        id_form=st.sampled_from(_ID_FORMS),
        max_messages=st.just(max_messages),
    )


def broken_transcripts(
    *, max_messages: int = 12, max_repeats: int = 200
) -> st.SearchStrategy[list[ChatMessage]]:
    """Conversations that OpenAI refuses, with one to three breaks of those in ``testing.breaks``.

    Results without call, calls without result, results before their call, twice, or interrupted; duplicate and empty
    ids; a content, role or id that is missing; unknown roles.

    Args:
        max_messages: the most messages before it is broken; a break adds one at most.
        max_repeats: as for ``transcripts``.

    Raises:
        ValueError: ``max_messages`` is below 2.
    """
    whole = transcripts(max_messages=max_messages, max_repeats=max_repeats, pending=False)
    breaks = st.tuples(st.sampled_from(BREAKS), st.integers(0, 2 * max_messages))
    some = st.lists(breaks, min_size=1, max_size=_MOST_BREAKS)
    return st.builds(_broken, whole, some).filter(_is_refused)


def histories(
    *, max_messages: int = 12, max_repeats: int = 200
) -> st.SearchStrategy[list[list[ChatMessage]]]:
    """A conversation as a host hands it over turn by turn: one or more prefixes, each longer than the one before.

    No prefix parts a call from its results, each holds a message at least, and the last one is the whole. They share
    their messages, as those of a host that appends do.

    Args:
        max_messages: the most messages of the whole.
        max_repeats: as for ``transcripts``.

    Raises:
        ValueError: ``max_messages`` is below 2.
    """
    whole = transcripts(max_messages=max_messages, max_repeats=max_repeats, pending=False)
    return whole.flatmap(_prefixes)


def _texts(max_repeats: int) -> st.SearchStrategy[str]:
    large = st.builds(mul, st.sampled_from(_LINES), st.integers(1, max(1, max_repeats)))
    return st.one_of(st.sampled_from(_ODD_TEXTS), st.text(max_size=16), large)


def _instructions(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[ChatMessage]]:
    roles = st.sampled_from(("system", "developer"))
    return _alone(st.fixed_dictionaries({"role": roles, "content": texts}))


def _people(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[ChatMessage]]:
    url = st.sampled_from(("https://example.org/a.png", "data:image/png;base64,iVBORw0KGgo="))
    image = st.fixed_dictionaries(
        {"url": url}, optional={"detail": st.sampled_from(("low", "high"))}
    )
    parts = st.one_of(
        _text_part(texts), st.fixed_dictionaries({"type": st.just("image_url"), "image_url": image})
    )
    content = st.one_of(texts, st.lists(parts, min_size=1, max_size=3))
    name = {"name": st.sampled_from(("ada", "grace_h"))}
    return _alone(
        st.fixed_dictionaries({"role": st.just("user"), "content": content}, optional=name)
    )


def _sayings(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[ChatMessage]]:
    said = {"role": st.just("assistant"), "content": texts}
    return _alone(st.fixed_dictionaries(said, optional=_thinking(texts)))


def _thinking(texts: st.SearchStrategy[str]) -> dict[str, st.SearchStrategy[object]]:
    """The fields in which providers hand out a model's thinking and want it back."""
    block = {"type": st.just("thinking"), "thinking": texts, "signature": st.just("EqQBCg==")}
    blocks = st.lists(st.fixed_dictionaries(block), min_size=1, max_size=2)
    return {"reasoning_content": texts, "thinking_blocks": blocks}


def _steps(texts: st.SearchStrategy[str], most_calls: int) -> st.SearchStrategy[list[ChatMessage]]:
    """An assistant message with calls, and their results in any order; ids count from 0 in each step."""
    head = {"role": st.just("assistant"), "content": st.one_of(st.none(), texts)}
    answered = st.one_of(texts, st.lists(_text_part(texts), min_size=1, max_size=2))
    exchanges = st.tuples(
        st.sampled_from(_TOOL_NAMES), _arguments(texts), answered, st.integers(0, most_calls)
    )
    return st.builds(
        _step,
        st.fixed_dictionaries(head, optional=_thinking(texts)),
        st.lists(exchanges, min_size=1, max_size=most_calls),
        named=st.booleans(),
    )


def _arguments(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    written = st.fixed_dictionaries({"path": st.just("a.py"), "text": texts}).map(json.dumps)
    return st.one_of(st.sampled_from(("{}", "", '{"path": "src/')), written)


def _step(
    head: ChatMessage, exchanges: Sequence[tuple[str, str, object, int]], *, named: bool
) -> list[ChatMessage]:
    """The call message and the results, those first that took the least time."""
    calls: list[ChatMessage] = []
    results: list[tuple[int, ChatMessage]] = []
    for place, (name, arguments, content, duration) in enumerate(exchanges):
        function = {"name": name, "arguments": arguments}
        calls.append({"id": str(place), "type": "function", "function": function})
        result = {"role": "tool", "tool_call_id": str(place), "content": content}
        results.append((duration, {**result, "name": name} if named else result))
    ordered = [result for _, result in sorted(results, key=itemgetter(0))]
    return [{**head, "tool_calls": calls}, *ordered]


def _text_part(texts: st.SearchStrategy[str]) -> st.SearchStrategy[ChatMessage]:
    return st.fixed_dictionaries({"type": st.just("text"), "text": texts})


def _alone(messages: st.SearchStrategy[ChatMessage]) -> st.SearchStrategy[list[ChatMessage]]:
    return messages.map(lambda message: [message])


def _joined(
    opening: list[list[ChatMessage]],
    groups: list[list[ChatMessage]],
    end: list[ChatMessage],
    *,
    id_form: str,
    max_messages: int,
) -> list[ChatMessage]:
    """The groups that have room, one after the other, each id once in the whole."""
    joined: list[ChatMessage] = []
    for place, group in enumerate([*opening, *groups, end]):
        if len(joined) + len(group) > max_messages:
            break
        form = id_form.format(f"{place}_{{}}")
        joined += [with_ids(message, form.format) for message in group]
    return joined


def _broken(messages: list[ChatMessage], breaks: Sequence[tuple[Break, int]]) -> list[ChatMessage]:
    for change, choice in breaks:
        messages = change(messages, choice)
    return messages


def _is_refused(messages: list[ChatMessage]) -> bool:
    try:
        check_chat([*messages])
    except ApiError:
        return True
    return False


def _prefixes(messages: list[ChatMessage]) -> st.SearchStrategy[list[list[ChatMessage]]]:
    whole = len(messages)
    ends = [end for end in range(1, whole) if messages[end].get("role") != "tool"]
    chosen = st.lists(st.sampled_from(ends), unique=True) if ends else st.just(list[int]())
    return chosen.map(lambda cuts: [messages[:cut] for cut in [*sorted(cuts), whole]])
