"""Whatever happens to a conversation, in whatever order, the promises hold.

One manager hears of each message early, is saved, loaded and replaced by its own branch; its twin lives through the same
in one piece and hears of everything at once. They must never differ.
"""

import asyncio
import copy
import json
from typing import cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from typing_extensions import override

from autogen_context import ContextConfig, IncrementalContextManager, Prepared
from autogen_context.errors import ChangeRefused, ContextWindowExceeded
from autogen_context.manager.change import ContextChange
from autogen_context.testing import ChatMessage
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.wire import Json
from support.counting import Characters
from support.keeping import manager, outcome_of
from support.saying import asks, call_of, tells

pytestmark = pytest.mark.filterwarnings("ignore:window_tokens=")

KEYS = st.sampled_from(["budget", "host", "style"])
STATED = st.sampled_from(
    ["The budget is 500 EUR", "The budget is now 700 EUR", "Use Postgres 15", "Never push to main"]
)
PATHS = st.sampled_from(["src/a.py", "/repo/src/b.py", "never_read.py"])
TOLD_DIFFS = st.sampled_from(["", "-a\n+b", "[x]\n\n> y"])
CHANGES: st.SearchStrategy[ContextChange] = st.one_of(
    st.builds(ContextChange.requirement_added, STATED, key=KEYS),
    st.builds(ContextChange.requirement_changed, STATED, key=KEYS),
    st.builds(ContextChange.requirement_removed, KEYS),
    st.builds(ContextChange.decision_recorded, STATED, key=KEYS),
    st.builds(ContextChange.task_started, STATED, key=KEYS),
    st.builds(ContextChange.task_completed, KEYS, text=STATED),
    st.builds(ContextChange.task_failed, KEYS),
    st.builds(ContextChange.file_modified, PATHS, text=TOLD_DIFFS),
    st.builds(ContextChange.file_deleted, PATHS),
    st.builds(ContextChange.file_moved, PATHS, PATHS),
)
ROLES = st.sampled_from(["user", "assistant"])
WORDS = ("the", "parser", "reads", "a", "line", "and", "hands", "it", "to", "a", "router", "which", "looks")  # fmt: skip


def prose(seed: int, words: int) -> str:
    """Some words, the same for the same seed."""
    return " ".join(f"{WORDS[(seed * 7 + i * 5) % len(WORDS)]}{seed % 5}" for i in range(words))


