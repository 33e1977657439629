"""How many questions on a folder of long pages get the passage that answers them, within so many tokens.

Each question is a conversation of its own, prepared by a manager with a ``DocumentProvider``. A question counts if all its answers stand
in what is sent with it, the question itself aside: whitespace folded, case ignored.

    python benchmarks/passages.py FOLDER QUESTIONS.json [--tokens 1500] [--embeddings] [--chat] [--show]

The file holds a list of ``{"id": ..., "question": ..., "file": ..., "answer": ["...", ...]}``. ``--chat`` asks the chat's knowledge, whose
share is 40 % of its limit, which is then set to hold these tokens; ``--embeddings`` searches by meaning as well.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple, cast

from autogen_context import IncrementalContextManager
from autogen_context.cache.vectors import VectorStore
from autogen_context.chat.session import ChatSession
from autogen_context.chat.settings import ChatSettings
from autogen_context.documents.provider import DocumentProvider
from autogen_context.manager.injected import OPENING
from autogen_context.models.embedder import MiniLMEmbedder
from autogen_context.tokens.message_counter import MessageCounter

MODEL = "gpt-4o"
WINDOW_TOKENS = 64_000
KNOWLEDGE_FRACTION = 0.4  # of a chat's limit


class Question(NamedTuple):
    """A question, and what has to stand in what is sent for it."""

    id: str
    question: str
    file: str
    answer: Sequence[str]


class Asked(NamedTuple):
    """What was sent with a question, and how long its turn took."""

    text: str
    seconds: float


def folded(text: str) -> str:
    """Return a text with its whitespace folded, without the marks of a quotation, in one case."""
    lines = (line.removeprefix("> ") for line in text.splitlines())
    return " ".join(" ".join(lines).split()).casefold()


def read(path: Path) -> list[Question]:
    """Read the questions."""
    rows: list[dict[str, object]] = json.loads(path.read_text("utf-8"))
    return [
        Question(
            str(row["id"]),
            str(row["question"]),
            str(row.get("file", "")),
            [str(each) for each in cast("list[object]", row["answer"])],
        )
        for row in rows
    ]


async def by_provider(
    folder: Path, questions: Sequence[Question], *, tokens: int, embeddings: bool
) -> list[Asked]:
    """Ask each question in a conversation of its own."""
    vectors = VectorStore(MiniLMEmbedder(), entries=20_000) if embeddings else None
    provider = DocumentProvider(folder, budget_tokens=tokens, vectors=vectors)
    await provider.refresh()
    asked: list[Asked] = []
    for each in questions:
        async with IncrementalContextManager(
            MODEL, window_tokens=WINDOW_TOKENS, providers=[provider]
        ) as manager:
            began = time.perf_counter()
            prepared = await manager.prepare([{"role": "user", "content": each.question}])
            seconds = time.perf_counter() - began
        sent = (str(cast("Mapping[str, object]", m)["content"]) for m in prepared.messages)
        asked.append(Asked("\n".join(t for t in sent if t.startswith(OPENING)), seconds))
    for skipped in provider.skipped:
        print("skipped:", skipped)
    return asked


async def by_chat(folder: Path, questions: Sequence[Question], *, tokens: int) -> list[Asked]:
    """Ask each question in a chat of its own."""
    asked: list[Asked] = []
    with TemporaryDirectory() as place:
        settings = ChatSettings(
            limit_tokens=int(tokens / KNOWLEDGE_FRACTION), knowledge=folder, folder=Path(place)
        )
        for each in questions:
            began = time.perf_counter()
            async with ChatSession(settings) as session:
                async for _ in session.ask(each.question):
                    pass
                sent = (str(m["content"]) for m in session.served[-1].messages)
                text = "\n".join(t.partition(each.question)[0] for t in sent if OPENING in t)
            asked.append(Asked(text, time.perf_counter() - began))
    return asked


async def main() -> None:
    """Print how many questions get their answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--tokens", type=int, default=1_500)
    parser.add_argument("--embeddings", action="store_true")
    parser.add_argument("--chat", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    questions, count = read(given.questions), MessageCounter.for_model(MODEL).text
    asked = await (
        by_chat(given.folder, questions, tokens=given.tokens)
        if given.chat
        else by_provider(given.folder, questions, tokens=given.tokens, embeddings=given.embeddings)
    )
    found = 0
    for question, each in zip(questions, asked, strict=True):
        text = folded(each.text)
        lacks = [answer for answer in question.answer if folded(answer) not in text]
        found += not lacks
        if lacks or given.show:
            print(
                f"{question.id:8} {'lacks ' + repr(lacks) if lacks else 'found'}  {question.question}"
            )
        if given.show:
            print(
                "\n".join(f"         {line}" for line in each.text.splitlines() if line[:1] != ">")
            )
    tokens = [count(each.text) for each in asked]
    seconds = [each.seconds for each in asked]
    print(
        f"{found} of {len(questions)} questions get their answer within {given.tokens:,} tokens "
        f"(median {median(tokens):,.0f}, most {max(tokens):,}); a turn takes {median(seconds):.2f} s, at most {max(seconds):.2f}"
    )


if __name__ == "__main__":
    asyncio.run(main())
