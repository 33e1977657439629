"""A conversation under its limit, and what a person can ask of it."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autogen_context.chat.session import ChatExchange, ChatSession
from autogen_context.chat.settings import ChatSettings
from autogen_context.errors import StateError
from autogen_context.testing import Fault, LoopbackServer, Say, ScriptedModel

KB = {
    "borin.md": "# The Borin pump\n\nThe Borin pump costs 1007 euros.",
    "celdo.md": "# The Celdo pump\n\nThe Celdo pump costs 1014 euros.",
}


def benchmark() -> ModuleType:
    """The long talk, which its benchmark has whole."""
    path = Path(__file__).parents[2] / "benchmarks" / "chat.py"
    spec = importlib.util.spec_from_file_location("chat_benchmark", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def settings(tmp_path: Path) -> ChatSettings:
    """Two entries, and a folder to save in."""
    folder = tmp_path / "kb"
    folder.mkdir()
    for name, text in KB.items():
        (folder / name).write_text(text)
    return ChatSettings(knowledge=folder, folder=tmp_path / "saved_conversations")


async def said(session: ChatSession, text: str) -> str:
    """The answer to a text."""
    return "".join([piece async for piece in session.ask(text)])


async def test_a_long_talk_stays_below_its_limit(tmp_path: Path) -> None:
    """No request above it, every source right, everything stated answered for, no planted order obeyed."""
    found = await benchmark().hold(28, 1_500, tmp_path)
    assert found.refused == 0
    assert found.most_tokens <= 1_500
    assert found.wrong == []
    assert found.forgotten == []
    assert found.obeyed == 0


async def test_it_goes_on_from_what_was_saved(settings: ChatSettings) -> None:
    """With facts as they were edited, and what was taken back; the Markdown has question, answer and source."""
    async with ChatSession(settings) as session:
        await said(session, "My name is Ann.")
        await said(session, "I live in Graz.")
        await said(session, "What does the Borin pump cost?")
        session.provider.facts.edit(session.fact("1").id, "My name is Anne")
        session.provider.take_back(session.fact("2"))
        path = await session.save("pumps")
        exchanges = list(session.exchanges)
    assert (
        "> What does the Borin pump cost?\n\nThe Borin pump costs 1007 euros. [borin.md]"
        in path.read_text()
    )
    assert "Sources: borin.md" in path.read_text()
    async with ChatSession(settings) as session:
        await session.load("pumps")
        assert session.exchanges == exchanges
        assert [fact.text for fact in session.provider.facts] == ["My name is Anne"]
        assert "Anne" in await said(session, "What is my name?")


async def test_a_damaged_file_changes_nothing(settings: ChatSettings) -> None:
    """What is there goes on, and the file is named."""
    async with ChatSession(settings) as session:
        await said(session, "My name is Ann.")
        await session.save("whole")
        path = settings.folder / "whole.json"
        path.write_text(path.read_text()[:-40])
        with pytest.raises(StateError, match=r"whole\.json"):
            await session.load("whole")
        assert session.exchanges[0].said == "My name is Ann."


@pytest.mark.parametrize("name", ["../up", "/etc/x", "", "a/b", ".hidden", "x" * 90])
async def test_a_name_is_no_path(settings: ChatSettings, name: str) -> None:
    """Nothing is written or read outside the folder."""
    async with ChatSession(settings) as session:
        with pytest.raises(ValueError, match="is no name"):
            await session.load(name)


async def test_the_sources_of_an_answer_are_entries(settings: ChatSettings) -> None:
    """What the model makes up is none; they stay where a chat without the folder goes on."""
    made = Say("So it is. [borin.md] [made-up.md]")
    with LoopbackServer(ScriptedModel([made])) as server:
        async with ChatSession(replaced(settings, server)) as session:
            await said(session, "What does it cost?")
            await session.save("one")
        async with ChatSession(ChatSettings(folder=settings.folder)) as later:
            await later.load("one")
            assert later.exchanges == [ChatExchange("What does it cost?", made.text, ("borin.md",))]


@pytest.mark.parametrize(
    "faults",  # a client tries twice where nothing came
    [[Fault.drop()], [Fault.drop(before_headers=True)] * 2, [Fault.error(401)], [Fault.error(404)]],
    ids=["lost in the middle", "lost before", "wrong key", "unknown model"],
)
async def test_a_question_without_an_answer_is_asked_again(
    settings: ChatSettings, faults: list[Fault]
) -> None:
    """It stays in the conversation, once, whether Enter asks again or the same words do."""
    with LoopbackServer(ScriptedModel(lambda _: Say("Fine."))) as server:
        async with ChatSession(replaced(settings, server)) as session:
            server.inject(*faults)
            with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the client raises
                await said(session, "How are you?")
            assert session.exchanges == [ChatExchange(said="How are you?")]
            assert await said(session, "" if len(faults) > 1 else "How are you?") == "Fine."
            assert session.exchanges == [ChatExchange(said="How are you?", answer="Fine.")]
            asked = [each for each in server.requests[-1].messages if each["role"] == "user"]
            assert len(asked) == 1


def replaced(settings: ChatSettings, server: LoopbackServer) -> ChatSettings:
    """The same settings, with the model of a server."""
    return ChatSettings(
        base_url=server.base_url, knowledge=settings.knowledge, folder=settings.folder
    )


async def test_what_an_early_end_leaves(settings: ChatSettings) -> None:
    """The part of the answer that came, marked."""
    with LoopbackServer(ScriptedModel(lambda _: Say("word " * 200))) as server:
        async with ChatSession(replaced(settings, server)) as session:
            pieces = session.ask("Tell me all.")
            await anext(pieces)
            await pieces.aclose()
            assert session.exchanges[0].answer.endswith("[interrupted]")
            assert await said(session, "Go on.")


async def test_why_pin_shares_and_limit(settings: ChatSettings) -> None:
    """What the commands show is what the last request has."""
    async with ChatSession(settings) as session:
        await said(session, "What does the Borin pump cost?")
        assert "keep" in session.why("Borin pump cost?")[0]
        assert "[celdo.md] is not in the last request." in session.why("Celdo")
        assert any("[borin.md] is in the last request" in line for line in session.why("1007"))
        assert session.pin("does the Borin pump") == "What does the Borin pump cost?"
        assert "Borin" in session.exchanges[0].answer
        assert session.pin("Borin") == "What does the Borin pump cost?"
        shares = {share.section: share for share in session.shares()}
        assert [shares[each].most for each in shares] == [150, 600, 645, 105]
        assert shares["knowledge"].used > 0
        await session.change(
            ChatSettings(limit_tokens=600, knowledge=settings.knowledge, folder=settings.folder)
        )
        for _ in range(6):
            await said(session, "What does the Celdo pump cost? " + "Take your time. " * 40)
        assert max(each.prompt_tokens for each in session.served) <= 600
        assert "keep, must stay: pinned" in session.why("does the Borin pump")[0]


async def test_a_paste_states_nothing_and_is_not_pinned(settings: ChatSettings) -> None:
    """What was typed around it counts; a pin that leaves no room for the conversation is refused."""
    async with ChatSession(settings) as session:
        rows = "\n".join(f"Valve {at} must stay below {at} bar" for at in range(900))
        await said(session, f"My name is Ann.\n{rows}")
        assert [fact.text for fact in session.provider.facts] == ["My name is Ann"]
        with pytest.raises(ValueError, match="to be pinned"):
            session.pin("Valve 7")
        assert await said(session, "What is my name?")


async def test_a_new_conversation_leaves_those_before(settings: ChatSettings) -> None:
    """It gets a name of its own."""
    for name in ("Ann", "Bea"):
        async with ChatSession(settings) as session:
            await said(session, f"My name is {name}.")
            await session.save()
            assert (await session.save()).name == ("chat.md" if name == "Ann" else "chat-2.md")
    async with ChatSession(settings) as session:
        await session.load("chat")
        assert session.exchanges[0].said == "My name is Ann."


@pytest.mark.parametrize(
    ("given", "named"), [({"limit_tokens": 100}, "400"), ({"knowledge": Path("/no")}, "/no")]
)
def test_settings_that_cannot_be_are_refused(given: dict[str, Any], named: str) -> None:
    """With the least limit; by the name of the folder."""
    with pytest.raises(ValueError, match=named):
        ChatSettings(**given)
