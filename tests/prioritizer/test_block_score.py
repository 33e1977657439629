"""What a block scores: the laws of any conversation, what raises a value, what else counts, and who scores otherwise."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.profile import BALANCED, Section
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.prioritizer.block_score import (
    HOTTEST,
    AdvisedScorer,
    AnswerScorer,
    BlockAt,
    BlockScorer,
    SectionScorer,
    ValueScorer,
    efficiency_of,
    spread,
)
from autogen_context.prioritizer.category import (
    BASE_WEIGHTS,
    SECTION_OF,
    Category,
    category_of,
)
from autogen_context.prioritizer.references import References
from autogen_context.prioritizer.selection import BlockSelector, Selection, UnitCost
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.view.decision import kept
from support.counting import COUNTER
from support.scoring import (
    PAUSE,
    asks,
    blocks_in,
    references_of,
    returns,
    says,
    scorer_of,
    steps,
)
from support.units import candidates_of, read_all

MESSAGES = (transcripts(max_messages=20) | broken_transcripts()).map(read_all)
SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=12)
FIRST, SECOND, THIRD = (BlockAt(unit, 0, 0) for unit in (1, 2, 3))


@given(MESSAGES, st.data())
def test_more_kept_never_scores_more(messages: list[Message], data: st.DataObject) -> None:
    """A score is not negative, and falls or stays with whatever is kept, blocks or units, in whatever order."""
    blocks, scorer, other = blocks_in(messages), scorer_of(messages), scorer_of(messages)
    now = [scorer.score(at) for at in blocks]
    keep = data.draw(st.lists(st.sampled_from(blocks), max_size=9)) if blocks else []
    for at in keep:
        scorer.keep(at)
        before, now = now, [scorer.score(at) for at in blocks]
        assert all(0 <= after <= score for score, after in zip(before, now, strict=True))
    for at in data.draw(st.permutations(keep)):
        other.keep(at)
    assert [other.score(at) for at in blocks] == now
    for at in keep:
        other.keep_unit(at.unit)
    assert all(other.score(at) <= score for at, score in zip(blocks, now, strict=True))


def test_a_score_is_the_same_in_each_process() -> None:
    """To the last bit: sets have another order in each, and what continues a saved state must choose alike."""
    code = """
        from autogen_context.messages.message import Message
        from autogen_context.messages.piece import Verbatim
        from autogen_context.messages.segment import segment
        from autogen_context.prioritizer.block_score import BlockAt, ValueScorer
        from autogen_context.prioritizer.references import References
        from autogen_context.view.decision import Candidate

        text = "".join(f"Flight HAT{i:03} from a{i} to b_{i} at {i * 7 % 24}:00 for {i * 31}. " for i in range(99))
        roles = ("user", "assistant", "user")
        messages = [Message(role=role, text=text[i * 500:]) for i, role in enumerate(roles)]
        candidates = [
            Candidate(unit=unit, pieces=(Verbatim(start=unit.start, stop=unit.stop),), tokens=9)
            for unit in segment(messages)
        ]
        references = References()
        references.follow(candidates, messages)
        scorer = ValueScorer(references, room_tokens=100)
        print([scorer.score(BlockAt(unit, 0, block)) for unit in range(3) for block in range(9)])
    """
    said = {
        subprocess.check_output(  # noqa: S603  our own code
            [sys.executable, "-c", dedent(code)], env={**os.environ, "PYTHONHASHSEED": seed}
        )
        for seed in "123"
    }
    assert len(said) == 1


@given(st.lists(st.floats(0, HOTTEST), max_size=40))
def test_heat_spreads(heat: list[float]) -> None:
    """No block gets colder, nearer ones get more, and all of it stays within three times the hottest."""
    passed = spread(heat)
    assert len(passed) == len(heat)
    for own, now in zip(heat, passed, strict=True):
        assert own <= now <= 3 * HOTTEST
    alone = spread([0.0] * 5 + [1.0] + [0.0] * 5)
    assert alone[:6] == sorted(alone[:6])
    assert alone[5:] == sorted(alone[5:], reverse=True)
    assert alone[6] > alone[4] > 0


@given(MESSAGES, st.data())
def test_keeping_all_but_some_is_keeping_each_of_the_others(
    messages: list[Message], data: st.DataObject
) -> None:
    """The same blocks are chosen of span after span, with one count of everything."""
    candidates, references = candidates_of(messages), references_of(messages)
    scorer = ValueScorer(references, room_tokens=400)
    for _ in range(3):
        few = [i for i in range(len(candidates)) if data.draw(st.booleans())]
        scorer.keep_all_but(few)
        chosen = BlockSelector(references, COUNTER, scorer).choose(few, 400)
        beside = {i: kept(c, "") for i, c in enumerate(candidates) if i not in few}
        alone = BlockSelector(references, COUNTER, ValueScorer(references, room_tokens=400))
        assert chosen == alone.fill(beside, 400)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        pytest.param([says("see alpha_1")], [says("see other_1")], id="used again"),
        pytest.param([says("alpha_1")] * 2, [says("alpha_1"), says("b")], id="used twice"),
        pytest.param(
            returns("ok", arguments='{"id": "alpha_1"}'), returns("ok"), id="used in a call"
        ),
        pytest.param([asks("see alpha_1")], [asks("see other_1")], id="asked for"),
        pytest.param(steps(["b_1", "b_2"]), steps(["alpha_1", "alpha_1"]), id="rare"),
    ],
)
def test_what_raises_a_value(more: list[Message], less: list[Message]) -> None:
    """The block that introduced a value scores more for what came after it, without a word of its own changed."""
    introduced = [asks("go"), *returns("alpha_1")]
    one, other = (scorer_of([*introduced, *later, *PAUSE]).score(FIRST) for later in (more, less))
    assert one > other


def test_references_count() -> None:
    """Of blocks that are alike but for their values, those score most that later messages keep using."""
    rows = [f"row key_{letter} holds one thing and another" for letter in "abcdefgh"]
    messages = [asks("go"), *steps(rows), says("key_c"), says("key_f"), says("key_c"), *PAUSE]
    scorer = scorer_of(messages)
    scores = {row: scorer.score(BlockAt(i + 1, 0, 0)) for i, row in enumerate(rows)}
    best = sorted(scores, key=scores.__getitem__, reverse=True)
    assert best[:2] == [rows[2], rows[5]]
    assert scores[rows[5]] > 1.15 * scores[best[2]]


def test_the_newest_use_counts_most() -> None:
    """A use fades with the steps since; in the newest step it is what the work is about."""
    since = [
        scorer_of([asks("go"), *returns("alpha_1"), says("alpha_1"), *[says("b")] * n])
        for n in range(12)
    ]
    assert all(a.weight("alpha_1") > b.weight("alpha_1") for a, b in pairwise(since))


@pytest.mark.parametrize(
    ("telling", "plain"),
    [("total_cents", "totalcents"), ("4711", "many"), ("src/app.py", "source")],
)
def test_a_telling_value_is_worth_more_than_a_word(telling: str, plain: str) -> None:
    """Words are everywhere."""
    messages = [asks("go"), *returns(telling), *returns(plain), *PAUSE]
    scorer = scorer_of(messages)
    assert scorer.score(BlockAt(1, 0, 0)) > 2 * scorer.score(BlockAt(2, 0, 0))


def test_what_the_system_prompt_has_anyway_is_worth_little() -> None:
    """It stays there, unless a person asks for it."""
    told = [Message(role="system", text="alpha_1"), *returns("alpha_1"), *PAUSE]
    untold = [Message(role="system", text="beta_1"), *returns("alpha_1"), *PAUSE]
    assert scorer_of(told).weight("alpha_1") < scorer_of(untold).weight("alpha_1") / 2
    asked = [asks("alpha_1"), *told]
    assert scorer_of(asked).weight("alpha_1") > scorer_of(untold).weight("alpha_1")


def test_one_of_many_alike_is_worth_less() -> None:
    """Of forty flights the model picks one; the one that it picked is worth what a value is."""
    listing = "".join(f"HAT{i:03} leaves\n" for i in range(100, 140))
    alone, many = ([asks("go"), *returns(text), *PAUSE] for text in ("HAT100 leaves\n", listing))
    first = BlockAt(1, 0, 0)
    per_value = scorer_of(many).score(first) / len(
        references_of(many).units[1].passages[0].blocks[0].values
    )
    assert per_value < scorer_of(alone).score(first) / 2
    kept = scorer_of(many)
    kept.keep(first)
    assert kept.score(first) < scorer_of(many).score(first) / 2
    picked = [asks("go"), *returns(listing), says("HAT101"), *PAUSE]
    assert scorer_of(picked).score(first) > scorer_of(many).score(first) * 1.5


def test_what_stands_among_what_is_kept_scores_little() -> None:
    """Whether a block of it or a whole unit is kept; what else there is keeps its score."""
    messages = [asks("go"), *returns("alpha_1"), *returns("alpha_1"), *returns("beta_1"), *PAUSE]
    by_block, by_unit, before = scorer_of(messages), scorer_of(messages), scorer_of(messages)
    by_block.keep(FIRST)
    by_unit.keep_unit(1)
    for scorer in (by_block, by_unit):
        assert scorer.score(SECOND) < before.score(SECOND) / 2
        assert scorer.score(THIRD) == before.score(THIRD)


def test_age_counts() -> None:
    """Of equal blocks the newest scores most, and a larger room forgives age."""
    texts = [f"key_{letter} " + "x" * 400 for letter in "abcdefgh"]
    messages = [asks("go"), *steps(texts), *PAUSE]
    for room in (100, 10_000):
        scorer = scorer_of(messages, room=room)
        scores = [scorer.score(BlockAt(i + 1, 0, 0)) for i in range(len(texts))]
        assert scores == sorted(scores)
        assert (scores[0] < scores[-1] / 1.5) == (room == 100)


def test_what_was_shown_again_since_scores_little() -> None:
    """P8: a file that was read again is the newer reading's to keep."""
    first, again, other = (
        returns("alpha_1 and more\n" * 20, arguments=f'{{"path": "{path}"}}', name="read_file")
        for path in ("a.py", "a.py", "b.py")
    )
    shown = scorer_of([asks("go"), *first, *again, *PAUSE]).score(FIRST)
    assert shown < scorer_of([asks("go"), *first, *other, *PAUSE]).score(FIRST) / 2


