"""Linear models over the terms of a text, with weights from a data file of the package.

Promise: pure; the same terms have the same scores on every machine. What decided can be named: each term's part of a score.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, sqrt
from typing import Annotated

from pydantic import Field, TypeAdapter

UNIT = 100  # weights are written in hundredths


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearModel:
    """One score a head for the terms of a text.

    Attributes:
        provenance: what the weights were fitted on, by which script, and how well they do on what they were not fitted on.
        heads: the names of the scores.
        bias: the score of a text without a known term, in log-odds, by head.
        weights: of each known term its weight by head, in hundredths.
    """

    provenance: str
    heads: tuple[str, ...]
    bias: tuple[float, ...]
    weights: Annotated[Mapping[str, tuple[int, ...]], Field(min_length=1)]

    def scores(self, terms: Collection[str]) -> tuple[float, ...]:
        """Return the score by head, in log-odds: the bias and the sum of the known terms' weights over the root of their number."""
        rows = [row for term in terms if (row := self.weights.get(term)) is not None]
        if not rows:
            return self.bias
        scale = 1 / (UNIT * sqrt(len(rows)))
        sums = map(sum, zip(*rows, strict=True))
        return tuple(b + scale * each for b, each in zip(self.bias, sums, strict=True))

    def because(self, terms: Collection[str], head: str) -> list[tuple[str, float]]:
        """Return the known terms with what each adds to a head's score, the weightiest first."""
        at = self.heads.index(head)
        known = [(term, self.weights[term][at]) for term in terms if term in self.weights]
        scale = UNIT * sqrt(max(1, len(known)))
        parts = [(term, weight / scale) for term, weight in known]
        return sorted(parts, key=lambda part: (-abs(part[1]), part[0]))


@cache
def model(name: str) -> LinearModel:
    """Read a model of the package by the name of its file in ``language``."""
    file = files("autogen_context.language").joinpath(f"{name}.json")
    return TypeAdapter(LinearModel).validate_json(file.read_bytes())


def probability(log_odds: float) -> float:
    """Return the probability of log-odds."""
    return 1 / (1 + exp(-max(-60.0, min(60.0, log_odds))))
