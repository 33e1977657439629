"""``autogen-context cache``: inspect, verify or clear a cache folder.

Promise: ``stats`` and ``verify`` delete nothing, and entries are read without executing anything in them.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from autogen_context.cache.cache import user_directory
from autogen_context.cache.entry import CacheEntry, entry_from_bytes
from autogen_context.cache.fingerprint import FingerprintReader
from autogen_context.cache.store import DiskStore
from autogen_context.cli import print_json, print_lines, waiting
from autogen_context.errors import StoreUnavailable
from autogen_context.report.table import print_table

DAMAGED = "damaged, or not written by this: it is never served"


def do_with_cache(
    action: Literal["stats", "verify", "clear"], directory: Path | None, *, as_json: bool
) -> int:
    """Run the action; return 1 if an entry is damaged, else 0."""
    directory = directory or user_directory()
    disk = DiskStore(directory, keep_open=True)
    if not disk.path.exists():
        raise ValueError(f"there is no cache in {directory}; name its folder: --directory")
    try:
        if action == "verify":
            return verify(disk, as_json=as_json)
        if action == "clear":
            disk.clear()
        stats(disk, as_json=as_json)
    except StoreUnavailable as error:
        raise ValueError(str(error)) from error
    finally:
        disk.close()
    return 0


def stats(disk: DiskStore, *, as_json: bool) -> None:
    """Print the number of entries and their size."""
    used_bytes = disk.used_bytes  # before reading: reads update the file
    found = [entry for _, entry in entries(disk) if entry]
    values_bytes = sum(len(entry.data) for entry in found)
    if as_json:
        facts = {"entries": len(found), "values_bytes": values_bytes, "disk_bytes": used_bytes}
        print_json({"file": disk.path, **facts})
        return
    print_lines(f"{disk.path}: {len(found):,} entries", f"  {values_bytes:>14,} bytes of values")
    print_lines(f"  {used_bytes:>14,} bytes on disk")


def verify(disk: DiskStore, *, as_json: bool) -> int:
    """Print each entry by key, or by row if damaged, with its state; return 1 if any is damaged, else 0."""
    reader = FingerprintReader()
    with waiting("reading every entry"):
        findings = [
            (entry.key, finding_of(entry, reader)) if entry else (row, DAMAGED)
            for row, entry in entries(disk)
        ]
    damaged = sum(finding == DAMAGED for _, finding in findings)
    if as_json:
        print_json([{"entry": entry, "found": finding} for entry, finding in findings])
        return 1 if damaged else 0
    headers = ("entry", "what was found")
    print_table(headers, findings, texts=headers)
    print_lines("", f"{len(findings):,} entries, {damaged:,} damaged")
    return 1 if damaged else 0


def entries(disk: DiskStore) -> Iterator[tuple[str, CacheEntry | None]]:
    """Yield each row's name and entry; ``None`` if the row is damaged or invalid."""
    for row, data in disk.items():
        try:
            yield row, None if data is None else entry_from_bytes(data)
        except ValueError:  # valid checksum, invalid content
            yield row, None


def finding_of(entry: CacheEntry, reader: FingerprintReader) -> str:
    """Return "good" if an entry would be served, otherwise the reason why not."""
    if entry.expires_at <= time.time():
        return "its time is over"
    changed = [one.name for one in entry.dependencies if reader.renewed([one]) is None]
    return f"outdated: {', '.join(changed)}" if changed else "good"
