"""Fit whether a query looks back: its wording (``language/gate.json``), and its wording with what is known out of sight.

Promise: a figure is of sources that nothing was fitted to; the files ``h1`` to ``h6`` are for a last test and are not read here.

    python benchmarks/fit_gate.py [--talk FILE ...] [--questions FILE ...] [--write]

What looks back are the ``asks`` of ``people/a*.json`` that need an earlier sentence, sentences of the kind ``back``, and the queries of
``queries.json`` and ``tests/language/recall_queries.json``. What does not are all other messages of people in these chats, asks that
need nothing, and casual queries. ``--talk`` adds conversations in which nobody looks back, one a line, a list of messages as in ``people``;
``--questions`` adds texts of which the world has the answer, one a line. Each query stands behind a history of other conversations, with
the last 3,000 tokens in sight (``gate.py`` has the same).

Without ``--write`` each source is left out in turn. Wording is a logistic regression a head over ``query_terms`` of sentences; what is
known is weighed by another one over a dozen numbers, with the wording's scores of folds of sources that these were not fitted to.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from random import Random

import numpy as np
from fit_people import Floats, Matrix, area, index_of
from gate import BESIDE, Chat, Query, chats_of, ending, situations
from pydantic import TypeAdapter

import autogen_context.language
import autogen_context.recall
from autogen_context.language.linear import UNIT
from autogen_context.language.query import (
    END_CHARS,
    Wording,
    asked_sentences,
    is_question,
    query_terms,
)
from autogen_context.messages.message import Message
from autogen_context.recall.evidence import Evidence, weighed
from autogen_context.recall.recaller import Recaller
from autogen_context.text.memo import Memo
from autogen_context.text.work import ends_of

HERE = Path(__file__).parent
PEOPLE = HERE / "people"
LABELLED = HERE.parent / "tests" / "language" / "recall_queries.json"
GATE = Path(autogen_context.language.__file__).with_name("gate.json")
EVIDENCE = Path(autogen_context.recall.__file__).with_name("evidence.json")
HEADS = ("recall", "asks", "summary")
LEAST = 3  # sentences that a term is in
MOST_TERMS = 3_600  # written
STEPS, RATE = 80, 0.15
SHRINK = {"recall": 3e-6, "asks": 1e-5, "summary": 3e-6}
POSITIVE = 4.0  # weight of a sentence that looks back
FOLDS = 4
SHUT = 100.0  # taken from the log-odds of what stays shut
OTHERS = 30  # conversations behind which a further one stands
LEAST_ODDS = 0.25  # of the second model, from which the gate opens
LEAST_ASKS = -1.5  # of the wording, below which it stays shut
Indexed = tuple[dict[str, int], list[Floats]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A query in its place, and what it is: 0 looks back to nothing, 1 to something, 2 asks for a summary."""

    source: str
    text: str
    label: int
    evidence: Evidence
    is_said: bool = True  # in so many words

    @property
    def sentences(self) -> list[str]:
        """Its sentences; of what looks back those that ask."""
        found = asked_sentences(ends_of(self.text, END_CHARS)) or [""]
        if self.label and len(found) > 1:
            found = [each for each in found if is_question(each)] or found[-1:]
        return found


def rows_of_chats(source: str, chats: Sequence[Chat]) -> Iterator[Row]:
    """Yield the messages and questions of one author's chats, each behind the others."""
    for said in situations(chats):
        evidence = said.memory.evidence(said.text, said.in_sight)
        yield Row(
            source=source,
            text=said.text,
            label=int(said.looks_back),
            evidence=evidence,
            is_said=not said.is_ask,
        )


def people() -> list[tuple[str, list[Chat]]]:
    """Return the chats of each author that may be fitted to."""
    return [(path.stem, chats_of(path)) for path in sorted(PEOPLE.glob("a*.json"))]


def queries() -> list[tuple[str, str, int, str]]:
    """Return our labelled queries: source, text, label, and what was said before."""
    found: list[tuple[str, str, int, str]] = []
    kinds = {"casual": 0, "recall": 1, "summary": 2}
    for half, groups in json.loads(LABELLED.read_text("utf-8")).items():
        for listed in groups.values():
            found += [(half, text, kinds[kind], "") for kind, ts in listed.items() for text in ts]
    for query in TypeAdapter(list[Query]).validate_json(BESIDE.read_bytes()):
        found.append(("queries", query.text, int(query.recall), query.earlier))
    return found


def behind(chats: Sequence[Chat], given: Sequence[tuple[str, str, int, str]]) -> Iterator[Row]:
    """Yield queries behind an author's chats, and behind what was said before them."""
    history = list(chain.from_iterable(chat.said() for chat in chats))
    plain = Recaller()
    plain.read(history)
    for source, text, label, earlier in given:
        memory = plain
        if earlier:
            memory = Recaller()
            memory.read([Message(role="user", text=earlier), *history])
        evidence = memory.evidence(text, ending(history))
        yield Row(source=source, text=text, label=label, evidence=evidence)


