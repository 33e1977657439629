"""Print records and totals as tables.

Promise: a table fits 80 columns, is plain text in a pipe, and conveys nothing by colour alone.
"""

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Literal

from autogen_context.errors import MissingExtra
from autogen_context.report import printable
from autogen_context.report.bill import (
    HOLD,
    BilledRequest,
    Sum,
    Totals,
    TurnRecord,
    sampled,
    totals_of,
)

TURN_HEADERS = (
    *("turn", "mes-\nsages", "history\ntokens"),
    *("sent\ntokens", "cached\n%", "price\nratio", "what happened"),
)
CONVERSATION_HEADERS = (
    *("no.", "conversation", "turns", "longest\ntokens", "as sent\ntokens"),
    *("above\nlimit", "impos-\nsible", "compac-\ntions", "price\nratio"),
)


def print_turns(records: Sequence[TurnRecord], *, every: int | None = None) -> None:
    """Print the turns of a conversation, oldest first, and their totals; ``every`` as of ``sampled``."""
    shown = sampled(records, every=every)
    styles = ["bold red" if r.sent is None else "bold" * (r.happened != HOLD) for r in shown]
    rows = [turn_row(record) for record in shown]
    print_table(TURN_HEADERS, rows, texts=("what happened",), styles=styles)
    if len(shown) < len(records):
        say(f"{len(records) - len(shown):,} turns in which it held are not shown.")
    print_totals(totals_of(records))


def turn_row(record: TurnRecord) -> Sequence[str]:
    """Return the cells of a turn."""
    sent = (f"{record.sent.tokens:,}", cached_percent(record.sent)) if record.sent else ("-", "-")
    whole, ratio = record.whole, in_hundredths(record.price_ratio)
    history = (f"{record.turn:,}", f"{whole.messages:,}", f"{whole.tokens:,}")
    return *history, *sent, ratio, record.happened


def print_totals(totals: Totals) -> None:
    """Print totals: sending everything next to what was sent."""
    headers = ("totals", "sending everything", "as sent")
    print_table(headers, totals_rows(totals), texts=("totals",))


def totals_rows(totals: Totals) -> Iterator[Sequence[str]]:
    """Yield the rows of the totals table: label, sending everything, as sent."""
    whole, sent = totals.whole, totals.sent
    limit = "its limit" if totals.limit_tokens is None else f"the limit of {totals.limit_tokens:,}"
    yield "requests", f"{totals.turns:,}", f"{sent.requests:,}"
    if totals.impossible:
        yield "  not made: what must stay does not fit", "", f"{totals.impossible:,}"
    yield f"  above {limit}, rejected", f"{whole.above_limit:,}", f"{sent.above_limit:,}"
    yield "  largest, tokens", f"{whole.most_tokens:,}", f"{sent.most_tokens:,}"
    yield "compactions", "", f"{totals.compactions:,}"
    yield "input tokens", f"{whole.tokens:,}", f"{sent.tokens:,}"
    yield "  of these cached, %", cached_percent(whole), cached_percent(sent)
    yield "price, uncached input tokens", f"{whole.cost_tokens:,.0f}", f"{sent.cost_tokens:,.0f}"
    if whole.dollars is not None and sent.dollars is not None:
        yield "  in dollars", in_dollars(whole.dollars), in_dollars(sent.dollars)
    yield "  ratio", "1.00", in_hundredths(totals.price_ratio)


def print_conversations(named: Sequence[tuple[str, Totals]]) -> None:
    """Print one row for each conversation."""
    rows = [
        (
            f"{number:,}",
            name,
            f"{totals.turns:,}",
            f"{totals.whole.most_tokens:,}",
            f"{totals.sent.most_tokens:,}",
            f"{totals.whole.above_limit:,}",
            f"{totals.impossible:,}",
            f"{totals.compactions:,}",
            in_hundredths(totals.price_ratio),
        )
        for number, (name, totals) in enumerate(named, 1)
    ]
    print_table(CONVERSATION_HEADERS, rows, texts=("conversation",), overflow="ellipsis")


def print_table(
    headers: Iterable[str],
    rows: Iterable[Sequence[str]],
    *,
    texts: Collection[str],
    overflow: Literal["fold", "ellipsis"] = "fold",
    styles: Sequence[str] = (),
) -> None:
    """Print rows after an empty line, at most as wide as the terminal, or 80 columns if there is none.

    The columns ``texts`` are wrapped or cut to the room that the numbers leave, and shown without markup.
    """
    try:
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - optional
        from rich.console import Console  # noqa: PLC0415 - optional
        from rich.table import Table  # noqa: PLC0415 - optional
        from rich.text import Text  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtra("cli", needed_for="printing tables") from error
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    for header in headers:
        is_text = header in texts
        table.add_column(header, justify="left" if is_text else "right", no_wrap=not is_text)
    for row, style in zip_longest(rows, styles):
        texts_in = partial(Text, no_wrap=overflow == "ellipsis", overflow=overflow)
        table.add_row(*map(texts_in, map(printable, row)), style=style)
    console = Console(highlight=False)
    with console.capture() as capture:
        console.print(table)
    lines = [line.rstrip() for line in capture.get().splitlines()]  # rich pads the last column
    say("\n".join(["", *lines]))


def say(line: str) -> None:
    """Print a line of text."""
    sys.stdout.write(f"{line}\n")


def cached_percent(requests: BilledRequest | Sum) -> str:
    """Return the cached share of the tokens in percent, without the sign."""
    share = requests.cached_tokens / requests.tokens if requests.tokens else 0.0
    return f"{share:.0%}".removesuffix("%")


def in_dollars(amount: float) -> str:
    """Format dollars with two digits, or four below one dollar."""
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.4f}"


def in_hundredths(ratio: float | None) -> str:
    """Format a ratio with two digits, ``None`` as a dash."""
    return "-" if ratio is None else f"{ratio:.2f}"
