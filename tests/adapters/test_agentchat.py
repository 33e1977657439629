"""The model context of autogen-agentchat: any conversation fits, nothing is shared, every state continues."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from autogen_core import FunctionCall
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai._openai_client import to_oai_type
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import ProjectContext
from autogen_context.adapters.agentchat import AgentTool, ManagedChatCompletionContext
from autogen_context.adapters.agentchat_context import schemas_of
from autogen_context.config import ContextConfig
from autogen_context.errors import ContextWindowExceeded, StateError
from autogen_context.project.file_changes import FileChangeTracker
from autogen_context.testing import ChatMessage, ScriptedModel
from autogen_context.testing.chat_rules import check_chat
from support.agentchat import CONVERSATIONS, said
from support.logs import MODEL, exact_tokens
from support.tree import SHOP, grown

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "agentchat.md"
PROMPT = "You are a careful engineer."
WINDOW = 400


def search(query: str, limit: int = 3) -> str:
    """Search the project for a text."""
    return query * limit


def step(*call_ids: str, text: str = "result", thought: str | None = None) -> list[LLMMessage]:
    """Calls and their results."""
    calls = [FunctionCall(id=i, name="search", arguments='{"query": "x"}') for i in call_ids]
    results = [FunctionExecutionResult(content=text, name="search", call_id=i) for i in call_ids]
    return [
        AssistantMessage(content=calls, thought=thought, source="coder"),
        FunctionExecutionResultMessage(content=results),
    ]


def as_sent(messages: Sequence[LLMMessage]) -> list[ChatMessage]:
    """What AutoGen's client makes of messages."""
    sent = [part for m in messages for part in to_oai_type(m, model=MODEL, model_family="gpt-4")]
    return cast("list[ChatMessage]", sent)


async def filled(
    context: ManagedChatCompletionContext, messages: Sequence[LLMMessage]
) -> ManagedChatCompletionContext:
    """The context with these messages in it."""
    for message in messages:
        await context.add_message(message)
    return context


async def outcome(context: ManagedChatCompletionContext) -> list[LLMMessage] | dict[str, int]:
    """What the context sends, or, where nothing fits, what the floor consists of."""
    try:
        return await context.get_messages()
    except ContextWindowExceeded as impossible:
        return impossible.parts


@settings(max_examples=50)
@given(
    CONVERSATIONS,
    st.builds(ContextConfig, single_system=st.booleans(), alternate_roles=st.booleans()),
    st.sampled_from([[search], list[AgentTool]()]),
)
async def test_what_is_sent_is_taken_by_openai_and_fits(
    messages: list[LLMMessage], config: ContextConfig, used: list[AgentTool]
) -> None:
    """Any conversation, broken ones too, at every turn: prompt and tools that the agent adds fit, and pairs are closed."""
    context = ManagedChatCompletionContext(
        MODEL, window_tokens=WINDOW, system_message=PROMPT, tools=used, config=config
    )
    model, request = ScriptedModel([], count=exact_tokens), list[ChatMessage]()
    schemas = schemas_of(used)
    for message in [*messages, said("And now?")]:
        await context.add_message(message)
        sent = await outcome(context)
        request = as_sent([SystemMessage(content=PROMPT), *sent]) if isinstance(sent, list) else []
        if request:
            assert model.prompt_tokens(request, tools=schemas) <= WINDOW
            assert context.last_prepared is not None
            assert context.last_prepared.certificate.pairs_closed
    ids = [call["id"] for each in request for call in each.get("tool_calls", ())]
    if request and all(ids) and len(set(ids)) == len(ids):  # they tell who answers whom
        check_chat([*request])


async def test_lists_are_not_shared() -> None:
    """Changing what was handed in or out changes nothing that is kept."""
    initial: list[LLMMessage] = [said("one")]
    context = ManagedChatCompletionContext(MODEL, window_tokens=WINDOW, initial_messages=initial)
    initial.clear()
    (await context.get_messages()).clear()
    (await context.get_messages()).append(said("two"))
    assert await context.get_messages() == [said("one")]
    assert len(context.dump_component().config["initial_messages"]) == 1


