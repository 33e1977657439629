"""Learn whether a sentence of a person gives an agent a job, and whether that comes on top of the one before.

Promise: a figure is of authors whom nothing was fitted to.

    python benchmarks/fit_goals.py [--write]

A job is what ``fit_people`` has as ``task``. Its authors had a job of many days in mind, and hardly any agent at a machine: so
``people/goals.json`` adds sentences to such agents in eight languages, all by one author. Their ``job`` is 2 for a job, 1 for an order for
the step at hand, 0 for neither; ``adds`` says that a job comes on top. An order counts as a little of a job, so that of messages
without one the likeliest is found. Nobody else wrote ``adds``: of that head there is no figure.

Without ``--write`` each author of chats is left out in turn. A message is as much of a job as its likeliest sentence; of messages with
none, those with an order or a question, those with talk alone, and others are told apart.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from fit_people import (
    FITTED,
    LANGUAGE,
    PEOPLE,
    Chat,
    Floats,
    Matrix,
    area,
    fitted,
    index_of,
    lines_of,
)
from pydantic import BaseModel, TypeAdapter

from autogen_context.language.goal import ADDS, JOB
from autogen_context.language.linear import UNIT
from autogen_context.language.reading import terms_of

GOALS = PEOPLE / "goals.json"
MOST_TERMS = 2_900  # that are written
REPEATED = 3  # times that a sentence of ``goals.json`` counts: they are few
JOBS: Mapping[str, float] = {
    "task": 1.0,
    "step": 0.02,
}  # how much of a job a kind is; others are none
WRITTEN_JOBS = (0.0, 0.15, 1.0)
# Log-odds from which a message extends and replaces a sure goal, as in ``view/goal.py``.
SURE, ANOTHER = -1.0, 0.5
Label = Literal["job", "order", "talk", "other"]


class Written(BaseModel):
    """A sentence of ``goals.json``."""

    text: str
    job: Literal[0, 1, 2]
    adds: bool


class Wanted(NamedTuple):
    """A sentence and how far it gives a job; ``adds`` is ``None`` where nobody said so."""

    text: str
    job: float
    adds: bool | None = None


def wanted_in(name: str) -> list[Wanted]:
    """Return the sentences of a file that ``fit_people`` reads."""
    return [Wanted(line.text, JOBS.get(line.kind, 0.0)) for line in lines_of(name)]


def written_goals() -> list[Wanted]:
    """Return the sentences of ``goals.json``."""
    rows = TypeAdapter(list[Written]).validate_json(GOALS.read_bytes())
    return [Wanted(row.text, WRITTEN_JOBS[row.job], row.adds if row.job else None) for row in rows]


class Learned(NamedTuple):
    """The weights of each head by the column of a term, the last one the bias."""

    columns: dict[str, int]
    job: Floats
    adds: Floats

    def jobs(self, texts: Sequence[str]) -> Floats:
        """Return the log-odds that sentences give a job."""
        return Matrix([terms_of(text) for text in texts], self.columns).scores(self.job)


def learned(lines: Sequence[Wanted]) -> Learned:
    """Fit both heads on the terms that move a score most."""
    rows = [terms_of(line.text) for line in lines]
    often = Counter(term for row in rows for term in row)
    told = [at for at, line in enumerate(lines) if line.adds is not None]
    jobs = np.array([line.job for line in lines])
    adds = np.array([float(lines[at].adds or False) for at in told])

    def both(index: dict[str, int]) -> Learned:
        told_rows = [rows[at] for at in told]
        return Learned(
            index, fitted(Matrix(rows, index), jobs), fitted(Matrix(told_rows, index), adds)
        )

    whole = both(index_of(rows))
    sizes = np.maximum(np.abs(whole.job), np.abs(whole.adds))
    best = sorted(whole.columns, key=lambda t: (-sizes[whole.columns[t]] * often[t] ** 0.5, t))
    return both({term: at for at, term in enumerate(sorted(best[:MOST_TERMS]))})


def label_of(kinds: set[str]) -> Label:
    """Return what a message is by the kinds of its sentences."""
    if "task" in kinds:
        return "job"
    return "order" if "step" in kinds else "talk" if kinds == {"talk"} else "other"


def tested(by_file: Mapping[str, Sequence[Wanted]], own: Sequence[Wanted]) -> None:
    """Print how well the messages of each author are told by what was learned of all others."""
    shares = defaultdict[Label, list[float]](list)
    for name in (name for name in by_file if not name.startswith("lines")):
        model = learned([*(w for each in by_file if each != name for w in by_file[each]), *own])
        scores: list[float] = []
        labels: list[Label] = []
        for chat in TypeAdapter(list[Chat]).validate_json((PEOPLE / f"{name}.json").read_bytes()):
            of_chat = model.jobs([sentence.text for sentence in chat.sentences])
            kinds, best = defaultdict[int, set[str]](set), dict[int, float]()
            for sentence, score in zip(chat.sentences, of_chat, strict=True):
                kinds[sentence.message].add(sentence.kind)
                best[sentence.message] = max(float(score), best.get(sentence.message, -99.0))
            for message, score in best.items():
                labels.append(label_of(kinds[message]))
                scores.append(score)
                shares[labels[-1]].append(score)
        is_job = np.array([float(label == "job") for label in labels])
        print(f"{name:6s}{len(scores):6d}{area(np.array(scores), is_job):7.3f}", flush=True)
    for label, found in shares.items():
        sure, another = (np.mean(np.array(found) >= least) for least in (SURE, ANOTHER))
        print(f"{label:6s}{len(found):6d}{sure:7.1%} sure{another:7.1%} another")


def written(lines: Sequence[Wanted], files: int) -> None:
    """Fit on all sentences, and write the weights."""
    found = learned(lines)
    columns = found.job, found.adds
    data = {
        "provenance": f"benchmarks/fit_goals.py: {len(lines):,} sentences of {files} files in benchmarks/people",
        "heads": [JOB, ADDS],
        "bias": [round(float(column[-1]), 3) for column in columns],
        "weights": {
            term: [round(float(column[at]) * UNIT) for column in columns]
            for term, at in found.columns.items()
        },
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    file = LANGUAGE / "goal.json"
    file.write_text(text.replace("],", "],\n") + "\n", encoding="utf-8")
    print(f"{len(found.columns):,} terms, {file.stat().st_size:,} bytes")


def main() -> None:
    """Print how well it does on authors left out, or write the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = sorted(p.stem for p in PEOPLE.glob("*.json") if FITTED.fullmatch(p.stem))
    by_file = {name: wanted_in(name) for name in names}
    own = written_goals() * REPEATED
    if options.write:
        written([*(line for each in by_file.values() for line in each), *own], len(names) + 1)
    else:
        tested(by_file, own)


if __name__ == "__main__":
    main()
