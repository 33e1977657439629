"""How a window is shared out: the laws of the division, the tables, and the faults that are gone."""

import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.manager import (
    BALANCED,
    CONSERVATIVE,
    FIVE,
    STRICT,
    TokenBudget,
    TokenBudgetManager,
    apportion,
    flow,
)
from autogen_context.budget.policy import EFFICIENCY_FACTORS, Efficiency, Profile, Role, Section
from autogen_context.budget.task import Complexity, TaskDefinition
from autogen_context.language.query import QueryKind
from autogen_context.testing import LoopbackServer, Say, ScriptedModel

GUIDE = Path(__file__).parents[2].joinpath("docs", "guides", "budgets.md").read_text("utf-8")
WEIGHTS = st.dictionaries(
    st.sampled_from("abcdef"), st.floats(0, 1e6) | st.integers(0, 50).map(float), min_size=1
)
TOTALS = st.integers(0, 400) | st.integers(0, 10**9)
SECTIONS: Mapping[Profile, tuple[Section, ...]] = {
    "value": FIVE,
    "balanced": FIVE,
    "conservative": ("system", "recent", "facts"),  # in each kind of query
    "strict": tuple(STRICT),
}
TASKS = st.builds(
    TaskDefinition,
    text=st.just("x"),
    complexity=st.sampled_from(get_args(Complexity)),
    query_kind=st.sampled_from(get_args(QueryKind)),
)
MEASURED = st.lists(
    st.tuples(st.sampled_from(FIVE), st.integers(0, 10_000), st.floats(0, 1)), max_size=6
)


@st.composite
def managers(draw: st.DrawFn) -> TokenBudgetManager:
    """A manager of any profile and role, with any usage so far."""
    manager = TokenBudgetManager(
        total_tokens=draw(st.integers(1, 3_000) | st.integers(1, 10**7)),
        role=draw(st.sampled_from(get_args(Role))),
        profile=draw(st.sampled_from(get_args(Profile))),
    )
    for section, tokens, share in draw(MEASURED):
        manager.record_usage(section, given_tokens=tokens, used_tokens=int(tokens * share))
    return manager


@given(TOTALS, st.integers(0, 300), WEIGHTS)
def test_whole_parts_by_weights(total: int, more: int, weights: dict[str, float]) -> None:
    """They add up, none is far off its share, and a larger whole gives none less."""
    parts, whole = apportion(total, weights), sum(map(Fraction, weights.values()))
    assert list(parts) == list(weights)
    assert sum(parts.values()) == total
    for name, weight in weights.items():
        exact = total * Fraction(weight) / whole if whole else Fraction(total, len(weights))
        assert abs(parts[name] - exact) <= len(weights)
        assert parts[name] == 0 or (parts[name] > 0 and (weight or not whole))
    after = apportion(total + more, weights)
    assert all(after[name] >= parts[name] for name in weights)


@given(managers(), TASKS, st.integers(0, 60), st.integers(1, 5_000))
def test_shares_sum_to_the_whole(
    manager: TokenBudgetManager, task: TaskDefinition, messages: int, more: int
) -> None:
    """Whatever the role, the efficiency and the total; nothing is negative, and a larger total gives nobody less."""
    budget = manager.allocate(task, messages=messages)
    assert sum(budget.allocations.values()) == budget.total == manager.total_tokens
    assert min(budget.allocations.values()) >= 0
    assert budget.allocations["buffer"] >= budget.reserve_buffer
    assert budget.compress_at_tokens == int(budget.total * 0.8)
    larger = TokenBudgetManager(
        total_tokens=manager.total_tokens + more, role=manager.role, profile=manager.profile
    )
    larger.efficiency = manager.efficiency
    after = larger.allocate(task, messages=messages).allocations
    assert all(after[section] >= tokens for section, tokens in budget.allocations.items())