def test_a_line_that_an_edit_may_repeat_counts() -> None:
    """Less once it stands among what is kept; not in what was only said."""
    line = "return the whole and all of it\n"
    words = line.strip().replace(" ", "\n")
    scorer = scorer_of([asks("go"), *returns(line), *returns(words), *returns(line), *PAUSE])
    as_line, as_words, again = (scorer.score(at) for at in (FIRST, SECOND, THIRD))
    assert as_line > as_words + 0.2
    scorer.keep(FIRST)
    assert scorer.score(THIRD) < again / 2
    said = scorer_of([asks("go"), says(line), says(words), *PAUSE])
    assert said.score(FIRST) == pytest.approx(said.score(SECOND), rel=0.1)


def test_what_a_model_wrote_scores_more_than_what_it_read() -> None:
    """It writes it again; the block is the same. A search takes nothing of it."""
    text = "the words of alpha_1 and beta_2. " * 4
    read = [asks("go"), *returns(text), *returns("ok", arguments="{}")]
    wrote, searched, other = (
        [asks("go"), *returns("ok", arguments=json.dumps({"new": text}), name=name), *returns("ok")]
        for name in ("f", "grep", "g")
    )
    blocks = [BlockAt(1, p, 0) for p in (0, 1)]
    arguments = max(scorer_of(wrote).score(at) for at in blocks if at in blocks_in(wrote))
    assert arguments > scorer_of(read).score(FIRST)
    assert scorer_of(searched).score(FIRST) == scorer_of(other).score(FIRST) > 0


