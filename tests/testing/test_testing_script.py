"""The scripted model, what it bills, and the made-up conversation."""

from collections.abc import Callable
from itertools import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.testing import (
    Answer,
    Call,
    ChatMessage,
    Request,
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


@given(steps)
def test_same_script_same_answers(script: list[Step]) -> None:
    """Two models with one script give the same texts, ids and usage, and the conversation is one that OpenAI takes."""
    assert played(script) == played(script)


@given(steps)
def test_each_request_takes_one_step(script: list[Step]) -> None:
    """The answers say what the steps say, in order, and one request more raises with the number of steps."""
    expected = [step if isinstance(step, list | tuple) else [step] for step in script]
    answers = played(script)
    assert [[call.name for call in answer.calls] for answer in answers] == [
        [part.name for part in parts if isinstance(part, Call)] for parts in expected
    ]
    assert [answer.text for answer in answers if answer.text is not None] == [
        part.text for parts in expected for part in parts if isinstance(part, Say)
    ]
    model = ScriptedModel(script)
    for _ in script:
        model.answer(HELLO)
    for _ in range(2):
        with pytest.raises(ScriptEnded) as ended:
            model.answer(HELLO)
        assert ended.value.steps == len(script)


@given(steps)
def test_no_id_comes_twice(script: list[Step]) -> None:
    """Each call of a conversation has an id of its own."""
    ids = [call.id for answer in played(script) for call in answer.calls]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("count", "words"),
    [
        pytest.param(0, "0 steps and the model was asked a 1st time", id="none"),
        pytest.param(1, "1 step and the model was asked a 2nd time", id="one"),
        pytest.param(10, "10 steps and the model was asked a 11th time", id="eleventh"),
        pytest.param(12, "12 steps and the model was asked a 13th time", id="thirteenth"),
        pytest.param(22, "22 steps and the model was asked a 23rd time", id="twenty-third"),
    ],
)
def test_end_of_script_reads_well(count: int, words: str) -> None:
    """The error says how long the script is and which request was one too many."""
    model = ScriptedModel(repeat(Say("ok"), count))
    for _ in range(count):
        model.answer(HELLO)
    with pytest.raises(ScriptEnded, match=words):
        model.answer(HELLO)


def test_function_sees_the_request() -> None:
    """A function chooses by number, model, messages and tools; a call that raises costs no number."""
    seen: list[Request] = []

    def choose(request: Request) -> Step:
        seen.append(request)
        if len(seen) == 2:
            raise LookupError("no idea")
        return Say(str(request.number))

    model, tools = ScriptedModel(choose), [{"type": "function", "function": {"name": "tick"}}]
    assert model.answer(HELLO, tools=tools, model="gpt-4o").text == "1"
    with pytest.raises(LookupError):
        model.answer(HELLO)
    assert model.answer(HELLO).text == "2"
    assert seen[0] == Request(number=1, model="gpt-4o", messages=HELLO, tools=tools)


def test_endless_script() -> None:
    """An iterable without end is taken as far as it is asked for."""
    model = ScriptedModel(repeat(Call("tick")))
    assert [model.answer(HELLO).number for _ in range(200)] == list(range(1, 201))


def test_arguments_are_json_unless_given_as_text() -> None:
    """A mapping is written as JSON; a text is sent as it is, so that a model's broken JSON can be tested."""
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


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        pytest.param({"role": "user", "content": "hi"}, 3 + 1 + 1, id="text"),
        pytest.param({"role": "user", "content": "hi", "name": "ada"}, 3 + 1 + 1 + 2, id="name"),
        pytest.param({"role": "user", "content": [{"type": "text", "text": "hi"}]}, 5, id="part"),
        pytest.param(
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x" * 999}}]},
            3 + 1 + 765,
            id="image-whatever-its-bytes",
        ),
        pytest.param(
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "x", "detail": "low"}}],
            },
            3 + 1 + 85,
            id="image-low",
        ),
        pytest.param(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "b c d"}}],
            },
            3 + 1 + 1 + 3,
            id="call",
        ),
        pytest.param({"role": 1, "content": {"no": "text"}, "tool_calls": "none"}, 3, id="broken"),
    ],
)
def test_message_overheads(message: ChatMessage, tokens: int) -> None:
    """A message costs its texts by the given count, and what OpenAI's format adds."""
    model = ScriptedModel([], count=lambda text: len(text.split()))
    assert model.prompt_tokens([message]) == PER_REQUEST + tokens


def test_tool_schemas_count() -> None:
    """A schema costs its JSON."""
    model = ScriptedModel([], count=len)
    tools: list[ChatMessage] = [{"type": "function"}]
    extra = model.prompt_tokens(HELLO, tools=tools) - model.prompt_tokens(HELLO)
    assert extra == len('[{"type":"function"}]')


def test_cache_ends_inside_a_message() -> None:
    """A message that begins like an earlier one is cached that far."""
    model = ScriptedModel(repeat(Say("ok")), count=len)
    endings = ({"role": "user", "content": "x" * 2_000 + end * 500} for end in "yz")
    assert [model.answer([one]).usage.cached_tokens for one in endings] == [0, 1_920]


def test_same_prompt_is_cached_in_blocks() -> None:
    """A prompt that comes again is cached up to the last whole block; one that is too short never is."""
    model = ScriptedModel(repeat(Say("ok")), count=len)
    long = [{"role": "user", "content": "x" * 1_500}]
    assert [model.answer(long).usage.cached_tokens for _ in range(2)] == [0, 1_408]
    short = [{"role": "user", "content": "y" * 1_000}]
    assert [model.answer(short).usage.cached_tokens for _ in range(2)] == [0, 0]


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


@pytest.mark.parametrize("text", [line * 40 for line in LINES] + RESULTS, ids=lambda t: t[:20])
def test_approximate_tokens_is_near(text: str) -> None:
    """Never so far below OpenAI's tokenizer that a manager that has it would not believe a bill; a fifth above at most."""
    bpe_openai = pytest.importorskip("bpe_openai")
    exact = len(bpe_openai.get_encoding("o200k_base").encode(text))
    assert 0.9 <= approximate_tokens(text) / exact <= 1.2


@pytest.mark.parametrize("line", LINES, ids=lambda t: t[:20])
def test_a_manager_believes_what_the_model_bills(line: str) -> None:
    """One that counts with the tokenizer of the model that is played; every bill is taken in."""
    pytest.importorskip("bpe_openai")
    manager = IncrementalContextManager("gpt-4o", window_tokens=3_000)
    model = ScriptedModel(repeat(Say("Go on.")))
    messages = list(HELLO)
    for _ in range(8):
        prepared = manager.prepare_nowait(messages)
        answer = model.answer(prepared.messages)
        manager.record_usage(prepared, prompt_tokens=answer.usage.prompt_tokens)
        messages += [answer.as_message(), {"role": "user", "content": line * 100}]
    assert manager.usage.requests == 8


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


def test_another_seed_is_another_conversation() -> None:
    """The seed alone tells two conversations of the same size apart."""
    assert conversation(turns=5, seed=1) != conversation(turns=5, seed=2)


@pytest.mark.parametrize(
    ("turns", "tokens", "named"),
    [pytest.param(-1, 1, "turns", id="turns"), pytest.param(1, 0, "tokens_per_turn", id="tokens")],
)
def test_conversation_refuses_what_it_cannot_make(turns: int, tokens: int, named: str) -> None:
    """The error names the argument."""
    with pytest.raises(ValueError, match=named):
        conversation(turns=turns, tokens_per_turn=tokens)