async def test_pins_and_explanations_take_the_agents_messages() -> None:
    """A pinned message outlives the cut that takes its neighbours, and ``explain`` tells of both."""
    context = ManagedChatCompletionContext(MODEL, window_tokens=WINDOW)
    call, result = step("1", text="word " * 30)
    rule = said("Never touch the lock file.")
    await filled(context, [said("Find out why the build fails."), call, result, rule])
    context.pin(rule)
    await filled(
        context, [m for n in range(20) for m in step(f"c{n}", text=f"{n} " + "word " * 30)]
    )
    sent = await context.get_messages()
    assert rule in sent
    assert call not in sent
    assert context.explain(rule).action == "keep"
    dropped = context.explain(call)
    assert dropped.action == "drop"
    assert [message.role for message in context.recall(dropped.handle)] == ["assistant", "tool"]


# What the agent adds

SCHEMA = dict(FunctionTool(search, description="Search the project for a text.").schema)
WITH_NONE = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"default": None}}}}


@pytest.mark.parametrize(
    ("given", "reserve_tokens"),
    [
        pytest.param({}, 2_000, id="nothing known"),
        pytest.param({"window_tokens": 800}, 200, id="small window"),
        pytest.param({"config": ContextConfig(window_tokens=80)}, 20, id="small window in config"),
        pytest.param({"config": ContextConfig(reserve_tokens=7)}, 7, id="in the settings"),
        pytest.param({"reserve_tokens": 0}, 0, id="nothing, on purpose"),
        pytest.param({"system_message": PROMPT}, 1_000, id="F20: one of two told"),
        pytest.param({"system_message": ""}, 1_000, id="an empty prompt"),
        pytest.param({"tools": []}, 1_000, id="no tools"),
        pytest.param({"tools": [WITH_NONE], "system_message": PROMPT}, 0, id="both told"),
    ],
)
async def test_what_is_not_described_is_held_back(
    given: dict[str, Any], reserve_tokens: int
) -> None:
    """A thousand tokens, an eighth of a small window at most; after a load as before."""
    context = ManagedChatCompletionContext(MODEL, **given)
    assert context.manager.config.reserve_tokens == reserve_tokens
    loaded = ManagedChatCompletionContext.load_component(context.dump_component())
    assert loaded.manager.config == context.manager.config
    assert loaded.dump_component() == context.dump_component()


def test_tools_are_taken_in_every_form() -> None:
    """A function, a tool and a schema describe the same tool; what is none is refused."""
    for tool in (search, FunctionTool(search, description=str(search.__doc__)), SCHEMA):
        assert schemas_of([cast("AgentTool", tool)]) == [{"type": "function", "function": SCHEMA}]
    for other in (7, {"description": "nameless"}):
        with pytest.raises(ValueError, match="a tool, a function or a schema with a name"):
            ManagedChatCompletionContext(MODEL, tools=[cast("AgentTool", other)])


async def test_a_described_prompt_is_measured_and_not_sent_twice() -> None:
    """System prompt and tools count against the window and are in the certificate; the agent adds them itself."""
    plain = ManagedChatCompletionContext(MODEL, window_tokens=WINDOW, tools=[])
    described = ManagedChatCompletionContext(
        MODEL, window_tokens=WINDOW, system_message=PROMPT * 20, tools=[search]
    )
    for context in (plain, described):
        await filled(context, [said("hi")])
        assert await context.get_messages() == [said("hi")]
    assert plain.last_prepared is not None
    assert described.last_prepared is not None
    counted = described.last_prepared.certificate.counted_tokens
    more = counted - plain.last_prepared.certificate.counted_tokens
    assert more > exact_tokens(PROMPT * 20) + exact_tokens(json.dumps(SCHEMA))


async def test_later_system_messages_are_the_users_where_one_is_taken() -> None:
    """With ``single_system`` those that lead stay, those that follow become the user's, and each text is sent once."""
    config = ContextConfig(single_system=True)
    context = ManagedChatCompletionContext(
        MODEL, window_tokens=WINDOW, system_message=PROMPT, config=config
    )
    lead, later = SystemMessage(content="Memory one."), SystemMessage(content="Memory two.")
    await filled(context, [lead, said("hi"), later])
    as_user = UserMessage(content="Memory two.", source="autogen_context")
    assert await context.get_messages() == [lead, said("hi"), as_user]
    alone = await filled(
        ManagedChatCompletionContext(
            MODEL, window_tokens=WINDOW, system_message=PROMPT, config=config
        ),
        [said("hi"), later],
    )
    assert await alone.get_messages() == [said("hi"), as_user]


