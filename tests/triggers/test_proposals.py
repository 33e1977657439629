"""What triggers propose for a conversation, and which of its units must stay, kept up turn by turn."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.tool_call import BY_NAME
from autogen_context.testing import ChatMessage
from autogen_context.tokens.prices import Rates
from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.price import (
    LEAST_TOKENS,
    LEFT_FRACTION,
    MOST_SPANS,
    TOLD_FRACTION,
    Offer,
    Proposals,
    ProposedSpan,
    Rewrite,
    best_cuts,
    offers_of,
    price_of_rewrite,
)
from autogen_context.triggers.turn import NOTHING, Scope, TriggerDecision, Turn
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Decision
from support.counting import COUNTER
from support.units import candidates_of, read_all


def says(role: str, text: str) -> list[ChatMessage]:
    """A message of plain text."""
    return [{"role": role, "content": text}]


def step(tool: str, path: str, result: str | None) -> list[ChatMessage]:
    """A call, and its result where it has one yet."""
    function = {"name": tool, "arguments": json.dumps({"path": path})}
    call = {"id": path, "type": "function", "function": function}
    asked: ChatMessage = {"role": "assistant", "content": "", "tool_calls": [call]}
    told: ChatMessage = {"role": "tool", "tool_call_id": path, "content": result}
    return [asked] if result is None else [asked, told]


PARTS = st.sampled_from(
    [
        *[step("read_file", "a.py", "x = 1"), step("str_replace", "b.py", "Changed.")],
        *[step("run_tests", "", "9 passed in 0.4s"), step("read_file", "a.py", None)],
        *[says("user", "Go on."), says("assistant", "Done."), says("system", "Be brief.")],
    ]
)
EDITS = st.lists(
    st.tuples(st.integers(0, 40), st.lists(PARTS, max_size=12)), min_size=1, max_size=6
)


def proposals() -> Proposals:
    """Of triggers that propose often."""
    return Proposals(SemanticHybridTrigger(fallback_turns=4), BY_NAME)


@settings(max_examples=20)
@given(EDITS)
def test_they_are_those_of_the_conversation_as_it_is(
    edits: list[tuple[int, list[list[ChatMessage]]]],
) -> None:
    """Whatever the host appended, took back or changed, as if it were followed for the first time."""
    kept, conversation = proposals(), Conversation(OpenAIChat(), COUNTER)
    payloads: list[ChatMessage] = []
    for length, new in edits:
        payloads = [*payloads[:length], *(message for part in new for message in part)]
        conversation.update(payloads)
        fresh = proposals()
        fresh.follow(conversation.candidates, since=0)
        kept.follow(conversation.candidates, since=0)
        assert kept.spans == fresh.spans


class Always:
    """Proposes the newest four turns at each."""

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """The proposal, once there are four turns."""
        if turn.number < 3:
            return NOTHING
        scope = Scope(start=turn.number - 3, stop=turn.number + 1, outcomes=(turn.number,))
        return TriggerDecision(kind="boundary", scope=scope, confidence=0.8)


def followed(steps: int, *, shown: Sequence[int] = ()) -> tuple[Proposals, list[bool]]:
    """The proposals for so many steps behind a task, and whether each list that was shown fired."""
    messages = says("user", "Go.") + [m for n in range(steps) for m in step("f", f"{n}.py", "x")]
    candidates = candidates_of(read_all(messages))
    kept = Proposals(Always(), BY_NAME)
    fired = [kept.follow(candidates[:stop], since=stop - 2) for stop in (*shown, len(candidates))]
    return kept, fired


def test_a_span_is_in_units() -> None:
    """Of the conversation, in which what is no turn of the model counts as well; its trigger is told."""
    kept, _ = followed(6)
    first = ProposedSpan(start=1, stop=5, outcomes=frozenset({4}), kind="boundary", confidence=0.8)
    assert kept.spans[0] == first
    assert len(kept.spans) == 2


def test_only_what_is_new_fires() -> None:
    """A unit counts once, when another stands behind it, and only where it is new to the turn."""
    _, fired = followed(8, shown=[5, 6, 6, 7])
    assert fired == [False, True, False, True, True]
    _, fired = followed(8, shown=[9])
    assert fired == [True, False]


def test_the_newest_are_kept() -> None:
    """A bounded number, oldest first."""
    kept, _ = followed(MOST_SPANS + 20)
    assert len(kept.spans) == MOST_SPANS
    assert [span.start for span in kept.spans] == list(range(17, MOST_SPANS + 17))


def decided(position: int, tokens: int, *, hides: bool) -> Decision:
    """A unit of one message that is held, or out of sight in part."""
    return Decision(
        start=position,
        stop=position + 1,
        action="shorten" if hides else "keep",
        reason="",
        tokens_before=tokens,
        tokens_after=tokens,
        pieces=(),
    )


SPANS = st.tuples(st.integers(0, 15), st.integers(1, 9), st.sets(st.integers(0, 20), max_size=3))


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 900), st.booleans()), min_size=1, max_size=20),
    st.lists(SPANS, max_size=6),
    st.frozensets(st.integers(0, 20), max_size=4),
)
def test_each_unit_is_offered_once(
    units: list[tuple[int, bool]], drawn: list[tuple[int, int, set[int]]], stays: frozenset[int]
) -> None:
    """By the first span that has it; never what stays, what came out, or what was cut before."""
    decisions = [decided(i, tokens, hides=hides) for i, (tokens, hides) in enumerate(units)]
    spans = [
        ProposedSpan(start=start, stop=start + length, outcomes=frozenset(outcomes))
        for start, length, outcomes in drawn
        if start + length <= len(units)
    ]
    expected: list[tuple[int, int]] = []
    taken: set[int] = set()
    for span in spans:
        inside = set(range(span.start, min(span.stop, len(units)))) - span.outcomes - stays - taken
        inner = sorted(i for i in inside if not decisions[i].hides)
        taken.update(inner)
        saved = int(sum(units[i][0] for i in inner) * (1 - LEFT_FRACTION - TOLD_FRACTION))
        if saved >= LEAST_TOKENS:
            expected.append((sum(tokens for tokens, _ in units[: inner[0]]), saved))
    offers = list(offers_of(spans, decisions, stays))
    assert [(start, saved) for start, saved, _ in offers] == expected


OFFERS = st.lists(st.tuples(st.integers(0, 9_000), st.integers(LEAST_TOKENS, 5_000)), max_size=6)


@settings(max_examples=50)
@given(OFFERS)
def test_the_best_place_to_begin(drawn: list[tuple[int, int]]) -> None:
    """No other brings in more, and all from there on go; none where none pays."""
    span, rates = ProposedSpan(start=0, stop=1), Rates(cached_fraction=0.5)
    offers = sorted(Offer(untouched, saved, span) for untouched, saved in drawn)
    uncut = Rewrite(window_tokens=30_000, untouched_tokens=30_000, saved_tokens=0, new_tokens=50)
    price, cut = best_cuts(offers, uncut, rates, turns=10, is_cold=False) or (None, [])
    assert cut == offers[len(offers) - len(cut) :]
    gains = [0.0]
    for i in range(len(offers)):
        saved = sum(each.saved_tokens for each in offers[i:])
        rewrite = replace(uncut, untouched_tokens=offers[i].untouched_tokens, saved_tokens=saved)
        gains.append(price_of_rewrite(rewrite, rates).gain_tokens(10))
    assert (price.gain_tokens(10) if price else 0.0) == pytest.approx(max(gains))
