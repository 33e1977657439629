"""The doors: one line for an agent of any host, the same arguments everywhere, and a word where something is odd."""

import inspect
import json
import pydoc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core import Image
from autogen_core.model_context import BufferedChatCompletionContext
from autogen_core.models import AssistantMessage, LLMMessage, UserMessage
from PIL import Image as Pixels

from autogen_context import (
    ContextConfig,
    ContextTransform,
    IncrementalContextManager,
    ManagedChatCompletionContext,
    register,
)
from autogen_context.adapters.agentchat import ManagedChatCompletionClient
from autogen_context.adapters.register import HostEntry, register_host
from autogen_context.errors import ManagerClosed
from autogen_context.testing import ChatMessage, Say
from support.agentchat import client_of, model_info, said, serving
from support.hosts import HOSTS, built
from support.logs import MODEL, read_log
from support.own_host import Bot, register_bot

SLIP: dict[str, Any] = {"window_token": 8_000}
CONTEXTS: list[Callable[..., object]] = [ManagedChatCompletionContext, ContextTransform]
ENTRIES: list[Callable[..., object]] = [
    register,
    ManagedChatCompletionClient,
    IncrementalContextManager,
    *CONTEXTS,
]


# The same arguments everywhere


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
def test_every_entry_takes_the_arguments_of_the_manager(entry: Callable[..., object]) -> None:
    """All but the host's format, by their names, and each setting but those that mean something else there (G40); each hands on what it was given."""
    parameters = inspect.signature(entry).parameters
    of_manager = inspect.signature(IncrementalContextManager).parameters
    assert of_manager.keys() - {"host"} <= parameters.keys()
    assert inspect.Parameter.VAR_KEYWORD not in {each.kind for each in parameters.values()}
    no_arguments = {"tools", "agent", "attention_threshold", "attention_top_k"}
    assert ContextConfig.model_fields.keys() - no_arguments <= of_manager.keys()
    assert "reduce: " in pydoc.plain(pydoc.render_doc(entry))
    if entry in ENTRIES[2:]:
        with pytest.raises(TypeError, match="did you mean 'window_tokens'"):  # at once
            entry("gpt-4o", **SLIP)


def test_a_setting_is_an_argument() -> None:
    """It wins over ``config``, keys of the original are understood, and what it cannot be is said as by ``ContextConfig``."""
    config = ContextConfig(versions=7, reduce="lossy")
    manager = IncrementalContextManager(MODEL, config=config, reduce="off", versions=None)
    assert (manager.config.reduce, manager.config.versions) == ("off", 7)
    earlier: dict[str, Any] = {"masking_window": 9}
    assert IncrementalContextManager(MODEL, **earlier).config.fallback_turns == 9
    with pytest.raises(ValueError, match="versions"):
        IncrementalContextManager(MODEL, versions=-1)
    for setting in ("tools", "agent"):
        given: dict[str, Any] = {setting: {}}
        with pytest.raises(TypeError, match=rf"config=ContextConfig\({setting}=...\)"):
            ContextTransform(MODEL, **given)


def test_what_is_returned_says_what_it_is() -> None:
    """The agent, its model and window, and what the last turn left."""
    context = register(AssistantAgent("coder", client_of()), window_tokens=4_000)
    manager = f"<IncrementalContextManager model='{MODEL}', window_tokens=4000"
    assert repr(context).startswith(
        f"<ManagedChatCompletionContext of coder: {manager}, messages=0"
    )
    context.manager.prepare_nowait([said("Hello.")])
    assert re.search(r"messages=1, tokens=[1-9]\d*>>$", repr(context))


# register


def test_an_agent_is_registered_whole() -> None:
    """A release that names its attributes otherwise is not changed."""
    other = AssistantAgent("coder", client_of())
    vars(other).pop("_model_context")
    before = dict(vars(other))
    with pytest.raises(ValueError, match=r"model_context=ManagedChatCompletionContext\(...\)"):
        register(other)
    assert vars(other) == before


async def test_a_registered_agent_is_dumped_loaded_and_registered_again() -> None:
    """Without the tool, whose context is the running agent's; its settings and its state come along."""
    agent = AssistantAgent("coder", client_of(), max_tool_iterations=3)
    register(agent, window_tokens=4_000, config=ContextConfig(orphans="report"))
    await agent.model_context.add_message(said("Never touch the lock file."))
    component = json.loads(agent.dump_component().model_dump_json())
    component["config"]["model_client"]["config"]["api_key"] = "none"
    loaded = AssistantAgent.load_component(component)
    await loaded.load_state(await agent.save_state())
    context = register(loaded)
    assert (context.manager.config.window_tokens, context.manager.config.orphans) == (
        4_000,
        "report",
    )
    assert await loaded.model_context.get_messages() == await agent.model_context.get_messages()
    with pytest.raises(ValueError, match="give that these arguments"):
        register(
            AssistantAgent("b", client_of(), model_context=ManagedChatCompletionContext(MODEL)),
            MODEL,
        )


