"""What the rare turn costs: the first compaction of 200,000 tokens, a later one, and a state saved and loaded after it.

Usage: python benchmarks/compaction.py

A compaction first reads what no compaction has read yet: the first one everything, a later one what is new. Both turns
end with a tool's result, so nobody asks for the past.

The state holds decisions, digests and the originals of what left the window; the host's messages are not in it. A turn
after loading reads each message of the host once, to recognise it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from material import ROOMY_TOKENS, history, tokenizer
from side_by_side import MakeReady, Run, medians, ms, table, times

from autogen_context import IncrementalContextManager
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.prioritizer.references import References
from autogen_context.testing import ChatMessage
from autogen_context.tokens.measure import TokenCounter
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.conversation import Conversation

MESSAGES = 2_000
LATER_MESSAGES = 40  # calls and their results, so half as many units
ROUNDS = 7

HOLD = "a turn that holds"
FIRST = "the first compaction"
LATER = f"a later one, {LATER_MESSAGES} new messages"
READING = {FIRST: "reading for the first one", LATER: "reading for the later one"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A history that exceeds its window with its last message.

    Attributes:
        messages: the history.
        later: the same, and what was said after the cut.
        window_tokens: what all but the last message of the history fill.
        counter: counts tokens.
    """

    messages: Sequence[ChatMessage]
    later: Sequence[ChatMessage]
    window_tokens: int
    counter: TokenCounter

    def manager(self) -> IncrementalContextManager:
        """A manager that has seen nothing."""
        return IncrementalContextManager(window_tokens=self.window_tokens, counter=self.counter)

    def full(self) -> IncrementalContextManager:
        """A manager before the cut."""
        manager = self.manager()
        assert not manager.prepare_nowait(self.messages[:-1]).compacted
        return manager

    def compacted(self) -> IncrementalContextManager:
        """A manager after the cut."""
        manager = self.full()
        assert manager.prepare_nowait(self.messages).compacted
        return manager

    def cut_again(self) -> Run:
        """A later compaction, long before the window is full: a message that was left out is pinned."""
        manager = self.full()
        decisions = manager.prepare_nowait(self.messages).decisions
        dropped = next(decision for decision in decisions if decision.action == "drop")
        manager.pin(self.messages[dropped.start])
        return partial(manager.prepare_nowait, self.later)

    def reading(self, *, new_units: int | None = None) -> Run:
        """What a compaction reads first: all units, or so many new ones."""
        conversation = Conversation(OpenAIChat(), MessageCounter.for_model("gpt-4", self.counter))
        conversation.update(self.messages)
        references, index = References(), conversation.index
        if new_units is not None:
            index.follow(references, stop=len(index.units) - new_units)
        return partial(index.follow, references)

    def loaded(self, state: Mapping[str, object]) -> IncrementalContextManager:
        """A manager that goes on from a saved state and has not met the host's messages yet."""
        manager = self.manager()
        manager.load_state(state)
        return manager


def main() -> None:
    """Print what was cut, and a row for each step."""
    cut = cut_of(history(MESSAGES + LATER_MESSAGES), tokenizer())
    print(sizes(cut))
    taken_s = medians(steps(cut), rounds=ROUNDS)
    for whole, part in READING.items():
        print(f"{part} is {taken_s[part] / taken_s[whole]:.0%} of it, the rest is choosing")
    rows = ([name, ms(taken), times(taken / taken_s[HOLD])] for name, taken in taken_s.items())
    print(table(["step", "time", f"beside {HOLD}"], *rows))


def cut_of(later: Sequence[ChatMessage], counter: TokenCounter) -> Cut:
    """The window that the last message exceeds, before the later ones."""
    messages = later[:-LATER_MESSAGES]
    roomy = IncrementalContextManager(window_tokens=ROOMY_TOKENS, counter=counter)
    filled = roomy.prepare_nowait(messages[:-1]).certificate.bound.tokens
    return Cut(messages=messages, later=later, window_tokens=filled, counter=counter)


def sizes(cut: Cut) -> str:
    """What the cut left, and how large the state is."""
    manager = cut.full()
    prepared = manager.prepare_nowait(cut.messages)
    share = prepared.certificate.bound.tokens / cut.window_tokens
    return (
        f"{len(cut.messages):,} messages in a window of {cut.window_tokens:,} tokens; "
        f"{len(prepared.messages):,} stay and fill {share:.0%} of it\n"
        f"the host's messages as JSON: {megabytes(cut.messages)}, the saved state: {megabytes(manager.save_state())}"
    )


def megabytes(value: object) -> str:
    """The size of a value as JSON."""
    return f"{len(json.dumps(value)) / 1e6:.2f} MB"


def steps(cut: Cut) -> Mapping[str, MakeReady]:
    """What is timed; all but the step itself is made ready outside the time."""
    compacted = cut.compacted()
    state = compacted.save_state()
    return {
        HOLD: lambda: partial(compacted.prepare_nowait, cut.messages),
        FIRST: lambda: partial(cut.full().prepare_nowait, cut.messages),
        READING[FIRST]: cut.reading,
        LATER: cut.cut_again,
        READING[LATER]: partial(cut.reading, new_units=LATER_MESSAGES // 2),
        "save_state": lambda: compacted.save_state,
        "load_state": lambda: partial(cut.manager().load_state, state),
        "the first turn after it": lambda: partial(cut.loaded(state).prepare_nowait, cut.messages),
    }


if __name__ == "__main__":
    main()
