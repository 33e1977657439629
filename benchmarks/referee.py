"""Hold retention and cost on recorded runs against a table: the net under every change of what a request keeps.

Needs the script that replays recordings, named by ``REFEREE_SCRIPT``, with its recordings in ``../data`` beside it;
without it there is nothing to check, and it says so.

    REFEREE_SCRIPT=path/to/replay.py python benchmarks/referee.py [--all] [--write]

``--all`` replays every conversation instead of the fixed subset; ``--write`` writes the table anew, for a change that
is meant to move it. Exits with 1 where a figure is worse than the table by more than ``TOLERANCE``.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from math import isnan
from pathlib import Path

VARIABLE = "REFEREE_SCRIPT"
TABLE = Path(__file__).with_name("referee.json")
SETS = {  # a recording and its window: how many of its conversations the subset has
    "mini_swe:8000": 24,
    "moatless_swe:8000": 40,
    "tau_bench:3000": 60,
    "tau2:6000": 60,
    "openhands_swe:16000": 23,
}
KEPT = ("grnd", "near", "gold")  # per cent; more is better
NEVER = ("over", "nolast", "orph", "refused")  # requests
TOLERANCE = 0.5  # points, and per cent of the price

Figures = Mapping[str, Mapping[str, float]]
Table = Mapping[str, Mapping[str, float | None]]  # nothing where a set has no such figure


def replayed(script: Path, *, everything: bool) -> Figures:
    """The figures of each set, by its name."""
    figures: dict[str, Mapping[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, conversations in SETS.items():
            out = Path(folder) / "figures.json"
            limit = [] if everything else ["--limit", str(conversations)]
            command = [sys.executable, "-W", "ignore", str(script), "--managers", "product"]
            subprocess.run([*command, "--json", str(out), *limit, name], check=True)  # noqa: S603 - named by who runs this
            figures[name] = json.loads(out.read_text("utf-8"))[f"{name}/product"]
    return figures


def worse(now: Figures, table: Table) -> list[str]:
    """What is worse than the table, a line each."""
    lines: list[str] = []
    for name, expected in table.items():
        row = now[name]
        lines += [
            f"{name}: {key} {row[key]} instead of {expected[key]}"
            for key in KEPT
            if (least := expected[key]) is not None and row[key] < least - TOLERANCE
        ]
        if row["cost"] > (expected["cost"] or 0) + TOLERANCE / 100:
            lines.append(f"{name}: cost {row['cost']} instead of {expected['cost']}")
        lines += [f"{name}: {key} {row[key]} instead of 0" for key in NEVER if row[key]]
    return lines


def main() -> int:
    """Replay, and say what is worse."""
    script = os.environ.get(VARIABLE)
    if not script:
        print(f"nothing to check: {VARIABLE} names no script")
        return 0
    everything = "--all" in sys.argv
    now = replayed(Path(script), everything=everything)
    kept: dict[str, Table] = json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {}
    part = "all" if everything else "subset"
    if "--write" in sys.argv:
        rows = {
            name: {key: None if isnan(row[key]) else row[key] for key in (*KEPT, "cost")}
            for name, row in now.items()
        }
        TABLE.write_text(json.dumps(kept | {part: rows}, indent=1) + "\n", "utf-8")
        return 0
    lines = worse(now, kept[part])
    print("\n".join(lines) if lines else f"nothing is worse than {TABLE.name} says")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
