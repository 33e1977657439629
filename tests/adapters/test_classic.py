"""ContextTransform on lists and on real classic agents, without a model."""

import copy
import subprocess
import sys
import threading
from typing import Any, cast

import pytest
from autogen import ConversableAgent, GroupChat, GroupChatManager
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.adapters.classic import AFTER_CALL, BEFORE_CALL, ContextTransform
from autogen_context.adapters.classic_conversations import CONVERSATIONS
from autogen_context.config import ContextConfig
from autogen_context.errors import ContextWindowExceeded, InvalidTranscript
from autogen_context.manager.options import ManagerOptions
from autogen_context.manager.prepared import Prepared
from autogen_context.testing import ChatMessage
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.testing.wire import ApiError
from support.classic import agent as agent_of
from support.classic import grouped, session, step, unrolled
from support.counting import Approximate

WINDOWS = st.integers(40, 4_000)


def transform_of(window_tokens: int, *, single_system: bool = False) -> ContextTransform:
    """A transform that counts alike everywhere."""
    config = ContextConfig(window_tokens=window_tokens, single_system=single_system)
    return ContextTransform(config=config, counter=Approximate())


def turn_of(transform: ContextTransform) -> Prepared[ChatMessage]:
    """What the last turn gave."""
    prepared = transform.conversations.last_prepared
    assert prepared is not None
    return prepared


def is_taken(messages: list[ChatMessage]) -> bool:
    """Whether the API takes what the host sends of these."""
    try:
        check_chat([*unrolled(messages)])
    except ApiError:
        return False
    return True


@settings(max_examples=80)
@given(st.one_of(transcripts(pending=False), transcripts(), broken_transcripts()), WINDOWS)
def test_what_the_api_takes_is_taken_and_fits(
    messages: list[ChatMessage], window_tokens: int
) -> None:
    """The host's list is untouched and the newest message last, a copy only if it was shortened or repaired; or there is an error."""
    history, transform = grouped(messages), transform_of(window_tokens)
    before = copy.deepcopy(history)
    try:
        sent = transform.apply_transform(history)
    except (InvalidTranscript, ContextWindowExceeded):
        sent = []
    assert history == before
    if not sent:
        return
    prepared = turn_of(transform)
    assert prepared.certificate.fits
    assert is_taken(sent) or not is_taken(history)
    if sent[-1] is not history[-1]:
        newest = prepared.decisions[-1]
        assert newest.action in ("reduce", "shorten", "repair")
        came_broken = newest.start in prepared.certificate.orphans
        assert sent[-1]["role"] == history[-1].get("role", "user") or came_broken
        assert sent[-1].get("tool_calls") == history[-1].get("tool_calls")


def test_an_over_long_last_message_keeps_its_ends() -> None:
    """Role, name and the word that ends a chat; a result says the same in both places."""
    for role in ("user", "assistant"):
        long = {"role": role, "name": "user", "content": "word " * 5_000 + "\nTERMINATE"}
        sent = transform_of(500).apply_transform([*session(3), long])
        assert (sent[-1]["role"], sent[-1]["name"]) == (role, "user")
        assert sent[-1]["content"].endswith("TERMINATE")
        assert len(sent[-1]["content"]) < len(long["content"])
    sent = transform_of(500).apply_transform([*session(1), *step(9, words=5_000)])
    (response,) = sent[-1]["tool_responses"]
    assert response["tool_call_id"] == "c9"
    assert sent[-1]["content"] == response["content"]
    assert len(response["content"]) < 3_000


def test_deep_copies_are_the_same_history() -> None:
    """The cut is held over copies, and where the host took ``context`` off the last message; the list only grows."""
    transform, history = transform_of(2_000), session(40)
    history[-1]["context"] = {"a": 1}
    first = transform.apply_transform(copy.deepcopy(history))
    assert turn_of(transform).compacted
    del history[-1]["context"]
    second = transform.apply_transform(copy.deepcopy([*history, *step(40)]))
    assert not turn_of(transform).compacted
    assert second[: len(first) - 1] == first[:-1]
    assert len(second) == len(first) + 2


@settings(max_examples=20)
@given(st.lists(st.integers(0, 2), max_size=24))
def test_conversations_do_not_disturb_each_other(turns: list[int]) -> None:
    """Whatever the order of turns, each conversation gets what a transform of its own would give."""
    together, alone = transform_of(700), [transform_of(700) for _ in range(3)]
    lengths = [0, 0, 0]
    for who in turns:
        lengths[who] += 2
        history = session(lengths[who], task=f"Task {who}.")
        expected = alone[who].apply_transform(history)
        assert together.apply_transform(copy.deepcopy(history)) == expected


@pytest.mark.parametrize(
    ("now", "is_same"),
    [
        pytest.param(session(40), True, id="asked again"),
        pytest.param([*session(40)[:-1], {"role": "user", "content": "?"}], False, id="other end"),
        pytest.param(session(0), False, id="began alike"),
        pytest.param(session(39), False, id="all but its end"),
        pytest.param(session(40, task="Another task."), False, id="cleared and filled anew"),
    ],
)
def test_a_list_of_copies_is_known_by_all_that_was_seen(
    now: list[ChatMessage], *, is_same: bool
) -> None:
    """Any other list may be another chat that began alike; it leaves the cuts of the long one alone."""
    transform, long = transform_of(2_000), session(40)
    transform.apply_transform(long)
    manager = transform.conversations.manager
    transform.apply_transform(now)
    assert (transform.conversations.manager is manager) is is_same
    transform.apply_transform([*long, *step(40)])
    assert transform.conversations.manager is manager
    assert not turn_of(transform).compacted


