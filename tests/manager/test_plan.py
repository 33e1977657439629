"""What each unit becomes in a compaction: what must stay, then the newest, then what older ones have that is worth most."""

import re
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import example, given, reject
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context import ContextConfig, IncrementalContextManager, Prepared, TokenBudgetManager
from autogen_context.budget.policy import BudgetRequest, CompactionBudget, TurnBudget
from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.compaction import REPEATED
from autogen_context.messages.message import Message, handle_of
from autogen_context.messages.piece import Written
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import transcripts
from autogen_context.view.decision import Decision, Why
from support.counting import Characters
from support.keeping import outcome_of
from support.saying import asks, says, tells

NEEDLESS = tuple(
    f"left out: {why}" for why in (REPEATED, "a courtesy", "repeats what was just said")
)
BUDGETS = st.builds(
    CompactionBudget,
    total_tokens=st.just(0),
    kept_fraction=st.floats(0, 1),
    newest_fraction=st.floats(0, 1),
    notice_fraction=st.floats(0, 0.3),
    people_fraction=st.just(0.0),
    stated_fraction=st.just(0.0),
)


class Drawn(TokenBudgetManager):
    """Compacts in every turn, by one budget."""

    def __init__(self, drawn: CompactionBudget) -> None:
        super().__init__()
        self.drawn = drawn

    @override
    def for_turn(self, room_tokens: int, /) -> TurnBudget:
        return replace(super().for_turn(room_tokens), compact_at_tokens=0)

    @override
    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        total = max(0, request.room_tokens - request.fixed_tokens)
        return replace(self.drawn, total_tokens=total)


def compacted(
    messages: list[ChatMessage], drawn: CompactionBudget, window: int
) -> Prepared[ChatMessage]:
    """What is under test; a window that does not hold what must stay says nothing."""
    config = ContextConfig(window_tokens=window, reduce="off")
    keeper = IncrementalContextManager(config=config, counter=Characters(), budget=Drawn(drawn))
    turn = outcome_of(keeper, messages)
    if isinstance(turn, ContextWindowExceeded):
        reject()
    return turn


@given(transcripts(max_messages=20).filter(bool), BUDGETS, st.integers(60, 1_500))
@example(  # the older one is had back in front of the newest
    [says("return self.total_cents + line.price_cents", role) for role in ("assistant", "user")],
    CompactionBudget(total_tokens=0, kept_fraction=0, newest_fraction=0, notice_fraction=0),
    427,
)
def test_a_compaction_keeps_what_its_budget_says(
    messages: list[ChatMessage], drawn: CompactionBudget, window: int
) -> None:
    """One decision a unit, in order; what must stay, the newest units within their fraction, and in all the fraction kept."""
    turn = compacted(messages, drawn, window)
    decisions = list(turn.decisions)
    assert turn.compacted
    assert [d.start for d in decisions] == [0, *(d.stop for d in decisions[:-1])]
    total = window - turn.certificate.fixed_tokens
    assert sum(d.tokens_after for d in decisions) <= total
    for decision in decisions:
        assert bool(decision.handle) == (decision.action in ("shorten", "drop"))
        if decision.action == "shorten":
            assert decision.tokens_after < decision.tokens_before
        elif decision.action == "keep":
            assert decision.tokens_after == decision.tokens_before + decision.before_tokens
    notice = require_one_notice(decisions)
    least = sum(d.tokens_after for d in decisions if must_stay(d))
    beside = int((total - least) * drawn.kept_fraction)
    assert sum(d.tokens_after for d in decisions) - least <= max(beside, notice)
    require_newest(decisions, drawn, beside)


def must_stay(decision: Decision) -> bool:
    """Whether it was not for the budget to choose."""
    return decision.why.is_protected


def require_one_notice(decisions: Sequence[Decision]) -> int:
    """Its tokens; it stands where the first dropped unit was, says how much went, and costs no more than that."""
    dropped = [d for d in decisions if d.action == "drop"]
    notices = [d for d in dropped if d.pieces]
    assert notices in ([], dropped[:1])
    if not notices:
        return 0
    [piece] = notices[0].pieces
    assert isinstance(piece, Written)
    messages = sum(d.stop - d.start for d in dropped)
    tokens = sum(d.tokens_before for d in dropped)
    assert piece.message.text.startswith(f"[{messages} earlier messages ({tokens} tokens) are left")
    assert notices[0].tokens_after <= tokens
    return notices[0].tokens_after


def require_newest(decisions: Sequence[Decision], drawn: CompactionBudget, beside: int) -> None:
    """Those that stay as recent are the newest, whole; beyond their fraction it is one at most."""
    rest = [
        d for d in reversed(decisions) if not must_stay(d) and not d.reason.startswith(NEEDLESS)
    ]
    recent = [d for d in rest if d.why is Why.RECENT]
    assert recent == rest[: len(recent)]
    assert {d.action for d in recent} <= {"keep", "repair"}
    tokens = sum(d.tokens_after for d in recent)
    assert tokens <= max(drawn.newest_fraction, drawn.newest_unit_fraction) * beside
    assert tokens <= drawn.newest_fraction * beside or len(recent) == 1


def test_what_must_stay_is_not_paid_twice() -> None:
    """It takes nothing from the room of what is recent."""
    texts = ["t" * 400, *["x" * 64] * 9, "n" * 400]
    messages = [says(text, "assistant" if n else "user") for n, text in enumerate(texts)]
    drawn = CompactionBudget(total_tokens=0, kept_fraction=1, newest_fraction=1, notice_fraction=0)
    kept = [len(compacted(messages, drawn, window).messages) for window in (300, 320, 340)]
    assert kept[1] - kept[0] == kept[2] - kept[1] == 1  # a message has 20 tokens


def test_what_is_named_again_stays() -> None:
    """Of older units that do not fit all, those blocks stay that name what later steps keep using."""
    listings = [
        "\n\n".join(
            f"{kind}_{i} costs {i * 37} pounds, as the shop's own list has it" for i in range(40)
        )
        for kind in ("item", "entry")
    ]
    messages = [says("the task", "user")]
    for n, text in enumerate(listings):
        messages += [asks(str(n)), tells(str(n), text)]
    messages += [says(text) for text in ["now item_17"] * 3 + ["well"] * 10]
    turn = compacted(messages, CompactionBudget(total_tokens=0, kept_fraction=0.6), 620)
    assert turn.decisions[1].action == "shorten"
    assert re.search("item_17 costs", str(turn.messages[2]["content"]))


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4), st.binary(max_size=63))
def test_a_handle_stands_for_the_content(texts: list[str], key: bytes) -> None:
    """128 bits: the same messages have the same handle, others have another, and so have those of another key."""
    said = tuple(Message(role="user", text=text) for text in texts)
    handle = handle_of(said, key=key)
    assert (len(handle), set(handle) <= set("abcdefghijklmnopqrstuvwxyz234567")) == (26, True)
    assert handle == handle_of(said[:], key=key)
    others = [handle_of((*said, said[0]), key=key), handle_of(said, key=key + b"x")]
    assert handle not in others
