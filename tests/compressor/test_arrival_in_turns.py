"""What a tool returned is made smaller before it is first sent; everything else stays as it came."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.testing import ChatMessage
from support.counting import Characters

FILES = [
    "\n".join(f"{n}\t{word} number {n} of a file" for n in range(90)) for word in ("line", "row")
]


def step(n: int, result: str) -> list[ChatMessage]:
    """A call and its result."""
    call: ChatMessage = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"c{n}", "type": "function", "function": {"name": "cat", "arguments": "{}"}}
        ],
    }
    return [call, {"role": "tool", "tool_call_id": f"c{n}", "content": result}]


def conversation(results: Sequence[str]) -> list[ChatMessage]:
    """A task, and a step for each result."""
    task: list[ChatMessage] = [{"role": "user", "content": "Read the files."}]
    return task + [message for n, result in enumerate(results) for message in step(n, result)]


def manager(window_tokens: int = 100_000) -> IncrementalContextManager:
    """With a window that holds it all, if not said otherwise."""
    return IncrementalContextManager(window_tokens=window_tokens, counter=Characters())


READINGS = st.lists(
    st.tuples(st.sampled_from(FILES), st.integers(0, 60), st.integers(61, 90)).map(
        lambda part: "\n".join(part[0].split("\n")[part[1] : part[2]])
    ),
    max_size=6,
)


@pytest.mark.parametrize("names", [("fetch", "read_file"), ("read_file", "fetch")])
def test_the_call_decides_what_becomes_of_a_text(names: Sequence[str]) -> None:
    """Of a file each character stays, of other JSON no blank, though ids and texts are the same."""
    text = json.dumps([{"id": n, "name": f"row {n}"} for n in range(40)], indent=4)
    messages = [message for name in names for message in called(name, text)]
    prepared = manager().prepare_nowait(messages)
    sent = [prepared.messages[at]["content"] for at in (1, 3)]
    assert [content == text for content in sent] == [name == "read_file" for name in names]


def called(name: str, result: str) -> list[ChatMessage]:
    """A call of a tool that names a file, and its result."""
    function = {"name": name, "arguments": '{"path": "rows.json"}' if name == "read_file" else "{}"}
    call: ChatMessage = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "same", "type": "function", "function": function}],
    }
    return [call, {"role": "tool", "tool_call_id": "same", "content": result}]


def test_a_second_reading_costs_a_mark() -> None:
    """Of what stands above the beginning is sent again, and a mark; the original can be had by its handle."""
    messages = conversation([FILES[0], FILES[0]])
    kept = manager()
    prepared = kept.prepare_nowait(messages)
    assert prepared.messages[:4] == messages[:4]
    assert "lines as above …]" in str(prepared.messages[4]["content"])
    decision = prepared.decisions[-1]
    assert (decision.action, decision.tokens_after < decision.tokens_before) == ("reduce", True)
    assert [result.text for m in kept.recall(decision.handle) for result in m.results] == [FILES[0]]


@settings(max_examples=40)
@given(READINGS, st.sampled_from([900, 2_000, 100_000]))
def test_one_by_one_or_after_a_restart_it_is_the_same(readings: list[str], window: int) -> None:
    """A manager that hears of the messages late, or goes on from a saved state, sends the same bytes."""
    messages = conversation(readings)
    first, sent = manager(window), list[ChatMessage]()
    for stop in range(1, len(messages) + 1, 2):
        sent = first.prepare_nowait(messages[:stop]).messages
        second = manager(window)
        second.load_state(first.save_state())
        assert second.prepare_nowait(messages[:stop]).messages == sent
        first = second if stop % 4 == 1 else first
    if window == 100_000:
        assert manager(window).prepare_nowait(messages).messages == sent


@settings(max_examples=40)
@given(READINGS)
def test_what_is_sent_only_grows(readings: list[str]) -> None:
    """What was reduced stays as it was sent."""
    messages, one, before = conversation(readings), manager(), list[ChatMessage]()
    for stop in range(1, len(messages) + 1, 2):
        sent = one.prepare_nowait(messages[:stop]).messages
        assert sent[: len(before)] == before
        before = sent


@given(READINGS)
def test_a_unit_that_nothing_came_to_is_not_decided_again(readings: list[str]) -> None:
    """What was decided on it is handed out again, the same object, reduced or not."""
    messages, one, before = conversation(readings), manager(), tuple[object, ...]()
    for stop in range(1, len(messages) + 1, 2):
        decisions = one.prepare_nowait(messages[:stop]).decisions
        assert all(new is old for new, old in zip(decisions, before, strict=False))
        before = decisions


def test_what_is_pinned_is_sent_whole() -> None:
    """And so are a person's words, twice said or not."""
    messages = conversation([FILES[0], FILES[0]])
    messages.append({"role": "user", "content": FILES[0]})
    pinned = manager()
    pinned.prepare_nowait(messages)
    pinned.pin(messages[4])
    assert pinned.prepare_nowait(messages).messages == messages


def test_a_compaction_sends_nothing_twice() -> None:
    """Of two readings that a compaction keeps, the second is the mark again, now behind what is still there."""
    messages = conversation(["x " * 8_000, FILES[0], FILES[0]])
    small = manager(6_000)
    small.prepare_nowait(messages[:3])
    prepared = small.prepare_nowait(messages)
    texts = [str(message.get("content")) for message in prepared.messages]
    assert prepared.certificate.fits
    assert sum("line number 50 of a file" in text for text in texts) == 1


@pytest.mark.parametrize("first", ["kept", "edited"])
def test_where_the_host_edits_its_past_nothing_points_at_it(first: str) -> None:
    """A result is sent whole again once what it stood for is gone."""
    messages = conversation([FILES[0], FILES[0]])
    one = manager()
    one.prepare_nowait(messages)
    if first == "edited":
        messages[2] = {**messages[2], "content": "gone"}
    sent = one.prepare_nowait(messages).messages
    assert (str(sent[4]["content"]) == FILES[0]) == (first == "edited")


@given(READINGS)
def test_a_call_heard_before_its_result_is_decided_alike(results: list[str]) -> None:
    """Whether its result comes with it or later changes neither what is sent nor what is said of it."""
    messages = conversation([*results, "same line\n" * 5])
    early, late = manager(), manager()
    for heard in range(1, len(messages) + 1):
        early.observe(messages[:heard])
    assert early.prepare_nowait(messages) == late.prepare_nowait(messages)


def test_what_a_tool_gave_in_the_users_role_is_no_task() -> None:
    """What a cut keeps is what the person asked for, not what some output named since."""
    lines = [f"the {n}. animal of the park has {n % 7} legs and {n % 5} ears" for n in range(900)]
    lines[450] = "the zebra is striped"
    messages: list[ChatMessage] = [
        {"role": "user", "content": "Find out about the zebra."},
        {"role": "assistant", "content": "```bash\ncat fruits\n```"},
        {"role": "user", "content": "<output>\napple\npear\n</output>"},
        *step(0, "\n".join(lines)),
    ]
    config = ContextConfig(window_tokens=100_000, reduce="lossy")
    kept = IncrementalContextManager(config=config, counter=Characters())
    result = str(kept.prepare_nowait(messages).messages[-1]["content"])
    assert len(result) < len("\n".join(lines)) / 2
    assert "zebra is striped" in result
