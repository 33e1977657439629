"""Hold what is solved against a table: the net of ``.ci/run`` under what an agent gets done in a small window.

Two tasks of each family, with the whole history and with this library in windows of 4,000 and 12,000 tokens; the whole comparison
is ``task_table.py``.

    python benchmarks/task_net.py [--write]

``--write`` writes the table anew, for a change that is meant to move it. Exits with 1 where less is solved, more is broken or refused,
or the price is higher by more than ``TOLERANCE``.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from task_table import arguments, outcomes
from tasks.managers import EVERYTHING
from tasks.run import Outcome

TABLE = Path(__file__).with_name("tasks.json")
ASKED = ("--seeds", "2", "--windows", "4000", "12000", "--managers", EVERYTHING.name, "ours")
TOLERANCE = 0.03  # of the price

Row = Mapping[str, float]


def rows_of(found: Sequence[Outcome]) -> dict[str, Row]:
    """What was solved, broken, refused and paid, by family, window and manager."""
    rows: dict[str, Row] = {}
    for key in dict.fromkeys((o.family, o.window, o.manager) for o in found):
        same = [o for o in found if (o.family, o.window, o.manager) == key]
        rows["/".join(map(str, key))] = {
            "solved": sum(o.solved for o in same),
            "broken": sum(o.broken for o in same),
            "refused": sum(o.refused for o in same),
            "cost": sum(o.cost_tokens for o in same),
        }
    return rows


def worse(now: Mapping[str, Row], table: Mapping[str, Row]) -> list[str]:
    """What is worse than the table, a line each."""
    lines: list[str] = []
    for name, row in now.items():
        expected = table[name]
        for key, is_worse in (
            ("solved", row["solved"] < expected["solved"]),
            ("broken", row["broken"] > expected["broken"]),
            ("refused", row["refused"] > expected["refused"]),
            ("cost", row["cost"] > expected["cost"] * (1 + TOLERANCE)),
        ):
            if is_worse:
                lines.append(f"{name}: {key} {row[key]:,.0f} instead of {expected[key]:,.0f}")
    return lines


def main() -> int:
    """Run, and say what is worse."""
    now = rows_of(outcomes(arguments(ASKED)))
    if "--write" in sys.argv:
        TABLE.write_text(json.dumps(now, indent=1) + "\n", "utf-8")
        return 0
    lines = worse(now, json.loads(TABLE.read_text("utf-8")))
    print("\n".join(lines) if lines else f"nothing is worse than {TABLE.name} says")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