def calls_of(names: Sequence[str]) -> list[Message]:
    """One step that calls these tools; each gives the same."""
    calls = [ToolCall(id=name + str(i), name=name, arguments="{}") for i, name in enumerate(names)]
    results = [ToolResult(call_id=call.id, text="alpha_1 is beta_2\n" * 3) for call in calls]
    return [
        Message(role="assistant", calls=tuple(calls)),
        *(Message(role="tool", results=(result,)) for result in results),
    ]


@pytest.mark.parametrize(
    ("names", "halved"),
    [
        pytest.param(["grep"], True, id="a search"),
        pytest.param(["grep", "list_files"], True, id="two searches"),
        pytest.param(["read_file"], False, id="a read"),
        pytest.param(["grep", "read_file"], False, id="a search and a read"),
    ],
)
def test_what_a_search_gave_scores_half(names: list[str], *, halved: bool) -> None:
    """What it found is there to choose from, and no edit repeats a list; where more was done nothing is taken away."""
    unknown = scorer_of([asks("go"), *calls_of(["f"] * len(names)), *PAUSE]).score(FIRST)
    found = scorer_of([asks("go"), *calls_of(names), *PAUSE]).score(FIRST)
    assert found == pytest.approx(unknown / 2 if halved else unknown)


# ---- for somebody who asks for the past


