"""The scripted model, what it bills, and the made-up conversation."""

from collections.abc import Callable
from itertools import repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.testing import (
    Answer,
    Call,
    ChatMessage,
    Say,
    ScriptedModel,
    ScriptEnded,
    Step,
    approximate_tokens,
    conversation,
)
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.usage import CACHE_FROM, CACHE_STEP, PER_REQUEST

HELLO: list[ChatMessage] = [{"role": "user", "content": "hi"}]

calls = st.builds(
    Call,
    st.sampled_from(("read_file", "search")),
    st.one_of(st.text(max_size=20), st.dictionaries(st.text(max_size=5), st.integers())),
)
steps: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.builds(Say, st.text()),
        calls,
        st.tuples(st.builds(Say, st.text()), calls, calls),
        st.lists(calls, min_size=1, max_size=3),
    ),
    max_size=8,
)


def played(script: list[Step]) -> list[Answer]:
    """Every answer of a script, each asked for with the conversation so far."""
    model, messages, answers = ScriptedModel(script), list(HELLO), list[Answer]()
    for _ in script:
        answers.append(model.answer(messages))
        messages.append(answers[-1].as_message())
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": "ok"} for call in answers[-1].calls
        ]
    check_chat([*messages])
    return answers


@settings(max_examples=15)
@given(steps)
def test_each_request_takes_one_step(script: list[Step]) -> None:
    """The same script gives the same answers: the steps in order, each id once; one request more raises."""
    answers = played(script)
    assert answers == played(script)
    expected = [step if isinstance(step, list | tuple) else [step] for step in script]
    assert [[call.name for call in answer.calls] for answer in answers] == [
        [part.name for part in parts if isinstance(part, Call)] for parts in expected
    ]
    assert [answer.text for answer in answers if answer.text is not None] == [
        part.text for parts in expected for part in parts if isinstance(part, Say)
    ]
    ids = [call.id for answer in answers for call in answer.calls]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("count", "words"), [(0, "0 steps; request 1"), (1, "1 step; request 2")])
def test_end_of_script_reads_well(count: int, words: str) -> None:
    """The error says how long the script is and which request was one too many, each time."""
    model = ScriptedModel(repeat(Say("ok"), count))
    for _ in range(count):
        model.answer(HELLO)
    for _ in range(2):
        with pytest.raises(ScriptEnded, match=words) as ended:
            model.answer(HELLO)
        assert ended.value.steps == count


def test_arguments_are_json_unless_given_as_text() -> None:
    """A text is sent as it is, so that a model's broken JSON can be tested."""
    made = ScriptedModel([[Call("a", {"k": "é"}), Call("b"), Call("c", '{"k": ')]]).answer(HELLO)
    assert [call.arguments for call in made.calls] == ['{"k":"é"}', "{}", '{"k": ']


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda: ScriptedModel("hello"), id="text-for-script"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  the fault under test
        pytest.param(lambda: ScriptedModel(Say("hello")), id="step-for-script"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  likewise
        pytest.param(lambda: ScriptedModel(["hello"]), id="text-for-step"),  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]  likewise
        pytest.param(lambda: ScriptedModel([[Say("a"), Say("b")]]), id="two-texts"),
        pytest.param(lambda: ScriptedModel(lambda _: None).answer(HELLO), id="nothing"),  # type: ignore[arg-type,return-value]  # pyright: ignore[reportArgumentType]  likewise
    ],
)
def test_what_is_no_step_is_refused(build: Callable[[], object]) -> None:
    """A script of anything but steps raises with what was wanted."""
    with pytest.raises(ValueError, match="step"):
        build()


