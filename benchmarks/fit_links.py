"""Fit whether a newer sentence of a person changes an older one or takes it back, on the pairs that authors marked.

Promise: a figure is of authors whom nothing was fitted to; the files ``h1`` to ``h6`` are not read.

    python benchmarks/fit_links.py [--write]

Pairs are those that ``autogen_context.language.links`` compares in a chat: a newer sentence and an older one with a stem in common. Yes is
``replaces`` or ``withdraws``; no is ``adds``, ``unrelated``, and whatever nobody marked.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fit_people import PEOPLE, Floats, Sentence, area
from pydantic import TypeAdapter

import autogen_context.language
from autogen_context.language.links import Links, Stated
from autogen_context.language.reading import reading_of

WEIGHTS = Path(autogen_context.language.__file__).with_name("links.json")
CHANGES = {"replaces", "withdraws"}
STEPS, PENALTY = 12, 1.0  # of Newton's method; on the squares of the weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two sentences of a chat, by their numbers in it."""

    older: int
    newer: int
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A chat; only what is used here."""

    sentences: tuple[Sentence, ...]
    pairs: tuple[Pair, ...]


def compared(name: str) -> tuple[list[dict[str, float]], list[bool]]:
    """Return what is seen of the pairs of an author that are compared, and whether the newer changes the older."""
    seen: list[dict[str, float]] = []
    changes: list[bool] = []
    for chat in TypeAdapter(list[Chat]).validate_json((PEOPLE / f"{name}.json").read_bytes()):
        marked = {(pair.older, pair.newer) for pair in chat.pairs if pair.relation in CHANGES}
        links = Links()
        for at, sentence in enumerate(chat.sentences):
            new = Stated.of(sentence.text, reading_of(sentence.text).corrects)
            for older, found in links.compared(new):
                seen.append(found)
                changes.append((older, at) in marked)
            links.add(new)
    return seen, changes


def fitted(rows: Floats, wanted: Floats) -> Floats:
    """Return the weights and, last, the bias of a logistic regression with a squared penalty, by Newton's method."""
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    weights = np.zeros(rows.shape[1])
    penalty = PENALTY * np.diag([1.0] * (rows.shape[1] - 1) + [0.0])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (chance - wanted) + penalty @ weights
        curve = (rows * (chance * (1 - chance))[:, None]).T @ rows + penalty
        weights -= np.linalg.solve(curve, slope)
    return weights


def tested(names: Sequence[str], rows: Floats, wanted: Floats, author: Sequence[str]) -> None:
    """Print how well an author's pairs are told by what was learned of all others."""
    for name in names:
        own = np.array([each == name for each in author])
        weights = fitted(rows[~own], wanted[~own])
        scores = rows[own] @ weights[:-1] + weights[-1]
        print(
            f"{name}: {int(wanted[own].sum())} of {own.sum():,}, area {area(scores, wanted[own]):.3f}"
        )


def main() -> None:
    """Print how well it does on authors left out, or write the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = sorted(path.stem for path in PEOPLE.glob("a*.json"))
    seen: list[dict[str, float]] = []
    changes: list[bool] = []
    author: list[str] = []
    for name in names:
        new, labels = compared(name)
        seen += new
        changes += labels
        author += [name] * len(new)
    signs = list(seen[0])
    rows = np.array([[each[sign] for sign in signs] for each in seen])
    wanted = np.array(changes, dtype=np.float64)
    if not options.write:
        tested(names, rows, wanted, author)
        return
    weights = fitted(rows, wanted)
    data = {
        "provenance": f"benchmarks/fit_links.py: {len(seen):,} pairs of {len(names)} authors in benchmarks/people",
        "bias": round(float(weights[-1]), 4),
        "weights": {
            sign: round(float(weight), 4) for sign, weight in zip(signs, weights[:-1], strict=True)
        },
    }
    WEIGHTS.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(WEIGHTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