async def test_images_are_taken_out_and_the_request_is_still_measured() -> None:
    """For a model without vision the agent takes them out; prompt and bill are the context's all the same."""
    async with serving(Say("ok"), **model_info()) as (_, client):
        agent = AssistantAgent("coder", client, system_message="word " * 300)
        context = register(agent, window_tokens=4_000)
        picture = Image(Pixels.new("RGB", (8, 8)))
        await agent.model_context.add_message(
            UserMessage(content=["Look.", picture], source="user")
        )
        await agent.run(task="What is it?")
    assert context.manager.usage.requests == 1
    assert context.last_prepared is not None
    assert context.last_prepared.certificate.counted_tokens > 300


# A host of one's own


@pytest.mark.parametrize(
    "entry", [register_bot, "support.own_host:register_bot"], ids=["function", "place"]
)
@pytest.mark.parametrize("by", ["class", "name"])
def test_a_host_of_ones_own_is_registered(by: str, entry: str | HostEntry) -> None:
    """By a class, or the name of one that is not imported; an agent of a class below it is taken, with all arguments."""
    own: type[Bot] = type("Bot", (Bot,), {"__module__": "my_framework.agents"})
    register_host(own if by == "class" else "my_framework.Bot", entry)
    bot = type("Small", (own,), {})()
    context = register(bot, MODEL, window_tokens=1_000, reduce="off")
    task: list[ChatMessage] = [{"role": "user", "content": "Sum it up: " + "a word " * 5_000}]
    assert bot.fitted(task) != task
    assert context.last_prepared is not None
    assert context.last_prepared.certificate.fits
    assert context.manager.config.reduce == "off"


def test_a_host_that_cannot_be_registered() -> None:
    """What is wrong is said with the way out, at once or where its adapter is imported; the hosts that are known are named, own ones too."""
    with pytest.raises(ValueError, match="agents='Bot': give a class, or its outermost package"):
        register_host("Bot", register_bot)
    with pytest.raises(ValueError, match="entry='adapter': give a function, or where it is"):
        register_host(Bot, "adapter")
    register_host(Bot, "nowhere.adapter:register_bot", needed="nowhere>=2")
    with pytest.raises(ValueError, match=r'nowhere.*; pip install "nowhere>=2"'):
        register(Bot())
    with pytest.raises(ValueError, match=r"an Agent of AG2 1\.x .* a .*\.Bot; .* register_host$"):
        register(object())


# F4, F33: settings


def windows() -> set[int | None]:
    """The window of each entry."""
    managers = [ManagedChatCompletionContext(MODEL).manager, IncrementalContextManager(MODEL)]
    managers.append(ContextTransform(MODEL).conversations.manager)
    contexts = [built(host).context for host in HOSTS]
    managers += [context.manager for context in contexts if context]
    return {manager.config.window_tokens for manager in managers}


def test_the_environment_acts_on_every_entry(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """F4: by default, before a file that it names, behind arguments; ``MODEL_LIMIT_*`` where none is given."""
    monkeypatch.setenv("MODEL_LIMIT_GPT_4_0613", "2345")
    manager = IncrementalContextManager(MODEL)
    assert manager.prepare_nowait([]).certificate.limit_tokens == 2_345
    settings = tmp_path / "settings.toml"
    settings.write_text("window_tokens = 3_000\nversions = 7\n")
    monkeypatch.setenv("AUTOGEN_CONTEXT_CONFIG", str(settings))
    assert windows() == {3_000}
    monkeypatch.setenv("AUTOGEN_CONTEXT_WINDOW_TOKENS", "2000")
    assert windows() == {2_000}
    assert IncrementalContextManager(MODEL, window_tokens=1_000).config.window_tokens == 1_000
    chosen = IncrementalContextManager(MODEL, config=ContextConfig(window_tokens=1_500)).config
    assert (chosen.window_tokens, chosen.versions) == (1_500, 7)


def test_a_variable_that_names_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slip is an error with the way out; another program's variable is passed over with a warning."""
    monkeypatch.setenv("AUTOGEN_CONTEXT_ZZ_QQ", "1")
    with pytest.warns(UserWarning, match="AUTOGEN_CONTEXT_ZZ_QQ has no effect"):
        IncrementalContextManager(MODEL)
    monkeypatch.delenv("AUTOGEN_CONTEXT_ZZ_QQ")
    monkeypatch.setenv("AUTOGEN_CONTEXT_WINDW_TOKENS", "1")
    with pytest.raises(ValueError, match="did you mean 'window_tokens'"):
        built("classic")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        pytest.param(
            {"model": MODEL}, "model belongs into 'settings'", id="a setting beside settings"
        ),
        pytest.param({"setings": {}}, "setings", id="a slip"),
        pytest.param({"settings": {"modle": MODEL}}, "did you mean 'model'", id="a slip within"),
    ],
)
def test_a_components_keys_are_checked(config: dict[str, object], message: str) -> None:
    """F33: what is in the wrong place, or misspelt, is not passed over."""
    provider = "autogen_context.adapters.agentchat.ManagedChatCompletionContext"
    with pytest.raises(ValueError, match=message):
        ManagedChatCompletionContext.load_component({"provider": provider, "config": config})


# F20: what is not told is reserved for


