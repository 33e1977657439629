"""Outcomes of runs as tables and as a picture.

Promise: a share has the range in which it lies with a confidence of 95 % (Wilson); cost is that of all runs by the tasks solved, so
who gives up early is not cheap.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import sqrt
from statistics import fmean

from side_by_side import table

from tasks.run import Outcome

Z = 1.96  # of a normal distribution, for 95 %
WIDTH, ROW, BAR = 760, 22, 300  # points of the picture


def wilson(solved: int, of: int) -> tuple[float, float]:
    """The range of a share, by Wilson (1927)."""
    if not of:
        return 0.0, 1.0
    share, square = solved / of, Z * Z / of
    middle = (share + square / 2) / (1 + square)
    half = Z * sqrt(share * (1 - share) / of + square / (4 * of)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def in_per_cent(outcomes: Sequence[Outcome]) -> str:
    """How many were solved, with the range."""
    least, most = wilson(sum(o.solved for o in outcomes), len(outcomes))
    share = fmean(o.solved for o in outcomes)
    return f"{100 * share:.0f} ({100 * least:.0f}-{100 * most:.0f})"


def row_of(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    """One manager's row."""
    solved = sum(o.solved for o in outcomes)
    cost = sum(o.cost_tokens for o in outcomes) / 1_000
    return [
        name,
        in_per_cent(outcomes),
        f"{fmean(o.repeated for o in outcomes):.1f}",
        f"{fmean(o.broken for o in outcomes):.2f}",
        f"{fmean(o.look_ups for o in outcomes):.1f}",
        str(sum(o.refused for o in outcomes)),
        f"{fmean(o.requests for o in outcomes):.0f}",
        f"{cost / len(outcomes):,.0f}",
        f"{cost / solved:,.0f}" if solved else "-",
    ]


HEAD = (
    "", "solved %", "repeated", "broken", "look-ups", "refused", "requests", "k tokens a task", "k tokens a solved one",
)  # fmt: skip


def distinct(values: Iterable[str]) -> list[str]:
    """Each once, in order."""
    return list(dict.fromkeys(values))


def name_of(outcome: Outcome) -> str:
    """The manager, with its host where several have the same."""
    return f"{outcome.manager} ({outcome.host})"


def tables(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[list[str]]]]:
    """A table for each window, and what each family says of who solves it."""
    unlimited = [o for o in outcomes if not o.window]
    windows = sorted({o.window for o in outcomes if o.window}) or [0]
    for window in windows:
        here = [*unlimited, *(o for o in outcomes if o.window == window)] if window else unlimited
        names = distinct(map(name_of, here))
        rows = [row_of(name, [o for o in here if name_of(o) == name]) for name in names]
        yield f"Window of {window:,} tokens: {len(here)} runs", [[*HEAD], *rows]
        families = distinct(o.family for o in here)
        shares = [
            [
                name,
                *(
                    in_per_cent(same)
                    if (same := [o for o in here if (name_of(o), o.family) == (name, family)])
                    else "-"
                    for family in families
                ),
            ]
            for name in names
        ]
        yield f"Solved of each family, window of {window:,}", [["", *families], *shares]


def as_text(outcomes: Sequence[Outcome]) -> str:
    """The tables for a terminal."""
    return "\n\n".join(f"{title}\n{table(*rows)}" for title, rows in tables(outcomes))


def picture(outcomes: Sequence[Outcome]) -> str:
    """The shares solved as bars with their ranges, a block for each window."""
    lines: list[str] = []
    y = ROW
    unlimited = [o for o in outcomes if not o.window]
    for window in sorted({o.window for o in outcomes if o.window}):
        here = [*unlimited, *(o for o in outcomes if o.window == window)]
        lines.append(
            f'<text x="0" y="{y}" class="head">Tasks solved, window of {window:,} tokens</text>'
        )
        for name in distinct(map(name_of, here)):
            y += ROW
            same = [o for o in here if name_of(o) == name]
            least, most = wilson(sum(o.solved for o in same), len(same))
            share = fmean(o.solved for o in same)
            kind = "ours" if name.startswith("ours") else "other"
            lines += [
                f'<text x="0" y="{y}">{escape(name)}</text>',
                f'<rect x="220" y="{y - 12}" width="{share * BAR:.0f}" height="14" class="{kind}"/>',
                f'<path d="M{220 + least * BAR:.0f} {y - 5}H{220 + most * BAR:.0f}" class="range"/>',
                f'<text x="{230 + BAR}" y="{y}">{escape(in_per_cent(same))} %</text>',
            ]
        y += 2 * ROW
    style = (
        "text{font:13px sans-serif;fill:#222}.head{font-weight:bold}.ours{fill:#2a6f4e}.other{fill:#9aa5b1}"
        ".range{stroke:#222;stroke-width:1.5}"
    )
    body = "\n".join(lines)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 0 {WIDTH} {y}"><style>{style}</style>\n{body}\n</svg>\n'