@given(managers(), TASKS, st.data())
def test_flow_conserves(
    manager: TokenBudgetManager, task: TaskDefinition, data: st.DataObject
) -> None:
    """The same total; nobody above its need; nobody below its share while it needs it; what is left is free."""
    budget = manager.allocate(task)
    tokens_needed = st.integers(0, 3_000) | st.integers(0, 10**7)
    sections = st.sampled_from(SECTIONS[manager.profile])
    needs = data.draw(st.dictionaries(sections, tokens_needed))
    flowed = flow(budget, needs)
    assert sum(flowed.values()) == budget.total
    assert set(flowed) == set(budget.allocations)
    for section, tokens in flowed.items():
        if section != "buffer":
            least = min(budget.allocations[section], needs.get(section, 0))
            assert least <= tokens <= needs.get(section, 0)
    spare = budget.total - budget.allocations["buffer"] - sum(needs.values())
    assert flowed["buffer"] == budget.allocations["buffer"] + max(0, spare)


def test_an_efficiency_above_one_hands_out_no_more_than_there_is() -> None:
    """Multiplying each share by its factor exceeds the whole; weights that are normalised do not (B2)."""
    manager = TokenBudgetManager(role="coder")
    for section in FIVE[:3]:
        manager.record_usage(section, given_tokens=50_000, used_tokens=50_000)
    manager.record_usage("memory_patterns", given_tokens=50_000, used_tokens=5_000)
    shares = BALANCED["high"].items()
    assert sum(share * manager.efficiency.factor(section) for section, share in shares) > 100
    budget = manager.allocate(TaskDefinition(text="", complexity="high"))
    assert sum(budget.allocations.values()) == 8_000
    assert budget.reserve_buffer == 800


@pytest.mark.parametrize(
    ("role", "section"),
    [
        ("coder", "project_structure"),
        ("planner", "requirements"),
        ("researcher", "memory_patterns"),
        ("reviewer", "design"),
        ("tester", "execution_history"),
    ],
)
def test_a_role_gets_more_of_what_it_works_with(role: Role, section: Section) -> None:
    """Than an assistant, at the cost of the others (B2)."""
    neutral = TokenBudgetManager().allocate("").allocations
    moved = TokenBudgetManager(role=role).allocate("").allocations
    assert moved[section] > neutral[section]
    assert any(moved[other] < neutral[other] for other in FIVE)
    assert moved["buffer"] == neutral["buffer"]


@given(MEASURED, st.integers(1, 100_000), st.floats(0, 1))
def test_efficiency_is_bounded(
    measured: list[tuple[Section, int, float]], tokens: int, share: float
) -> None:
    """No measurement moves a section by more than half; where all do equally well, none moves."""
    efficiency = equal = Efficiency()
    for section, given_tokens, used in measured:
        efficiency = efficiency.measured(
            section, given_tokens=given_tokens, used_tokens=int(given_tokens * used)
        )
    least, most = EFFICIENCY_FACTORS
    assert all(least <= efficiency.factor(section) <= most for section in FIVE)
    for section in FIVE:
        equal = equal.measured(section, given_tokens=tokens, used_tokens=int(tokens * share))
    assert [equal.factor(section) for section in FIVE] == pytest.approx([1.0] * 5)


def test_a_section_that_is_used_gets_more() -> None:
    """What later turns used earns more than what they did not; a hundred tokens are no verdict."""
    manager, task = TokenBudgetManager(), TaskDefinition(text="", complexity="medium")
    before = manager.allocate(task).allocations
    manager.record_usage("design", given_tokens=5_000, used_tokens=4_000)
    manager.record_usage("requirements", given_tokens=5_000, used_tokens=500)
    after = manager.allocate(task).allocations
    assert after["design"] > before["design"]
    assert after["requirements"] < before["requirements"]
    little = TokenBudgetManager()
    little.record_usage("design", given_tokens=10_000, used_tokens=5_000)
    little.record_usage("requirements", given_tokens=100, used_tokens=0)
    assert 0.85 < little.efficiency.factor("requirements") < 0.95


@pytest.mark.parametrize(
    ("kind", "messages", "expected"),
    [
        ("casual", 6, 7_000),
        ("recall", 6, 11_000),
        ("summary", 6, 9_000),
        ("casual", 20, 8_500),
        ("recall", 21, 12_000),
    ],
)
def test_conservative_totals(kind: QueryKind, messages: int, expected: int) -> None:
    """About 7, 11 and 9 thousand for a short conversation; retrieved only on recall (B4)."""
    manager = TokenBudgetManager(profile="conservative")
    budget = manager.allocate(TaskDefinition(text="", query_kind=kind), messages=messages)
    allocations, recent = budget.allocations, {6: 2_000, 20: 3_500, 21: 4_000}[messages]
    assert budget.total - allocations["buffer"] == expected
    assert (allocations["recent"], allocations["facts"]) == (recent, 1_000)
    assert allocations["system"] <= 5_000
    assert ("retrieved" in allocations, "summaries" in allocations) == (
        kind == "recall",
        kind == "summary",
    )


