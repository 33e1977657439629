"""When work is finished: each trigger where it fires and where it does not, laws of all, and their order in the hybrid."""

import pickle
import re
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.segment import segment
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.triggers.boundary import SemanticBoundaryDetector
from autogen_context.triggers.hybrid import (
    SIGNALS,
    SemanticHybridTrigger,
    SignalName,
    StalenessTracker,
    SubtaskTrigger,
)
from autogen_context.triggers.intent import (
    TRANSITIONS,
    Intent,
    IntentBasedTrigger,
    IntentModel,
    WorkState,
    intent_of,
)
from autogen_context.triggers.turn import (
    NOTHING,
    Step,
    Trigger,
    TriggerDecision,
    Turn,
    TurnRange,
    turn_of,
)
from support.turns import (
    SESSIONS,
    called,
    edit,
    fired,
    numbered,
    ran_tests,
    read,
    searched,
    shell,
    turn,
    written,
)

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "triggers.md"
SWITCHES = ("subtasks", "intents", "boundaries", "staleness")
OFF: dict[str, Any] = {**dict.fromkeys(SWITCHES, False), "fallback_turns": 0}
COUNTING: dict[str, Any] = OFF | {"fallback_turns": 10}
Make = Callable[..., Trigger]
Said = tuple[str, tuple[int, int], tuple[int, ...]]  # the evidence, the scope, what of it stays

LOOK, SCRIPT = read("z.py"), shell("python demo.py", "42")
CRASH = shell("python demo.py", "Traceback (most recent call last):")
BOOKED = called("book_flight", {"id": "7"}, '{"status": "booked"}')
NO_MATCH = edit("a.py", "Error: no match for the text")
E_A, E_B, E_C, PAGE = edit("a.py"), edit("b.py"), edit("c.py"), edit("manual.md")
PASS, FAIL, UNTOLD = ran_tests(), ran_tests("1 FAILED, 9 PASSED"), ran_tests("collecting ...")
A, B, C = read("src/a.py"), read("src/b.py"), read("lib/c.py")
EDIT_A, EDIT_B, EDIT_C = edit("src/a.py"), edit("src/b.py"), edit("lib/c.py")
FLIGHTS = [called("search_flight", {"day": day}, "[]") for day in range(5)]
API_READS = [searched("send"), read("lib/client.py"), shell("sed -n 90,120p lib/client.py")]
A_PARTS = [shell(f"sed -n {i},99p src/a.py") for i in (1, 2)]
TO_B = ("file: src/a.py, src/b.py", (0, 4), (2,))
TO_LIB = ("module: src, lib", (0, 4), (2,))
NO: Said = ("", (0, 1), ())

