"""Which units of a conversation show a file, and where a preamble stands among what is sent."""

from dataclasses import replace
from pathlib import PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.manager.injected import offered, with_preamble
from autogen_context.manager.prepared import placed
from autogen_context.messages.message import Message, ToolCall, ToolResult, as_message
from autogen_context.messages.piece import Piece, Verbatim, Written, coalesce, index_of
from autogen_context.messages.segment import Unit
from autogen_context.prioritizer.superseded import Superseded
from autogen_context.view.decision import Candidate
from autogen_context.view.index import ConversationIndex
from autogen_context.view.notice import Notice, PreambleOffer
from autogen_context.view.view import ContextView
from support.counting import COUNTER
from support.tracing import traced

PATHS = st.lists(st.sampled_from(["a.py", "src/a.py", "/r/a.py", "/r/src/a.py", "b.py"]))


def reads(path: str, at: int) -> Candidate:
    """A call that reads a file, and its answer."""
    call = ToolCall(id="c", name="read_file", arguments=f'{{"path": "{path}"}}')
    result = ToolResult(call_id="c", text="x = 1\n")
    messages = (Message(role="assistant", calls=(call,)), Message(role="tool", results=(result,)))
    return Candidate(unit=Unit(start=2 * at, messages=messages), tokens=9)


def shown_of(candidates: list[Candidate]) -> Superseded:
    """What units show."""
    shown = Superseded()
    ConversationIndex(candidates).follow(shown)
    return shown


def is_end(path: str, of: str) -> bool:
    """Whether a path is what another one, from the root, ends with."""
    parts, ends = PurePosixPath(of).parts, PurePosixPath(path).parts
    return of.startswith("/") and not path.startswith("/") and parts[-len(ends) :] == ends


@given(PATHS)
def test_a_file_is_found_under_each_of_its_names(names: list[str]) -> None:
    """As it was read, or as a path from the root ends."""
    shown = shown_of([reads(path, n) for n, path in enumerate(names)])
    for asked in {*names, "c.py"}:
        found = {names[unit] for unit in shown.showing(asked, position=99)}
        expected = {name for name in names if name == asked or is_end(name, asked)}
        assert found == expected | {name for name in names if is_end(asked, name)}
        last = max((n for n, name in enumerate(names) if name == asked), default=0)
        assert all(
            unit >= last or names[unit] != asked for unit in shown.showing(asked, position=99)
        )


def test_a_look_up_costs_its_hits_f15() -> None:
    """F15: not what else the conversation showed."""
    cost: dict[int, int] = {}
    for turns in (100, 600):
        shown = shown_of([reads(f"/r/src/m{n}.py", n) for n in range(turns)])
        with traced() as calls:
            assert shown.showing("src/m7.py", position=9_999) == {7}
        cost[turns] = calls.total()
    assert cost[600] <= 1.3 * cost[100]


OWN, FRONT = (Written(message=as_message(text)) for text in ("told", "[The project shop"))
# Of each message what is sent: something told before it, and itself, in fewer words, or nothing.
SENT = st.lists(st.tuples(st.booleans(), st.sampled_from(["whole", "shorter", "gone"])), max_size=8)


@given(SENT, st.integers(0, 8))
def test_a_preamble_stands_behind_so_many_messages(sent: list[tuple[bool, str]], at: int) -> None:
    """Behind all that is sent of the first ones, and in front of everything else, which stays."""
    flat: list[Piece] = []
    for i, (is_told, how) in enumerate(sent):
        if is_told:
            flat.append(OWN)
        if how == "whole":
            flat.append(Verbatim(start=i, stop=i + 1))
        if how == "shorter":
            flat.append(Written(message=Message(role="user", text="less"), index=i))
    positions = [index_of(piece) for piece in flat]
    behind = max((n for n, i in enumerate(positions, 1) if i is not None and i < at), default=0)
    expected = [*flat[:behind], FRONT, *flat[behind:]]
    assert coalesce(placed(coalesce(flat), FRONT, at=at)) == coalesce(expected)


def test_what_a_preamble_says_is_corrected_while_that_one_is_sent() -> None:
    """What changed since is told; where that is over, it is as the preamble says, or nobody knows of an older one."""
    news = Notice(topic="project", key="a.py", text="a.py has changed")

    def offer(name: str, *newer: Notice) -> PreambleOffer:
        return PreambleOffer(parts=(name, "What it says."), most_tokens=99, newer=newer)

    before = offered(ContextView(), offer("one", news))
    assert not before.notices.in_force
    view = with_preamble(before, 1_000, COUNTER.own)
    assert view.notices.due == (news,)
    view = replace(view, notices=view.notices.after_sending(frozenset({news.name})))
    again = offered(view, offer("one")).notices
    assert [each.text for each in again.due] == ["a.py is again as the project's context says"]
    older = offered(offered(view, offer("another", news)), offer("another")).notices
    assert [each.text for each in older.due] == ["a.py may have changed further"]
    assert [each.text for each in older.in_force] == ["a.py may have changed further"]