def image(**detail: str) -> ChatMessage:
    """A message with an image and nothing else."""
    part = {"type": "image_url", "image_url": {"url": "x" * 999, **detail}}
    return {"role": "user", "content": [part]}


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"role": "user", "content": "hi"}, 3 + 1 + 1),
        ({"role": "user", "content": "hi", "name": "ada"}, 3 + 1 + 1 + 2),
        ({"role": "user", "content": [{"type": "text", "text": "hi"}]}, 5),
        (image(), 3 + 1 + 765),
        (image(detail="low"), 3 + 1 + 85),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "b c"}}]},
            3 + 1 + 1 + 2,
        ),
        ({"role": 1, "content": {"no": "text"}, "tool_calls": "none"}, 3),
    ],
)
def test_message_overheads(message: ChatMessage, tokens: int) -> None:
    """A message costs its texts by the given count, and what OpenAI's format adds."""
    model = ScriptedModel([], count=lambda text: len(text.split()))
    assert model.prompt_tokens([message]) == PER_REQUEST + tokens
    schemas: list[ChatMessage] = [{"type": "function"}]
    assert model.prompt_tokens([message], tools=schemas) == PER_REQUEST + tokens + 1


@settings(max_examples=15)
@given(st.integers(1, 400), st.integers(0, 4_000), st.integers(0, 40))
def test_cache_holds_the_common_start(tokens: int, cut: int, turns: int) -> None:
    """What is cached is a number of blocks, is no more than the prompt, and ends where the prompt first differs."""
    messages = conversation(turns=turns, tokens_per_turn=tokens)
    model = ScriptedModel(repeat(Say("ok")))
    whole = model.answer(messages).usage.prompt_tokens
    place = cut % len(messages)
    changed = [*messages[:place], {"role": "user", "content": "!"}, *messages[place + 1 :]]
    cached = model.answer(changed).usage.cached_tokens
    kept = model.prompt_tokens(messages[:place])
    assert cached <= min(whole, kept + model.prompt_tokens([changed[place]]))
    assert cached == 0 or (cached >= CACHE_FROM and cached % CACHE_STEP == 0)
    grown = model.answer([*messages, *HELLO]).usage.cached_tokens
    assert grown > whole - CACHE_STEP - PER_REQUEST or whole < CACHE_FROM + CACHE_STEP
    assert [bill.cached_tokens for bill in model.bills] == [0, cached, grown]


RESULTS = [str(m["content"]) for m in conversation(turns=40) if m["role"] == "tool"]
LINES = (
    "line of code here\n",
    "def f3(): pass\n",
    "    if x:\n        return y\n",
    "x = 1\n",
    "ok\n",
    "- item\n",
    "step 12 of 60\n\n",
    "one line of a very long log, number 4711\r\n",
    "INFO 2026-01-01 12:00:00 server started on port 8080\n",
    '{"a": 1, "b": [1, 2, 3]}\n',
    "The quick brown fox jumps over the lazy dog. ",
    "value_12 = getUserName(session_id)\n",
    "😀",
)


def test_approximate_tokens_is_near() -> None:
    """Never so far below OpenAI's tokenizer that a manager that has it would not believe a bill; a fifth above at most."""
    exact = pytest.importorskip("bpe_openai").get_encoding("o200k_base")
    for text in [line * 40 for line in LINES] + RESULTS:
        assert 0.9 <= approximate_tokens(text) / len(exact.encode(text)) <= 1.2, text[:20]


@settings(max_examples=15)
@given(st.integers(0, 30), st.integers(1, 600), st.integers())
def test_conversation_is_well_formed_and_of_its_size(turns: int, tokens: int, seed: int) -> None:
    """Same arguments, same messages; OpenAI takes them; each turn has its tokens within a line, or one line."""
    messages = conversation(turns=turns, tokens_per_turn=tokens, seed=seed)
    assert messages == conversation(turns=turns, tokens_per_turn=tokens, seed=seed)
    assert len(messages) == 2 + 2 * turns
    check_chat([*messages])
    for call, result in zip(messages[2::2], messages[3::2], strict=True):
        head = call["content"], call["tool_calls"][0]["function"]["arguments"]
        *lines, last = result["content"].split("\n")
        spent = sum(map(approximate_tokens, (*head, *lines)))
        assert not lines or spent < tokens
        assert spent + approximate_tokens(last) >= tokens