@pytest.mark.parametrize("told", [{}, {"system_message": "word " * 500}, {"tools": [read_log]}])
async def test_a_context_alone_leaves_room_for_what_it_was_not_told(told: dict[str, Any]) -> None:
    """F20: a prompt of 500 tokens and five tools, in a window of 4,000 that a conversation fills."""
    async with serving(Say("ok")) as (server, client):
        context = ManagedChatCompletionContext(MODEL, window_tokens=4_000, **told)
        agent = AssistantAgent(
            "a", client, model_context=context, tools=[read_log], system_message="word " * 500
        )
        for number in range(40):
            await context.add_message(said(f"{number} " + "word " * 100))
        await agent.run(task="Sure?")
    assert server.rejected == []
    assert server.requests[0].prompt_tokens > 1_400


# F35: told, not silent


def test_an_unknown_model_is_told_of() -> None:
    """F35: with what is assumed and what to do."""
    with pytest.warns(
        UserWarning, match="nothing is known of the model 'my-own'.*MODEL_LIMIT_MY_OWN"
    ) as told:
        IncrementalContextManager("my-own").prepare_nowait([])
    assert {each.filename for each in told} == {__file__}


def test_estimated_counts_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """F35: where no tokenizer is at hand."""
    from autogen_context.tokens import message_counter  # noqa: PLC0415
    from autogen_context.tokens.measure import EstimateCounter  # noqa: PLC0415

    def estimates(_model: str) -> EstimateCounter:
        return EstimateCounter()

    monkeypatch.setattr(message_counter, "counter_for", estimates)
    with pytest.warns(UserWarning, match=r"tokens are estimated.*autogen-context\[fast\]"):
        IncrementalContextManager(MODEL).prepare_nowait([])


async def test_two_agents_on_one_context_are_told_of() -> None:
    """F35: each would be sent what the other was told."""
    context = ManagedChatCompletionContext(MODEL, window_tokens=4_000)
    for name in ("ann", "ann"):
        await context.add_message(said("Go on."))
        await context.get_messages()
        await context.add_message(AssistantMessage(content="Yes.", source=name))
    handoff: list[LLMMessage] = [
        said("Take over."),
        AssistantMessage(content="I did it.", source="bob"),
    ]
    for message in handoff:  # what another agent did comes before a request, not behind it
        await context.add_message(message)
    await context.get_messages()
    with pytest.warns(UserWarning, match="the agents 'ann' and 'bob' share one context"):
        await context.add_message(AssistantMessage(content="No.", source="bob"))


def test_the_usage_of_another_manager_is_refused() -> None:
    """F35: a bill teaches the manager that prepared the request."""
    one, other = (IncrementalContextManager(MODEL, window_tokens=4_000) for _ in range(2))
    prepared = one.prepare_nowait([{"role": "user", "content": "Hi."}])
    with pytest.raises(ValueError, match="another manager's, or a copy"):
        other.record_usage(prepared, prompt_tokens=9)
    one.record_usage(prepared, prompt_tokens=9)
    assert one.usage.requests == 1


async def test_a_closed_manager_is_an_error_with_a_way_out() -> None:
    """F35: its state is there to go on with."""
    task = {"role": "user", "content": "Hi."}
    async with IncrementalContextManager(MODEL, window_tokens=4_000) as manager:
        manager.prepare_nowait([task])
    with pytest.raises(ManagerClosed, match="load_state"):
        manager.prepare_nowait([task])
    with pytest.raises(ManagerClosed):
        await manager.prepare([task])
    other = IncrementalContextManager(MODEL, window_tokens=4_000)
    other.load_state(manager.save_state())
    assert other.prepare_nowait([task]).messages == [task]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param({"config": {"model": MODEL}}, "config", id="config"),
        pytest.param({"counter": "gpt-4o"}, "counter", id="counter"),
        pytest.param({"original_store": "redis://there"}, "original_store", id="original store"),
    ],
)
@pytest.mark.parametrize("entry", CONTEXTS, ids=lambda entry: entry.__name__)
def test_an_argument_of_the_wrong_kind_names_itself(
    entry: Callable[..., object], arguments: dict[str, object], named: str
) -> None:
    """F35: at construction, with what to give."""
    with pytest.raises(ValueError, match=f"{named}=.*give"):
        entry("gpt-4o", **arguments)


# F18, F37


async def test_a_cleared_context_forgets_what_left_it() -> None:
    """F18: ``agent.on_reset``, and a state of another conversation, leave nothing to send or to ask back."""
    context = ManagedChatCompletionContext(MODEL, window_tokens=1_000, system_message="", tools=[])
    other = BufferedChatCompletionContext(9, initial_messages=[said("Hello.")])
    theirs = await other.save_state()
    for state, left in ((None, []), (theirs, [said("Hello.")])):
        for number in range(40):
            await context.add_message(said(f"secret{number} " * 30))
        await context.get_messages()
        assert "secret3" in context.manager.recall_context(query="secret3")
        await (context.load_state(state) if state else context.clear())
        assert await context.get_messages() == left
        assert "1\t" not in context.manager.recall_context(query="secret3")
        assert "secret3" not in json.dumps(dict(await context.save_state()))
