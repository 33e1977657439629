"""Draw the seconds to a model's first token, turn by turn, each way of managing a context with a line of its own.

Promise: the same seconds give the same picture. The first line is drawn in front; where a request was refused there is a gap
in the line, and a cross below it.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import ceil
from statistics import fmean
from xml.etree import ElementTree as ET

from curve import GRID, INK, PAPER, QUIET, add, stroke, write

HEADING = "Seconds to the first token, request by request"
WIDTH, HEIGHT = 960, 480
LEFT, TOP, RIGHT, BOTTOM = 60, 60, 690, 430  # of the plot; names stand right of it
COLOURS = (
    "#0072b2",
    "#999999",
    "#d55e00",
    "#e69f00",
    "#7a4f9a",
    "#cc79a7",
    "#8c6d31",
    "#5f9e6e",
    "#56b4e9",
    "#444444",
)
Seconds = Sequence[float | None]


def drawn(lines: Mapping[str, Seconds]) -> str:
    """An SVG picture with a title and a description; a request that was refused has no seconds."""
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {HEIGHT}",
            "role": "img",
            "aria-labelledby": "title desc",
            "font-family": "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif",
            "font-size": "14",
        },
    )
    add(svg, "title", id="title").text = HEADING
    add(svg, "desc", id="desc").text = " ".join(in_words(*line) for line in lines.items())
    add(svg, "rect", width=str(WIDTH), height=str(HEIGHT), rx="8", fill=PAPER)
    write(svg, HEADING, (LEFT, 30), font_size="19", font_weight="600")
    write(svg, "request", ((LEFT + RIGHT) / 2, HEIGHT - 6), text_anchor="middle", fill=QUIET)
    requests = max(map(len, lines.values()))
    most = ceil(max(s for line in lines.values() for s in line if s is not None) / 2) * 2
    for second in range(0, most + 1, 2):
        y = BOTTOM - (BOTTOM - TOP) * second / most
        stroke(svg, [(LEFT, y), (RIGHT, y)], GRID)
        write(svg, f"{second} s", (LEFT - 8, y + 5), text_anchor="end", fill=QUIET)
    for number in range(5, requests + 1, 5):
        x = LEFT + (RIGHT - LEFT) * (number - 1) / (requests - 1)
        write(svg, str(number), (x, BOTTOM + 28), text_anchor="middle", fill=QUIET)
    named = list(zip(COLOURS, lines.items(), strict=False))
    for colour, (_, line) in reversed(named):
        draw(svg, line, colour, requests, most, front=colour == COLOURS[0])
    for i, (colour, (name, line)) in enumerate(named):
        y = TOP + 12 + 36 * i
        stroke(svg, [(RIGHT + 16, y - 4), (RIGHT + 40, y - 4)], colour, 4 if i == 0 else 2)
        write(svg, name, (RIGHT + 48, y), fill=INK, font_weight="600" if i == 0 else "400")
        write(svg, in_words("", line).strip(" ."), (RIGHT + 48, y + 15), fill=QUIET, font_size="12")
    ET.indent(svg)
    return ET.tostring(svg).decode("ascii") + "\n"


def draw(
    svg: ET.Element, line: Seconds, colour: str, requests: int, most: float, *, front: bool
) -> None:
    """One line, in pieces between refused requests."""
    wide, high = (RIGHT - LEFT) / max(1, requests - 1), (BOTTOM - TOP) / most
    numbered = [(LEFT + wide * i, s) for i, s in enumerate(line)]
    for there, piece in groupby(numbered, key=lambda each: each[1] is not None):
        places = [(x, BOTTOM - high * (s or 0.0)) for x, s in piece]
        if there:
            stroke(svg, places, colour, 3.5 if front else 1.5)
        else:
            for x, _ in places:
                stroke(svg, [(x - 3, BOTTOM + 5), (x + 3, BOTTOM + 11)], colour, 1.5)
                stroke(svg, [(x - 3, BOTTOM + 11), (x + 3, BOTTOM + 5)], colour, 1.5)


def in_words(name: str, line: Seconds) -> str:
    """A line for those who do not see it."""
    answered = [seconds for seconds in line if seconds is not None]
    refused = f", {len(line) - len(answered)} refused" if len(answered) < len(line) else ""
    return f"{name} {fmean(answered or [0.0]):.1f} s on average{refused}."
