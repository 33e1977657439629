"""How well documents are found by words, what it costs, and what a score means.

Usage: python benchmarks/relevance.py

The documents are functions of Python's own library without their docstrings, the queries the first sentences of these.
``by_words`` is a manager for anybody's referee of recall: it is given a budget in tokens and returns a function from
messages, the last of them a question, to the messages that answer it.
"""

import ast
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from statistics import mean, median

from material import tokenizer
from side_by_side import medians, ms, table

from autogen_context.language.terms import terms
from autogen_context.messages.message import Message
from autogen_context.prioritizer.attention import LexicalIndex
from autogen_context.recall.recaller import Recaller, with_neighbours
from autogen_context.testing import ChatMessage

DOCUMENTS = 1_000
LEAST_WORDS = 5  # of a query
LONGEST = 2_000  # documents of a longer list, for the times
ROUNDS = 5
PER_MESSAGE = 4  # tokens that a message costs beside its text


def main() -> None:
    """Print what is found, what a score means, and what it costs."""
    pairs = known_items()
    index = index_of([code for _, code in pairs])
    found = [index.scores(query) for query, _ in pairs]
    scores = [[each.get(at, 0.0) for at in range(len(pairs))] for each in found]
    print(f"{len(pairs)} functions, found by the first sentence of their docstrings")
    print(f"mean reciprocal rank {mean(reciprocal_ranks(scores)):.3f}")
    own = [row[i] for i, row in enumerate(scores)]
    others = [score for i, row in enumerate(scores) for j, score in enumerate(row) if i != j]
    halves = list(scores_of_halves(index, [query for query, _ in pairs[:200]]))
    print(f"scores, median: its own {median(own):.2f}, half of the query {median(halves):.2f}")
    print(f"scores, mean: others {mean(others):.3f}\n")
    print(table(("", "time"), *costs([code for _, code in pairs])))


def known_items() -> list[tuple[str, str]]:
    """Queries, and the document that each of them describes."""
    library = Path(os.__file__).parent
    files = sorted([*library.glob("*.py"), *library.glob("*/*.py")])
    skipped = ("test", "idlelib", "site-packages")
    found = [
        pair
        for file in files
        if not any(s in str(file) for s in skipped)
        for pair in described(file)
    ]
    Random(1).shuffle(found)  # noqa: S311 - no secret
    return found[:DOCUMENTS]


def described(file: Path) -> Iterator[tuple[str, str]]:
    """The functions of a file that say what they do, and their code without it."""
    try:
        source = file.read_text("utf-8")
        tree = ast.parse(source)
    except (SyntaxError, UnicodeDecodeError):
        return
    lines = source.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (says := ast.get_docstring(node)):
            query, first = " ".join(says.split("\n\n")[0].split()), node.body[0]
            if len(node.body) > 1 and len(query.split()) >= LEAST_WORDS:
                kept = (
                    lines[node.lineno - 1 : first.lineno - 1]
                    + lines[first.end_lineno : node.end_lineno]
                )
                yield query, "\n".join(kept)


def index_of(texts: Sequence[str]) -> LexicalIndex:
    """An index with these documents."""
    index = LexicalIndex()
    for text in texts:
        index.add(text)
    return index


def reciprocal_ranks(scores: Sequence[Sequence[float]]) -> Iterator[float]:
    """One over the place of each document among all, for its own query."""
    for i, row in enumerate(scores):
        yield 1 / (1 + sum(score > row[i] for score in row))


def scores_of_halves(index: LexicalIndex, queries: Sequence[str]) -> Iterator[float]:
    """The score of a half of each query's words, as a document among the others."""
    random, documents = Random(1), len(index)  # noqa: S311 - no secret
    for query in queries:
        words = query.split()
        index.add(" ".join(random.sample(words, len(words) // 2)))
        yield index.scores(query).get(documents, 0.0)
        index.truncate(documents)


def costs(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Rows of what is done, and how long it takes."""
    many = [text[:400] for text in [*texts] * (LONGEST // len(texts) + 1)][:LONGEST]
    index = index_of(many)
    short, long = "where is the port of the server configured", " ".join(many[:8])
    taken_s = medians(
        {
            f"terms of {LONGEST:,} documents": lambda: partial(all_terms, many),
            f"index {LONGEST:,} documents": lambda: partial(index_of, many),
            f"a query of {len(terms(short))} terms": lambda: partial(index.scores, short),
            "the same, with neighbours": lambda: partial(with_neighbours_of, index, short),
            f"a query of {len(terms(long))} terms": lambda: partial(index.scores, long),
        },
        rounds=ROUNDS,
    )
    print(f"{LONGEST:,} documents of {mean(map(len, many)):.0f} characters")
    return ((name, ms(taken)) for name, taken in taken_s.items())


def with_neighbours_of(index: LexicalIndex, query: str) -> dict[int, float]:
    """Scores as the recaller has them."""
    return with_neighbours(index.scores(query), len(index))


def all_terms(texts: Sequence[str]) -> int:
    """How many terms these texts have."""
    return sum(len(terms(text)) for text in texts)


def by_words(budget_tokens: int) -> Callable[[list[ChatMessage]], list[ChatMessage]]:
    """A manager that keeps the messages that answer the last one, whole, within a budget."""
    return partial(answering, budget_tokens)


def answering(budget_tokens: int, messages: list[ChatMessage]) -> list[ChatMessage]:
    """The messages that answer the last one, in order, and that one."""
    *history, question = messages
    said = [Message(role=m["role"], text=str(m["content"])) for m in history]
    query, recaller = str(question["content"]), Recaller()
    recaller.read(said)
    scores = recaller.scores(query)
    count, left, kept = tokenizer(), budget_tokens, set[int]()
    left -= count.count(query).tokens + PER_MESSAGE
    for i in sorted(range(len(said)), key=lambda i: -scores.get(i, 0.0)):
        tokens = count.count(said[i].text).tokens + PER_MESSAGE
        if tokens <= left:
            left -= tokens
            kept.add(i)
    return [*(history[i] for i in sorted(kept)), question]


if __name__ == "__main__":
    main()
