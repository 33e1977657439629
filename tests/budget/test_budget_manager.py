"""How a window is shared out: the laws, the tables, and the faults that are gone."""

import re
from collections.abc import Mapping
from itertools import repeat
from pathlib import Path
from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.allocation import TokenBudget, flow
from autogen_context.budget.efficiency import LEAST_FACTOR, MOST_FACTOR, Efficiency
from autogen_context.budget.manager import TokenBudgetManager
from autogen_context.budget.profile import (
    BALANCED,
    CONSERVATIVE,
    STRICT,
    Profile,
    Role,
    Section,
)
from autogen_context.budget.task import Complexity, TaskDefinition
from autogen_context.language.query import QueryKind
from autogen_context.testing import LoopbackServer, Say, ScriptedModel

GUIDE = Path(__file__).parents[2].joinpath("docs", "guides", "budgets.md").read_text("utf-8")
FIVE: tuple[Section, ...] = tuple(BALANCED["low"])
ROLES: tuple[Role, ...] = get_args(Role)
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
TOKENS = st.integers(0, 3_000) | st.integers(0, 10**7)


@st.composite
def managers(draw: st.DrawFn, total_tokens: int | None = None) -> TokenBudgetManager:
    """A manager of any profile and role, with any usage so far."""
    manager = TokenBudgetManager(
        total_tokens=total_tokens or draw(st.integers(1, 3_000) | st.integers(1, 10**7)),
        role=draw(st.sampled_from(ROLES)),
        profile=draw(st.sampled_from(get_args(Profile))),
    )
    for section, given_tokens, share in draw(MEASURED):
        used = int(given_tokens * share)
        manager.record_usage(section, given_tokens=given_tokens, used_tokens=used)
    return manager


def larger(manager: TokenBudgetManager, more: int) -> TokenBudgetManager:
    """The same manager with a larger window."""
    other = TokenBudgetManager(
        total_tokens=manager.total_tokens + more, role=manager.role, profile=manager.profile
    )
    other.efficiency = manager.efficiency
    return other


@st.composite
def needs_of(draw: st.DrawFn, manager: TokenBudgetManager) -> dict[Section, int]:
    """What some sections of a manager's profile could use."""
    return draw(st.dictionaries(st.sampled_from(SECTIONS[manager.profile]), TOKENS))


@given(managers(), TASKS, st.integers(0, 60), st.data())
def test_shares_sum_to_the_whole(
    manager: TokenBudgetManager, task: TaskDefinition, messages: int, data: st.DataObject
) -> None:
    """Whatever the role, the efficiency, the total and the needs; nothing is negative; the reserve stays free."""
    needs = data.draw(st.none() | needs_of(manager))
    budget = manager.allocate(task, needs=needs, messages=messages)
    assert sum(budget.allocations.values()) == budget.total == manager.total_tokens
    assert min(budget.allocations.values()) >= 0
    assert budget.allocations["buffer"] >= budget.reserve_buffer
    assert budget.compress_at_tokens == int(budget.total * 0.8)


@given(managers(), TASKS, st.integers(1, 5_000), st.data())
def test_more_never_gives_less(
    manager: TokenBudgetManager, task: TaskDefinition, more: int, data: st.DataObject
) -> None:
    """A larger total gives no section less, with needs or without."""
    needs = data.draw(st.none() | needs_of(manager))
    before = manager.allocate(task, needs=needs).allocations
    after = larger(manager, more).allocate(task, needs=needs).allocations
    assert all(after[section] >= before[section] for section in before)


@given(managers(), TASKS, st.data())
def test_flow_conserves(
    manager: TokenBudgetManager, task: TaskDefinition, data: st.DataObject
) -> None:
    """The same total; nobody above its need; nobody below its share while it needs it; what is left is free."""
    budget = manager.allocate(task)
    needs = data.draw(needs_of(manager))
    flowed = flow(budget, needs)
    assert sum(flowed.values()) == budget.total
    assert set(flowed) == set(budget.allocations)
    for section, tokens in flowed.items():
        if section != "buffer":
            assert tokens <= needs.get(section, 0)
            assert tokens >= min(budget.allocations[section], needs.get(section, 0))
    spare = budget.total - budget.allocations["buffer"] - sum(needs.values())
    assert flowed["buffer"] == budget.allocations["buffer"] + max(0, spare)


