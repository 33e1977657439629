"""The last paragraph: what the run showed, and what it did not.

Promise: every number in it was counted in this run.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bill import Bill
from model import Seen

from autogen_context.report.turns import TurnRecord, totals_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the agent.

    Attributes:
        window_tokens: what the server takes in a request.
        bill: what it cost.
        answer: what the agent answered.
        seen: what the model found in each request.
        rejected: how many requests the server refused.
        passes: whether the tests of the project pass in the end.
    """

    window_tokens: int
    bill: Bill
    answer: str
    seen: Sequence[Seen]
    rejected: int
    passes: bool

    @property
    def is_good(self) -> bool:
        """Whether the run showed what it is meant to show."""
        complete = all(seen.has_task and not seen.missing for seen in self.seen)
        return self.passes and complete and self.bill.is_bound and not self.rejected


def closing(run: Run) -> str:
    """The paragraph."""
    records = run.bill.records()
    return " ".join([size(run, records), sight(run.seen), money(run, records), end(run)])


def size(run: Run, records: Sequence[TurnRecord]) -> str:
    """What was sent, against what there was."""
    totals = totals_of(records)
    above = [record.turn for record in records if record.whole.tokens > record.limit_tokens]
    agrees = "is, in each request, at least" if run.bill.is_bound else "is not always"
    until = f"request {above[0]} of {totals.turns} on" if above else "no request on"
    return (
        f"The agent made {totals.turns} requests in a window of {run.window_tokens:,} tokens. The largest has "
        f"{totals.sent.most_tokens:,}, and the server rejected {run.rejected}. The whole conversation has "
        f"{run.bill.conversation_tokens:,} tokens; sent whole it would have been rejected from {until}. "
        f"The history was cut {totals.compactions} times. What is counted here {agrees} what the server counted."
    )


def sight(seen: Sequence[Seen]) -> str:
    """What the model found in the requests."""
    tasks = sum(s.has_task for s in seen)
    missing, reduced = sum(s.missing for s in seen), sum(s.reduced for s in seen)
    return (
        f"The model found the system prompt and the task with its rule, to the letter, in {tasks} of {len(seen)} "
        f"requests; of the results of its newest calls {missing} were missing, and {reduced} had "
        "given way to marks in part, mostly for lines that stand above already."
    )


def money(run: Run, records: Sequence[TurnRecord]) -> str:
    """What the input cost, against two other ways."""
    totals = totals_of(records)
    sliding = totals.sent.cost_tokens / run.bill.sliding_cost_tokens(run.window_tokens)
    return (
        f"With prompt caching the input cost {totals.price_ratio:.2f} of sending everything, if a larger window had the "
        f"same price, and {sliding:.2f} of a sliding window: system prompt, task and the newest steps that fit, chosen "
        "anew for each request."
    )


def end(run: Run) -> str:
    """How the story ended, and what that does not say."""
    passing = "pass" if run.passes else "still fail"
    return (
        f"In the end the tests of the project {passing}. The agent, its tools, the client and the server's refusals are "
        "real; the model is a script, so nothing is claimed about the quality of answers."
    )