class Conversing(RuleBasedStateMachine):
    """A host, its manager, and the twin."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.messages: list[ChatMessage] = []
        self.parents: list[tuple[IncrementalContextManager, dict[str, object]]] = []
        self.last: Prepared[ChatMessage] | None = None
        self.billable: list[tuple[IncrementalContextManager, Prepared[ChatMessage]]] = []
        self.calls = 0
        self.now = 1_000.0

    @initialize(
        window_tokens=st.integers(120, 900),
        reduce=st.sampled_from(["auto", "off"]),
        compaction=st.sampled_from(["when_full", "when_cache_cold", "cost_based"]),
        profile=st.sampled_from(["value", "balanced", "conservative", "strict"]),
        strict=st.booleans(),
    )
    def begin(self, *, strict: bool, **chosen: object) -> None:
        """Two managers, made alike, for models that insist on the order of roles or do not."""
        self.strict = strict
        roles = {"alternate_roles": strict, "single_system": strict}
        self.config = ContextConfig.model_validate({**chosen, **roles})
        self.keeper, self.twin = self.manager(), self.manager()

    def manager(self) -> IncrementalContextManager:
        """An empty one, whose clock goes when the test says so."""
        return IncrementalContextManager(
            config=self.config, counter=Characters(), clock=lambda: self.now
        )

    @rule(seconds=st.sampled_from([10.0, 400.0]))
    def time_passes(self, seconds: float) -> None:
        """The provider may forget what it cached."""
        self.now += seconds

    def append(self, *messages: ChatMessage) -> None:
        """The host has more; the keeper hears of each at once."""
        for message in messages:
            self.messages.append(message)
            self.keeper.observe(self.messages)

    @rule(role=ROLES, seed=st.integers(0, 99), words=st.integers(1, 60))
    def somebody_says(self, role: str, seed: int, words: int) -> None:
        """A person, or the model, says something."""
        self.append({"role": role, "content": prose(seed, words)})

    @rule(stated=STATED)
    def person_states(self, stated: str) -> None:
        """A person states what a requirement may state as well."""
        self.append({"role": "user", "content": f"{stated}."})

    @rule(path=PATHS, words=st.integers(1, 200), calls=st.integers(1, 2), early=st.booleans())
    def model_reads(self, path: str, words: int, calls: int, *, early: bool) -> None:
        """The model reads a file, once or twice at once; where told early, a turn may come before the results."""
        ids = [f"c{self.calls + n}" for n in range(calls)]
        self.calls += calls
        self.append(asks(*(call_of(i, "read_file", path=path) for i in ids)))
        if early:
            self.prepare()
        for i in ids:
            self.append(tells(i, prose(self.calls, words)))

    @rule()
    def prepare(self) -> None:
        """A turn: both give the same, as does who knows the state and the list alone, and what they give keeps the promises."""
        made = self.manager()
        made.load_state(self.keeper.save_state())
        outcome = outcome_of(self.keeper, copy.deepcopy(self.messages))
        other, again = outcome_of(self.twin, self.messages), outcome_of(made, self.messages)
        if isinstance(outcome, ContextWindowExceeded) or isinstance(other, ContextWindowExceeded):
            assert str(outcome) == str(other) == str(again)
            return
        assert outcome == other == again
        self.check(outcome)
        absent = [
            rule for rule in self.keeper.rules() if not rule.in_request
        ]  # the twin is not asked
        assert absent == list(outcome.certificate.rules_absent)
        self.last, self.billable = outcome, [(self.keeper, outcome), (self.twin, other)]

    @rule(unused=st.integers(0, 40))
    def bill(self, unused: int) -> None:
        """The provider bills the last turn, or less than was counted for it."""
        for keeper, turn in self.billable:
            billed = max(1, turn.certificate.counted_tokens - unused)
            keeper.record_usage(turn, prompt_tokens=billed)

    def check(self, turn: Prepared[ChatMessage]) -> None:
        """It fits and is as certified, the newest is there, and it continues the last one unless that is told."""
        certificate = turn.certificate
        assert not certificate.broken
        if self.messages and self.messages[-1].get("tool_calls") is None:
            check_chat(cast("list[Json]", turn.messages), strict_roles=self.strict)
        alone = manager(10**6, orphans="report", reduce="off").prepare_nowait(turn.messages)
        assert certificate.counted_tokens == alone.certificate.counted_tokens
        assert certificate.assumed_tokens == alone.certificate.assumed_tokens
        last = self.last
        if last is not None and last.certificate.rewrites == certificate.rewrites:
            # For strict models the last message may be joined with the next one.
            same = max(0, len(last.messages) - self.strict)
            assert turn.messages[:same] == last.messages[:same]

    @rule(changes=st.lists(CHANGES, min_size=1, max_size=3))
    def change(self, changes: list[ContextChange]) -> None:
        """Something changes; what is refused leaves no trace."""
        self.twin.observe(self.messages)
        before = self.keeper.save_state()
        applied = self.applied(self.keeper, changes)
        assert applied == self.applied(self.twin, changes)
        if not applied:
            assert self.keeper.save_state() == before

    @rule(seed=st.integers(0, 99))
    def message_comes_as_a_change(self, seed: int) -> None:
        """A message that is told as a change is one that the host has."""
        message: ChatMessage = {"role": "user", "content": prose(seed, 5)}
        for keeper in (self.keeper, self.twin):
            keeper.observe(self.messages)
            assert self.applied(keeper, [ContextChange.message_added(message)])
        self.messages.append(message)

    def applied(self, keeper: IncrementalContextManager, changes: list[ContextChange]) -> bool:
        """Whether changes are applied."""
        try:
            updated = self.runner.run(keeper.apply_changes(changes))
        except ChangeRefused:
            return False
        assert updated.version == keeper.versions[-1].number
        return True

    @precondition(lambda self: self.messages)
    @rule(at=st.integers(0, 99), pinned=st.booleans())
    def pin(self, at: int, *, pinned: bool) -> None:
        """A message is pinned or let go."""
        message = self.messages[at % len(self.messages)]
        for keeper in (self.keeper, self.twin):
            (keeper.pin if pinned else keeper.unpin)(message)

    @rule(back=st.integers(0, 9))
    def roll_back(self, back: int) -> None:
        """Both go back to a version."""
        self.twin.observe(self.messages)
        versions = self.keeper.versions
        number = versions[max(0, len(versions) - 1 - back)].number
        for keeper in (self.keeper, self.twin):
            assert keeper.roll_back(number) == keeper.versions[-1]
        diff = self.keeper.diff(number, self.keeper.versions[-1].number)
        assert (diff.gone, diff.new) == ((), ())

    @rule(heard=st.booleans())
    def save_and_load(self, *, heard: bool) -> None:
        """Another manager goes on from what was saved; whether it hears of the messages before the next turn or in it."""
        state = self.keeper.save_state()
        self.keeper, self.billable = self.manager(), []
        self.keeper.load_state(json.loads(json.dumps(state)))
        assert self.keeper.save_state() == state
        if heard:
            self.keeper.observe(self.messages)

    @rule()
    def branch(self) -> None:
        """A branch goes on in the keeper's place."""
        self.keeper.observe(self.messages)
        parent, self.keeper, self.billable = self.keeper, self.keeper.branch(), []
        self.parents.append((parent, parent.save_state()))

    @precondition(lambda self: len(self.messages) > 1)
    @rule(kept=st.integers(1, 9))
    def host_forgets(self, kept: int) -> None:
        """The host takes back its latest messages, up to where no call waits."""
        self.twin.observe(self.messages)
        stop = max(1, len(self.messages) - kept)
        while stop > 1 and self.messages[stop].get("role") == "tool":
            stop -= 1
        del self.messages[stop:]
        for keeper in (self.keeper, self.twin):
            keeper.observe(self.messages)

    @precondition(lambda self: self.messages)
    @rule(at=st.integers(0, 99), seed=st.integers(0, 99))
    def host_edits(self, at: int, seed: int) -> None:
        """The host says something else in one place."""
        self.twin.observe(self.messages)
        at %= len(self.messages)
        if self.messages[at]["content"] is not None:
            self.messages[at] = {**self.messages[at], "content": prose(seed, 9)}
        for keeper in (self.keeper, self.twin):
            keeper.observe(self.messages)

    @invariant()
    def versions_agree(self) -> None:
        """Both have the same versions."""
        if self.messages or self.parents:
            assert numbers(self.keeper) == numbers(self.twin)

    @override
    def teardown(self) -> None:
        """No parent saw what became of its branch."""
        self.runner.close()
        for parent, state in self.parents:
            assert parent.save_state() == state


def numbers(keeper: IncrementalContextManager) -> list[tuple[int, str, str]]:
    """The versions, but for what they cost, which depends on when messages were heard of."""
    return [(version.number, version.kind, version.summary) for version in keeper.versions]


Conversing.TestCase.settings = settings(
    max_examples=40, stateful_step_count=30, suppress_health_check=[HealthCheck.too_slow]
)
TestConversing = Conversing.TestCase
