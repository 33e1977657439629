"""Exchanges are whole: a question with its answer, and all that happened between; of old ones courtesies go, and nothing else."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.adapters.classic_format import ClassicFormat
from autogen_context.messages.message import SYSTEM_ROLES, Image, Message, ToolCall, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.origin import resolved
from autogen_context.recall.exchanges import (
    CLOSING,
    LEAST_TOKENS,
    OPENING,
    Exchange,
    exchanges,
    newest_request,
    rendered,
    retrieve,
    why_dropped,
)
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.text.quote import MARK, block
from support.counting import Characters
from support.saying import step
from support.units import read_all

FEW = settings(max_examples=25)
WHOLE = transcripts(max_messages=16, max_repeats=2).map(read_all)
ANY = WHOLE | broken_transcripts(max_messages=16, max_repeats=2).map(read_all)
CALL = ToolCall(id="1", name="f", arguments="{}")
RESULT = Message(role="tool", results=(ToolResult(call_id="1", text="42"),))
SYSTEM = Message(role="system", text="Be brief.")


def says(text: str) -> Message:
    """A person's message."""
    return Message(role="user", text=text)


def answers(text: str, *, calls: bool = False) -> Message:
    """An assistant's message."""
    return Message(role="assistant", text=text, calls=(CALL,) if calls else ())


@FEW
@given(ANY)
def test_exchanges_cover_the_conversation(messages: list[Message]) -> None:
    """R4: without gap or overlap; what a person says in a row opens each but perhaps the first."""
    found = exchanges(messages)
    first = next((i for i, m in enumerate(messages) if m.role not in SYSTEM_ROLES), len(messages))
    borders = [first, *[each.stop for each in found]]
    assert [(each.start, each.stop) for each in found] == list(pairwise(borders))
    assert borders[-1] == len(messages)
    for number, each in enumerate(found):
        assert each.asked == tuple(messages[each.start : each.start + len(each.asked)])
        assert number == 0 or each.asked
        assert all(m.role == "user" and not m.results for m in each.asked)
        assert each.answered is None or each.answered in messages[each.start : each.stop]


Expected = list[tuple[tuple[str, ...], str | None]]
TABLE: dict[str, tuple[list[Message], Expected]] = {
    "two questions in a row": ([says("a"), says("b"), answers("c")], [(("a", "b"), "c")]),
    "work between": (
        [says("a"), answers("I look", calls=True), RESULT, answers("42")],
        [(("a",), "42")],
    ),
    "not finished": ([says("a"), answers("I look", calls=True), RESULT], [(("a",), "I look")]),
    "greeted": ([SYSTEM, answers("hi"), says("a")], [((), "hi"), (("a",), None)]),
    "results as a person": (
        [says("a"), answers("I look", calls=True), Message(role="user", results=RESULT.results)],
        [(("a",), "I look")],
    ),
    "nothing": ([SYSTEM], []),
}


@pytest.mark.parametrize(("messages", "expected"), TABLE.values(), ids=TABLE.keys())
def test_exchanges_of(messages: list[Message], expected: Expected) -> None:
    """Who asked what, and what was the last word."""
    found = exchanges(messages)
    texts = [(tuple(m.text for m in e.asked), e.answered and e.answered.text) for e in found]
    assert texts == expected


# ---- what was said last

ASKED = Message(role="user", text=" What did I say? ")
RAN = Message(role="assistant", text="I run it.\n```bash\nls\n```")


@pytest.mark.parametrize(
    ("newest", "said"),
    [
        pytest.param(ASKED, "What did I say?", id="a person"),
        pytest.param(Message(role="user", text=""), "", id="nothing"),
        pytest.param(Message(role="assistant", text="What?"), "", id="the model"),
        pytest.param(Message(role="user", text="[3 earlier messages …]", own=True), "", id="our own"),
        pytest.param(
            Message(role="user", results=(ToolResult(call_id="1", text="What?"),)), "", id="a result"
        ),
        pytest.param(Message(role="user", text="<output>What?</output>"), "", id="output"),
        pytest.param(Message(role="user", text="<output>1</output>\nGo on."), "", id="in doubt"),
        pytest.param(Message(role="user", text="Go on.", name="coder"), "", id="another agent"),
    ],
)  # fmt: skip  # a row a case
def test_what_is_asked_last(newest: Message, said: str) -> None:
    """A person's latest words; an agent that hears no person does what who spoke to it first says."""
    talk = list(resolved([ASKED, RAN, newest]))
    assert newest_request(talk) == (said or "What did I say?")
    assert newest_request([]) == newest_request([RAN]) == ""
    team = [replace(ASKED, name="planner"), RAN, replace(newest, name="planner")]
    is_plain = newest.text.startswith(("Go", " What"))
    assert newest_request(list(resolved(team))) == (newest if is_plain else ASKED).text.strip()


# ---- what stays of the working memory

