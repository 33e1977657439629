"""``autogen-context cache``: what a folder of cached values holds, whether it is sound, and how to empty it.

Promise: looking deletes nothing, and what is kept is read without running anything of it.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from autogen_context.cache.cache import user_directory
from autogen_context.cache.entry import CacheEntry, entry_from_bytes
from autogen_context.cache.fingerprint import FingerprintReader
from autogen_context.cache.store import DiskStore
from autogen_context.errors import StoreUnavailable
from autogen_context.report.table import new_table, plain, say, show

if TYPE_CHECKING:
    from argparse import _SubParsersAction  # pyright: ignore[reportPrivateUsage] - it has no public name

DAMAGED = "damaged, or not written by this: it is never served"


def add_parser(subparsers: "_SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``cache`` to the command."""
    parser = subparsers.add_parser(
        "cache",
        help="what cached values there are, and whether they are sound",
        description="stats: what is kept. verify: reads every entry and compares it with its files; ends with 1 if one "
        "is damaged. clear: deletes all of them.",
    )
    parser.add_argument("action", choices=["stats", "verify", "clear"])
    parser.add_argument(
        "--directory",
        type=Path,
        default=user_directory(),
        metavar="FOLDER",
        help="the folder of the cache (%(default)s)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked; the exit code."""
    directory: Path = arguments.directory
    disk = DiskStore(directory, keep_open=True)
    if not disk.path.exists():
        raise ValueError(f"there is no cache in {directory}; name its folder: --directory")
    try:
        if arguments.action == "clear":
            disk.clear()
            say(f"{disk.path}: emptied", None)
            return 0
        return stats(disk) if arguments.action == "stats" else verify(disk)
    except StoreUnavailable as error:
        raise ValueError(str(error)) from error
    finally:
        disk.close()


def stats(disk: DiskStore) -> int:
    """How many, and how large."""
    held_bytes = disk.held_bytes  # before reading writes that it did
    found = [entry for _, entry in entries(disk) if entry]
    values_bytes = sum(len(entry.data) for entry in found)
    say(f"{disk.path}: {len(found):,} entries", None)
    say(f"  {values_bytes:>14,} bytes of values", None)
    say(f"  {held_bytes:>14,} bytes on disk", None)
    return 0


def verify(disk: DiskStore) -> int:
    """Every entry by its key, or by its row where it has none, and what is to be said of it."""
    reader = FingerprintReader()
    table = new_table()
    for header in ("entry", "what was found"):
        table.add_column(header, overflow="fold")
    count = damaged = 0
    for row, entry in entries(disk):
        finding = finding_of(entry, reader) if entry else DAMAGED
        table.add_row(plain(entry.key if entry else row), plain(finding))
        count, damaged = count + 1, damaged + (entry is None)
    show(table, None)
    say(f"\n{count:,} entries, {damaged:,} damaged", None)
    return 1 if damaged else 0


def entries(disk: DiskStore) -> Iterator[tuple[str, CacheEntry | None]]:
    """Every row by its name, and its entry; ``None`` if it holds none that was written there."""
    for row, data in disk.items():
        try:
            yield row, None if data is None else entry_from_bytes(data)
        except ValueError:  # whoever wrote it has reckoned the checksum as well
            yield row, None


def finding_of(entry: CacheEntry, reader: FingerprintReader) -> str:
    """Whether an entry would be served, and if not, why."""
    if entry.expires_at <= time.time():
        return "its time is over"
    changed = [one.name for one in entry.dependencies if reader.renewed([one]) is None]
    return f"outdated: {', '.join(changed)}" if changed else "good"
