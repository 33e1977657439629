"""What matters: the one score that a manager chooses by, a prioritizer of one's own, and labelled parts."""

from collections.abc import Mapping, Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.budget.task import TaskDefinition, TaskType
from autogen_context.prioritizer.attention import ContextPart
from autogen_context.prioritizer.category import (
    BASE_WEIGHTS,
    LEAST_MULTIPLIER,
    MOST_MULTIPLIER,
    Category,
    weights_of,
)
from autogen_context.prioritizer.prioritizer import (
    BlockAt,
    ContextPrioritizer,
    Need,
    Prioritizer,
    Scores,
    UnitScores,
)
from autogen_context.prioritizer.record import ConversationRecord
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.saying import asks, call_of, tells
from support.scoring import record_of, returns


class Reversed:
    """The usual scores upside down: what matters most goes first."""

    def scores(self, conversation: ConversationRecord, need: Need, /) -> Mapping[int, float]:
        """One over the usual score of the best block of each unit, for a character."""
        usual = ContextPrioritizer().scores(conversation, need)
        best = {
            unit.position: max(
                (
                    usual.score(BlockAt(unit.position, p, b)) / len(text)
                    for p, blocks in enumerate(unit.texts)
                    for b, text in enumerate(blocks)
                ),
                default=0.0,
            )
            for unit in conversation.units
        }
        return {position: 1 / (score + 1e-3) for position, score in best.items()}


class Naming:
    """What names a word comes first; of the rest the longest."""

    def __init__(self, word: str) -> None:
        self._word = word

    def scores(self, conversation: ConversationRecord, _need: Need, /) -> Scores:
        """By the text and the position of each unit."""
        scores = {
            unit.position: (2.0 if self._word in unit.text else 0.0) + unit.position * 1e-6
            for unit in conversation.units
        }
        reasons = {i: f"score {score:.1f}" for i, score in scores.items()}
        return UnitScores(conversation, scores, reasons)


def worked(steps: int) -> list[ChatMessage]:
    """An agent that reads files, each of which it needs again two steps later."""
    messages: list[ChatMessage] = [{"role": "user", "content": "Mend the vault."}]
    for step in range(steps):
        path = f"src/part_{step}.py"
        call = call_of(f"c{step}", "read_file", path=path)
        said = f"Step {step}, as in src/part_{max(0, step - 2)}.py"
        text = "".join(f"vault_{step * 37 + n} = {step * 7919 + n}\n" for n in range(12))
        messages += [asks(call, text=said), tells(f"c{step}", f"# {path}\n{text}")]
    return messages


def lived_through(
    messages: Sequence[ChatMessage], prioritizer: Prioritizer | None, window_tokens: int = 2_000
) -> IncrementalContextManager:
    """A manager that prepared a turn after each message."""
    manager = IncrementalContextManager(
        model="gpt-4", window_tokens=window_tokens, counter=Characters(), prioritizer=prioritizer
    )
    for stop in range(1, len(messages) + 1):
        manager.prepare_nowait(messages[:stop])
    return manager


def actions(manager: IncrementalContextManager, messages: Sequence[ChatMessage]) -> list[str]:
    """What became of each unit."""
    return [f"{d.action} {d.tokens_after}" for d in manager.prepare_nowait(messages).decisions]


def test_reversed_scores_change_what_is_sent() -> None:
    """F1: the exported part decides in a manager's run; without one it is ``ContextPrioritizer``."""
    messages = worked(40)
    usual = actions(lived_through(messages, None), messages)
    assert actions(lived_through(messages, ContextPrioritizer()), messages) == usual
    assert actions(lived_through(messages, Reversed()), messages) != usual


def test_a_prioritizer_of_ones_own() -> None:
    """What it puts first is kept, however old; its score and its words are those that are explained."""
    messages = worked(40)
    manager = lived_through(messages, Naming("vault_80"))
    wanted = next(m for m in messages if "vault_80" in str(m["content"]))
    explained = manager.explain(wanted)
    assert explained.action in ("keep", "shorten")
    assert explained.rank is not None
    assert explained.score == explained.rank.score > 0
    assert explained.reasons == (str(explained.rank), "score 2.0")
    assert lived_through(messages, None).explain(wanted).action == "drop"


def test_what_is_superseded_says_so() -> None:
    """P6, P8: age, later uses and the newer reading are told in the words of the score."""
    read = returns("alpha_1 = 5\n" * 9, name="read_file", arguments='{"path": "a.py"}')
    again = returns("alpha_1 = 5\n" * 9, name="read_file", arguments='{"path": "a.py"}')
    reasons = (
        ContextPrioritizer().scores(record_of([*read, *again]), Need(room_tokens=99)).reasons(0)
    )
    said = "; ".join(reasons)
    for word in (
        "names a.py, alpha_1",
        "used again by 1 later message",
        "tokens old",
        "superseded: older read of a.py",
    ):
        assert word in said
    asked = ContextPrioritizer().scores(
        record_of(read), Need(room_tokens=99, relevance={0: 0.7, 1: 0.2})
    )
    assert asked.reasons(0) == ("relevance 0.70 to what is asked",)


