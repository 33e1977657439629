"""What watching costs: while nothing happens, while another process changes 10,000 files a second, and to begin with.

Usage: python benchmarks/watch.py

Beside it watchdog's own ``Observer`` with a handler that only counts. CPU is of this process alone, in shares of a core
at that rate, also where the machine is too busy to keep it.
Paths told and events heard are counted over the whole flood; "told after" is from the last change until the listener
has heard of every file that was changed.
"""

import gc
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from side_by_side import table
from typing_extensions import override
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from autogen_context.cache.watch import FileWatch

FOLDERS = 100
FILES = 2_000
FLOOD_S = 3
PER_SECOND = 10_000
IDLE_S = 3
PATIENCE_S = 60

WRITER = """
import os, sys, time
paths = sys.stdin.read().split()
seconds, rate = int(sys.argv[1]), int(sys.argv[2])
began = time.monotonic()
for number in range(seconds * rate):
    descriptor = os.open(paths[number % len(paths)], os.O_WRONLY | os.O_TRUNC)
    os.write(descriptor, b"%d" % number)
    os.close(descriptor)
    if number % 100 == 0:
        time.sleep(max(0, began + number / rate - time.monotonic()))
"""


class Told:
    """Listens, and knows of which files it has heard."""

    def __init__(self, files: Collection[Path]) -> None:
        """With the files that are waited for."""
        self._files = files
        self.calls = 0
        self.paths = 0
        self._heard: set[Path] = set()

    def hear(self, paths: Collection[Path]) -> None:
        """Called by the watch."""
        self.calls += 1
        self.paths += len(paths)
        self._heard.update(paths)

    def wait(self) -> float:
        """Until each file was told of, or a folder above it; how long that took, in seconds."""
        began = time.monotonic()
        while not all(self._heard & {file, *file.parents} for file in self._files):
            assert time.monotonic() < began + PATIENCE_S, "something was not told"
            time.sleep(0.001)
        return time.monotonic() - began


class Counting(FileSystemEventHandler):
    """Counts the events of watchdog, and does nothing else."""

    def __init__(self) -> None:
        """None yet."""
        self.events = 0

    @override
    def on_any_event(self, event: FileSystemEvent) -> None:
        self.events += 1


def main() -> None:
    """Print the tables."""
    print(
        f"{PER_SECOND:,} writes a second for {FLOOD_S} s, to {FILES:,} files in {FOLDERS} folders\n"
    )
    print(table(("", "CPU", "memory", "told", "told after"), ours(), theirs()))
    print()
    print(table(("idle, CPU", idle()), *starts()))


def ours() -> tuple[str, ...]:
    """The flood, with ``FileWatch``."""
    with tree(FOLDERS, FILES) as files, FileWatch() as watch:
        told = Told(files)
        watch.listen(told.hear)
        watch.follow(common(files))
        cpu, memory = flood(files)
        after_s = told.wait()
        return (
            "FileWatch",
            cpu,
            memory,
            f"{told.paths:,} in {told.calls}",
            f"{after_s * 1000:.0f} ms",
        )


def theirs() -> tuple[str, ...]:
    """The flood, with ``Observer``."""
    with tree(FOLDERS, FILES) as files:
        handler, observer = Counting(), Observer()
        observer.schedule(handler, str(common(files)), recursive=True)
        observer.start()
        cpu, memory = flood(files)
        began = time.monotonic()
        last = -1
        while last != handler.events:
            last = handler.events
            time.sleep(0.2)
        after_s = time.monotonic() - began - 0.2
        observer.stop()
        observer.join()
        return (
            "watchdog Observer",
            cpu,
            memory,
            f"{handler.events:,} events",
            f"{after_s * 1000:.0f} ms",
        )


def idle() -> str:
    """CPU while nothing changes."""
    with tree(FOLDERS, FILES) as files, FileWatch() as watch:
        watch.follow(common(files))
        began = time.process_time()
        time.sleep(IDLE_S)
        return share(time.process_time() - began, IDLE_S)


def starts() -> Iterator[tuple[str, str]]:
    """How long it takes to begin, and to look once."""
    for folders, files in ((1_000, 10_000), (10_000, 10_000)):
        with tree(folders, files) as paths, FileWatch() as watch:
            name = f"follow {folders:,} folders with {files:,} files"
            yield name, seconds(partial(watch.follow, common(paths)))
            yield f"covers, {folders:,} folders, 1,000 paths", seconds(partial(ask, watch, paths))


def ask(watch: FileWatch, paths: list[Path]) -> None:
    """Whether it covers the first 1,000."""
    for path in paths[:1_000]:
        watch.covers(path)


def flood(files: Collection[Path]) -> tuple[str, str]:
    """Change files from another process; CPU and memory of this one meanwhile."""
    gc.collect()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began_cpu = time.process_time()
    command = [sys.executable, "-c", WRITER, str(FLOOD_S), str(PER_SECOND)]
    subprocess.run(  # noqa: S603 - our own code
        command, input="\n".join(map(str, files)), text=True, check=True
    )
    cpu = share(time.process_time() - began_cpu, FLOOD_S)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    return cpu, f"{grown / 1024:+.1f} MB"


@contextmanager
def tree(folders: int, files: int) -> Generator[list[Path]]:
    """A folder of folders with empty files."""
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name, f"folder{n % folders}", f"file{n}.py") for n in range(files)]
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            path.touch()
        yield paths


def common(files: list[Path]) -> Path:
    """The folder above all of them."""
    return files[0].parent.parent


def seconds(run: Callable[[], object]) -> str:
    """How long something takes, once."""
    began = time.perf_counter()
    run()
    return f"{(time.perf_counter() - began) * 1000:.1f} ms"


def share(cpu_s: float, wall_s: float) -> str:
    """CPU as a share of a core."""
    return f"{cpu_s / wall_s:.1%}"


if __name__ == "__main__":
    main()
