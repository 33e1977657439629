"""Draw what stays against what it costs, each way of managing a context through its windows, as one picture.

Usage: python benchmarks/curve.py LINES > docs/curve.svg

LINES has one JSON object a line: ``set`` (the recording), ``window`` (tokens), ``manager``, ``grounded`` (percent of the
values needed that still stand; NaN where nothing could be lost) and ``cost`` (1.0 is sending everything). Each recording
has a panel of its own, all with the same axes. The manager of the first line is drawn in front, with its windows; of the
others the first and the last window are named. The same lines give the same picture, byte by byte, and it needs nothing
else: no font, no script, no page around it.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, dist, floor, isfinite
from pathlib import Path
from xml.etree import ElementTree as ET

from label_place import Box, place, square
from typing_extensions import override

HEADING = "What stays of what the next call needs, and at what price"
KEPT, COST = "grounded retention, %", "cost of all requests (1.0: everything is sent)"
STYLES = (("#0072b2", "circle"), ("#d55e00", "square"), ("#7a4f9a", "triangle"))  # Okabe and Ito's
INK, QUIET, GRID, PAPER = "#1f2328", "#57606a", "#d8dee4", "#ffffff"
HALO = {
    "stroke": PAPER,
    "stroke_width": "3",
    "paint_order": "stroke",
}  # so that lines end at letters
PLOT = Box(left=70, top=118, width=286, height=290)  # of the first panel
STEP, MARGIN = 310, 14  # from panel to panel; right of the last one
HEIGHT = 470
LETTERS = 14  # how large a text is
UNPRINTABLE = re.compile(
    "[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)  # XML has no way to write these


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one manager kept of one recording in one window.

    Attributes:
        recording: whose requests were sent.
        manager: what chose what is sent.
        window_tokens: what a request may have.
        cost: of all requests; 1.0 is sending everything.
        grounded: percent of the values needed that stood in what was sent.
    """

    recording: str
    manager: str
    window_tokens: int
    cost: float
    grounded: float

    @override
    def __str__(self) -> str:
        """Return the point as a sentence for those who do not see it."""
        return (
            f"{self.recording}, {self.manager}, window of {self.window_tokens:,} tokens:"
            f" {self.grounded:.1f} % grounded at {self.cost:.3f} of the cost"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Where values lie in a panel: costs from left to right, percents from below."""

    plot: Box
    costs: tuple[float, float]
    percents: tuple[float, float]

    def x(self, cost: float) -> float:
        """Where a cost lies."""
        low, high = self.costs
        return self.plot.left + self.plot.width * (cost - low) / (high - low)

    def y(self, percent: float) -> float:
        """Where a percent lies."""
        low, high = self.percents
        return self.plot.top + self.plot.height * (high - percent) / (high - low)

    def at(self, point: Point) -> tuple[float, float]:
        """Where a point lies."""
        return self.x(point.cost), self.y(point.grounded)


def read(text: str) -> list[Point]:
    """The points of JSON lines; those without a number are left out.

    Raises:
        ValueError: a line is not such an object, or none has numbers.
    """
    read_ = [point_of(line, n) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    points = [point for point in read_ if isfinite(point.cost) and isfinite(point.grounded)]
    if not points:
        raise ValueError("nothing to draw: no line has both a cost and a grounded percent")
    return points


def point_of(line: str, number: int) -> Point:
    """The point of one line of JSON."""
    try:
        row = json.loads(line)
        return Point(
            recording=UNPRINTABLE.sub("\ufffd", row["set"]),
            manager=UNPRINTABLE.sub("\ufffd", row["manager"]),
            window_tokens=int(row["window"]),
            cost=float(row["cost"]),
            grounded=float(row["grounded"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        fields = "set, window, manager, grounded and cost"
        raise ValueError(f"line {number} is no JSON object with {fields}: {error!r}") from error


def drawn(text: str) -> str:
    """Draw JSON lines.

    Args:
        text: the lines.

    Returns:
        An SVG picture with a title and a description.

    Raises:
        ValueError: a line is no such object, none has numbers, or there are more managers than colours that everybody
            can tell apart.
    """
    points = read(text)
    managers = list(dict.fromkeys(point.manager for point in points))
    recordings = list(dict.fromkeys(point.recording for point in points))
    if len(managers) > len(STYLES):
        raise ValueError(f"at most {len(STYLES)} managers can be told apart, not {len(managers)}")
    svg = sheet(PLOT.left + STEP * (len(recordings) - 1) + PLOT.width + MARGIN, points)
    legend(svg, managers)
    costs, percents = reach(points)
    for i, recording in enumerate(recordings):
        axes = Axes(plot=PLOT.moved(STEP * i), costs=costs, percents=percents)
        frame(svg, axes, recording)
        draw(svg, axes, lines_of(points, recording, managers))
    ET.indent(svg)
    return ET.tostring(svg).decode("ascii") + "\n"


def reach(points: Sequence[Point]) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ends of both axes, on round numbers."""
    costs = [point.cost for point in points]
    lowest = floor(min(point.grounded for point in points) / 10) * 10
    most = ceil(max(*costs, 1.0) * 5 + 0.25) / 5
    return (floor(min(costs) * 5 - 0.25) / 5, most), (min(lowest, 90), 102)


def lines_of(points: Sequence[Point], recording: str, managers: Sequence[str]) -> list[list[Point]]:
    """For each manager its points of a recording, from the narrowest window to the widest."""
    here = sorted((p for p in points if p.recording == recording), key=lambda p: p.window_tokens)
    return [[point for point in here if point.manager == manager] for manager in managers]


def sheet(width: float, points: Sequence[Point]) -> ET.Element:
    """An empty picture with its own paper, and all of it in words."""
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width:g} {HEIGHT}",
            "role": "img",
            "aria-labelledby": "title desc",
            "font-family": "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif",
            "font-size": str(LETTERS),
        },
    )
    add(svg, "title", id="title").text = HEADING
    add(svg, "desc", id="desc").text = ". ".join(map(str, points)) + "."
    add(svg, "rect", width=f"{width:g}", height=str(HEIGHT), rx="8", fill=PAPER)
    write(svg, HEADING, (PLOT.left, 30), font_size="19", font_weight="600")
    write(svg, COST, (width / 2, HEIGHT - 16), text_anchor="middle")
    turned = f"rotate(-90 20 {PLOT.top + PLOT.height / 2:g})"
    write(svg, KEPT, (20, PLOT.top + PLOT.height / 2), text_anchor="middle", transform=turned)
    return svg


