"""What is handed out says what the pieces say, turn after turn, whatever the caller does to it."""

import gc
from copy import deepcopy
from dataclasses import replace
from typing import cast
from weakref import ref

from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.manager.prepared import Outbox
from autogen_context.messages.message import Message
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.piece import Piece, Verbatim, Written, coalesce, messages_of

LENGTH = 8
PAYLOADS: list[object] = [{"role": "user", "content": str(i), "kept": i} for i in range(LENGTH)]
MESSAGES = [OpenAIChat().read(payload) for payload in PAYLOADS]
STRETCHES = st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(
    lambda ends: Verbatim(start=min(ends), stop=max(ends))
)
WRITTEN = st.builds(
    Written,
    index=st.none() | st.integers(0, LENGTH - 1),
    message=st.builds(Message, role=st.just("user"), text=st.text(max_size=3)),
)
PIECES = st.lists(STRETCHES | WRITTEN, max_size=8)


@given(PIECES)
def test_payloads_say_what_the_messages_say(pieces: list[Piece]) -> None:
    """Read again, what is sent has the texts of the pieces' messages; untouched ones are the very objects, others the same in the next turn."""
    outbox = Outbox(OpenAIChat())
    sent = outbox.payloads(pieces, PAYLOADS)
    assert list(map(id, outbox.payloads(pieces, PAYLOADS))) == list(map(id, sent))
    said = messages_of(pieces, MESSAGES)
    assert [OpenAIChat().read(payload).text for payload in sent] == [m.text for m in said]
    own = {id(payload) for payload in PAYLOADS}
    untouched = sum(p.stop - p.start for p in pieces if isinstance(p, Verbatim))
    assert sum(id(payload) in own for payload in sent) == untouched
    assert Outbox(OpenAIChat()).payloads(coalesce(pieces), PAYLOADS) == sent


NOTHING: dict[str, object] = {}
FORGED: dict[str, object] = {"content": "forged"}
BROKEN: dict[str, object] = {"role": 7, "content": [7]}
CHANGES = st.sampled_from([NOTHING, FORGED, BROKEN])


class Picky(OpenAIChat):
    """A format that does not write everything."""

    @override
    def compose(self, message: Message, /) -> dict[str, object]:
        if not message.text:
            raise ValueError("nothing to say")
        return super().compose(message)


TURNS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.lists(st.sampled_from(["host", "host", "short", "own", "broken"]), max_size=3),
        st.sampled_from(["same", "same", "copies", "first"]),
    ),
    min_size=1,
    max_size=8,
)


def grown(pieces: list[Piece], kinds: list[str]) -> list[Piece]:
    """Pieces with more behind them: of the host's next messages, or of our own."""
    grown = list(pieces)
    for kind in kinds:
        ends = (p.stop if isinstance(p, Verbatim) else (p.index or 0) + 1 for p in grown)
        at = min(max(ends, default=0), LENGTH - 1)
        if kind == "host":
            grown.append(Verbatim(start=at, stop=at + 1))
        else:
            text = "" if kind == "broken" else f"{kind} {at}"
            written = replace(MESSAGES[at], text=text)
            grown.append(Written(message=written, index=at if kind == "short" else None))
    return [*coalesce(grown)]


@given(TURNS, st.data())
def test_a_turn_lays_out_what_a_fresh_outbox_would(
    turns: list[tuple[int, list[str], str]], data: st.DataObject
) -> None:
    """Whatever of the turn before goes on, was spoilt or did not get done, of the same objects, of copies or of the first again."""
    outbox = Outbox(Picky())
    payloads, pieces = PAYLOADS, list[Piece]()
    for back, kinds, given_ in turns:
        payloads = {"same": payloads, "copies": deepcopy(payloads), "first": PAYLOADS}[given_]
        pieces = grown(pieces[: max(0, len(pieces) - back)], kinds)
        try:
            sent = outbox.payloads(pieces, payloads)
        except ValueError:
            assert any(not p.message.text for p in pieces if isinstance(p, Written))
            continue
        assert sent == Outbox(Picky()).payloads(pieces, payloads)
        untouched = [i for p in pieces if isinstance(p, Verbatim) for i in range(p.start, p.stop)]
        own = set(map(id, payloads))
        assert [id(each) for each in sent if id(each) in own] == [
            id(payloads[i]) for i in untouched
        ]
        for payload in sent:
            if id(payload) not in own:
                cast("dict[str, object]", payload).update(data.draw(CHANGES))
        sent.clear()


class Copy(dict[str, object]):
    """A payload that can be looked for."""


def test_no_copy_of_a_host_is_kept() -> None:
    """A host that copies its list at each turn frees what it handed over, once it has the answer."""
    outbox, pieces = Outbox(OpenAIChat()), [Verbatim(start=0, stop=2)]
    alive: list[int] = []
    for _ in range(1, 5):
        copies = [Copy(role="user", content=str(n)) for n in range(2)]
        looked_for = [ref(copy) for copy in copies]
        assert outbox.payloads(pieces, copies) == copies
        del copies
        gc.collect()
        alive.append(sum(each() is not None for each in looked_for))
    assert alive == [0, 0, 0, 0]