def talk(turns: int, *, longer: Sequence[int] = ()) -> list[Message]:
    """Messages of one length; some are about twice as long."""
    texts = [
        f"In year {1000 + n} we sailed to an island that nobody had seen" for n in range(turns)
    ]
    texts = [f"{text}, and stayed there for the winter" for text in texts]
    return [
        Message(role="user", text=f"{text}, {text.lower()}." if n in longer else f"{text}.")
        for n, text in enumerate(texts)
    ]


def stays(messages: Sequence[Message], scores: Sequence[float], room_tokens: int) -> list[int]:
    """Which messages stay whole."""
    references = references_of(messages)
    scorer = AnswerScorer(references, scores)
    decided = BlockSelector(references, COUNTER, scorer).fill({}, room_tokens)
    return sorted(i for i, decision in decided.items() if decision.action == "keep")


@given(MESSAGES, SCORES)
def test_an_answer_scores_for_itself(messages: list[Message], scores: list[float]) -> None:
    """Never negative, and what was kept before changes nothing."""
    references = references_of(messages)
    scorer, other = AnswerScorer(references, scores), AnswerScorer(references, scores)
    for at in blocks_in(messages):
        assert scorer.score(at) == other.score(at) >= 0
        other.keep(at)
        other.keep_unit(at.unit)


@given(st.permutations([n / 10 for n in range(10)]))
def test_the_best_answers_stay(scores: list[float]) -> None:
    """Of messages of one length those that score highest, as many as fit."""
    messages = talk(len(scores))
    room = 4 * COUNTER.message(messages[0])
    best = sorted(range(len(scores)), key=lambda i: -scores[i])[:4]
    assert stays(messages, scores, room) == sorted(best)


def test_a_better_answer_is_worth_its_length() -> None:
    """What answers a little better stays, though it takes the room of two others."""
    messages = talk(8, longer=[3])
    scores = [0.5] * 3 + [0.51] + [0.5] * 4
    assert stays(messages, scores, COUNTER.message(messages[3])) == [3]


def test_of_equal_answers_the_newer_ones_stay() -> None:
    """Also where nothing answers."""
    messages = talk(6)
    for score in (0.0, 0.5):
        room = 2 * COUNTER.message(messages[0])
        assert stays(messages, [score] * len(messages), room) == [4, 5]


# ---- by section, and by advice

RUN = "2031 passed\nthe cache of vault_door is stale\n" * 6
LISTING = "src/vault_door.py\nsrc/hinge_pin.py\n" * 6
WORK = [
    *returns(LISTING, name="list_directory", arguments='{"path": "."}'),
    *returns(RUN, name="bash", arguments='{"command": "pytest"}'),
    *returns(LISTING.replace("vault", "safe"), name="list_directory", arguments='{"path": "src"}'),
    *returns(
        RUN.replace("2031", "77"), name="bash", arguments='{"command": "pytest -k vault_door"}'
    ),
]


def categories_of(references: References) -> list[Category]:
    """The category of each unit."""
    return [category_of(unit.unit, unit.actions) for unit in references.units]


def sections_of(references: References) -> list[Section]:
    """The section of each unit."""
    return [SECTION_OF[category] for category in categories_of(references)]


