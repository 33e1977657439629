"""What matters for a task: scores with their reasons, in order."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.task import TaskDefinition, TaskType
from autogen_context.prioritizer.attention import ContextPart
from autogen_context.prioritizer.category import Category, weights_of
from autogen_context.prioritizer.prioritizer import ContextPrioritizer, Signals

CATEGORIES = st.sampled_from(get_args(Category))
UNIT = st.floats(0, 1)
TASKS = st.builds(TaskDefinition, text=st.just("x"), type=st.sampled_from(get_args(TaskType)))
ADVISED = st.dictionaries(CATEGORIES, st.floats(allow_nan=False, allow_infinity=False))
SIGNALS = st.builds(
    Signals,
    category=CATEGORIES,
    relevance=UNIT,
    recency=UNIT,
    references=st.integers(0, 50),
    error=st.booleans(),
    decision=st.booleans(),
    stale=st.booleans(),
    critical=st.booleans(),
)


@st.composite
def lists(draw: st.DrawFn) -> list[Signals]:
    """What is known of some units, some of them superseded by later ones."""
    signals = draw(st.lists(SIGNALS, max_size=12))
    last = len(signals) - 1
    newer = [
        draw(st.none() | st.integers(i + 1, last)) if i < last else None for i in range(last + 1)
    ]
    return [replace(s, superseded_by=by) for s, by in zip(signals, newer, strict=True)]


def scores(
    task: TaskDefinition, signals: list[Signals], advised: dict[Category, float]
) -> list[float]:
    """The scores alone."""
    return [p.score for p in ContextPrioritizer().rank(task, signals, advised=advised).priorities]


@given(TASKS, lists(), ADVISED)
def test_the_order_is_by_score(
    task: TaskDefinition, signals: list[Signals], advised: dict[Category, float]
) -> None:
    """Scores are above 0 and at most 1, whatever is advised; critical first, equals as they came, superseded below the newer."""
    ranked = ContextPrioritizer().rank(task, signals, advised=advised)
    assert all(0 < priority.score <= 1 for priority in ranked.priorities)
    assert ranked == ContextPrioritizer().rank(task, signals, advised=advised)
    assert sorted(ranked.order) == list(range(len(signals)))
    keys = [(not signals[i].critical, -ranked.priorities[i].score, i) for i in ranked.order]
    assert keys == sorted(keys)
    for i, known in enumerate(signals):
        if known.superseded_by is not None:
            assert ranked.priorities[i].score < ranked.priorities[known.superseded_by].score


def test_a_long_chain_stays_in_order() -> None:
    """However often the same was read, each read is below the next, and above nothing."""
    count = 3_000
    chain = [Signals(superseded_by=i + 1 if i < count - 1 else None) for i in range(count)]
    ranked = ContextPrioritizer().rank("x", chain)
    assert ranked.order == tuple(reversed(range(count)))
    assert ranked.priorities[0].score > ranked.priorities[-1].score / 5


@given(TASKS, lists(), ADVISED, st.data())
def test_more_never_lowers(
    task: TaskDefinition,
    signals: list[Signals],
    advised: dict[Category, float],
    data: st.DataObject,
) -> None:
    """Relevance, recency, references, a decision or an error raise a score, if anything, and lower no other one."""
    if not signals:
        return
    i = data.draw(st.integers(0, len(signals) - 1))
    known = signals[i]
    more = replace(
        known,
        relevance=data.draw(st.floats(known.relevance, 1)),
        recency=data.draw(st.floats(known.recency, 1)),
        references=known.references + data.draw(st.integers(0, 9)),
        error=known.error or data.draw(st.booleans()),
        decision=known.decision or data.draw(st.booleans()),
    )
    before = scores(task, signals, advised)
    after = scores(task, [*signals[:i], more, *signals[i + 1 :]], advised)
    assert all(new >= old - 1e-12 for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize(
    "more",
    [
        Signals(relevance=0.1),
        Signals(recency=0.1),
        Signals(references=1),
        Signals(error=True),
        Signals(decision=True),
    ],
    ids=["relevance", "recency", "references", "error", "decision"],
)
def test_each_signal_counts(more: Signals) -> None:
    """What has it is above what has nothing, and below what has it and more."""
    signals = [Signals(), more, replace(more, relevance=0.5)]
    nothing, little, much = scores(TaskDefinition(text="x"), signals, {})
    assert nothing < little < much


@given(TASKS, SIGNALS, ADVISED)
def test_stale_and_superseded_lower(
    task: TaskDefinition, known: Signals, advised: dict[Category, float]
) -> None:
    """What was changed since is worth less than what was not, and what was shown again less than that."""
    fresh = replace(known, stale=False)
    newest = Signals(category="requirements", relevance=1.0, recency=1.0, references=50)
    signals = [fresh, replace(known, stale=True), replace(fresh, superseded_by=3), newest]
    one, stale, superseded, _ = scores(task, signals, advised)
    assert superseded < stale < one


@given(TASKS, SIGNALS, CATEGORIES, CATEGORIES, ADVISED)
def test_the_weight_of_the_category_decides_between_equals(
    task: TaskDefinition,
    known: Signals,
    one: Category,
    other: Category,
    advised: dict[Category, float],
) -> None:
    """For this type of task, and by what is advised."""
    weights = weights_of(task.type, advised=advised)
    first, second = scores(task, [replace(known, category=c) for c in (one, other)], advised)
    assert (first > second) == (weights[one] > weights[other])


@given(TASKS, lists())
def test_reasons_tell_what_counted(task: TaskDefinition, signals: list[Signals]) -> None:
    """Each signal that is there is named with its number, and none that is not."""
    for priority in ContextPrioritizer().rank(task, signals).priorities:
        known, told = priority.signals, " | ".join(priority.reasons)
        assert f"{known.category}: weight {priority.weight:.2f}" in told
        assert (f"relevance {known.relevance:.2f}" in told) == (known.relevance >= 0.005)
        assert (f"recency {known.recency:.2f}" in told) == (known.recency >= 0.005)
        assert (f"used again by {known.references} later message" in told) == (known.references > 0)
        assert ("error" in told) == known.error
        assert ("decision" in told) == known.decision
        assert ("critical" in told) == known.critical
        assert ("superseded" in told) == (known.superseded_by is not None)
        assert ("stale" in told) == (known.stale and known.superseded_by is None)


def test_reasons_in_words() -> None:
    """As they are shown."""
    known = Signals(category="related", relevance=0.62, references=3, recency=0.5, superseded_by=1)
    known = replace(known, remark="older read of config.py")
    ranked = ContextPrioritizer().rank("Fix the bug", [known, Signals(references=1, stale=True)])
    assert ranked.priorities[0].reasons == (
        "related: weight 0.99",
        "relevance 0.62",
        "used again by 3 later messages",
        "recency 0.50",
        "superseded: older read of config.py",
    )
    assert ranked.priorities[1].reasons[1:] == (
        "used again by 1 later message",
        "stale: changed since",
    )


def test_parts_by_label_and_words() -> None:
    """The label gives the category, the words the relevance; what is critical comes first."""
    parts = [
        ContextPart("memory", "The user likes tea."),
        ContextPart("actions", "auth.py was read; the crash is in login_user."),
        ContextPart("goal", "Fix the crash in auth.py."),
        ContextPart("notes", "Nothing.", critical=True),
    ]
    ranked = ContextPrioritizer().prioritize("Fix the crash in auth.py", parts)
    assert ranked.task.type == "debug"
    assert ranked.order == (3, 2, 1, 0)
    found = [priority.signals.category for priority in ranked.priorities]
    assert found == ["memory", "execution", "requirements", "general"]
    assert ranked.priorities[0].signals.relevance == 0 < ranked.priorities[1].signals.relevance


def test_parts_that_are_alike_keep_their_relevance() -> None:
    """F24: what all parts share with the task counts for each of them."""
    parts = [ContextPart("memory", f"the port of server {i}") for i in range(10, 30)]
    [alone] = ContextPrioritizer().prioritize("the port of the server", parts[:1]).priorities
    among = ContextPrioritizer().prioritize("the port of the server", parts).priorities
    assert {priority.score for priority in among} == {alone.score}


@pytest.mark.parametrize("task", ["", "x", TaskDefinition.from_text("Explain the parser")])
def test_nothing_to_rank(task: str | TaskDefinition) -> None:
    """No parts are no error, nor is a task without words."""
    assert ContextPrioritizer().prioritize(task, []).order == ()
    assert ContextPrioritizer().prioritize(task, [ContextPart("", "")]).order == (0,)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"relevance": 1.1}, r"relevance=1\.1: give a number in 0\.\.1"),
        ({"recency": float("nan")}, r"recency=nan: give a number in 0\.\.1"),
        ({"references": -1}, "references=-1: give a count"),
    ],
)
def test_wrong_signals(wrong: dict[str, float], message: str) -> None:
    """They are refused with the way out."""
    with pytest.raises(ValueError, match=message):
        Signals(**wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - the point


@pytest.mark.parametrize("newer", [0, -1, 2])
def test_only_later_ones_supersede(newer: int) -> None:
    """What is superseded by itself, by nothing or by what is before it is refused."""
    with pytest.raises(ValueError, match=rf"superseded_by={newer}: give a position in 1\.\.1"):
        ContextPrioritizer().rank("x", [Signals(superseded_by=newer), Signals()])
