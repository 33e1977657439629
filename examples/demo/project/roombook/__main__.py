"""``python -m roombook``: look into a schedule from a terminal."""

import argparse
import sys
from pathlib import Path

from roombook.period import Period
from roombook.pricing import Tariff, invoice
from roombook.report import columns, invoice_text, month_totals, usage_table
from roombook.schedule import Schedule
from roombook.storage import load
from roombook.textform import read_day, read_duration, read_period


def main(arguments: list[str]) -> int:
    """Run a command; the exit code."""
    given = _parser().parse_args(arguments)
    schedule = load(Path(given.data, "rooms.txt"), Path(given.data, "bookings.jsonl"))
    sys.stdout.write(_answer(schedule, given))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="roombook")
    parser.add_argument("--data", default="data", help="the folder of rooms and bookings")
    commands = parser.add_subparsers(dest="command", required=True)
    free = commands.add_parser("free", help="rooms that are free")
    free.add_argument("period", help="such as '2026-03-02 09:00-10:30'")
    free.add_argument("--seats", type=int, default=1)
    slots = commands.add_parser("slots", help="when a room is free")
    slots.add_argument("room")
    slots.add_argument("day")
    slots.add_argument("--least", default="30m")
    for name, about in (("invoice", "of a tenant"), ("totals", "of all"), ("usage", "of rooms")):
        command = commands.add_parser(name, help=f"{name} {about} for a month")
        command.add_argument("month", help="such as 2026-03")
        if name == "invoice":
            command.add_argument("who")
    return parser


def _answer(schedule: Schedule, given: argparse.Namespace) -> str:
    if given.command == "free":
        rooms = schedule.free_rooms(read_period(given.period), given.seats)
        rows = [(room.name, str(room.seats), f"{room.rate}") for room in rooms]
        return columns([("room", "seats", "rate"), *rows])
    if given.command == "slots":
        slots = schedule.free_slots(given.room, read_day(given.day), read_duration(given.least))
        return "".join(f"{slot}\n" for slot in slots)
    first = read_day(f"{given.month}-01")
    month = Period.of_month(first.year, first.month)
    if given.command == "invoice":
        return invoice_text(invoice(given.who, month, schedule, schedule.house, Tariff()))
    if given.command == "totals":
        return month_totals(schedule, month, Tariff())
    return usage_table(schedule, month)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
