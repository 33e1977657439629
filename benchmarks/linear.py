"""How long texts that nobody should send take, by each way through the package (``text_paths.py``), and how that grows.

Usage: python benchmarks/linear.py [PART OF A WAY'S NAME [PART OF A TEXT'S NAME]] [--chars 1000000] [--most 1.0]

Seconds of the processor for a text and for a quarter of it. Without names the ways of whole turns are taken. A line is
printed for what takes longer than ``--most`` seconds, or more than six times as long as the quarter; a way's slowest text in any case.
"""

import argparse
import gc
import time
from collections.abc import Callable

from text_paths import INPUTS, PATHS

LEAST_S = 0.05  # below, a ratio says nothing
MOST_RATIO = 6.0


def seconds(way: Callable[[str], object], text: str) -> float:
    """Seconds of the processor for a text."""
    gc.collect()
    gc.disable()
    try:
        started_s = time.thread_time()
        way(text)
        return time.thread_time() - started_s
    finally:
        gc.enable()


def main() -> None:
    """Print what takes long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", nargs="?", default="turn: ")
    parser.add_argument("text", nargs="?", default="")
    parser.add_argument("--chars", type=int, default=1_000_000)
    parser.add_argument("--most", type=float, default=1.0)
    asked = parser.parse_args()
    for name, way in PATHS.items():
        if asked.way not in name:
            continue
        way("The port is 80. Never use another one.\n")  # what is built once
        slowest = 0.0, ""
        for kind, made in INPUTS.items():
            if asked.text not in kind:
                continue
            quarter_s, whole_s = (seconds(way, made(n)) for n in (asked.chars // 4, asked.chars))
            slowest = max(slowest, (whole_s, kind))
            if whole_s > asked.most or (whole_s > LEAST_S and whole_s > MOST_RATIO * quarter_s):
                ratio = whole_s / quarter_s
                print(f"{name:40} {kind:30} {quarter_s:8.3f} s {whole_s:8.3f} s {ratio:6.1f}")
        print(f"{name:40} slowest: {slowest[1]}, {slowest[0]:.3f} s", flush=True)


if __name__ == "__main__":
    main()
