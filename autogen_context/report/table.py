"""Print records and totals as tables.

Promise: a table fits 80 columns, is plain text in a pipe, and conveys nothing by colour alone.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from autogen_context.errors import MissingExtra
from autogen_context.report.bill import (
    HOLD,
    BilledRequest,
    Sum,
    Totals,
    TurnRecord,
    sampled,
    totals_of,
)

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

TURN_HEADERS = (
    *("turn", "mes-\nsages", "history\ntokens"),
    *("sent\ntokens", "cached\n%", "price\nratio"),
)
CONVERSATION_HEADERS = (
    *("turns", "longest\ntokens", "as sent\ntokens", "above\nlimit"),
    *("impos-\nsible", "compac-\ntions", "price\nratio"),
)


def print_turns(
    records: Sequence[TurnRecord],
    *,
    every: int | None = None,
    file: TextIO | None = None,
) -> None:
    """Print the turns of a conversation and their totals.

    Args:
        records: the turns, oldest first.
        every: show every n-th of the turns in which nothing happened; 1 shows all, ``None`` chooses.
        file: the output; by default, standard output.
    """
    shown = sampled(records, every=every)
    table = new_table(*TURN_HEADERS)
    table.add_column("what happened", overflow="fold")
    for record in shown:
        sent = record.sent
        cells = (
            f"{record.turn:,}",
            f"{record.whole.messages:,}",
            f"{record.whole.tokens:,}",
            f"{sent.tokens:,}" if sent else "-",
            cached_percent(sent) if sent else "-",
            in_hundredths(record.price_ratio),
        )
        style = "" if record.happened == HOLD else "bold"
        table.add_row(*cells, plain(record.happened), style=style if sent else "bold red")
    show(table, file)
    if len(shown) < len(records):
        say(f"{len(records) - len(shown):,} turns in which it held are not shown.", file)
    print_totals(totals_of(records), file=file)


def print_totals(totals: Totals, *, file: TextIO | None = None) -> None:
    """Print totals: sending everything next to what was sent."""
    table = new_table()
    table.add_column("totals")
    table.add_column("sending everything", justify="right")
    table.add_column("as sent", justify="right")
    for label, *values in totals_rows(totals):
        table.add_row(label, *values)
    show(table, file)


def totals_rows(totals: Totals) -> Iterable[tuple[str, str, str]]:
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


def print_conversations(named: Sequence[tuple[str, Totals]], *, file: TextIO | None = None) -> None:
    """Print one row for each conversation."""
    table = new_table("no.")
    table.add_column("conversation")  # the only column that may shrink
    add_numbers(table, CONVERSATION_HEADERS)
    for number, (name, totals) in enumerate(named, 1):
        cells = (
            f"{totals.turns:,}",
            f"{totals.whole.most_tokens:,}",
            f"{totals.sent.most_tokens:,}",
            f"{totals.whole.above_limit:,}",
            f"{totals.impossible:,}",
            f"{totals.compactions:,}",
            in_hundredths(totals.price_ratio),
        )
        table.add_row(f"{number:,}", plain(name, no_wrap=True), *cells)
    show(table, file)


def new_table(*numbers: str) -> "Table":
    """Return an empty table in the house style, with a numeric column for each header."""
    try:
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - optional
        from rich.table import Table  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtra("cli", needed_for="printing tables") from error
    table = Table(
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    add_numbers(table, numbers)
    return table


def add_numbers(table: "Table", headers: Iterable[str]) -> None:
    """Add numeric columns, which are never wrapped."""
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True)


def show(table: "Table", file: TextIO | None) -> None:
    """Print a table after an empty line, at most as wide as the terminal, or 80 columns if there is none."""
    from rich.console import Console  # noqa: PLC0415 - optional; new_table has imported rich

    console = Console(file=file or sys.stdout, highlight=False)
    with console.capture() as capture:
        console.print(table)
    lines = [line.rstrip() for line in capture.get().splitlines()]  # rich pads the last column
    say("\n".join(["", *lines]), file)


def say(line: str, file: TextIO | None) -> None:
    """Print a line of text."""
    (file or sys.stdout).write(f"{line}\n")


def plain(text: str, *, no_wrap: bool = False) -> "Text":
    """Return text to show literally, without markup and with control characters replaced by ``?``."""
    from rich.text import Text  # noqa: PLC0415 - as above

    shown = "".join(char if char.isprintable() else "?" for char in text)
    return Text(shown, no_wrap=no_wrap, overflow="ellipsis" if no_wrap else "fold")


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
