"""A project beside a conversation: saved, branched, shared, set back."""

import json

import pytest

from autogen_context import IncrementalContextManager, ProjectContext
from autogen_context.errors import StateError
from autogen_context.manager.change import ContextChange
from support.counting import Characters
from support.shop import (
    OTHERS,
    SIGNATURE,
    SYSTEM,
    TOLD,
    Deaf,
    Shop,
    Transcript,
    heads_in,
    priced,
    talk,
)
from support.tree import Counting


async def test_the_head_is_no_part_of_the_conversation(shop: Shop) -> None:
    """Decisions are on the host's messages; a branch and an earlier version have the head in its place, once."""
    keeper = shop.manager()
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    turn = await keeper.prepare(messages)
    assert [(d.start, d.stop) for d in turn.decisions] == [(0, 1), (1, 2)]
    assert keeper.explain(messages[1]).action == "keep"
    messages += talk(2)
    branch = keeper.branch()
    ours, theirs = await keeper.prepare(messages), await branch.prepare(messages)
    assert ours.messages == theirs.messages
    keeper.roll_back(0)
    assert (await keeper.prepare(messages)).messages == ours.messages


async def test_agents_share_what_is_read(shop: Shop) -> None:
    """The second conversation reads no file of symbols again, and each has a head of its own."""
    messages: Transcript = [{"role": "user", "content": "Go."}]
    cache = Counting()
    shop.project = ProjectContext(shop.root, cache=cache, watch=Deaf())
    first = await shop.manager().prepare(messages)
    built = cache.built
    second = await shop.manager().prepare(messages)
    assert first.messages == second.messages
    pages = 3  # kinds of them: what was written just now is not believed, and read again
    assert 0 < built <= cache.built <= built + pages


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"head": {"rooms": "none"}}, id="of a wrong make"),
        pytest.param({"renewed": "yes"}, id="of a wrong type"),
        pytest.param({"head": None}, id="nothing"),
        pytest.param({"head": {"parts": []}}, id="only a part of it"),
    ],
)
async def test_a_damaged_head_is_refused(shop: Shop, damage: dict[str, object]) -> None:
    """With what the manager had left as it was."""
    keeper = shop.manager()
    await keeper.prepare([SYSTEM, {"role": "user", "content": "Go."}])
    state = json.loads(json.dumps(keeper.save_state()))
    before = keeper.save_state()
    state["providers"]["project"] |= damage
    with pytest.raises(StateError):
        keeper.load_state(state)
    assert keeper.save_state() == before


async def test_a_state_without_what_belongs_in_it_is_refused(shop: Shop) -> None:
    """As one that is damaged."""
    state = json.loads(json.dumps(shop.manager().save_state()))
    state["providers"]["project"] = {}
    with pytest.raises(StateError, match="the saved project is damaged"):
        shop.manager().load_state(state)


@pytest.mark.parametrize("head", [{"parts": []}, {"parts": "none"}, {"parts": [{"label": 1}]}])
def test_a_project_refuses_a_damaged_head_itself(shop: Shop, head: dict[str, object]) -> None:
    """For those who have no manager: with one kind of error, whether a field is missing or of another type."""
    with pytest.raises(StateError, match="the saved context of the project is damaged"):
        shop.project.resume(head)


async def test_what_was_saved_for_others_is_passed_on(shop: Shop) -> None:
    """A manager without the project keeps what it does not read."""
    keeper = shop.manager()
    await keeper.prepare([SYSTEM, {"role": "user", "content": "Go."}])
    state = keeper.save_state()
    other = IncrementalContextManager(config=keeper.config, counter=Characters())
    other.load_state(state)
    assert other.save_state() == state


async def test_where_nothing_is_continued_a_late_head_comes_to_the_front(shop: Shop) -> None:
    """Back at a version that had it in front of a unit, it is there once, and costs what it costs in front."""
    keeper = shop.manager()
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    keeper.prepare_nowait(messages)
    messages += talk(1)
    late = await keeper.prepare(messages)
    assert [bool(heads_in([message])) for message in late.messages] == [False] * 3 + [True, False]
    version = await keeper.apply_changes([ContextChange.decision_recorded("Prices are cents.")])
    keeper.roll_back(version.version)
    turn = await keeper.prepare(messages)
    assert heads_in(turn.messages[:2]) == heads_in(turn.messages) == heads_in(late.messages)
    fresh = await shop.manager().prepare(messages)
    told = [message for message in turn.messages if message not in fresh.messages]
    assert [message for message in turn.messages if message not in told] == fresh.messages
    assert [str(message["content"]).startswith(TOLD) for message in told] == [True]
    cost = shop.manager().prepare_nowait(told).certificate.counted_tokens
    spent = [sum(each.tokens_after for each in one.decisions) for one in (turn, fresh)]
    assert spent[0] <= spent[1] + cost


@pytest.mark.parametrize("way", ["load", "branch"])
async def test_what_changed_while_nobody_looked_is_told_by_its_name(shop: Shop, way: str) -> None:
    """Of a file that the head shows; what it was nobody knows any more, but whether it is that again."""
    keeper = shop.manager()
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    await keeper.prepare(messages)
    other, state = keeper.branch(), keeper.save_state()
    if way == "load":
        other.load_state(json.loads(json.dumps(state)))
    said = [
        "shop/price.py has changed.",
        None,
        "shop/price.py is again as the project's context says",
    ]
    for signature, told in zip((OTHERS[0], OTHERS[1], SIGNATURE), said, strict=True):
        shop.write("shop/price.py", priced(signature))
        messages += talk(1)
        newest = str((await other.prepare(messages)).messages[-2]["content"])
        assert newest == f"{TOLD}\n{told}\n]" if told else TOLD not in newest
        if way == "load":
            state, other = other.save_state(), shop.manager()
            other.load_state(json.loads(json.dumps(state)))


async def test_what_was_learned_since_a_state_was_loaded_is_saved(shop: Shop) -> None:
    """It takes the place of what that state had."""
    keeper = shop.manager()
    keeper.load_state(keeper.save_state())
    await keeper.prepare([SYSTEM, {"role": "user", "content": "Go."}])
    state = json.loads(json.dumps(keeper.save_state()))
    assert state["providers"]["project"]["head"]["parts"]