@pytest.mark.parametrize(
    ("others", "kept"), [(CONVERSATIONS - 1, True), (CONVERSATIONS, False)], ids=["kept", "let go"]
)
def test_so_many_conversations_are_kept(others: int, *, kept: bool) -> None:
    """The one that was silent for longest is let go first."""
    transform = transform_of(2_000)
    transform.apply_transform(session(1))
    manager = transform.conversations.manager
    for number in range(others):
        for steps in (1, 2):  # turns of one conversation take one place
            transform.apply_transform(session(steps, task=f"Task {number}."))
    transform.apply_transform(session(2))
    assert (transform.conversations.manager is manager) is kept


def test_logs_tell_what_happened() -> None:
    """The host prints the text where the flag says that something was done."""
    transform, short, long = transform_of(2_000), session(1), session(40)
    assert transform.get_logs(short, transform.apply_transform(short)) == (
        "The messages fit; none was changed.",
        False,
    )
    sent = transform.apply_transform(long)
    assert transform.get_logs(long, sent) == (
        f"81 messages became {len(sent)}, 1 of them written anew.",
        True,
    )


def test_system_message_and_tools_are_measured_at_each_turn() -> None:
    """What the agent adds counts, and a change of it counts from the next turn on."""
    agent = agent_of()
    conversations = transform_of(20_000).add_to_agent(agent)

    def counted() -> int:
        sent = agent.process_all_messages_before_reply(session(1))
        assert sent == session(1)
        assert conversations.last_prepared is not None
        return conversations.last_prepared.certificate.counted_tokens

    bare = counted()
    agent.update_system_message("You are a coder. " + "word " * 1_000)
    longer = counted()
    assert longer - bare == 1_000
    agent.register_for_llm(name="read", description="word " * 500)(len_of)
    with_tool = counted()
    assert with_tool - longer > 500
    assert agent.llm_config
    agent.llm_config["functions"] = [{"name": "old", "description": "word " * 500}]
    assert counted() - with_tool > 500


def len_of(path: str) -> str:
    """A tool."""
    return path


def test_one_system_message_is_the_agents_own() -> None:
    """Where the model takes one system message, those in the list become the user's; none is lost or doubled."""
    agent = agent_of(url=None)
    transform_of(2_000, single_system=True).add_to_agent(agent)
    rules: ChatMessage = {"role": "system", "content": "Rules."}
    sent = agent.process_all_messages_before_reply([rules, *session(1)])
    assert sent[0] == {"role": "user", "content": "Rules."}
    assert sent[1:] == session(1)


@pytest.mark.parametrize(
    ("given", "limit_tokens"),
    [
        pytest.param({"window_tokens": 4_000}, 3_000, id="small window"),
        pytest.param({"window_tokens": 16_000}, 14_000, id="large window"),
        pytest.param({"window_tokens": 16_000, "reserve_tokens": 0}, 16_000, id="nothing"),
        pytest.param({"window_tokens": 16_000, "reserve_tokens": 200}, 15_800, id="by number"),
    ],
)
def test_room_is_held_back_for_what_a_list_does_not_show(
    given: ManagerOptions, limit_tokens: int
) -> None:
    """A list alone shows no system message and no tools: some room stays for them unless the number is given."""
    transform = ContextTransform(**given)
    transform.apply_transform(session(1))
    assert turn_of(transform).certificate.limit_tokens == limit_tokens


@pytest.mark.parametrize(
    ("case", "bills"),
    [
        ({}, 1),
        ({"same_list": False}, 0),
        ({"same_thread": False}, 0),
        ({"api_type": "deepseek"}, 0),
        ({"prompt_tokens": 0}, 0),  # the reply came from the host's cache
    ],
    ids=["its own", "another list", "another thread", "another api", "cached"],
)
def test_a_bill_is_taken_for_the_call_it_belongs_to_alone(case: dict[str, Any], bills: int) -> None:
    """OpenAI's bill for the very list that was prepared, by the hooks that a real agent calls around it."""
    agent = agent_of(api_type=case.get("api_type", "openai"))
    conversations = transform_of(20_000).add_to_agent(agent)
    sent = agent.process_all_messages_before_reply(session(5))
    (before,), (after,) = (agent.hook_lists[name] for name in (BEFORE_CALL, AFTER_CALL))
    system = {"role": "system", "content": agent.system_message}
    before([system, *(sent if case.get("same_list", True) else copy.deepcopy(sent))])
    assert agent.client is not None
    usage = {"prompt_tokens": case.get("prompt_tokens", 2_000)}
    agent.client.actual_usage_summary = {"total_cost": 0, "gpt-4o": usage}
    if case.get("same_thread", True):
        assert after("reply") == "reply"
    else:
        other = threading.Thread(target=after, args=("reply",))
        other.start()
        other.join()
    assert conversations.manager.usage.requests == bills


def test_where_a_transform_does_not_belong() -> None:
    """Twice on one agent, on what is no agent, on a GroupChatManager, or with a wrong setting."""
    agent, transform = agent_of(url=None), transform_of(2_000)
    transform.add_to_agent(agent)
    with pytest.raises(ValueError, match="already"):
        transform.add_to_agent(agent)
    with pytest.raises(ValueError, match=r"not builtins\.object; .*register\(agent\)"):
        transform.add_to_agent(cast("ConversableAgent", object()))
    group = GroupChat(agents=[agent_of("a", None), agent_of("b", None)], messages=[])
    with pytest.warns(UserWarning, match="members of the group"):
        transform.add_to_agent(GroupChatManager(group, llm_config=False))
    with pytest.raises(ValueError, match="window_tokens"):
        ContextTransform("gpt-4o", window_tokens=-1)


def test_the_adapter_does_not_import_the_host() -> None:
    """Lists of dicts need no AutoGen."""
    code = "import sys, autogen_context.adapters.classic; sys.exit('autogen' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  our own interpreter
