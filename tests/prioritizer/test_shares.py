"""Blocks by section: what a section has had decides how much more it may have, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.profile import BALANCED, Section
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.prioritizer.blocks.choose import Offer, Selection
from autogen_context.prioritizer.blocks.references import References
from autogen_context.prioritizer.blocks.shares import (
    Advised,
    WithinShares,
    categories_of,
    efficiency_of,
    needs_of,
    sections_of,
)
from autogen_context.prioritizer.blocks.worth import Spot, Worth
from autogen_context.prioritizer.category import BASE_WEIGHTS, Category
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from support.units import candidates_of, read_all

MESSAGES = (transcripts() | broken_transcripts()).map(read_all)
RUN = "2031 passed\nthe cache of vault_door is stale\n" * 6
LISTING = "src/vault_door.py\nsrc/hinge_pin.py\n" * 6


def references_of(messages: list[Message]) -> References:
    """The values of a conversation."""
    references = References()
    references.follow(candidates_of(messages), messages)
    return references


def called(tool: str, arguments: str, text: str) -> list[Message]:
    """A call and what came back."""
    call = ToolCall(id="1", name=tool, arguments=arguments)
    return [
        Message(role="assistant", calls=(call,)),
        Message(role="tool", results=(ToolResult(call_id="1", text=text),)),
    ]


WORK = [
    *called("list_directory", '{"path": "."}', LISTING),
    *called("bash", '{"command": "pytest"}', RUN),
    *called("list_directory", '{"path": "src"}', LISTING.replace("vault", "safe")),
    *called("bash", '{"command": "pytest -k vault_door"}', RUN.replace("2031", "77")),
]


def chosen(values: WithinShares | Advised | Worth, references: References, room: int) -> list[Spot]:
    """What is chosen of all units in a room, the best first."""
    offers = {
        i: Offer(
            frame_tokens=4,
            passages=[[max(1, len(b.text) // 4) for b in p.blocks] for p in unit.passages],
        )
        for i, unit in enumerate(references.units)
    }
    return Selection(offers, worth=values, room_tokens=room).choose()


def shared(references: References, shares: dict[Section, int]) -> WithinShares:
    """Worth within shares."""
    sections = sections_of(categories_of(references))
    worth = Worth(references, room_tokens=10_000)
    return WithinShares(worth, references.units, sections, shares)


def test_a_section_that_has_its_share_stands_behind_the_others() -> None:
    """The first section has nothing: every block of the others comes first, and its own come in their order."""
    references = references_of(WORK)
    sections = sections_of(categories_of(references))
    assert sections == [*["project_structure", "execution_history"] * 2]
    shares: dict[Section, int] = {"project_structure": 10_000, "execution_history": 0}
    order = [sections[s.unit] for s in chosen(shared(references, shares), references, 10_000)]
    assert order == sorted(order, reverse=True)  # project_structure, then execution_history
    assert set(order) == {"project_structure", "execution_history"}


def test_what_others_leave_flows() -> None:
    """With room for all, all is chosen, whatever the shares are."""
    references = references_of(WORK)
    none: dict[Section, int] = {"project_structure": 0, "execution_history": 0}
    everything = chosen(Worth(references, room_tokens=10_000), references, 10_000)
    assert set(chosen(shared(references, none), references, 10_000)) == set(everything)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(50, 800))
def test_nobody_goes_beyond_its_share_before_the_others_have_theirs(
    structure: int, execution: int, room: int
) -> None:
    """Once a block beyond a share is chosen, no later one is of a section that had room left then."""
    references = references_of(WORK)
    sections = sections_of(categories_of(references))
    shares: dict[Section, int] = {"project_structure": structure, "execution_history": execution}
    left, beyond = dict[Section, float](shares), False
    for spot in chosen(shared(references, shares), references, room):
        unit = references.units[spot.unit]
        assert not (beyond and left[sections[spot.unit]] > 0)
        beyond = beyond or left[sections[spot.unit]] <= 0
        text = unit.passages[spot.passage].blocks[spot.block].text
        whole = sum(len(block.text) for passage in unit.passages for block in passage.blocks)
        left[sections[spot.unit]] -= len(text) * unit.candidate.tokens / whole


@given(MESSAGES, st.dictionaries(st.sampled_from(list(BALANCED["low"])), st.integers(0, 400)))
def test_shares_order_and_change_no_worth_below_them(
    messages: list[Message], given_shares: dict[Section, int]
) -> None:
    """While a section has room left its blocks are worth what they are worth; then far less, and never nothing more."""
    references = references_of(messages)
    shares = dict.fromkeys(BALANCED["low"], 0) | given_shares
    sections = sections_of(categories_of(references))
    values, worth = shared(references, shares), Worth(references, room_tokens=10_000)
    for unit, text in enumerate(references.units):
        for passage, cut in enumerate(text.passages):
            for block in range(len(cut.blocks)):
                spot = Spot(unit, passage, block)
                plain = worth.of(spot)
                expected = plain if shares[sections[unit]] > 0 else pytest.approx(plain / 1e6)
                assert values.of(spot) == expected


@given(MESSAGES)
def test_efficiency_is_within_what_was_given(messages: list[Message]) -> None:
    """No section used more than it had, and none is measured that has no unit."""
    references = references_of(messages)
    sections = sections_of(categories_of(references))
    efficiency = efficiency_of(references, sections)
    assert set(efficiency.given) <= set(sections)
    for section, given_tokens in efficiency.given.items():
        assert 0 <= efficiency.used.get(section, 0) <= given_tokens


def test_what_is_named_again_was_used() -> None:
    """The listing's file is read later, the run's numbers are not; what the model named before does not count."""
    again = called("read_file", '{"path": "src/hinge_pin.py"}', "pin = 1")
    references = references_of([*WORK[:4], *again])
    efficiency = efficiency_of(references, sections_of(categories_of(references)))
    assert efficiency.used.get("project_structure", 0) > 0
    assert efficiency.used.get("execution_history", 0) == 0
    before = references_of(
        [*called("read_file", '{"path": "src/hinge_pin.py"}', "pin = 1"), *WORK[:2]]
    )
    assert not any(efficiency_of(before, sections_of(categories_of(before))).used.values())


def test_needs_are_what_the_units_cost() -> None:
    """Each unit counts once, in its section."""
    references = references_of(WORK)
    needs = needs_of(references.units, sections_of(categories_of(references)))
    assert sum(needs.values()) == sum(unit.candidate.tokens for unit in references.units)
    assert set(needs) == {"project_structure", "execution_history"}


@pytest.mark.parametrize("category", ["structure", "execution"])
def test_advice_raises_a_category(category: Category) -> None:
    """What a model raises is chosen first."""
    references = references_of(WORK)
    categories = categories_of(references)
    multipliers: dict[Category, float] = {**dict.fromkeys(BASE_WEIGHTS, 0.25), category: 4.0}
    values = Advised(Worth(references, room_tokens=10_000), categories, multipliers)
    assert categories[chosen(values, references, 10_000)[0].unit] == category