def rows(talk: Sequence[Path], questions: Sequence[Path]) -> list[Row]:
    """Return all that is fitted to."""
    authors, found = people(), list[Row]()
    for name, chats in authors:
        found += rows_of_chats(name, chats)
    chance = Random(1)  # noqa: S311 - the same rows each time
    given = queries()
    for path in questions:
        given += [(path.stem, text, 0, "") for text in path.read_text("utf-8").splitlines() if text]
    shuffled = chance.sample(given, len(given))
    for n, (_, chats) in enumerate(authors):
        found += behind(chats[:8], shuffled[n :: len(authors)])
    for path in talk:
        listed = TypeAdapter(list[list[dict[str, str]]])
        lines = path.read_text("utf-8").splitlines()
        conversations = [
            Chat(messages=tuple(each)) for each in listed.validate_json(f"[{','.join(lines)}]")
        ]
        for at in range(0, len(conversations), OTHERS):
            found += rows_of_chats(path.stem, conversations[at : at + OTHERS])
    return found


# ---- wording


def learned(rows: Sequence[Row], most: int | None = MOST_TERMS) -> Indexed:
    """Fit the heads of the wording, on at most so many terms."""
    terms: list[frozenset[str]] = []
    labels: list[tuple[Row, float]] = []
    seen = set[str]()
    for row in rows:
        if row.text in seen:
            continue
        seen.add(row.text)
        sentences = row.sentences
        terms += map(query_terms, sentences)
        labels += [(row, POSITIVE / len(sentences) if row.label else 1.0)] * len(sentences)
    index = index_of(terms, LEAST)
    columns = heads_of(Matrix(terms, index), labels)
    if most is not None and len(index) > most:
        often = Counter(term for row in terms for term in row)
        sizes = np.abs(np.array(columns))[:, :-1].max(axis=0)
        worth = {term: sizes[at] * often[term] ** 0.5 for term, at in index.items()}
        kept = sorted(index, key=lambda term: (-worth[term], term))[:most]
        index = {term: at for at, term in enumerate(sorted(kept))}
        columns = heads_of(Matrix(terms, index), labels)
    return index, columns


def heads_of(matrix: Matrix, labels: Sequence[tuple[Row, float]]) -> list[Floats]:
    """Fit each head; a head leaves out what it has no label for."""
    columns: list[Floats] = []
    for head in HEADS:
        wanted = np.array(
            [row.label == 2 if head == "summary" else row.label > 0 for row, _ in labels]
        )
        weight = np.array([weight for _, weight in labels])
        for at, (row, _) in enumerate(labels):
            unknown = head == "recall" and row.label and not row.is_said
            unknown = unknown or (head == "summary" and row.label == 1 and row.source == "queries")
            weight[at] = 0.0 if unknown else weight[at]
        columns.append(fitted(matrix, wanted.astype(float), weight, SHRINK[head]))
    return columns


def fitted(matrix: Matrix, wanted: Floats, weight: Floats, shrink: float) -> Floats:
    """Return the weights of a logistic regression with a squared penalty, by Adam on all sentences at once."""
    weights = np.zeros(matrix.shape[1] + 1)
    mean, square, total = np.zeros_like(weights), np.zeros_like(weights), weight.sum()
    for step in range(1, STEPS + 1):
        error = (1 / (1 + np.exp(-matrix.scores(weights))) - wanted) * weight
        slope = matrix.slope(error) * matrix.shape[0] / total
        slope[:-1] += shrink * weights[:-1]
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        pace = RATE / (1 + 4 * step / STEPS)
        weights -= pace * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def wordings(model: Indexed, rows: Sequence[Row]) -> Floats:
    """Return for each row the highest score of its sentences by head."""
    index, columns = model
    texts = [asked_sentences(ends_of(row.text, END_CHARS)) or [""] for row in rows]
    flat = [query_terms(sentence) for sentences in texts for sentence in sentences]
    matrix = Matrix(flat, index)
    scores = np.column_stack([matrix.scores(column) for column in columns])
    starts = np.cumsum([0, *map(len, texts)])[:-1]
    return np.maximum.reduceat(scores, starts, axis=0)


def crossed(rows: Sequence[Row]) -> Floats:
    """Return the wording's scores of each row by what was learned of other sources."""
    sources = sorted({row.source for row in rows})
    fold = {source: at % FOLDS for at, source in enumerate(sources)}
    scores = np.zeros((len(rows), len(HEADS)))
    for n in range(FOLDS):
        own = [i for i, row in enumerate(rows) if fold[row.source] == n]
        model = learned([row for row in rows if fold[row.source] != n])
        scores[own] = wordings(model, [rows[i] for i in own])
    return scores


# ---- wording and what is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """The second model: a weight a feature."""

    names: tuple[str, ...]
    bias: float
    weights: Floats

    def scores(self, rows: Sequence[Row], wording: Floats) -> Floats:
        """Return the log-odds of each row."""
        return features_of(rows, wording)[1] @ self.weights + self.bias