@pytest.mark.parametrize(("advised", "exponent"), [(True, 0.0), (True, 0.5), (False, 1.0)])
def test_a_category_counts_as_advised_or_asked_for(*, advised: bool, exponent: float) -> None:
    """P1, P2: what a model advises multiplies the scores of a category; its weight for the task does where that is asked for."""
    text = "vault_1 = 7\n" * 9
    listing = returns(text, name="list_directory", arguments='{"path": "."}')
    run = returns(text, name="bash", arguments='{"command": "pytest"}')
    multipliers: dict[Category, float] = {
        **dict.fromkeys(BASE_WEIGHTS, 1.0),
        "execution": 4.0,
        "structure": 0.25,
    }
    need = Need(room_tokens=9_999, task="debug the crash", advised=multipliers if advised else {})
    scores = ContextPrioritizer(category_exponent=exponent).scores(
        record_of([*listing, *run]), need
    )
    plain = ContextPrioritizer().scores(record_of([*listing, *run]), Need(room_tokens=9_999))
    first, second = BlockAt(0, 0, 0), BlockAt(1, 0, 0)
    assert scores.score(second) / scores.score(first) > plain.score(second) / plain.score(first)
    assert any(reason.startswith("execution: counts") for reason in scores.reasons(1))


def test_unit_scores_that_are_none() -> None:
    """Of units that there are, and none negative; the error names it and the way out."""
    conversation = record_of(returns("a"))
    with pytest.raises(ValueError, match=r"scores\[1\]: there are 1 units"):
        UnitScores(conversation, {1: 2.0})
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"scores\[0\]=.*: give a number, 0 or more"):
            UnitScores(conversation, {0: wrong})
    with pytest.raises(ValueError, match="category_exponent=2: give 0 to 1"):
        ContextPrioritizer(category_exponent=2)


# ---- labelled parts


TASKS = st.builds(
    TaskDefinition, text=st.just("mend the vault"), type=st.sampled_from(get_args(TaskType))
)
PARTS = st.lists(
    st.builds(
        ContextPart,
        st.sampled_from(["goal", "memory", "test output", "SYSTEM_GRAPH", "notes"]),
        st.sampled_from(["", "mend", "the vault of the mint", "lunch is at noon"]),
        st.booleans(),
    ),
    max_size=9,
)
ADVISED = st.dictionaries(st.sampled_from(get_args(Category)), st.floats(allow_nan=False))


@given(TASKS, PARTS, ADVISED)
def test_parts_are_ordered_by_score(
    task: TaskDefinition, parts: list[ContextPart], advised: dict[Category, float]
) -> None:
    """P2, P5: weights within bounds and scores above 0 and at most 1, whatever is advised; critical first, equals as they came; a reason for each number."""
    ranked = ContextPrioritizer().prioritize(task, parts, advised=advised)
    assert all(0 < priority.score <= 1 for priority in ranked.priorities)
    keys = [(not parts[i].critical, -ranked.priorities[i].score, i) for i in ranked.order]
    assert keys == sorted(keys)
    weights = weights_of(task.type, advised=advised)
    for category, weight in weights.items():
        multiplier = weight / BASE_WEIGHTS[category]
        assert LEAST_MULTIPLIER - 1e-9 <= multiplier <= MOST_MULTIPLIER + 1e-9
    for part, priority in zip(parts, ranked.priorities, strict=True):
        assert any("relevance" in reason for reason in priority.reasons)
        assert any(reason.split(":")[0] in weights for reason in priority.reasons)
        assert ("critical: comes first" in priority.reasons) == part.critical


def test_parts_by_label_and_words() -> None:
    """The label gives the category, the words the relevance; F24: parts that are alike keep theirs."""
    parts = [
        ContextPart("memory", "The user likes tea."),
        ContextPart("actions", "auth.py was read; the crash is in login_user."),
        ContextPart("goal", "Fix the crash in auth.py."),
        ContextPart("notes", "Never push to main.", critical=True),
    ]
    ranked = ContextPrioritizer().prioritize("Fix the crash in auth.py", parts)
    assert ranked.order == (3, 2, 1, 0)
    assert ranked.priorities[1].reasons == ("execution: weight 0.90", "relevance 0.78")
    many = ContextPrioritizer().prioritize("Fix the crash in auth.py", [parts[1]] * 50)
    assert {priority.score for priority in many.priorities} == {ranked.priorities[1].score}
