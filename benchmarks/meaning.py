"""What vectors add to words where a person asks about what was said, and what unrelated sentences score.

Usage: python benchmarks/meaning.py [AUTHOR ...]

Of each conversation in ``people/``, questions with the sentences that they need. *Area* is the chance that a needed sentence scores higher
than one that is not needed, of the same conversation and of other authors in the same language; beside it the share of each that reaches the
threshold by which parts are kept (``attention_threshold``). All authors take a quarter of an hour; vectors are kept for a second run.
"""

import asyncio
import json
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import gettempdir
from typing import NamedTuple

from side_by_side import table

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.vectors import VectorStore
from autogen_context.config.config import ContextConfig
from autogen_context.models.embedder import MiniLMEmbedder
from autogen_context.prioritizer.attention import AttentionScorer, ContextPart

PEOPLE = Path(__file__).parent / "people"
OTHERS = 40  # sentences of other authors for each question
FOLDER = Path(gettempdir(), "autogen-context-vectors")
MOST_VECTORS = 20_000


class Asked(NamedTuple):
    """A question with the sentences of its conversation, which of these it needs, and sentences of other authors."""

    language: str
    question: str
    sentences: Sequence[str]
    needed: frozenset[int]
    others: Sequence[str]


class Scores(NamedTuple):
    """Scores of sentences that are needed, of the others of the same conversation, and of other authors' sentences."""

    needed: list[float]
    beside: list[float]
    others: list[float]


async def main() -> None:
    """Print one row for each language and way."""
    questions = [*asked(sys.argv[1:])]
    store = VectorStore(MiniLMEmbedder(), cache=ContextCache(FOLDER), entries=MOST_VECTORS)
    rows: list[tuple[str, ...]] = []
    for name, is_english in (("English", True), ("other languages", False)):
        of_language = [each for each in questions if (each.language == "en") is is_english]
        for way, scorer in (("words", AttentionScorer()), ("and vectors", AttentionScorer(store))):
            found = await scored(scorer, of_language)
            rows.append((f"{name}, {way}", *row(found)))
    print(
        f"{len(questions)} questions; reached is a score of {ContextConfig().attention_threshold}"
    )
    head = ("", "area", "area, others", "needed reached", "beside reached", "others reached")
    print(table(head, *rows))


def asked(authors: Sequence[str]) -> Iterator[Asked]:
    """Yield the questions that need something, of these authors or of all."""
    files = sorted(PEOPLE.glob("[ah][0-9]*.json"))
    chats = [(f.stem, chat) for f in files for chat in json.loads(f.read_text("utf-8"))]
    pool = [
        (author, chat["lang"][:2], s["text"]) for author, chat in chats for s in chat["sentences"]
    ]
    random = Random(1)  # noqa: S311 - the same sample each time
    for author, chat in chats:
        sentences, language = [each["text"] for each in chat["sentences"]], chat["lang"][:2]
        for ask in chat["asks"]:
            others = [
                text
                for other, of, text in random.sample(pool, 200)
                if other != author and of == language
            ]
            if ask["needs"] and (not authors or author in authors):
                yield Asked(
                    language, ask["text"], sentences, frozenset(ask["needs"]), others[:OTHERS]
                )


async def scored(scorer: AttentionScorer, questions: Sequence[Asked]) -> Scores:
    """Score all sentences for their questions."""
    found = Scores([], [], [])
    for each in questions:
        parts = [ContextPart("memory", text) for text in (*each.sentences, *each.others)]
        for at, score in enumerate(await scorer.score(each.question, parts)):
            if at >= len(each.sentences):
                found.others.append(score.score)
            else:
                (found.needed if at in each.needed else found.beside).append(score.score)
    return found


def row(found: Scores) -> Iterator[str]:
    """Yield the figures of a row."""
    yield f"{area(found.needed, found.beside):.3f}"
    yield f"{area(found.needed, found.others):.3f}"
    least = ContextConfig().attention_threshold
    for scores in found:
        yield f"{100 * sum(each >= least for each in scores) / len(scores):.1f} %"


def area(better: Sequence[float], worse: Sequence[float]) -> float:
    """Return the chance that one of the first scores is higher than one of the second; equal ones count half."""
    ordered = sorted(worse)
    wins = sum(bisect_left(ordered, each) + bisect_right(ordered, each) for each in better)
    return wins / (2 * len(better) * len(worse))


if __name__ == "__main__":
    asyncio.run(main())