def test_an_efficiency_above_one_hands_out_no_more_than_there_is() -> None:
    """Multiplying each share by its factor, as the original did, exceeds the whole; weights that are normalised do not."""
    manager = TokenBudgetManager(role="coder")
    for section in FIVE[:3]:
        manager.record_usage(section, given_tokens=50_000, used_tokens=50_000)
    manager.record_usage("memory_patterns", given_tokens=50_000, used_tokens=5_000)
    factors = {section: manager.efficiency.factor(section) for section in FIVE}
    multiplied = sum(share * factors[section] for section, share in BALANCED["high"].items())
    assert multiplied > 100
    budget = manager.allocate(TaskDefinition(text="", complexity="high"))
    assert sum(budget.allocations.values()) == 8_000
    assert budget.reserve_buffer == 800


@pytest.mark.parametrize(
    ("complexity", "expected"),
    [
        ("high", (25, 25, 20, 15, 10)),
        ("medium", (20, 20, 25, 20, 10)),
        ("low", (15, 15, 30, 25, 10)),
    ],
)
def test_tables_by_complexity(complexity: Complexity, expected: tuple[int, ...]) -> None:
    """The sections stand to each other as the table says; the buffer is the reserve, a tenth of the whole."""
    manager = TokenBudgetManager(total_tokens=950_000 * 10 // 9 + 1)
    allocations = manager.allocate(TaskDefinition(text="", complexity=complexity)).allocations
    shares = [allocations[section] for section in FIVE]
    assert shares == pytest.approx([10_000 * each for each in expected], abs=1)
    assert allocations["buffer"] == pytest.approx(manager.total_tokens / 10, abs=1)


def test_each_row_leaves_five_per_cent() -> None:
    """The five sections have 95 of a hundred in each table."""
    assert [sum(row.values()) for row in BALANCED.values()] == [95, 95, 95]


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
    """Than an assistant, at the cost of the others."""
    task = TaskDefinition(text="", complexity="medium")
    neutral = TokenBudgetManager().allocate(task).allocations
    moved = TokenBudgetManager(role=role).allocate(task).allocations
    assert moved[section] > neutral[section]
    assert any(moved[other] < neutral[other] for other in FIVE)
    assert moved["buffer"] == neutral["buffer"]


def test_a_section_that_is_used_gets_more() -> None:
    """What later turns used earns more than what they did not, and a reserve is nobody's."""
    manager, task = TokenBudgetManager(), TaskDefinition(text="", complexity="medium")
    before = manager.allocate(task).allocations
    manager.record_usage("design", given_tokens=5_000, used_tokens=4_000)
    manager.record_usage("requirements", given_tokens=5_000, used_tokens=500)
    after = manager.allocate(task).allocations
    assert after["design"] > before["design"]
    assert after["requirements"] < before["requirements"]
    assert after["buffer"] == before["buffer"]


@given(MEASURED)
def test_efficiency_is_bounded(measured: list[tuple[Section, int, float]]) -> None:
    """No measurement moves a section by more than half, and without any it stays."""
    efficiency = Efficiency()
    assert {efficiency.factor(section) for section in FIVE} == {1.0}
    for section, tokens, share in measured:
        efficiency = efficiency.measured(
            section, given_tokens=tokens, used_tokens=int(tokens * share)
        )
    assert all(LEAST_FACTOR <= efficiency.factor(section) <= MOST_FACTOR for section in FIVE)
    assert 0 <= efficiency.mean <= 1


@given(st.integers(1, 100_000), st.floats(0, 1))
def test_equal_efficiency_moves_nothing(tokens: int, share: float) -> None:
    """Where every section does as well as the others, all factors are 1."""
    efficiency = Efficiency()
    for section in FIVE:
        efficiency = efficiency.measured(
            section, given_tokens=tokens, used_tokens=int(tokens * share)
        )
    assert [efficiency.factor(section) for section in FIVE] == pytest.approx([1.0] * 5)


def test_one_measurement_moves_little() -> None:
    """A hundred tokens that nobody used are no verdict on a section."""
    efficiency = Efficiency().measured("design", given_tokens=10_000, used_tokens=5_000)
    efficiency = efficiency.measured("requirements", given_tokens=100, used_tokens=0)
    assert 0.85 < efficiency.factor("requirements") < 0.95


def test_measurements_add_up_and_leave_the_earlier_value() -> None:
    """Each one is a new value; the sums are over all requests."""
    first = Efficiency().measured("design", given_tokens=10, used_tokens=5)
    second = first.measured("design", given_tokens=30, used_tokens=5)
    assert (first.given, first.used, first.mean) == ({"design": 10}, {"design": 5}, 0.5)
    assert (second.given, second.used, second.mean) == ({"design": 40}, {"design": 10}, 0.25)


@pytest.mark.parametrize(
    ("kind", "messages", "expected"),
    [
        ("casual", 6, 7_000),
        ("recall", 6, 11_000),
        ("summary", 6, 9_000),
        ("casual", 20, 8_500),
        ("casual", 21, 9_000),
        ("recall", 21, 12_000),
        ("summary", 21, 11_000),
    ],
)
def test_conservative_totals(kind: QueryKind, messages: int, expected: int) -> None:
    """About 7, 11 and 9 thousand for a short conversation; a longer one has more of its newest messages."""
    manager = TokenBudgetManager(profile="conservative")
    budget = manager.allocate(TaskDefinition(text="", query_kind=kind), messages=messages)
    assert budget.total == 12_000
    assert budget.total - budget.allocations["buffer"] == expected


@given(st.sampled_from(get_args(QueryKind)), st.integers(0, 100))
def test_conservative_limits(kind: QueryKind, messages: int) -> None:
    """System up to 5k, facts 1k, retrieved up to 3k and only on recall, recent by the length of the conversation."""
    manager = TokenBudgetManager(profile="conservative")
    task = TaskDefinition(text="", query_kind=kind)
    allocations = manager.allocate(task, messages=messages).allocations
    recent = 2_000 if messages <= 6 else 3_500 if messages <= 20 else 4_000
    assert allocations["system"] <= 5_000
    assert allocations["recent"] == recent
    assert allocations["facts"] == 1_000
    assert ("retrieved" in allocations) == (kind == "recall")
    assert 2_000 <= allocations.get("retrieved", 3_000) <= 3_000
    assert ("summaries" in allocations) == (kind == "summary")


def test_facts_have_their_part_when_all_are_full() -> None:
    """In the original's order, system, recent, retrieved, facts, nothing was left for facts; they come before."""
    left, original = 12_000, dict[str, int]()
    for section, most in (
        ("system", 5_000),
        ("recent", 4_000),
        ("retrieved", 3_000),
        ("facts", 1_000),
    ):
        original[section] = min(most, left)
        left -= original[section]
    assert original["facts"] == 0
    everything: dict[Section, int] = dict.fromkeys(CONSERVATIVE["recall"], 50_000)
    manager = TokenBudgetManager(profile="conservative")
    task = TaskDefinition(text="", query_kind="recall")
    full = manager.allocate(task, needs=everything, messages=50).allocations
    assert (full["facts"], full["retrieved"]) == (1_000, 2_000)


def test_conservative_scales_with_the_window() -> None:
    """Twice the window, twice the parts."""
    task = TaskDefinition(text="", query_kind="recall")
    manager = TokenBudgetManager(profile="conservative", total_tokens=24_000)
    assert manager.allocate(task).allocations == {
        "system": 10_000,
        "recent": 4_000,
        "facts": 2_000,
        "retrieved": 6_000,
        "buffer": 2_000,
    }


def test_strict() -> None:
    """A tenth for the system prompt, 40 % knowledge, 43 % conversation, 7 % margin, of 1,500."""
    budget = TokenBudgetManager(profile="strict").allocate(TaskDefinition(text=""))
    assert budget.allocations == {
        "system": 150,
        "knowledge": 600,
        "conversation": 645,
        "buffer": 105,
    }
    assert (budget.total, budget.reserve_buffer) == (1_500, 105)


def test_what_a_section_leaves_flows_to_those_that_need_it() -> None:
    """By their shares; what nobody needs stays free."""
    budget = TokenBudget(
        total=100, allocations={"design": 60, "requirements": 30, "buffer": 10}, reserve_buffer=10
    )
    assert flow(budget, {"design": 20, "requirements": 90}) == {
        "design": 20,
        "requirements": 70,
        "buffer": 10,
    }
    assert flow(budget, {"design": 20})["buffer"] == 80


def test_a_budget_without_buffer_flows_too() -> None:
    """Then what nobody needs becomes one."""
    budget = TokenBudget(total=5, allocations={"system": 5}, reserve_buffer=0)
    assert flow(budget, {"system": 3}) == {"system": 3, "buffer": 2}


def test_what_is_no_budget_is_refused() -> None:
    """Parts that do not add up, or are negative, are said so with their numbers."""
    with pytest.raises(ValueError, match="they have 4 tokens; give 0 or more each, 5 in all"):
        TokenBudget(total=5, allocations={"system": 4}, reserve_buffer=0)
    with pytest.raises(ValueError, match="give 0 or more each"):
        TokenBudget(total=5, allocations={"system": 6, "buffer": -1}, reserve_buffer=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"total_tokens": 0}, "total_tokens=0: give 1 or more, or leave it out for 8000"),
        ({"total_tokens": -1, "profile": "strict"}, "leave it out for 1500"),
        ({"role": "cook"}, "role='cook': give one of assistant, coder"),
        (
            {"profile": "lavish"},
            "profile='lavish': give one of value, balanced, conservative, strict",
        ),
    ],
)
def test_wrong_settings(wrong: dict[str, object], message: str) -> None:
    """The error names the argument, its value and what goes."""
    make = cast("type[object]", TokenBudgetManager)  # wrong arguments are the point
    with pytest.raises(ValueError, match=message):
        make(**wrong)