def legend(svg: ET.Element, managers: Sequence[str]) -> None:
    """Which line is whose."""
    x = PLOT.left
    for (colour, shape), manager in zip(STYLES, managers, strict=False):
        stroke(svg, [(x, 60), (x + 36, 60)], colour, 2.5)
        marker(svg, shape, (x + 18, 60), colour)
        write(svg, manager, (x + 44, 65))
        x += 44 + width_of(manager) + 34


def frame(svg: ET.Element, axes: Axes, recording: str) -> None:
    """What a panel is drawn on: its name, a grid, and the numbers on the axes."""
    plot = axes.plot
    write(svg, recording, (plot.left, plot.top - 12), font_size="16", font_weight="600")
    for percent in ticks(axes.percents, 10):
        stroke(svg, [(plot.left, axes.y(percent)), (plot.right, axes.y(percent))], GRID)
        write(
            svg,
            f"{percent:.0f}",
            (plot.left - 8, axes.y(percent) + 5),
            text_anchor="end",
            fill=QUIET,
        )
    for cost in ticks(axes.costs, 0.2):
        at = axes.x(cost)
        whole = cost == 1
        stroke(svg, [(at, plot.top), (at, plot.bottom)], QUIET if whole else GRID)
        write(svg, f"{cost:.1f}", (at, plot.bottom + 20), text_anchor="middle", fill=QUIET)


