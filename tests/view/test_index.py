"""What is known of a conversation beside its view can be made again from its list, whatever the host did to that."""

import copy
from collections.abc import Callable
from functools import partial
from itertools import chain

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from typing_extensions import override

from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.notice import EvictionNotice
from autogen_context.compressor.summaries import Spans
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.tool_call import BY_NAME
from autogen_context.prioritizer.references import References
from autogen_context.prioritizer.superseded import Superseded
from autogen_context.recall.recaller import Recaller
from autogen_context.testing import ChatMessage
from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.proposals import Proposals
from autogen_context.view.conversation import Conversation
from support.counting import COUNTER
from support.saying import asks, call_of, says, step, tells

FILE = "\n".join(f"{n} = seats_{n % 3}" for n in range(9))
COMMANDS = ("cat a.py", "sed -n 2,4p a.py", "cat <<E > a.py\nx\nE", "pytest a.py", "cat a.py b.py")
FAILURES = ("cat: a.py: No such file or directory", "1 failed in 0.2s")
SHELL = [
    step("c", "bash", result, command=command)
    for command in COMMANDS
    for result in (FILE, "9 passed in 0.4s", *FAILURES)
]
READS = [step("r", "read_file", FILE, path=path) for path in ("/r/src/a.py", "src/a.py")]
SAID = [
    "Never touch the table billing_2024.",
    "You may touch the table billing_2024 now.",
    "The budget is 500 euros.",
    "The budget is now 700 euros.",
    "[3 May] Ann: my flight is LX-1284.",
    "Thanks!",
]
PARTS = st.sampled_from(
    [
        *SHELL,
        *READS,
        *([says(text, role)] for text in SAID for role in ("user", "assistant", "system")),
        [says("Told by Ben: use port 8081.", "user", name="Ben")],
        [asks(call_of("late", "bash", command="ls")), says("Wait.", "user")],
        [asks(call_of("open", "bash", command="ls"))],
        [tells("open", "a.py")],
        [tells("nobody", "stray")],
    ]
)
ASKED = ("Where is LX-1284, and what did Ann say of the budget?", "Which port?")


class Read:
    """A conversation, with every part that a manager has of it, and all that can be asked of these."""

    def __init__(self) -> None:
        self.conversation = Conversation(OpenAIChat(), COUNTER)
        self.superseded = Superseded()
        self.references = References(BY_NAME, self.superseded)
        self.notice = EvictionNotice(COUNTER, compressor=SemanticCompressor())
        self.spans, self.memory = Spans(), Recaller()
        self.proposals = Proposals(SemanticHybridTrigger(fallback_turns=4), BY_NAME)
        self.answers: dict[str, Callable[[], object]] = {
            "units": self.units,
            "shown": self.shown,
            "values": self.values,
            "told": self.told,
            "spans": partial(self.spans.of, self.conversation.index, stays=(), room_tokens=9_000),
            "short spans": partial(self.spans.of, self.conversation.index, stays=(), room_tokens=1),
            "retrieved": self.retrieved,
            "proposed": self.proposed,
        }

    def units(self) -> object:
        """Units, who says something where, and what is to remark of them."""
        of, seen = self.conversation, self.conversation.overview
        said = seen.people, seen.possible_people, seen.systems, seen.others, [*seen.instructions]
        return of.candidates, of.tokens, said, seen.orphans, seen.partly_read

    def shown(self) -> object:
        """What units show, and which show it again."""
        self.conversation.index.follow(self.superseded)
        paths, units = ("a.py", "src/a.py", "/r/src/a.py", "b.py"), self.conversation.candidates
        found = [self.superseded.showing(path, position=20) for path in paths]
        return found, [
            (self.superseded.by(i), self.superseded.reason(i)) for i in range(len(units))
        ]

    def values(self) -> object:
        """Which values stand where, with the blocks of every second unit."""
        made = self.references
        self.conversation.index.follow(made)
        made.cut(range(0, len(made.units), 2))
        uses = {value: list(made.uses(value)) for value in sorted(made.used)}
        units = [(text.candidate, text.named, text.texts) for text in made.units]
        return units, made.total_blocks, dict(made.blocks), dict(made.asked), uses

    def told(self) -> object:
        """What is stated, and the notice of all units."""
        made, units = self.notice, self.conversation.candidates
        stated = made.stated(self.conversation.index, ())
        room, horizon = 900, len(units) // 2
        return stated, made.content(units, {}, summaries={}, room_tokens=room, horizon=horizon)

    def retrieved(self) -> object:
        """What comes back for questions, as long as they are the newest units."""
        made, units = self.memory, self.conversation.candidates
        self.conversation.index.follow(made, stop=max(0, len(units) - 1))
        text = partial(made.text, hides=lambda _: True, room_tokens=400, count=len)
        return [(made.scores(each), made.decide(each, ()), text(each)) for each in ASKED]

    def proposed(self) -> object:
        """What triggers propose for complete units."""
        stop = max(0, len(self.conversation.candidates) - 1)
        self.conversation.index.follow(self.proposals, stop=stop)
        return list(self.proposals.spans), self.proposals.fired_at


class Conversing(RuleBasedStateMachine):
    """A host that does to its list what hosts do, and one who follows it; now and then something is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.payloads: list[ChatMessage] = []
        self.kept = Read()

    def hand_over(self, payloads: list[ChatMessage]) -> None:
        """The list as it is now."""
        self.payloads = payloads
        self.kept.conversation.update(payloads)

    @rule(parts=st.lists(PARTS, min_size=1, max_size=4))
    def more_is_said(self, parts: list[list[ChatMessage]]) -> None:
        """At the end, as nearly always."""
        self.hand_over([*self.payloads, *chain.from_iterable(parts)])

    @rule(prompts=st.lists(st.sampled_from(["Be quick.", "It is 10:01.", "Ann asks."]), max_size=2))
    def another_prompt(self, prompts: list[str]) -> None:
        """One in place of another, one more, or none."""
        roles = [payload["role"] for payload in self.payloads]
        known = next((i for i, role in enumerate(roles) if role != "system"), len(roles))
        self.hand_over([*(says(text, "system") for text in prompts), *self.payloads[known:]])

    @precondition(lambda self: self.payloads)
    @rule(at=st.integers(0, 99), length=st.integers(0, 9), said=st.lists(PARTS, max_size=1))
    def edited(self, at: int, length: int, said: list[list[ChatMessage]]) -> None:
        """Something is taken out, wherever; something may stand in its place."""
        at %= len(self.payloads)
        self.hand_over(
            [*self.payloads[:at], *chain.from_iterable(said), *self.payloads[at + length :]]
        )

    @rule()
    def copied(self) -> None:
        """The same list in objects of its own."""
        self.hand_over(copy.deepcopy(self.payloads))

    @rule(names=st.sets(st.sampled_from(sorted(Read().answers)), min_size=1))
    def asked(self, names: set[str]) -> None:
        """Each part is brought up to date when it is asked, and answers as if it had read this list alone."""
        fresh = Read()
        fresh.conversation.update(copy.deepcopy(self.payloads))
        for name in sorted(names):
            assert self.kept.answers[name]() == fresh.answers[name](), name

    @override
    def teardown(self) -> None:
        """All that can be asked."""
        self.asked(set(self.kept.answers))


Conversing.TestCase.settings = settings(
    max_examples=40, stateful_step_count=16, suppress_health_check=[HealthCheck.too_slow]
)
TestConversing = Conversing.TestCase
