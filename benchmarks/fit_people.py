"""Fit what a sentence of a person is, and whether it matters later, on sentences by many authors.

Promise: a figure is of authors whom nothing was fitted to; the files ``h1`` to ``h6`` are for a last test and are not read here.

    python benchmarks/fit_people.py [--write] [--test NAME ...]

``people/NAME.json`` has chats of one author: 16 chats by people of four to six trades. The authors are instances of a language model; none saw code, another
author's chats or an example. ``a04`` is German and French, ``a06`` Spanish and Portuguese, ``a09`` a third Italian, ``a11`` a quarter French; ``h2`` to ``h5`` have a third of
German, Spanish, French, Italian; all else is English of many kinds. A chat has

- ``messages`` of a ``person``, the ``agent`` or a ``tool``;
- ``sentences``: each of a person's in order, the index of its message, its ``kind``, and ``keep``: 3 is harm if it is lost fifty turns later, 2
  probably needed, 1 of use for some turns, 0 missed by nobody. A quarter of them were asked to matter, which is more than people say;
- ``pairs`` of sentences: the newer ``replaces``, ``withdraws`` or ``adds`` to the older, or is ``unrelated`` though alike;
- ``asks``: questions of sixty turns later, and the sentences that answer them; a quarter need none.

``people/lines*.json`` have single sentences with the same labels, by personas of further authors, half of them of a kind that is mistaken
for another: talk between friends, at a service desk, to a coding agent.

Without ``--write`` each author is left out in turn, and ``--test`` names the only ones. The model is a logistic regression a head over the
terms of ``autogen_context.language.reading``, each text scaled by the root of the number of its known terms.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

import autogen_context.language
from autogen_context.language.linear import UNIT
from autogen_context.language.reading import IN_FORCE, KINDS, MATTERS, terms_of

PEOPLE = Path(__file__).with_name("people")
LANGUAGE = Path(autogen_context.language.__file__).parent
FILES: Mapping[str, tuple[tuple[str, ...], int]] = {  # heads, and the terms that are written
    "people": ((MATTERS, IN_FORCE), 11_000),
    "kinds": (KINDS, 2_100),
}
FITTED = re.compile(r"[ah]\d+|lines\d+")  # files
RULES = {"rule", "limit", "preference"}
SAME = {"limit": "rule", **dict.fromkeys(("step", "talk", "back", "pasted"), "other")}
KEPT = 2  # from here on a sentence matters later
LEAST = 2  # sentences that a term is in
STEPS, RATE, SHRINK = 300, 0.15, 6e-6  # of the gradient; of all weights
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A sentence with its labels, and whose it is; ``file`` is left out whole in a test."""

    file: str
    text: str
    kind: str
    keep: int

    def is_of(self, head: str) -> bool:
        """Whether a head is to say yes."""
        if head == MATTERS:
            return self.keep >= KEPT
        return self.kind in RULES if head == IN_FORCE else SAME.get(self.kind, self.kind) == head


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a chat."""

    message: int
    text: str
    kind: str
    keep: Literal[0, 1, 2, 3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A chat; only what is used here."""

    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A single sentence."""

    text: str
    kind: str
    keep: Literal[0, 1, 2, 3]


def lines_of(name: str) -> list[Line]:
    """Return the sentences of a file by its name."""
    raw = (PEOPLE / f"{name}.json").read_bytes()
    if name.startswith("lines"):
        written: Sequence[Sentence | Written] = TypeAdapter(list[Written]).validate_json(raw)
    else:
        chats = TypeAdapter(list[Chat]).validate_json(raw)
        written = [sentence for chat in chats for sentence in chat.sentences]
    return [Line(file=name, text=s.text, kind=s.kind, keep=s.keep) for s in written]


class Matrix:
    """Sentences by their known terms."""

    def __init__(self, rows: Sequence[frozenset[str]], index: dict[str, int]) -> None:
        known = [[index[term] for term in row if term in index] for row in rows]
        sizes = np.array([len(row) for row in known])
        self.rows = np.repeat(np.arange(len(rows)), sizes)
        self.columns = np.array([at for row in known for at in row], dtype=np.intp)
        self.values = np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes)
        self.shape = len(rows), len(index)

    def scores(self, weights: Floats) -> Floats:
        """The score of each sentence; the last weight is the bias."""
        parts = weights[self.columns] * self.values
        sums: Floats = np.bincount(self.rows, parts, minlength=self.shape[0]) + weights[-1]
        return sums

    def slope(self, error: Floats) -> Floats:
        """The gradient of the mean loss by weight."""
        parts = error[self.rows] * self.values
        found = np.bincount(self.columns, parts, minlength=self.shape[1])
        return np.append(found, error.sum()) / self.shape[0]


def fitted(matrix: Matrix, wanted: Floats) -> Floats:
    """Return the weights of a logistic regression with a squared penalty, by Adam on all sentences at once."""
    weights = np.zeros(matrix.shape[1] + 1)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        error = 1 / (1 + np.exp(-matrix.scores(weights))) - wanted
        slope = matrix.slope(error)
        slope[:-1] += SHRINK * weights[:-1]
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        pace = RATE / (1 + 4 * step / STEPS)
        weights -= pace * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def wanted_of(lines: Sequence[Line], head: str) -> Floats:
    """Return 1 for each sentence for which a head is to say yes, else 0."""
    return np.array([float(line.is_of(head)) for line in lines])


def index_of(rows: Sequence[frozenset[str]], least: int = LEAST) -> dict[str, int]:
    """Return the column of each term that enough sentences have."""
    often = Counter(term for row in rows for term in row)
    return {term: at for at, term in enumerate(sorted(t for t, n in often.items() if n >= least))}


def area(scores: Floats, kept: Floats) -> float:
    """Return the area under the curve: how often one that is wanted ranks above one that is not."""
    ranks: Any = scores.argsort().argsort()
    yes = int(kept.sum())
    return float((ranks[kept > 0].sum() - yes * (yes - 1) / 2) / max(1, yes * (len(kept) - yes)))


def tested(lines: Sequence[Line], names: Sequence[str]) -> None:
    """Print how well the sentences of each file are told by what was learned of all others."""
    rows = [terms_of(line.text) for line in lines]
    print(
        f"{'left out':10s}{'sentences':>10s}{'matter':>8s}{'area':>7s}{'in force':>10s}{'area':>7s}"
    )
    for name in names:
        others = [i for i, line in enumerate(lines) if line.file != name]
        own = [i for i, line in enumerate(lines) if line.file == name]
        index = index_of([rows[i] for i in others])
        train, test = (Matrix([rows[i] for i in which], index) for which in (others, own))
        found: list[str] = []
        for head in (MATTERS, IN_FORCE):
            scores = test.scores(fitted(train, wanted_of([lines[i] for i in others], head)))
            kept = wanted_of([lines[i] for i in own], head)
            found.append(f"{kept.mean():8.0%}{area(scores, kept):7.3f}")
        print(f"{name:10s}{len(own):10d}{'  '.join(found)}")


def columns_of(
    lines: Sequence[Line],
    rows: Sequence[frozenset[str]],
    index: dict[str, int],
    heads: Sequence[str],
) -> list[Floats]:
    """Fit each head on the terms of an index."""
    matrix = Matrix(rows, index)
    return [fitted(matrix, wanted_of(lines, head)) for head in heads]


def written(name: str, lines: Sequence[Line], files: int) -> None:
    """Fit a file's heads on all sentences, and write the weights of the terms that move the scores most."""
    heads, most = FILES[name]
    rows = [terms_of(line.text) for line in lines]
    often = Counter(term for row in rows for term in row)
    index = index_of(rows)
    sizes = np.abs(np.array(columns_of(lines, rows, index, heads)))[:, :-1].max(axis=0)
    terms = sorted(index, key=lambda term: (-sizes[index[term]] * often[term] ** 0.5, term))[:most]
    index = {term: at for at, term in enumerate(sorted(terms))}
    columns = columns_of(lines, rows, index, heads)
    weights = {term: [round(float(c[at]) * UNIT) for c in columns] for term, at in index.items()}
    data = {
        "provenance": f"benchmarks/fit_people.py: {len(lines):,} sentences of {files} files in benchmarks/people",
        "heads": heads,
        "bias": [round(float(c[-1]), 3) for c in columns],
        "weights": weights,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    file = LANGUAGE / f"{name}.json"
    file.write_text(text.replace("],", "],\n") + "\n", encoding="utf-8")
    print(f"{name}: {len(weights):,} terms, {file.stat().st_size:,} bytes")


def main() -> None:
    """Print how well it does on authors left out, or write the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--test", nargs="*")
    options = parser.parse_args()
    names = sorted(p.stem for p in PEOPLE.glob("*.json") if FITTED.fullmatch(p.stem))
    lines = [line for name in names for line in lines_of(name)]
    if options.write:
        for name in FILES:
            written(name, lines, len(names))
    else:
        tested(lines, options.test or names)


if __name__ == "__main__":
    main()
