"""The picture of the README: tokens of each request, sent in three ways, as an SVG for light and dark pages.

Promise: it is drawn from the run alone; the same run gives the same picture, byte by byte.
"""

from collections.abc import Iterator, Sequence
from html import escape
from math import log2

from bill import Way
from result import Run

WIDTH, HEIGHT = 820, 430
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 104, 40
LEAST, MOST = 600, 96_000  # tokens at the ends of the axis, which has a step for each doubling
KINDS = ("everything", "sliding", "ours")
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #57606a }
.head { font-size: 16px; font-weight: 600; fill: #1f2328 }
.grid { stroke: #d0d7de }
.window { stroke: #57606a; stroke-dasharray: 5 4 }
polyline { fill: none; stroke-width: 2 }
.everything { stroke: #b35900 } text.everything { fill: #b35900; stroke: none }
.sliding { stroke: #8250df } text.sliding { fill: #8250df; stroke: none }
.ours { stroke: #0969da; stroke-width: 3 } text.ours { fill: #0969da; stroke: none; font-weight: 600 }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 } .head { fill: #f0f6fc } .grid { stroke: #3d444d } .window { stroke: #9198a1 }
.everything { stroke: #f0883e } text.everything { fill: #f0883e }
.sliding { stroke: #bc8cff } text.sliding { fill: #bc8cff }
.ours { stroke: #58a6ff } text.ours { fill: #58a6ff }
}
"""


def drawing(run: Run) -> str:
    """The picture."""
    ways = run.bill.ways
    described = "; ".join(map(described_way, ways))
    head = f"One conversation, {len(ways[0].requests)} requests, a window of {run.window_tokens:,} tokens"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="t d">',
        f'<title id="t">{escape(head)}</title><desc id="d">{escape(described)}</desc><style>{STYLE}</style>',
        f'<text class="head" x="14" y="26">{escape(head)}</text>',
        *(
            legend(kind, way, 48 + 18 * i)
            for i, (kind, way) in enumerate(zip(KINDS, ways, strict=True))
        ),
        f'<text x="{WIDTH - RIGHT}" y="84" text-anchor="end">tokens of each request; crosses: rejected</text>',
        *axis(run.window_tokens),
        *(
            part
            for kind, way in zip(KINDS, ways, strict=True)
            for part in line(kind, way, run.window_tokens)
        ),
        f'<text x="{LEFT}" y="{HEIGHT - 10}">request 1</text>',
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 10}" text-anchor="end">request {len(ways[0].requests)}</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def described_way(way: Way) -> str:
    """A way in words."""
    return f"{way.name}: {way.rejected} rejected, input for ${way.dollars:.2f}, {way.kept:.0%} of the values kept"


def legend(kind: str, way: Way, y: int) -> str:
    """A way's line of the legend, in its colour."""
    return f'<text class="{kind}" x="14" y="{y}">━ {escape(described_way(way))}</text>'


def axis(window_tokens: int) -> Iterator[str]:
    """A line for each doubling of tokens, and the window."""
    for thousand in (1, 2, 4, 8, 16, 32, 64):
        at = y_of(thousand * 1_000)
        yield f'<path class="grid" d="M{LEFT} {at}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 8}" y="{at + 4}" text-anchor="end">{thousand}k</text>'
    yield f'<path class="window" d="M{LEFT} {y_of(window_tokens)}H{WIDTH - RIGHT}"/>'
    yield f'<text x="{WIDTH - RIGHT}" y="{y_of(window_tokens) - 6}" text-anchor="end">the window</text>'


def line(kind: str, way: Way, window_tokens: int) -> Iterator[str]:
    """The tokens of each request, and a cross on each that is rejected."""
    tokens = [request.tokens for request in way.requests]
    points = [(x_of(i, tokens), y_of(each)) for i, each in enumerate(tokens)]
    yield f'<polyline class="{kind}" points="{" ".join(f"{x},{y}" for x, y in points)}"/>'
    crosses = "".join(
        f"M{x - 3} {y - 3}l6 6m0 -6l-6 6"
        for (x, y), each in zip(points, tokens, strict=True)
        if each > window_tokens
    )
    if crosses:
        yield f'<path class="{kind}" stroke-width="1.5" d="{crosses}"/>'


def x_of(i: int, tokens: Sequence[int]) -> int:
    """Where a request stands."""
    return LEFT + round(i / (len(tokens) - 1) * (WIDTH - LEFT - RIGHT))


def y_of(tokens: int) -> int:
    """Where a number of tokens stands, by its logarithm."""
    share = log2(max(tokens, LEAST) / LEAST) / log2(MOST / LEAST)
    return HEIGHT - BOTTOM - round(share * (HEIGHT - TOP - BOTTOM))