# State


def small_context() -> ManagedChatCompletionContext:
    """A context with a described agent."""
    return ManagedChatCompletionContext(
        MODEL, window_tokens=WINDOW, system_message=PROMPT, tools=[search]
    )


@settings(max_examples=20)
@given(CONVERSATIONS, st.integers(0, 12))
async def test_a_state_continues_to_the_byte(messages: list[LLMMessage], at: int) -> None:
    """Saved at any turn and loaded elsewhere, every later turn is what it would have been."""
    one = await filled(small_context(), messages[:at])
    await outcome(one)
    other = small_context()
    await other.load_state(json.loads(json.dumps(await one.save_state())))
    for message in [*messages[at:], said("Go on.")]:
        await filled(one, [message])
        await filled(other, [message])
        assert await outcome(other) == await outcome(one)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        pytest.param({"manager": {"schema": 99}}, StateError, id="newer-schema"),
        pytest.param({"messages": [{"type": "NoMessage"}]}, ValueError, id="no-message"),
        pytest.param({"manager": None}, StateError, id="no-state"),
    ],
)
async def test_a_damaged_state_changes_nothing(
    change: dict[str, object], error: type[Exception]
) -> None:
    """The context goes on as if nothing had been loaded."""
    context = await filled(small_context(), [said("hi")])
    state = {**await context.save_state(), **change}
    with pytest.raises(error):
        await context.load_state(state)
    assert await context.get_messages() == [said("hi")]


# Component


async def test_a_component_comes_back_as_it_was() -> None:
    """Settings, what the agent adds, and typed initial messages survive a dump to JSON and a load."""
    config = ContextConfig(orphans="report", reserve_tokens=0)
    initial: list[LLMMessage] = [SystemMessage(content="s"), *step("1", thought="First.")]
    context = ManagedChatCompletionContext(
        MODEL,
        window_tokens=500,
        system_message=PROMPT,
        tools=[search],
        initial_messages=initial,
        config=config,
    )
    dumped = context.dump_component()
    assert dumped.provider == "autogen_context.adapters.agentchat.ManagedChatCompletionContext"
    loaded = ChatCompletionContext.load_component(json.loads(dumped.model_dump_json()))
    assert isinstance(loaded, ManagedChatCompletionContext)
    assert loaded.manager.config == context.manager.config
    assert await loaded.get_messages() == initial
    assert loaded.dump_component() == dumped


async def test_a_component_has_its_folders(tmp_path: Path) -> None:
    """What is loaded has them again, set up as they were; a folder that is not there is an error that says so."""
    root = grown(tmp_path / "shop", SHOP)
    project = ProjectContext(root, budget_tokens=700, shared_head=True)
    context = ManagedChatCompletionContext(
        MODEL, window_tokens=8_000, files=FileChangeTracker(root), project=project
    )
    dumped = context.dump_component()
    assert dumped.config["files"] == str(root)
    loaded = ManagedChatCompletionContext.load_component(json.loads(dumped.model_dump_json()))
    assert loaded.dump_component() == dumped
    for each, task in ((context, "Fix the cart."), (loaded, "Fix the orders.")):
        await each.add_message(said(task))
    head, theirs = [(await each.get_messages())[0] for each in (context, loaded)]
    assert str(head.content).startswith("[The project shop, from its files.")
    assert head == theirs
    for other in (f"{root}-elsewhere", dumped.config["project"] | {"root": f"{root}-elsewhere"}):
        dumped.config["project"] = other
        with pytest.raises(ValueError, match="a folder that is there"):
            ManagedChatCompletionContext.load_component(dumped)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("hello", "initial_messages='hello': give a list"),
        (["hello"], "one of SystemMessage.* got str"),
    ],
)
def test_what_is_no_message_does_not_begin_a_conversation(wrong: Any, named: str) -> None:
    """It is refused at construction."""
    with pytest.raises(ValueError, match=named):
        ManagedChatCompletionContext(MODEL, window_tokens=WINDOW, initial_messages=wrong)


def test_the_guide_runs() -> None:
    """The Python of the guide runs as one program, from top to bottom."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102  our own text