def ticks(ends: tuple[float, float], step: float) -> list[float]:
    """The multiples of a step between two ends."""
    first, last = ceil(ends[0] / step - 1e-9), floor(ends[1] / step + 1e-9)
    return [round(step * n, 6) for n in range(first, last + 1)]


def draw(svg: ET.Element, axes: Axes, lines: Sequence[Sequence[Point]]) -> None:
    """The lines of a panel, the first manager's in front, and the windows that are named."""
    for (colour, shape), line in reversed(list(zip(STYLES, lines, strict=False))):
        stroke(svg, [axes.at(point) for point in line], colour, 2.5)
        for point in line:
            add(marker(svg, shape, axes.at(point), colour), "title").text = str(point)
    taken = list(covered_by(axes, lines))
    for (colour, _), line in zip(STYLES, lines, strict=False):
        for point in line if line is lines[0] else line[:: max(1, len(line) - 1)]:
            taken.append(name(svg, axes, point, colour, taken))


def covered_by(axes: Axes, lines: Sequence[Sequence[Point]]) -> Iterator[Box]:
    """What markers and lines cover."""
    for line in lines:
        places = [axes.at(point) for point in line]
        yield from (square(at, 13) for at in places)
        for start, end in pairwise(places):
            steps = ceil(dist(start, end) / 4)
            for n in range(1, steps):
                share = n / steps
                x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
                yield square((x, y), 3)


def name(svg: ET.Element, axes: Axes, point: Point, colour: str, taken: Sequence[Box]) -> Box:
    """Write the window of a point beside it, and say where."""
    text = f"{point.window_tokens / 1000:g}k"
    size = width_of(text), LETTERS * 0.8
    box = place(axes.at(point), size, within=axes.plot, taken=taken)
    write(svg, text, (box.left, box.bottom), fill=colour, font_weight="600", **HALO)
    return box


def stroke(
    svg: ET.Element, places: Sequence[tuple[float, float]], colour: str, width: float = 1
) -> None:
    """Draw a line through places."""
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    add(svg, "path", d=path, fill="none", stroke=colour, stroke_width=f"{width:g}")


def marker(svg: ET.Element, shape: str, at: tuple[float, float], colour: str) -> ET.Element:
    """Draw a mark of one of the shapes."""
    x, y = at
    look = {"fill": colour, "stroke": PAPER, "stroke_width": "1"}
    if shape == "circle":
        return add(svg, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="5.5", **look)
    corners: dict[str, list[tuple[float, float]]] = {
        "square": [(-5, -5), (5, -5), (5, 5), (-5, 5)],
        "triangle": [(0, -6.5), (6, 5), (-6, 5)],
    }
    path = "M" + "L".join(f"{x + right:.1f} {y + down:.1f}" for right, down in corners[shape])
    return add(svg, "path", d=path + "Z", **look)


def write(svg: ET.Element, text: str, at: tuple[float, float], **look: str) -> ET.Element:
    """Write a text whose line begins at a place, or has its middle or end there."""
    written = add(svg, "text", x=f"{at[0]:.1f}", y=f"{at[1]:.1f}", **{"fill": INK, **look})
    written.text = text
    return written


def add(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    """Add an element; XML's names have a dash where Python's have an underscore."""
    named = {key.replace("_", "-"): value for key, value in attributes.items()}
    return ET.SubElement(parent, tag, named)


def width_of(text: str) -> float:
    """About how wide a text is; few letters of any common font are wider."""
    return 0.6 * LETTERS * len(text)


def main() -> None:
    """Draw the lines of the file that is named."""
    print(drawn(Path(sys.argv[1]).read_text("utf-8")), end="")


if __name__ == "__main__":
    main()