SUBTASK: dict[str, tuple[Said, list[Turn]]] = {
    "tests pass after an edit": (("tests_passed", (0, 3), (1, 2)), numbered(LOOK, E_A, PASS)),
    "edited and tested in one turn": (("tests_passed", (0, 1), (0,)), numbered(("", E_A, PASS))),
    "the agent reports what it did": (("said_done", (0, 2), (1,)), numbered(BOOKED, "Your flight has been booked. Is there anything else you need?")),
    "the agent hands in": (("said_done", (0, 2), ()), numbered(LOOK, called("finish", {"answer": "42"}, "42"))),
    "done, and the last run went well": (("said_done", (0, 4), (0, 3)), numbered(E_A, CRASH, SCRIPT, "I'm done.")),
    "done, on the way to something else": (("said_done", (0, 2), (1,)), numbered(LOOK, E_A, ("Step 1 is done. What about b?", read("b.py")))),
    "the surest of several signals": (("said_done", (0, 3), (2,)), numbered(E_A, E_A, E_A, ("The task is done. Moving on.", read("b.py")))),
    "read, changed, run, and called good": (("worked_through", (0, 3), (1,)), numbered(LOOK, E_A, SCRIPT, ("Great! Where is b used?", searched("b")))),
    "three edits, then a look": (("edits_in_a_row", (0, 3), (0, 1, 2)), numbered(E_A, E_B, E_C, LOOK)),
    "on to the pages": (("moving_on", (0, 2), (1,)), numbered(LOOK, E_A, ("Now I'll update the manual.", PAGE))),
    "F29: on, to a file that is only read": (("moving_on", (0, 2), (1,)), numbered(LOOK, E_A, ("Now I'll work on the parser.", read("parser.py")))),
    "eight turns without a change": (("quiet", (0, 2), (1,)), numbered(LOOK, E_A, *[LOOK] * 8)),
    "tests pass, nothing was changed": (NO, numbered(LOOK, PASS)),
    "tests pass, the change failed": (NO, numbered(LOOK, NO_MATCH, PASS)),
    "one of ten fails": (NO, numbered(E_A, FAIL)),
    "done in code": (NO, numbered(LOOK, E_A, "```\n# the task is done\n```")),
    "called good, nothing was read": (NO, numbered(E_A, SCRIPT, ("Great! Where is b used?", searched("b")))),
    "called good, run before the change": (NO, numbered(LOOK, SCRIPT, E_A, ("Great! Where is b used?", searched("b")))),
    "a greeting": (NO, numbered("I'm done.")),
    "done, while the last run failed": (NO, numbered(E_A, FAIL, "I'm done.")),
    "three edits, and a fourth": (NO, numbered(E_A, E_A, E_A, E_A)),
    "on, to test it": (NO, numbered(E_A, ("Now I'll run the tests.", ran_tests(None)))),
    "on, to look at another": (NO, numbered(E_A, ("Now I'll look at the parser.", read("parser.py")))),
    "on, to a file that was read before": (NO, numbered(read("parser.py"), E_A, ("Now I'll work on the parser.", read("parser.py")))),
    "no change at all": (NO, numbered(*[LOOK] * 20)),
    "quiet while a test fails": (NO, numbered(E_A, FAIL, *[LOOK] * 20)),
}  # fmt: skip  # a row a case
INTENT: dict[str, tuple[Said, list[Turn]]] = {
    "explored, then changed": (("EXPLORE IMPLEMENT", (0, 3), ()), numbered(LOOK, read("a.py"), LOOK, E_A)),
    "debugged, then verified": (("DEBUG VERIFY", (1, 5), (1, 4)), numbered(E_A, FAIL, LOOK, LOOK, E_A, PASS)),
    "debugged and repaired, then verified": (("DEBUG VERIFY", (0, 4), (0, 3)), numbered(FAIL, LOOK, LOOK, E_A, PASS)),
    "repaired at the second try, then verified": (("DEBUG VERIFY", (0, 6), (2, 3, 5)), numbered(FAIL, LOOK, E_A, FAIL, LOOK, E_B, PASS)),
    "implemented, then verified": (("IMPLEMENT VERIFY", (0, 2), (0, 1)), numbered(E_A, E_B, PASS)),
    "implemented, then documented": (("IMPLEMENT DOCUMENT", (0, 2), (1,)), numbered(E_A, E_A, PAGE)),
    "a glance while implementing": (NO, numbered(E_A, LOOK, E_A, LOOK, E_A)),
    "tests pass behind changes that failed": (NO, numbered(NO_MATCH, NO_MATCH, PASS)),
    "tried out, and a fault is looked for": (NO, numbered(E_A, shell("python x.py", "7"), ("Why does it print 7?", read("a.py")))),
    "tests pass, nothing was debugged or changed": (NO, numbered(LOOK, LOOK, PASS)),
    "repaired and tried out, and changed again": (NO, numbered(E_A, FAIL, LOOK, E_A, shell("python x.py", "7"), E_B)),
    "documented what was only explored": (NO, numbered(LOOK, LOOK, PAGE)),
}  # fmt: skip  # a row a case
BOUNDARY: dict[str, tuple[Said, list[Turn]]] = {
    "file: changed, then another file": (TO_B, numbered(A, A, EDIT_A, A, B, EDIT_B)),
    "file: read for long": (("file: src/a.py, src/b.py", (0, 6), ()), numbered(*[A] * 6, B, B)),
    "file: read a few times": (NO, numbered(*[A] * 5, B, B)),
    "file: a glance at another": (NO, numbered(A, A, EDIT_A, A, B, A)),
    "file: back to one of before": (NO, numbered(A, A, B, B, EDIT_A, A, B, B)),
    "trap: searched at first": (TO_B, numbered(searched("x"), A, EDIT_A, A, B, B)),
    "trap: run at first": (TO_B, numbered(shell("ls"), A, EDIT_A, A, B, B)),
    "trap: written at first": (TO_B, numbered(EDIT_A, A, EDIT_A, A, B, B)),
    "trap: tested at first": (TO_B, numbered(UNTOLD, A, EDIT_A, A, B, B)),
    "module: another folder": (TO_LIB, numbered(A, A, EDIT_A, A, C, EDIT_C)),
    "module: only one of two turns": (TO_B, numbered(A, A, EDIT_A, A, C, B)),
    "F29: a glance hides no module": (("module: src, lib", (0, 5), (2,)), numbered(A, A, EDIT_A, A, B, C, EDIT_C)),
    "F29: a glance and back": (("module: src, lib", (0, 6), (2,)), numbered(A, A, EDIT_A, A, B, A, C, EDIT_C)),
    "F29: a search and a glance": (("module: src, lib", (0, 6), (2,)), numbered(A, A, EDIT_A, A, searched("x"), B, C, EDIT_C)),
    "test: passed": (("test: work, tests passed", (0, 4), (1, 3)), numbered(A, EDIT_A, A, PASS)),
    "test: failed, without the last change": (("test: work, tests failed", (0, 4), (2,)), numbered(A, A, EDIT_A, A, EDIT_B, A, FAIL)),
    "test: failed, changed in the first turn": (NO, numbered(EDIT_A, A, A, A, FAIL)),
    "test: failed, three turns before the change": (NO, numbered(A, A, A, EDIT_A, FAIL)),
    "test: no verdict": (NO, numbered(A, EDIT_A, A, UNTOLD)),
    "api: tools": (("api: 5 look-ups, their use", (0, 5), (2, 3, 4)), numbered(*FLIGHTS, BOOKED)),
    "api: a file": (("api: 5 look-ups, their use", (0, 5), (2, 3, 4)), numbered(A, B, searched("x"), *A_PARTS, EDIT_A)),
    "api: something was tried before": (NO, numbered(written("try_it.py"), *FLIGHTS, BOOKED)),
    "api: only tried": (NO, numbered(read("docs/api.md"), *API_READS, written("try_it.py"))),
    "api: the same looked up again": (NO, numbered(*[FLIGHTS[0]] * 4, BOOKED)),
}  # fmt: skip  # a row a case
CASES: list[tuple[str, Make, Said, list[Turn]]] = [
    *[(f"subtask: {name}", SubtaskTrigger, *row) for name, row in SUBTASK.items()],
    *[(f"intent: {name}", IntentBasedTrigger, *row) for name, row in INTENT.items()],
    *[(name, SemanticBoundaryDetector, *row) for name, row in BOUNDARY.items()],
]


