"""What the event log and metrics cost: the turns of an agent with and without, in turn, a call and its result each.

Usage: python benchmarks/events.py

In the turn: CPU time of the thread that prepares, the first turn left out. In all: with what the background does meanwhile,
which a host has while its model answers; between two turns the log is given the time to write. ``fills`` compacts again and
again, the others hold; a row is the mean of its turns, and the median of what one turn has more. Metrics go to OpenTelemetry's
SDK, which keeps spans nowhere.
"""

import gc
import tempfile
from pathlib import Path
from statistics import median
from time import process_time, thread_time

from material import history
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from side_by_side import ms, table

from autogen_context import IncrementalContextManager
from autogen_context.manager.event_log import EventLog
from autogen_context.manager.metrics import Metrics
from autogen_context.testing import ChatMessage

ROWS = {
    "fills 16,000": (2, 400, 16_000),
    "holds 500": (500, 200, 10**7),
    "holds 4,000": (4_000, 200, 10**7),
}
Taken = list[tuple[float, float]]  # of each turn: in it, and in all


def main() -> None:
    """Print a row for each kind of conversation."""
    head = ["a turn", "without", "with", "more", "median more", "in all", "more"]
    meters = MeterProvider([InMemoryMetricReader()])
    metrics = Metrics(meter_provider=meters, tracer_provider=TracerProvider())
    gc.disable()  # it would strike the one or the other
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        rows = [each for name, of in ROWS.items() for each in rows_of(name, path, metrics, *of)]
    print(table(head, *rows))


def rows_of(
    name: str, path: Path, metrics: Metrics, messages: int, turns: int, window_tokens: int
) -> list[list[str]]:
    """The same conversation without, with a log, and with a log and metrics, one turn after the other."""
    said = history(messages + 2 * turns)
    IncrementalContextManager("gpt-4o", window_tokens=16_000).prepare_nowait(said[:400])
    log = EventLog(path)
    managers = [
        IncrementalContextManager(
            "gpt-4o", window_tokens=window_tokens, events=events, metrics=told
        )
        for events, told in ((None, None), (log, None), (log, metrics))
    ]
    for manager in managers:
        manager.prepare_nowait(said[:messages])
    taken: list[Taken] = [[], [], []]
    for stop in range(messages, len(said) + 1, 2):
        for which in sorted(range(3), key=lambda at: (at + stop // 2) % 3):
            taken[which].append(one_turn(managers[which], said[:stop], log))
    assert not log.lost
    plain, logged, measured = (each[1:] for each in taken)
    with_log = row(f"{name}, log", plain, logged)
    return [with_log, row(f"{name}, metrics too", logged, measured)]


def row(name: str, plain: Taken, more: Taken) -> list[str]:
    """What the second has more than the first."""
    (a, a_all), (b, b_all) = (tuple(map(sum, zip(*each, strict=True))) for each in (plain, more))
    each_more = median(after[0] - before[0] for before, after in zip(plain, more, strict=True))
    n = len(plain)
    return [
        *(name, ms(a / n), ms(b / n), f"{b / a - 1:.1%}", f"{each_more * 1e6:.0f} µs"),
        *(ms(b_all / n), f"{b_all / a_all - 1:.1%}"),
    ]


def one_turn(
    manager: IncrementalContextManager, said: list[ChatMessage], log: EventLog
) -> tuple[float, float]:
    """CPU time of a turn: of its thread, and of the process until all is written."""
    all_s, turn_s = process_time(), thread_time()
    manager.prepare_nowait(said)
    turn_s = thread_time() - turn_s
    log.flush()
    return turn_s, process_time() - all_s


if __name__ == "__main__":
    main()
