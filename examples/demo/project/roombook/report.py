"""Invoices and tables as text, to be printed or sent by mail."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal

from roombook.booking import Booking
from roombook.period import Period
from roombook.pricing import Invoice, Line, Tariff, invoice
from roombook.schedule import Schedule

INVOICE_WIDTH = 72
FULL_BAR = 20
CURRENCY = "EUR"


def money(amount: Decimal) -> str:
    """An amount with its currency: ``1,234.50 EUR``."""
    return f"{amount:,.2f} {CURRENCY}"


def invoice_text(bill: Invoice) -> str:
    """An invoice, one line for each booking."""
    head = f"Invoice for {bill.who}, {bill.month.start:%B %Y}"
    lines = [head, "=" * len(head), ""]
    lines += [invoice_line(line) for line in bill.lines]
    lines.append("-" * INVOICE_WIDTH)
    if bill.discount:
        lines.append(spread("sum", money(bill.sum)))
        lines.append(
            spread(f"discount of {bill.discount_fraction:.0%}", f"-{money(bill.discount)}")
        )
    lines.append(spread("to be paid", money(bill.total)))
    return "\n".join(lines) + "\n"


def invoice_line(line: Line) -> str:
    """A line of an invoice."""
    booking = line.booking
    note = " (cancelled late)" if booking.late else ""
    return spread(f"{booking.period}  {booking.room}{note}", money(line.amount))


def spread(left: str, right: str, width: int = INVOICE_WIDTH) -> str:
    """Two texts at both ends of a line."""
    return f"{left}{right:>{max(width - len(left), len(right) + 1)}}"


def month_totals(schedule: Schedule, month: Period, tariff: Tariff) -> str:
    """What each tenant owes for a month, and the sum."""
    bills = [invoice(who, month, schedule, schedule.house, tariff) for who in schedule.tenants()]
    owed = [bill for bill in bills if bill.lines]
    rows = [spread(f"{bill.who} ({len(bill.lines)})", money(bill.total), 48) for bill in owed]
    total = sum((bill.total for bill in owed), start=Decimal())
    return "\n".join([*rows, spread("all", money(total), 48)]) + "\n"


def usage_table(schedule: Schedule, within: Period) -> str:
    """How much each room is used, with a bar."""
    rows: list[str] = []
    for room in schedule.house:
        share = schedule.used_fraction(room.name, within)
        bar = "#" * round(share * FULL_BAR)
        rows.append(f"{room.name:<12} {share:>4.0%} {bar:<{FULL_BAR}}".rstrip())
    return "\n".join(rows) + "\n"


def week_view(schedule: Schedule, room: str, monday: date) -> str:
    """What is in a room in a week, day by day."""
    rows: list[str] = []
    for n in range(7):
        day = monday + timedelta(days=n)
        booked = schedule.in_room(room, Period.of_day(day))
        rows.append(f"{day:%a %d %b}  {_entries(booked)}".rstrip())
    return "\n".join(rows) + "\n"


def _entries(bookings: Iterable[Booking]) -> str:
    return ", ".join(_entry(booking) for booking in bookings) or "free"


def _entry(booking: Booking) -> str:
    asked = "?" if booking.status == "asked" else ""
    return f"{booking.period.start:%H:%M}-{booking.period.end:%H:%M} {booking.who}{asked}"


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows with their columns aligned to the left."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines) + "\n"