def told(decision: TriggerDecision) -> Said:
    """What a decision says: evidence, scope, what stays."""
    details, scope = decision.details, decision.scope
    if scope is None:
        return NO
    said = {
        "subtask": "{signal}",
        "intent": "{from} {to}",
        "boundary": "{boundary}: {from}, {to}",
    }.get(decision.kind, decision.kind)
    return said.format(**details), (scope.start, scope.stop), scope.outcomes


@pytest.mark.parametrize(
    ("make", "expected", "turns"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_what_finishes_work(make: Make, expected: Said, turns: list[Turn]) -> None:
    """The last turn does, or nothing: which scope, and what of it stays. Words without their sense do not, nor results that are none."""
    trigger = make()
    *before, last = (trigger.observe(each) for each in turns)
    assert before == [NOTHING] * len(before)
    assert told(last) == expected
    if last.kind == "subtask":
        signal: SignalName = last.details["signal"]  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]  # as told
        assert last.confidence == SIGNALS[signal]


RUNS: dict[str, tuple[Make, list[Said], list[Turn]]] = {
    "a turn ends a subtask and begins the next": (SubtaskTrigger, [("said_done", (0, 2), (1,)), ("tests_passed", (2, 4), (2, 3))], numbered(LOOK, E_A, ("Step 1 is done. Now b.", E_B), PASS)),
    "tests that go on passing complete nothing": (SubtaskTrigger, [("tests_passed", (0, 2), (0, 1)), ("tests_passed", (2, 8), (6, 7))], numbered(E_A, *[PASS] * 5, E_A, PASS)),
    "trap: the new intent is recorded": (IntentBasedTrigger, [("EXPLORE IMPLEMENT", (0, 2), ()), ("IMPLEMENT VERIFY", (2, 5), (4,)), ("EXPLORE IMPLEMENT", (7, 9), ())], numbered(LOOK, LOOK, E_A, E_A, E_A, PASS, PASS, LOOK, LOOK, E_A)),
    "trap: the start of a phase, glances included": (IntentBasedTrigger, [("EXPLORE IMPLEMENT", (0, 4), ()), ("IMPLEMENT VERIFY", (4, 9), (4, 7))], numbered(*[LOOK] * 4, E_A, LOOK, "I see.", E_B, LOOK, PASS)),
    "a change that was verified is not verified again": (IntentBasedTrigger, [("IMPLEMENT VERIFY", (0, 1), (0,))], numbered(E_A, PASS, NO_MATCH, NO_MATCH, PASS)),
    "trap: boundaries are turns": (SemanticBoundaryDetector, [("test: work, tests passed", (start, start + 6), (start + 1, start + 5)) for start in (7, 13, 19)], numbered(*[A, EDIT_A, A, A, A, PASS] * 3, first=7)),
    "trap: a verdict is its own turn's": (SemanticBoundaryDetector, [("test: work, tests failed", (0, 4), (3,)), ("test: work, tests passed", (4, 8), (4, 7))], numbered(A, A, A, FAIL, EDIT_A, A, A, PASS)),
}  # fmt: skip  # a row a case


@pytest.mark.parametrize(("make", "expected", "turns"), RUNS.values(), ids=RUNS)
def test_what_a_longer_run_gives(make: Make, expected: list[Said], turns: list[Turn]) -> None:
    """Each stretch once, where it begins and ends."""
    assert list(map(told, fired(make(), turns))) == expected


CHANGED, FAILING = WorkState(changed=True), WorkState(failing=True)
BROKEN = WorkState(changed=True, failing=True, broken=True)
RUN = shell("python x.py", "7")
ALONE: dict[str, tuple[Intent | None, str, list[Step], WorkState]] = {
    "reads": ("EXPLORE", "Let me look at the loader.", [read("loader.py")], WorkState()),
    "reads for a fault": ("DEBUG", "Why does it raise here?", [read("loader.py")], WorkState()),
    "writes a try": ("DEBUG", "", [written("reproduce_issue.py")], WorkState()),
    "edits": ("IMPLEMENT", "I'll add the parameter.", [edit("loader.py")], WorkState()),
    "books": ("IMPLEMENT", "", [BOOKED], WorkState()),
    "tests": ("VERIFY", "", [PASS], WorkState()),
    "tests to verify, and they fail": ("VERIFY", "Let me verify it.", [FAIL], WorkState()),
    "writes tests": ("VERIFY", "", [written("tests/test_loader.py")], WorkState()),
    "writes a page": ("DOCUMENT", "", [written("docs/loader.md")], WorkState()),
    "writes a docstring": ("DOCUMENT", "I'll add a docstring.", [edit("loader.py")], WorkState()),
    "reads a page to write it": ("DOCUMENT", "Now the manual.", [read("manual.md")], WorkState()),
    "extracts": ("REFACTOR", "Let me extract this into a helper.", [edit("loader.py")], WorkState()),
    "speaks": (None, "I have fixed the bug and tested it.", [], WorkState()),
    "hands in": (None, "Fixed.", [called("submit", {}, "")], WorkState()),
    "edits after a failure": ("IMPLEMENT", "", [E_A], FAILING),
    "runs after a failure": ("DEBUG", "", [RUN], FAILING),
    "tests pass after a failure": ("VERIFY", "", [PASS], FAILING),
    "edits what it broke": ("DEBUG", "", [E_A], BROKEN),
    "runs what it changed": ("VERIFY", "", [RUN], CHANGED),
    "tries what it changed": ("VERIFY", "", [written("try_it.py")], CHANGED),
    "looks whether it is right": ("VERIFY", "Let me verify it.", [read("a.py")], CHANGED),
}  # fmt: skip  # a row a case


@pytest.mark.parametrize(("intent", "said", "steps", "work"), ALONE.values(), ids=ALONE)
def test_intent_of_a_turn(
    intent: Intent | None, said: str, steps: list[Step], work: WorkState
) -> None:
    """What is said and done tells, and whether something was changed or failed before; words alone do not."""
    assert intent_of(turn(1, said, *steps), work) == intent


BY_SAYING: dict[str, Intent] = {intent[:2].lower(): intent for intent in get_args(Intent)}


def by_letter(each: Turn, /) -> Intent | None:
    """A model that reads the intent off what is said."""
    return BY_SAYING.get(each.reasoning)


@pytest.mark.parametrize("pair", [*permutations(BY_SAYING, 2)], ids=" ".join)
def test_those_of_the_table_fire_and_no_others(pair: tuple[str, str]) -> None:
    """Of the thirty pairs of intents, four (T2)."""
    turns = numbered(*((pair[n // 2], E_A) for n in range(3)))
    fires = bool(fired(IntentBasedTrigger(known=by_letter), turns))
    assert fires is (BY_SAYING[pair[1]] in TRANSITIONS.get(BY_SAYING[pair[0]], ()))


def test_a_model_decides_where_it_answered() -> None:
    """And the rules where it did not; the decision tells which, and the trigger what the agent is at."""
    turns = numbered(read("a.py"), read("a.py"), ("im", PAGE))
    trigger = IntentBasedTrigger(known=by_letter)
    [decision] = fired(trigger, turns)
    assert decision.details == {"from": "EXPLORE", "to": "IMPLEMENT", "by": "model"}
    assert trigger.intent == "IMPLEMENT"
    assert fired(IntentBasedTrigger(), turns) == []  # by rules, a page is written
    [decision] = fired(IntentBasedTrigger(), numbered(LOOK, E_A))
    assert decision.details["by"] == "rules"


def own_turn(number: int, name: str, kinds: ToolKinds) -> Turn:
    """A turn with one call of a tool, as a host sends it."""
    call = ToolCall(id="1", name=name, arguments="{}")
    result = Message(role="tool", results=(ToolResult(call_id="1", text="3 passed in 0.1s"),))
    (unit,) = segment([Message(role="assistant", calls=(call,)), result])
    return turn_of(unit, number, kinds=kinds)


def test_tools_of_your_own() -> None:
    """What a tool does may be told by its name alone, in the registry of names (T3)."""
    for kinds, said in ((ToolKinds(named={"zap": "test", "grok": "write"}), 1), (ToolKinds(), 0)):
        turns = [own_turn(i, name, kinds) for i, name in enumerate(["grok", "look", "look", "zap"])]
        assert len(fired(SemanticBoundaryDetector(), turns)) == said


EACH: dict[str, Make] = {
    "hybrid": SemanticHybridTrigger,
    "subtask": SubtaskTrigger,
    "intent": IntentBasedTrigger,
    "boundary": SemanticBoundaryDetector,
    "staleness": lambda: StalenessTracker(max_references=3, threshold=0.4),
}
each_trigger = pytest.mark.parametrize("make", EACH.values(), ids=EACH)


@each_trigger
@settings(max_examples=20)
@given(turns=SESSIONS, first=st.integers(0, 5))
def test_the_same_turns_give_the_same_decisions(make: Make, turns: list[Turn], first: int) -> None:
    """In scopes of what was seen; no clock, no chance, nothing shared; those of one kind never overlap."""
    trigger, again, stop = make(), make(), 0
    for each in turns[first:]:
        decision = trigger.observe(each)
        assert again.observe(each) == decision
        assert decision.fires == (decision.scope is not None) == (decision.confidence > 0)
        if decision.scope is None:
            continue
        assert decision.scope.stop <= each.number + 1
        assert list(decision.scope.outcomes) == sorted(set(decision.scope.outcomes))
        if not isinstance(trigger, SemanticHybridTrigger | StalenessTracker):
            assert stop <= decision.scope.start
            stop = decision.scope.stop
        if not isinstance(trigger, SubtaskTrigger | IntentBasedTrigger):
            assert decision.scope.is_enough


@each_trigger
def test_what_is_no_turn_is_refused(make: Make) -> None:
    """With what was given, and how a turn is made."""
    with pytest.raises(ValueError, match=r"turn='read a.py': give a Turn; turn_of"):
        make().observe("read a.py")  # type: ignore[arg-type] # wrong on purpose


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (IntentModel, {"complete": None, "timeout_s": 0}, "timeout_s=0: give seconds above 0"),
        (StalenessTracker, {"max_age": 0}, "max_age=0: give 1 or more"),
        (StalenessTracker, {"max_references": -1}, "max_references=-1: give 0 or more"),
        (StalenessTracker, {"threshold": float("nan")}, "threshold=nan: give a number in 0..1"),
        (SemanticHybridTrigger, {"staleness_threshold": 2}, "staleness_threshold=2: give a number"),
        (SemanticHybridTrigger, {"fallback_turns": -1}, "fallback_turns=-1: give 0 turns or more"),
        (TurnRange, {"start": 3, "stop": 3}, "start=3, stop=3: give 0 <= start < stop"),
        (TurnRange, {"start": 3, "stop": 4, "outcomes": (4,)}, r"\[4\] lie outside the scope"),
    ],
)
def test_what_cannot_be_is_refused(
    make: Callable[..., object], arguments: dict[str, Any], message: str
) -> None:
    """At construction, with its name, its value and the way out."""
    with pytest.raises(ValueError, match=message):
        make(**arguments)


def test_what_is_remembered_is_bounded() -> None:
    """By all triggers together, however many turns and files there were."""
    trigger, sizes = SemanticHybridTrigger(), list[int]()
    for i in range(900):
        trigger.observe(turn(i, "", read(f"src/part_{i:03}.py")))
        if i in {549, 899}:
            sizes.append(len(pickle.dumps(trigger)))
    assert sizes[1] < 1.2 * sizes[0]


class Scripted:
    """A trigger that says what it is told to at some turns."""

    def __init__(self, said: Mapping[int, TriggerDecision]) -> None:
        self.said = said

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """What it is to say of a turn."""
        return self.said.get(turn.number, NOTHING)


def proposal(start: int, stop: int, confidence: float) -> TriggerDecision:
    """What a trigger of one's own proposes."""
    scope = TurnRange(start=start, stop=stop)
    return TriggerDecision(kind="boundary", scope=scope, confidence=confidence)


SWITCHED = st.fixed_dictionaries(dict.fromkeys(SWITCHES, st.booleans()))


@given(SESSIONS, SWITCHED, st.integers(1, 12))
def test_the_count_begins_anew(turns: list[Turn], switched: dict[str, Any], count: int) -> None:
    """Trap of the original, which fires at every turn after M: before it fires there are M turns without a proposal (T5)."""
    hybrid = SemanticHybridTrigger(**switched, fallback_turns=count)
    waited, behind = 0, 0
    for decision in map(hybrid.observe, turns):
        waited += 1
        if decision.scope is not None:
            assert decision.scope.is_enough
            assert decision.details
            assert decision.kind != "turn_count" or waited >= count
            assert decision.kind != "turn_count" or decision.scope.start >= behind
            waited, behind = 0, max(behind, decision.scope.stop)


CODE = numbered(A, EDIT_A, A, PASS)
OTHER_FILES = numbered(*(read(f"lib/part_{i}.py", "part") for i in range(30)))
IDLE = numbered(*[shell("ls")] * 25)


@pytest.mark.parametrize(
    ("turns", "alone", "kind", "confidence"),
    [
        pytest.param(CODE, {"subtasks": True}, "subtask", 0.90, id="subtask"),
        pytest.param(numbered(*[A] * 5, E_A, E_A), {"intents": True}, "intent", 0.85, id="intent"),
        pytest.param(CODE, {"boundaries": True}, "boundary", 0.80, id="boundary"),
        pytest.param(OTHER_FILES, {"staleness": True}, "staleness", 0.70, id="staleness"),
        pytest.param(IDLE, {"fallback_turns": 10}, "turn_count", 0.50, id="turn count"),
    ],
)
def test_each_can_be_switched(
    turns: list[Turn], alone: dict[str, Any], kind: str, confidence: float
) -> None:
    """It is what fires where it alone is on, with the confidence that is its own (T5)."""
    found = fired(SemanticHybridTrigger(**OFF | alone), turns)
    assert {(each.kind, each.confidence) for each in found} == {(kind, confidence)}
    assert fired(SemanticHybridTrigger(**OFF), turns) == []


def test_the_fallback_fires_once_in_so_many_turns() -> None:
    """It proposes what no proposal had, whatever their order, but for the newest three turns."""
    found = fired(SemanticHybridTrigger(**COUNTING), IDLE)
    assert [each.scope for each in found] == [
        TurnRange(start=0, stop=7),
        TurnRange(start=7, stop=17),
    ]
    own = Scripted({9: proposal(4, 9, 0.8), 10: proposal(0, 4, 0.8)})
    found = fired(SemanticHybridTrigger(**COUNTING, more=[own]), IDLE)
    assert found[-1].scope == TurnRange(start=9, stop=18)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(0.8, 0.9, (2, 8), id="the surer"),
        pytest.param(0.9, 0.8, (0, 9), id="the surer, given first"),
        pytest.param(0.8, 0.8, (0, 9), id="of equals the first"),
    ],
)
def test_the_surest_is_followed(first: float, second: float, expected: tuple[int, int]) -> None:
    """Of those that read a meaning."""
    more = [Scripted({9: each}) for each in (proposal(0, 9, first), proposal(2, 8, second))]
    [said] = fired(SemanticHybridTrigger(**OFF, more=more), IDLE[:10])
    assert said.scope == TurnRange(start=expected[0], stop=expected[1])


def test_meaning_goes_before_staleness_before_counting() -> None:
    """Whatever their confidences (T5)."""
    given_: dict[str, Any] = COUNTING | {"staleness": True}
    stale = list(map(SemanticHybridTrigger(**given_).observe, OTHER_FILES))
    at = next(i for i, decision in enumerate(stale) if decision.kind == "staleness")
    own = Scripted({at: proposal(1, 6, 0.1)})
    said = list(map(SemanticHybridTrigger(**given_, more=[own]).observe, OTHER_FILES))[at]
    assert (said.kind, said.confidence) == ("boundary", 0.1)
    assert next(i for i, d in enumerate(stale) if d.kind == "turn_count") == 9


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python runs as one program, and prints what it says."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    assert f"```\n{printed}```" in GUIDE.read_text("utf-8")