@pytest.mark.parametrize(
    ("needs", "message"),
    [
        ({"design": -1}, r"needs\['design'\]=-1: give 0 tokens or more"),
        ({"knowledge": 1}, "needs='knowledge': give one of requirements, design"),
        ({"buffer": 1}, "needs='buffer'"),
    ],
)
def test_wrong_needs(needs: dict[Section, int], message: str) -> None:
    """Of a section that is not there, or below nothing."""
    manager, task = TokenBudgetManager(), TaskDefinition(text="")
    with pytest.raises(ValueError, match=message):
        manager.allocate(task, needs=needs)
    with pytest.raises(ValueError, match=message):
        flow(manager.allocate(task), needs)


def test_wrong_usage() -> None:
    """More used than given, or tokens of the buffer."""
    manager = TokenBudgetManager()
    with pytest.raises(ValueError, match="used_tokens=2: give 0 to given_tokens=1"):
        manager.record_usage("design", given_tokens=1, used_tokens=2)
    with pytest.raises(ValueError, match="section='buffer': give one of"):
        manager.record_usage("buffer", given_tokens=1, used_tokens=1)


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


def guide_rows() -> dict[tuple[str, str], tuple[int, int]]:
    """The guide's table: profile with case, and section, to tokens of 8,000 and of 128,000."""
    rows: dict[tuple[str, str], tuple[int, int]] = {}
    case = ""
    for first, section, small, large in re.findall(
        r"^\| (.*?) ?\| (\w+) \| ([\d,]+) \| ([\d,]+) \|$", GUIDE, re.MULTILINE
    ):
        case = first or case
        rows[case, section] = (int(small.replace(",", "")), int(large.replace(",", "")))
    return rows


CASES: list[tuple[str, Profile, TaskDefinition]] = [
    *(
        (f"`balanced`, {complexity}", "balanced", TaskDefinition(text="", complexity=complexity))
        for complexity in BALANCED
    ),
    *(
        (f"`conservative`, {kind}", "conservative", TaskDefinition(text="", query_kind=kind))
        for kind in CONSERVATIVE
    ),
    ("`strict`", "strict", TaskDefinition(text="")),
]


def test_the_table_of_the_guide() -> None:
    """Each number of it is what a manager gives."""
    given: dict[tuple[str, str], tuple[int, int]] = {}
    for case, profile, task in CASES:
        small, large = (
            TokenBudgetManager(total_tokens=total, profile=profile).allocate(task).allocations
            for total in (8_000, 128_000)
        )
        given |= {(case, section): (small[section], large[section]) for section in small}
    assert guide_rows() == given
