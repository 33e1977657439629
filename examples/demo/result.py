"""What the run came to: one line, and a picture of before and after for a terminal.

Promise: every number in it was counted in this run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bill import Bill, Way
from model import Seen
from rich.text import Text

from autogen_context.report.bill import totals_of
from autogen_context.report.events import Run as LoggedRun

LINES = 7  # of the chart
EIGHTHS = " ▁▂▃▄▅▆▇█"
LABEL = 13  # columns before the chart
NAME, BAR, NUMBER = 16, 7, 7  # columns of the table: who, and in each cell a bar and a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the agent.

    Attributes:
        window_tokens: what the server takes in a request.
        logged: what its event log has.
        bill: what it cost.
        answer: what the agent answered.
        seen: what the model found in each request.
        rejected: how many requests the server refused.
        passes: whether the tests of the project pass in the end.
    """

    window_tokens: int
    logged: LoggedRun
    bill: Bill
    answer: str
    seen: Sequence[Seen]
    rejected: int
    passes: bool

    @property
    def is_good(self) -> bool:
        """Whether the run showed what it is meant to show."""
        complete = all(seen.has_task and not seen.missing for seen in self.seen)
        return self.passes and complete and self.bill.is_exact and not self.rejected


def result(run: Run) -> str:
    """The one line."""
    everything, _, ours = run.bill.ways
    return (
        f"{len(ours.requests)} requests in a window of {run.window_tokens:,} tokens: {run.rejected} rejected, "
        f"${ours.dollars:.2f} of input instead of ${everything.dollars:.2f}; the project's tests "
        f"{'pass' if run.passes else 'still fail'}."
    )


def picture(run: Run) -> Iterator[Text]:
    """Tokens of each request, sending everything and as it was sent; then three ways side by side."""
    ways = run.bill.ways
    everything, ours = ([request.tokens for request in way.requests] for way in (ways[0], ways[-1]))
    first = next((n for n, tokens in enumerate(everything, 1) if tokens > run.window_tokens), 0)
    yield from chart(everything, ours, run.window_tokens)
    yield (
        Text(" " * LABEL)
        .append("░", "red")
        .append(f" everything: rejected from request {first} on   ")
        .append("█", "green")
        .append(" autogen_context: none")
    )
    yield Text()
    yield from table(ways)


def chart(everything: Sequence[int], ours: Sequence[int], window_tokens: int) -> Iterator[Text]:
    """A column for each request: what was sent in the lowest line, and everything above it."""
    step = max(max(everything) / LINES, window_tokens)
    for line in range(LINES - 1, 0, -1):
        label = {LINES - 1: f"{max(everything):,}", 1: "tokens"}.get(line, "")
        marks = "".join("░" if tokens > line * step else " " for tokens in everything)
        yield Text(f"{label:>{LABEL - 1}} ").append(marks.rstrip() if not label else marks, "red")
    levels = (max(1, round(tokens / step * 8)) for tokens in ours)
    yield Text(f"{max(ours):>{LABEL - 1},} ").append("".join(EIGHTHS[n] for n in levels), "green")


def table(ways: Sequence[Way]) -> Iterator[Text]:
    """A line for each way, a bar and a number in each cell."""
    columns = {
        "rejected": [(float(way.rejected), f"{way.rejected}") for way in ways],
        "price": [(way.dollars, f"${way.dollars:.2f}") for way in ways],
        "largest": [(float(most), f"{most:,}") for most in map(largest, ways)],
        "values kept": [(way.kept, f"{way.kept:.0%}") for way in ways],
    }
    yield Text(" " * NAME + "".join(f"{name:>{BAR + NUMBER + 1}}" for name in columns), "bold")
    for i, way in enumerate(ways):
        line = Text(f"{way.name:<{NAME}}", "bold" if i == len(ways) - 1 else "")
        for cells in columns.values():
            amount, number = cells[i]
            length = round(amount / max(value for value, _ in cells) * BAR) if amount else 0
            line.append(f" {'█' * length:>{BAR}}", "green" if i == len(ways) - 1 else "red")
            line.append(f"{number:>{NUMBER}}")
        yield line


def largest(way: Way) -> int:
    """The tokens of its largest request."""
    return max(request.tokens for request in way.requests)


def reading(run: Run) -> str:
    """What the words in the picture mean, and what it does not say."""
    reduced = sum(seen.reduced for seen in run.seen)
    cut = totals_of(run.bill.records).compactions
    return (
        f"The conversation has {run.bill.conversation_tokens:,} tokens, and was cut {cut} times. Each request had the system "
        f"prompt, the task with its rule and each of its newest results, {reduced} of them shortened. Price: of the input, with "
        "prompt caching, and for everything as if a larger window cost the same. Sliding window: system prompt, task and "
        "the newest steps that fit. Values kept: names, paths and numbers that a call took from further back and that stood in the "
        "request. Agent, tools, client and server are real; the model is a script, so nothing is said about answers."
    )