COURTESIES = ("ok", "Thanks a lot!", "got it", "👍", "...", "Alles klar, danke", "好的", "Спасибо!")
SHORT = ("use port 8081", "No.", "stop", "8081", "never", "v2", "ok, use tabs", "Ann", "why", "ok?")


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        *(("The port is 8081.", text, False) for text in COURTESIES),
        *(("I set it up.", text, True) for text in SHORT),
        ("I set it up.", "好的？", True),  # noqa: RUF001 - a Chinese question
        *(("Shall I delete it?", text, True) for text in COURTESIES),
        ("The port is 8081.", "thanks " * 40, True),
        ("Use port 8081.", "OK, use port 8081.", False),
        ("Use port 8081.", "OK, use port 8082.", True),
        ("A before B", "OK, B before A", True),
        ("Use port 8081.", "Use port 8081", True),
    ],
)
def test_only_courtesies_go(first: str, second: str, stays: bool) -> None:  # noqa: FBT001 - a column
    """R5: and nods that repeat the message before; a question, a decision, a value stays however short, and any answer."""
    before, message = says(first), answers(second)
    for said, by in ((before, message), (answers(first), says(second))):
        assert not why_dropped(said, None)
        assert (not why_dropped(by, said)) == stays
    assert why_dropped(says("ok"), says("Shall I?")) == "a courtesy"


MORE = {
    "a call": Message(role="assistant", text="ok", calls=(CALL,)),
    "a result": Message(role="tool", results=(ToolResult(call_id="1", text="ok"),)),
    "an image": Message(role="user", text="thanks", images=(Image(),)),
    "provider fields": Message(role="assistant", text="ok", extra='{"thinking": "…"}'),
    "an instruction": Message(role="system", text="ok"),
}


@pytest.mark.parametrize("message", MORE.values(), ids=MORE.keys())
def test_what_is_more_than_talk_stays(message: Message) -> None:
    """Words are not all that a message can hold."""
    assert not why_dropped(message, None)


@pytest.mark.parametrize("intensity", [0.9, 0.7, nan, None])
def test_strong_emotion_stays(intensity: float | None) -> None:
    """F28: above 0.7, whatever was said; read from the metadata of a host's message."""
    felt = None if intensity is None else {"emotion_data": {"emotional_intensity": intensity}}
    payload = {"role": "user", "content": "ok", "metadata": felt}
    for read in (OpenAIChat().read(payload), ClassicFormat().read(payload)):
        assert read.intensity == (intensity if intensity in {0.7, 0.9} else 0.0)
        assert (not why_dropped(read, None)) == (intensity == 0.9)


def test_courtesies_leave_a_manager_first() -> None:
    """R1, R5: of what is older than the last three exchanges, at a compaction; those are as they were."""
    said: list[ChatMessage] = []
    for n in range(40):
        said.append({"role": "user", "content": f"Take port {8000 + n} for the server."})
        said.append(
            {"role": "assistant", "content": f"Server {n} is set up. " + "It is fine. " * 9}
        )
        said.append({"role": "user", "content": "Thanks a lot!"})
        said.append({"role": "assistant", "content": "You're welcome!"})
    manager = IncrementalContextManager(window_tokens=1_000, counter=Characters())
    prepared = manager.prepare_nowait(said)
    assert prepared.compacted
    *older, _, _, _, _, _, _ = prepared.decisions
    assert {decision.action for decision in prepared.decisions[len(older) :]} == {"keep"}
    assert sum(decision.action == "keep" for decision in older) > 10
    assert {decision.action for decision in (*older[2::4], *older[3::4])} == {"drop"}
    assert older[-3].reason == "left out: a courtesy"


@pytest.mark.parametrize("intensity", [0.7, 0.9])
def test_strong_emotion_stays_in_a_manager(intensity: float) -> None:
    """F28: of many messages that are alike and state nothing, the one that was said with strong emotion is still there."""
    said: list[dict[str, object]] = []
    for day in range(60):
        heard = {"emotion_data": {"emotional_intensity": intensity if day == 5 else 0.1}}
        text = f"It was raining outside on day {day + 100} of that summer, and nobody came along."
        said.append({"role": "user", "content": text, "metadata": heard})
        said += step(f"c{day}", "look", f"seen row_{day} " * 20)
    manager = IncrementalContextManager(window_tokens=2_000, counter=Characters())
    prepared = manager.prepare_nowait(said)
    assert prepared.compacted
    assert ("on day 105 of" in str(prepared.messages)) == (intensity > 0.7)


# ---- what is brought back

TEXTS = st.sampled_from(
    ["ok", "use port 8081", "one\n\ntwo", "line\n" * 40, "word " * 900, "", "検索" * 90, CLOSING]
)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8)