def features_of(rows: Sequence[Row], wording: Floats) -> tuple[tuple[str, ...], Floats]:
    """Return names and numbers of what is weighed, by row."""
    found = [
        weighed(Wording(float(recall), float(asks), "", "casual", ""), row.evidence)
        for row, (recall, asks, _) in zip(rows, wording, strict=True)
    ]
    names = tuple(found[0])
    return names, np.array([[each[name] for name in names] for each in found])


def weighing(rows: Sequence[Row], wording: Floats) -> Weighing:
    """Fit the second model: each source and label counts by the root of its number, both answers alike."""
    names, features = features_of(rows, wording)
    wanted = np.array([float(row.label > 0) for row in rows])
    often = Counter((row.source, row.label > 0, row.is_said) for row in rows)
    weight = np.array([often[row.source, row.label > 0, row.is_said] ** -0.5 for row in rows])
    weight[wanted > 0] *= weight[wanted == 0].sum() / weight[wanted > 0].sum()
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    inputs: Floats = np.column_stack([(features - mean) / spread, np.ones(len(rows))])
    found = by_newton(inputs, wanted, weight)
    weights: Floats = found[:-1] / spread
    return Weighing(names=names, bias=float(found[-1] - mean @ weights), weights=weights)


def by_newton(inputs: Floats, wanted: Floats, weight: Floats) -> Floats:
    """Return the weights of a logistic regression of weighted rows."""
    found = np.zeros(inputs.shape[1])
    for _ in range(30):
        found = found - newton_step(inputs, wanted, weight / weight.sum(), found)
    return found


def newton_step(inputs: Floats, wanted: Floats, share: Floats, found: Floats) -> Floats:
    """Return by how much a step of Newton's method changes the weights; ``share`` is that of each row."""
    penalty = 1e-3 * np.eye(inputs.shape[1])
    odds = 1 / (1 + np.exp(-inputs @ found))
    slope = inputs.T @ ((odds - wanted) * share) + penalty @ found
    bend = (inputs * (share * odds * (1 - odds))[:, None]).T @ inputs + penalty
    return np.linalg.solve(bend, slope).astype(np.float64)


def written(rows: Sequence[Row]) -> None:
    """Fit all and write the weights."""
    second = weighing(rows, crossed(rows))
    index, columns = learned(rows)
    sources = Counter(row.source for row in rows)
    said = ", ".join(f"{name} {number:,}" for name, number in sorted(sources.items()))
    provenance = f"benchmarks/fit_gate.py: {len(rows):,} queries: {said}"
    weights = {term: [round(float(c[at]) * UNIT) for c in columns] for term, at in index.items()}
    data = {
        "provenance": provenance,
        "heads": HEADS,
        "bias": [round(float(c[-1]), 3) for c in columns],
        "weights": weights,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    GATE.write_text(text.replace("],", "],\n") + "\n", encoding="utf-8")
    known = {
        "provenance": provenance,
        "bias": round(second.bias, 3),
        "least": LEAST_ODDS,
        "least_asks": LEAST_ASKS,
        "weights": {
            n: round(float(w), 3) for n, w in zip(second.names, second.weights, strict=True)
        },
    }
    EVIDENCE.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    print(f"{len(weights):,} terms, {GATE.stat().st_size:,} bytes; {known['weights']}")


def tested(rows: Sequence[Row], groups: Sequence[Sequence[str]]) -> None:
    """Print for each group of sources, left out, how much of what looks back opens the gate, and how much of all else."""
    print(
        f"{'left out':22s}{'wording':>9s}{'else':>7s}{'area':>7s}{'weighed':>9s}{'else':>7s}{'area':>7s}"
    )
    for group in groups:
        others = [row for row in rows if row.source not in group]
        own = [row for row in rows if row.source in group]
        second, wording = weighing(others, crossed(others)), wordings(learned(others), own)
        weighed_scores = second.scores(own, wording) - LEAST_ODDS
        weighed_scores[wording[:, 1] < LEAST_ASKS] -= SHUT
        for label, which in (("asks", False), ("said", True)):
            at = [i for i, row in enumerate(own) if row.is_said is which]
            if not at:
                continue
            wanted = np.array([float(own[i].label > 0) for i in at])
            line = f"{' '.join(group)[:16]:17s}{label:5s}"
            for scores in (wording[at, 0], weighed_scores[at]):
                line += "".join(
                    f"{(scores[wanted == answer] > 0).mean() if (wanted == answer).any() else float('nan'):8.1%}"
                    for answer in (1, 0)
                )
                line += f"{area(scores, wanted):7.3f}"
            print(line, flush=True)


def main() -> None:
    """Print how well it does on sources left out, or write the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--talk", type=Path, nargs="*", default=[])
    parser.add_argument("--questions", type=Path, nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with Memo().in_use():
        found = rows(options.talk, options.questions)
    if options.write:
        written(found)
        return
    names = [path.stem for path in sorted(PEOPLE.glob("a*.json"))]
    others = sorted({row.source for row in found} - set(names))
    tested(found, [names[0::3], names[1::3], names[2::3], *([name] for name in others)])


if __name__ == "__main__":
    main()
