"""``autogen-context cache``: what a folder of cached values holds, whether it is sound, and how to empty it.

Promise: looking deletes nothing, and what is kept is read without running anything of it.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from autogen_context.cache.cache import user_directory
from autogen_context.cache.entry import CacheEntry, entry_from_bytes
from autogen_context.cache.fingerprint import FingerprintReader
from autogen_context.cache.store import DiskStore
from autogen_context.errors import StoreUnavailable
from autogen_context.report.table import new_table, plain, say, show

if TYPE_CHECKING:
    from autogen_context.cli.main import Subparsers

_LARGEST = 10


class _Arguments(argparse.Namespace):
    action: str
    directory: Path


def add_parser(subparsers: "Subparsers") -> None:
    """Add ``cache`` to the command."""
    parser = subparsers.add_parser(
        "cache",
        help="what cached values there are, and whether they are sound",
        description="stats: what is kept. verify: reads every entry and compares it with its files; ends with 1 if one "
        "is damaged. clear: deletes all of them.",
    )
    parser.add_argument("action", choices=list(_ACTIONS))
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
    given = _Arguments(**vars(arguments))
    disk = DiskStore(given.directory, keep_open=True)
    if not disk.path.exists():
        raise ValueError(f"there is no cache in {given.directory}; name its folder: --directory")
    try:
        return _ACTIONS[given.action](disk)
    except StoreUnavailable as error:
        raise ValueError(str(error)) from error
    finally:
        disk.close()


def _stats(disk: DiskStore) -> int:
    held_bytes = disk.held_bytes  # before reading writes that it did
    found = [entry for _, entry in _entries(disk) if entry]
    values_bytes = sum(len(entry.payload) for entry in found)
    say(f"{disk.path}: {len(found):,} entries", None)
    say(f"  {values_bytes:>14,} bytes of values", None)
    say(f"  {held_bytes:>14,} bytes on disk", None)
    largest = sorted(found, key=lambda entry: len(entry.payload), reverse=True)[:_LARGEST]
    if largest:
        table = new_table()
        for header in ("bytes", "kind", "files"):
            table.add_column(header, justify="right", no_wrap=True)
        table.add_column("the largest" if len(found) > _LARGEST else "key", overflow="fold")
        for entry in largest:
            numbers = f"{len(entry.payload):,}", entry.kind, f"{len(entry.dependencies):,}"
            table.add_row(*numbers, plain(entry.key))
        show(table, None)
    return 0


def _verify(disk: DiskStore) -> int:
    findings = list(_findings(disk))
    table = new_table()
    for header in ("entry", "what was found"):
        table.add_column(header, overflow="fold")
    for name, finding in findings:
        table.add_row(plain(name), plain(finding))
    show(table, None)
    damaged = sum(finding == _DAMAGED for _, finding in findings)
    say(f"\n{len(findings):,} entries, {damaged:,} damaged", None)
    return 1 if damaged else 0


def _clear(disk: DiskStore) -> int:
    disk.clear()
    say(f"{disk.path}: emptied", None)
    return 0


def _findings(disk: DiskStore) -> Iterator[tuple[str, str]]:
    """Every entry by its key, or by its row where it has none, and what is to be said of it."""
    reader = FingerprintReader()
    for row, entry in _entries(disk):
        yield (entry.key, _finding(entry, reader)) if entry else (row, _DAMAGED)


def _entries(disk: DiskStore) -> Iterator[tuple[str, CacheEntry | None]]:
    """Every row by its name, and its entry; ``None`` if it holds none that was written there."""
    for row, data in disk.items():
        try:
            yield row, None if data is None else entry_from_bytes(data)
        except ValueError:  # whoever wrote it has reckoned the checksum as well
            yield row, None


def _finding(entry: CacheEntry, reader: FingerprintReader) -> str:
    if entry.expires_at <= time.time():
        return "its time is over"
    changed = [one.name for one in entry.dependencies if reader.renewed([one]) is None]
    return f"outdated: {', '.join(changed)}" if changed else "good"


_DAMAGED = "damaged, or not written by this: it is never served"
_ACTIONS: Mapping[str, Callable[[DiskStore], int]] = {
    "stats": _stats,
    "verify": _verify,
    "clear": _clear,
}