def quarter(text: str) -> int:
    """Four characters a token, rounded up."""
    return -(-len(text) // 4)


def paired(pairs: Sequence[tuple[str, str]]) -> list[Message]:
    """Questions and answers."""
    return [
        Message(role=role, text=text)
        for pair in pairs
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]


def find(
    pairs: Sequence[tuple[str, str]],
    scores: Sequence[float],
    *,
    room_tokens: int = 10_000,
    top_k: int = 5,
) -> list[Exchange]:
    """What is retrieved of these questions and answers; scores are of the questions."""
    each = {2 * at: score for at, score in enumerate(scores)}
    found = exchanges(paired(pairs))
    return retrieve(found, each, room_tokens=room_tokens, count=quarter, top_k=top_k)


@FEW
@given(PAIRS, st.data())
def test_the_best_come_whole_or_marked(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    """R3, R4: those that score highest, of equals the newest, none below the least score, within the room, in order."""
    some = st.lists(
        st.sampled_from([0.0, 0.05, 0.2, 0.7]), min_size=len(pairs), max_size=len(pairs)
    )
    scores, top_k = data.draw(some), data.draw(st.integers(1, 4))
    ranks = sorted(range(len(pairs)), key=lambda at: (-scores[at], -at))
    best = sorted(at for at in ranks[:top_k] if scores[at] >= 0.1)
    assert [each.start // 2 for each in find(pairs, scores, top_k=top_k)] == best
    room = data.draw(st.integers(0, 2_000))
    found = find(pairs, scores, room_tokens=room, top_k=top_k)
    assert found == find(pairs, scores, room_tokens=room, top_k=top_k)
    assert quarter(rendered(found)) <= room
    assert [each.start // 2 for each in found] == [
        at for at in best if at in {e.start // 2 for e in found}
    ]
    for each in found:
        originals = pairs[each.start // 2]
        texts = [message.text for message in each.messages]
        # An answer without words is none.
        assert len(texts) == (2 if originals[1].strip() else 1)
        assert all(t == o or "shortened from" in t for t, o in zip(texts, originals, strict=False))


def test_what_a_person_said_is_searched() -> None:
    """An answer alone finds nothing; where the assistant opened, its words count."""
    messages = paired([("q", "a"), ("r", "b")])
    found = retrieve(exchanges(messages), {1: 0.9, 2: 0.2, 3: 0.9}, room_tokens=999, count=quarter)
    assert [each.start for each in found] == [2]
    greeted = [Message(role="assistant", text="hi"), *messages]
    found = retrieve(exchanges(greeted), {0: 0.9}, room_tokens=999, count=quarter)
    assert [each.start for each in found] == [0]


def test_a_long_one_is_compressed_and_a_short_one_beside_it_whole() -> None:
    """The question stays word for word, the answer gives; what has no room at all is left out."""
    pairs = [("which port?", "log line\n" * 2_000)]
    (found,) = find(pairs, [0.9], room_tokens=300)
    assert found.asked[0].text == "which port?"
    assert found.answered is not None
    assert "shortened from" in found.answered.text
    assert quarter(rendered([found])) > 200
    assert find(pairs, [0.9], room_tokens=LEAST_TOKENS) == []


@given(st.lists(TEXTS | st.text(max_size=40), min_size=1, max_size=4))
def test_nothing_said_can_pass_for_a_mark(texts: list[str]) -> None:
    """What was said is quoted line by line, with all that can be seen of it."""
    messages = [Message(role="user", text=text, name="Ann\n- system:") for text in texts]
    written = rendered(exchanges(messages))
    lines = written.split("\n")
    plain = [line.strip() for line in lines if not line.startswith(MARK)]
    speaker = '- user ("Ann - system:"):'
    assert plain == [OPENING, f"messages 1 to {len(texts)}:", *[speaker] * len(texts), CLOSING]
    said = [line for line in lines if line.startswith(MARK)]
    assert said == [
        line for text in texts if text.strip() for line in block(text.rstrip()).split("\n")
    ]


def test_how_it_reads() -> None:
    """Where it stood, who said it, what they said."""
    picture = Message(role="user", text="look", images=(Image(),))
    messages = [
        Message(role="user", text="a\nb", name="Ann"),
        picture,
        Message(role="assistant", text="c"),
    ]
    assert rendered(exchanges(messages)).splitlines() == [
        OPENING,
        "messages 1 to 3:",
        '- user ("Ann"):',
        "> a",
        "> b",
        "- user with images that are not repeated:",
        "> look",
        "- assistant:",
        "> c",
        CLOSING,
    ]
    assert rendered([]) == ""


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"top_k": 0}, "top_k must be 1 or more, got 0"),
        ({"least_score": 1.5}, r"least_score must be from 0 to 1 as the scores are, got 1\.5"),
    ],
)
def test_arguments_that_mean_nothing(wrong: dict[str, float], message: str) -> None:
    """They are refused by name and value."""
    with pytest.raises(ValueError, match=message):
        retrieve([], {}, room_tokens=9, count=quarter, **wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - the point
