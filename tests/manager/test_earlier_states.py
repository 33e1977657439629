"""States of earlier releases go on: the files beside this one were written by those releases (``support/states.py``)."""

import json
import logging
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

import pytest

from autogen_context.errors import StateError
from autogen_context.manager.state import SCHEMA, load
from autogen_context.messages.message import (
    HostFormat,
    Message,
    ToolCall,
    ToolResult,
    content_digest,
)
from autogen_context.messages.openai_chat import OpenAIChat
from support.states import FOLDER, HOSTS, PINNED, SAVED_STEPS, conversation, decided, keeper_of

FILES = sorted(path.stem for path in FOLDER.glob("schema-*.json"))
of_each_release = pytest.mark.parametrize("name", FILES)


def saved_by(name: str) -> Mapping[str, Any]:
    """What a release saved, and what it did next."""
    return cast("Mapping[str, Any]", json.loads((FOLDER / f"{name}.json").read_text()))


def host_of(name: str) -> str:
    """The host in the name of a file."""
    return name.split("-", 2)[2]


def test_there_is_a_state_of_each_schema_and_host() -> None:
    """From the first that can be migrated to the one before today's."""
    assert {name.split("-")[1] for name in FILES} == {str(n) for n in range(8, SCHEMA)}
    assert {host_of(name) for name in FILES} == set(HOSTS)


@of_each_release
def test_a_state_of_an_earlier_release_goes_on(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """The next turn decides as that release did: nothing is compacted anew, and that is told without a warning."""
    words, saved = HOSTS[host_of(name)], saved_by(name)
    keeper = keeper_of(words)
    keeper.load_state(saved["state"])
    with caplog.at_level(logging.INFO, logger="autogen_context"):
        turn = keeper.prepare_nowait(conversation(words, SAVED_STEPS + 1))
    assert decided(turn.decisions) == saved["next"]
    assert turn.compacted == saved["compacted"]
    assert turn.certificate.pins_present
    told = [r for r in caplog.records if "earlier release" in r.getMessage()]
    is_told = saved["state"]["schema"] == 8  # whose digests are others
    assert [r.levelno for r in told] == [logging.INFO] * is_told
    assert len(keeper.versions) == len(saved["state"]["saved_versions"])


@of_each_release
def test_pins_of_an_earlier_release_are_pins(name: str) -> None:
    """The message that was pinned then can be unpinned now."""
    words, saved = HOSTS[host_of(name)], saved_by(name)
    keeper = keeper_of(words)
    keeper.load_state(saved["state"])
    messages = conversation(words, SAVED_STEPS + 1)
    keeper.prepare_nowait(messages)
    assert load(keeper.save_state()).view.pins
    keeper.unpin(messages[PINNED])
    assert not load(keeper.save_state()).view.pins


@of_each_release
def test_a_migrated_state_can_be_saved_at_once(name: str) -> None:
    """Before the host's messages are known: loaded again, it goes on as well."""
    words, saved = HOSTS[host_of(name)], saved_by(name)
    keeper, other = keeper_of(words), keeper_of(words)
    keeper.load_state(saved["state"])
    other.load_state(json.loads(json.dumps(keeper.save_state())))
    turn = other.prepare_nowait(conversation(words, SAVED_STEPS + 1))
    assert decided(turn.decisions) == saved["next"]
    third = keeper_of(words)
    third.load_state(json.loads(json.dumps(other.save_state())))
    again = third.prepare_nowait(conversation(words, SAVED_STEPS + 1))
    assert decided(again.decisions) == saved["next"]


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("schema-8-")])
def test_another_conversation_is_not_taken_for_the_saved_one(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Where digests cannot be compared: units of another size are decided anew, and a warning says how many were recognised."""
    words, saved = HOSTS[host_of(name)], saved_by(name)
    keeper = keeper_of(words)
    keeper.load_state(saved["state"])
    messages = conversation(words, SAVED_STEPS + 1)
    messages[4] = words.said("Another answer than the one that was saved.")
    turn = keeper.prepare_nowait(messages)
    assert turn.certificate.fits
    [told] = [r for r in caplog.records if "earlier release" in r.getMessage()]
    assert (told.levelno, told.__dict__["recognised"]) == (logging.WARNING, 3)


@pytest.mark.parametrize("schema", [7, SCHEMA + 1])
def test_what_cannot_be_migrated_is_refused(schema: int) -> None:
    """With the schemas that can, and the way out."""
    keeper = keeper_of(HOSTS["openai"])
    state = saved_by(FILES[0])["state"]
    with pytest.raises(
        StateError, match=f"schema {schema} and this release reads 8 to {SCHEMA}; load"
    ):
        keeper.load_state({**state, "schema": schema})


FORMAT = HOSTS["agentchat"].host  # its snapshots are the messages that were read


def digest_of(host: HostFormat, message: Message) -> bytes:
    """The digest of what a format has read."""
    return host.digest(message)


def test_digests_are_those_of_every_python() -> None:
    """Written out: in another process, on another Python and in a later release they are these."""
    openai = OpenAIChat()
    content: dict[str, object] = {
        "role": "user",
        "content": "Gr\u00fc\u00dfe \ud800 \U0001f600\n",
        "n": [1, 0.1, None, True],
    }
    assert openai.digest(content).hex() == "7204904c573512e935a13d2256ed7212"
    assert openai.digest(dict(reversed(content.items()))) == openai.digest(content)
    call = ToolCall(id="1", name="find", arguments='{"q": 1}')
    messages = [
        Message(role="user", text="\ud83d\ude00 and \U0001f600 are two texts"),
        Message(role="assistant", calls=(call,), intensity=0.25),
        Message(role="tool", results=(ToolResult(call_id="1", text="a\tb"),)),
    ]
    assert [digest_of(FORMAT, each).hex() for each in messages] == [
        "276233e3c068423e88caf79c5f828586",
        "1e54a6f28e0d9febba3259530421deea",
        "3a7dc37c87115eac4aa4282dff436ae4",
    ]


def test_a_field_at_its_default_is_in_no_digest() -> None:
    """So a field that a later release adds, with a default, changes none."""
    written = content_digest('{"role":"user","text":"a"}')
    assert digest_of(FORMAT, Message(role="user", text="a")) == written


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({1: "a", "b": 2}, {1: "a", "b": 3}),
        ({"x": b"1"}, {"x": b"2"}),
        ({"x": {"a", "b"}}, {"x": {"a", "c"}}),
        ({"x": Decimal("1.0")}, {"x": Decimal("1.1")}),
    ],
)
def test_odd_content_has_a_digest_that_lasts(one: object, other: object) -> None:
    """What JSON has no word for is told apart, and no address in memory or order of a set is in a digest."""
    host = OpenAIChat()
    digests = [
        host.digest({"role": "user", "metadata": [each, object()]}) for each in (one, one, other)
    ]
    assert digests[0] == digests[1] != digests[2]