def test_facts_have_their_part_when_all_are_full() -> None:
    """In the original's order, system, recent, retrieved, facts, nothing was left for facts; they come before (B4)."""
    budget = TokenBudgetManager(profile="conservative").allocate(
        TaskDefinition(text="", query_kind="recall"), messages=50
    )
    full = flow(budget, dict.fromkeys(CONSERVATIVE["recall"], 50_000))
    assert (full["facts"], full["retrieved"]) == (1_000, 2_000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TokenBudget(total=5, allocations={"system": 4}, reserve_buffer=0), "4 tokens; give 0 or more each, 5"),
        (lambda: TokenBudget(total=1, allocations={cast("Section", "chat"): 1}, reserve_buffer=0), "='chat': give one of req"),
        (lambda: TokenBudgetManager(0), "total_tokens=0: give 1 or more, or leave it out for 8000"),
        (lambda: TokenBudgetManager(role=cast("Role", "cook")), "role='cook': give one of assistant, coder"),
        (lambda: TokenBudgetManager(profile=cast("Profile", "lavish")), "profile='lavish': give one of value"),
        (lambda: TokenBudgetManager(compact_at_fraction=0), "compact_at_fraction=0: give a fraction"),
        (lambda: flow(TokenBudgetManager().allocate(""), {"design": -1}), r"needs\['design'\]=-1: give 0 tokens"),
        (lambda: flow(TokenBudgetManager().allocate(""), {"buffer": 1}), "needs='buffer': give one of requirements"),
        (lambda: TokenBudgetManager().record_usage("design", given_tokens=1, used_tokens=2), "used_tokens=2: give 0 to"),
        (lambda: TokenBudgetManager().record_usage("buffer", given_tokens=1, used_tokens=1), "section='buffer': give"),
    ],
)  # fmt: skip  # a row a case
def test_what_cannot_be_is_refused(make: "type[object]", message: str) -> None:
    """The error names the argument, its value and what goes."""
    with pytest.raises(ValueError, match=message):
        make()


def test_the_guide_runs() -> None:
    """Its examples work in their order, and give what their comments say."""
    names: dict[str, object] = {}
    with LoopbackServer(ScriptedModel(repeat(Say("{}")))) as server:
        names["base_url"] = server.base_url
        for code in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL):
            exec(code, names)  # noqa: S102 - our own guide
    task, budget = names["task"], names["budget"]
    assert isinstance(task, TaskDefinition)
    assert isinstance(budget, TokenBudget)
    assert (task.type, task.complexity) == ("debug", "medium")
    assert (budget.allocations["design"], budget.reserve_buffer) == (2_769, 1_600)
    needs = cast("dict[Section, int]", names["needs"])  # names of any type
    assert flow(budget, needs)["execution_history"] == 11_500


CASES: list[tuple[str, Profile, TaskDefinition]] = [
    *[(f"`balanced`, {each}", "balanced", TaskDefinition(text="", complexity=each)) for each in BALANCED],
    *[(f"`conservative`, {each}", "conservative", TaskDefinition(text="", query_kind=each)) for each in CONSERVATIVE],
    ("`strict`", "strict", TaskDefinition(text="")),
]  # fmt: skip  # a row a profile


def test_the_table_of_the_guide() -> None:
    """Each number of it is what a manager gives: profile with case, and section, to tokens of 8,000 and of 128,000."""
    told: dict[tuple[str, str], tuple[int, int]] = {}
    case = ""
    row = r"^\| (.*?) ?\| (\w+) \| ([\d,]+) \| ([\d,]+) \|$"
    for first, section, small, large in re.findall(row, GUIDE, re.MULTILINE):
        case = first or case
        told[case, section] = (int(small.replace(",", "")), int(large.replace(",", "")))
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for case, profile, task in CASES:
        less, more = (
            TokenBudgetManager(total_tokens=total, profile=profile).allocate(task).allocations
            for total in (8_000, 128_000)
        )
        found |= {(case, section): (less[section], more[section]) for section in less}
    assert told == found
