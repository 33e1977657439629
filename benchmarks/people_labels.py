"""What people say to agents, with what of it matters later: 288 chats by eighteen authors, and how far their labels can be learned.

Promise: a figure is of an author whom nothing was fitted to; the files ``h1`` to ``h6`` are for a last test and are not read here.

    python benchmarks/people_labels.py

``people/NAME.json`` is one author's: 16 chats by people of four to six trades. The authors are instances of a language model; none saw code, another
author's chats or an example. ``a04`` is German and French, ``a06`` Spanish and Portuguese, ``a09`` a third Italian, ``a11`` a quarter French; ``h2`` to ``h5`` have a third of
German, Spanish, French, Italian; all else is English of many kinds. A chat has

- ``messages`` of a ``person``, the ``agent`` or a ``tool``;
- ``sentences``: each of a person's in order, the index of its message, its ``kind``, and ``keep``: 3 is harm if it is lost fifty turns later, 2
  probably needed, 1 of use for some turns, 0 missed by nobody. A quarter of them were asked to matter, which is more than people say;
- ``pairs`` of sentences: the newer ``replaces``, ``withdraws`` or ``adds`` to the older, or is ``unrelated`` though alike;
- ``asks``: questions of sixty turns later, and the sentences that answer them; a quarter need none.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

PEOPLE = Path(__file__).with_name("people")
KEPT = 2  # from here on a sentence matters later
LEAST = 3  # sentences that a term is in
WORDS = re.compile(r"[^\W\d_]+|0+|[?!:]")
STEPS, RATE, SHRINK = 120, 0.5, 2e-4  # of the gradient; of the weights in each step
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a person."""

    message: int
    text: str
    kind: str
    keep: Literal[0, 1, 2, 3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A chat; only what is used here."""

    id: str
    messages: tuple[dict[str, str], ...]
    sentences: tuple[Sentence, ...]


def chats_of(author: str) -> list[Chat]:
    """The chats of an author."""
    return TypeAdapter(list[Chat]).validate_json((PEOPLE / f"{author}.json").read_bytes())


def terms_of(sentence: Sentence, chat: Chat) -> Iterator[str]:
    """What is seen of a sentence: words, pairs of words, how it begins, its form, its place in the message."""
    text = re.sub(r"\d", "0", sentence.text.lower())
    words = WORDS.findall(text)
    yield from words
    yield from map(" ".join, pairwise(words))
    yield f"begins {' '.join(words[:2])}"
    yield f"words {min(6, len(words) // 4)}"
    message = chat.messages[sentence.message]["text"]
    alone = sum(each.message == sentence.message for each in chat.sentences)
    yield f"of {min(6, alone)}"
    yield f"at {4 * message.find(sentence.text) // max(1, len(message))}"
    names = sum(word[:1].isupper() for word in sentence.text.split()[1:])
    yield f"names {min(3, names)}"
    if re.search(r"[{}<>=|\\_]", text):
        yield "code"


class Labels:
    """The sentences of authors as a matrix of their terms, and whether they matter later."""

    def __init__(self, authors: Sequence[str]) -> None:
        rows = [
            (author, sorted({*terms_of(sentence, chat)}), sentence.keep >= KEPT)
            for author in authors
            for chat in chats_of(author)
            for sentence in chat.sentences
        ]
        often = Counter(term for _, terms, _ in rows for term in terms)
        self.index = {term: at for at, term in enumerate(t for t, n in often.items() if n >= LEAST)}
        self.terms = [[self.index[t] for t in terms if t in self.index] for _, terms, _ in rows]
        self.author = np.array([author for author, _, _ in rows])
        self.kept = np.array([kept for _, _, kept in rows], dtype=np.float64)

    def fitted(self, chosen: Sequence[int]) -> Floats:
        """The weight of each term and, last, of none: logistic regression by gradient with momentum."""
        rows = np.repeat(np.arange(len(chosen)), [len(self.terms[i]) for i in chosen])
        columns = np.array([at for i in chosen for at in self.terms[i]])
        wanted, size = self.kept[[*chosen]], len(self.index)
        weights, speed = np.zeros(size + 1), np.zeros(size + 1)
        often = np.bincount(columns, minlength=size) + 1.0
        for _ in range(STEPS):
            sums = np.bincount(rows, weights[columns], minlength=len(chosen)) + weights[-1]
            error = 1 / (1 + np.exp(-sums)) - wanted
            slope = np.bincount(columns, error[rows], minlength=size) / np.sqrt(often) / 10
            speed = 0.9 * speed - RATE * np.append(slope / 10, error.mean())
            weights = weights * (1 - SHRINK) + speed
        return weights

    def scores(self, chosen: Sequence[int], weights: Floats) -> Floats:
        """The score of each sentence."""
        return np.array([weights[self.terms[i]].sum() + weights[-1] for i in chosen])


def area(scores: Floats, kept: Floats) -> float:
    """The area under the curve: how often a sentence that matters is ranked above one that does not."""
    ranks: Any = scores.argsort().argsort()
    yes = int(kept.sum())
    return float((ranks[kept > 0].sum() - yes * (yes - 1) / 2) / (yes * (len(kept) - yes)))


def main() -> None:
    """Print how each author's sentences are ranked by what was learned of all others."""
    authors = sorted(path.stem for path in PEOPLE.glob("a*.json"))
    labels = Labels(authors)
    print(f"{len(labels.kept):,} sentences, {labels.kept.mean():.0%} matter later")
    for author in authors:
        others = np.flatnonzero(labels.author != author).tolist()
        own = np.flatnonzero(labels.author == author).tolist()
        scores = labels.scores(own, labels.fitted(others))
        print(f"{author}  area {area(scores, labels.kept[own]):.3f}")


if __name__ == "__main__":
    main()