def chosen(scorer: BlockScorer, references: References, room: int) -> list[BlockAt]:
    """What is chosen of all units in a room, the best first."""
    costs = {
        i: UnitCost(
            frame_tokens=4,
            passages=[[max(1, len(b.text) // 4) for b in p.blocks] for p in unit.passages],
        )
        for i, unit in enumerate(references.units)
    }
    return Selection(costs, scorer=scorer, room_tokens=room).choose()


def shared(references: References, shares: dict[Section, int]) -> SectionScorer:
    """Scores within shares."""
    scorer = ValueScorer(references, room_tokens=10_000)
    return SectionScorer(scorer, references.units, sections_of(references), shares)


def test_a_section_that_has_its_share_stands_behind_the_others() -> None:
    """The second section has nothing: every block of the first comes before; with room for all, all is chosen."""
    references = references_of(WORK)
    sections = sections_of(references)
    assert sections == [*["project_structure", "execution_history"] * 2]
    shares: dict[Section, int] = {"project_structure": 10_000, "execution_history": 0}
    found = chosen(shared(references, shares), references, 10_000)
    order = [sections[at.unit] for at in found]
    assert order == sorted(order, reverse=True)  # project_structure, then execution_history
    everything = chosen(ValueScorer(references, room_tokens=10_000), references, 10_000)
    assert set(found) == set(everything)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(50, 800))
def test_nobody_goes_beyond_its_share_before_the_others_have_theirs(
    structure: int, execution: int, room: int
) -> None:
    """Once a block beyond a share is chosen, no later one is of a section that had room left then."""
    references = references_of(WORK)
    sections = sections_of(references)
    shares: dict[Section, int] = {"project_structure": structure, "execution_history": execution}
    left, beyond = dict[Section, float](shares), False
    for at in chosen(shared(references, shares), references, room):
        unit = references.units[at.unit]
        assert not (beyond and left[sections[at.unit]] > 0)
        beyond = beyond or left[sections[at.unit]] <= 0
        text = unit.passages[at.passage].blocks[at.block].text
        whole = sum(len(block.text) for passage in unit.passages for block in passage.blocks)
        left[sections[at.unit]] -= len(text) * unit.candidate.tokens / whole


@given(MESSAGES, st.dictionaries(st.sampled_from(list(BALANCED["low"])), st.integers(0, 400)))
def test_shares_order_and_change_no_score_below_them(
    messages: list[Message], given_shares: dict[Section, int]
) -> None:
    """While a section has room left its blocks score what they score; then far less. None used more than it had."""
    references = references_of(messages)
    shares = dict.fromkeys(BALANCED["low"], 0) | given_shares
    sections = sections_of(references)
    scorer, plain = shared(references, shares), ValueScorer(references, room_tokens=10_000)
    for at in blocks_in(messages):
        score = plain.score(at)
        expected = score if shares[sections[at.unit]] > 0 else pytest.approx(score / 1e6)
        assert scorer.score(at) == expected
    efficiency = efficiency_of(references, sections)
    assert set(efficiency.given) <= set(sections)
    for section, given_tokens in efficiency.given.items():
        assert 0 <= efficiency.used.get(section, 0) <= given_tokens


def test_what_is_named_again_was_used() -> None:
    """The listing's file is read later, the run's numbers are not; what the model named before does not count."""
    again = returns("pin = 1", name="read_file", arguments='{"path": "src/hinge_pin.py"}')
    later, before = references_of([*WORK[:4], *again]), references_of([*again, *WORK[:2]])
    efficiency = efficiency_of(later, sections_of(later))
    assert efficiency.used.get("project_structure", 0) > 0
    assert efficiency.used.get("execution_history", 0) == 0
    assert not any(efficiency_of(before, sections_of(before)).used.values())


@pytest.mark.parametrize("category", ["structure", "execution"])
def test_advice_raises_a_category(category: Category) -> None:
    """P2: what a model raises is chosen first."""
    references = references_of(WORK)
    categories = categories_of(references)
    multipliers: dict[Category, float] = {**dict.fromkeys(BASE_WEIGHTS, 0.25), category: 4.0}
    scorer = AdvisedScorer(ValueScorer(references, room_tokens=10_000), categories, multipliers)
    assert categories[chosen(scorer, references, 10_000)[0].unit] == category
