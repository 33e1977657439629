"""What vectors add to words when a question looks for its answer in a long conversation.

Usage: python benchmarks/recall_embeddings.py REFEREE [OPTIONS OF THE REFEREE ...]

REFEREE is a script that takes ``--managers MODULE:FACTORY,…``, makes a manager for each budget in tokens with
``FACTORY(budget)``, calls it with a conversation of chat messages and a question at its end, and scores what it gives
back. Here that is the question with the whole messages that score highest, in their order, by words and by both; and what an
``IncrementalContextManager`` prepares, without vectors and with them.

The conversation is made known before the question comes, message by message, as an agent lives through it: the index
is filled, and the vectors are computed. They are kept in a folder, so that a second run asks no model.
"""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from os import environ
from pathlib import Path
from tempfile import gettempdir

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.cache.cache import ContextCache
from autogen_context.cache.vectors import VectorStore
from autogen_context.messages.message import Message
from autogen_context.models.embedder import MiniLMEmbedder
from autogen_context.models.relatedness import Relatedness
from autogen_context.recall.recaller import Recaller
from autogen_context.testing import ChatMessage
from autogen_context.tokens.measure import counter_for

FOLDER = Path(gettempdir(), "autogen-context-vectors")
MESSAGE_TOKENS = 4  # what a message costs beside its text
MOST_MESSAGES = 2_000  # of a conversation

Manage = Callable[[Sequence[ChatMessage]], list[ChatMessage]]


def main(arguments: Sequence[str]) -> int:
    """Run the referee on both rankings, and on the manager that goes by them."""
    if not arguments:
        print(__doc__)
        return 2
    ways = (words, both, managed_by_words, managed)
    managers = ",".join(f"{Path(__file__).stem}:{way.__name__}" for way in ways)
    command = [sys.executable, *arguments, "--managers", managers]
    env = environ | {"PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.run(command, env=env, check=False).returncode  # noqa: S603 - the caller's script


def words(budget: int) -> Manage:
    """By words alone."""
    return manager(budget, lambda lived: lived.by_words)


def both(budget: int) -> Manage:
    """By words and vectors."""
    return manager(budget, lambda lived: lived.by_both)


def managed_by_words(budget: int) -> Manage:
    """As an agent has it by default: ``IncrementalContextManager``, asked by ``prepare_nowait``."""

    def manage(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        keeper = IncrementalContextManager(model="gpt-4", window_tokens=budget)
        return keeper.prepare_nowait(messages).messages

    return manage


def managed(budget: int) -> Manage:
    """As an agent has it with vectors: asked by ``prepare``."""

    def manage(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        store = lived_through(tuple(str(message["content"]) for message in messages[:-1])).store
        keeper = IncrementalContextManager(config=patient(budget), vectors=store)
        return asyncio.run(keeper.prepare(messages)).messages

    return manage


def patient(budget: int) -> ContextConfig:
    """Settings under which a busy machine is waited for."""
    return ContextConfig(model="gpt-4", window_tokens=budget, embedding_timeout_s=120)


def manager(budget: int, recaller_of: Callable[["Lived"], Recaller]) -> Manage:
    """A manager that keeps what scores highest."""

    def manage(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        *history, question = messages
        query = str(question["content"])
        lived = lived_through(tuple(str(message["content"]) for message in history))
        scores = recaller_of(lived).scores(query)
        best = sorted(range(len(history)), key=lambda i: -scores.get(i, 0.0))
        room = budget - tokens_of(query)
        return [*(history[i] for i in sorted(fitting(best, lived.tokens, room))), question]

    return manage


class Lived:
    """A conversation, as an agent knows it that was there."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.tokens = [tokens_of(text) for text in texts]
        self.store = VectorStore(embedder(), cache=ContextCache(FOLDER), entries=MOST_MESSAGES)
        vectors = asyncio.run(self.store.vectors(texts))

        related = Relatedness(self.store)
        asyncio.run(related.prepare())

        def meanings(query: str, _texts: Sequence[str]) -> Sequence[float | None]:
            (vector,) = asyncio.run(self.store.vectors([query]))
            return related.scores(vector, vectors)

        self.by_words, self.by_both = Recaller(), Recaller(meanings)
        for recaller in (self.by_words, self.by_both):
            recaller.read([Message(role="user", text=text) for text in texts])


@cache
def lived_through(texts: tuple[str, ...]) -> Lived:
    """The conversation of these texts; the same one for each of its questions."""
    return Lived(texts)


@cache
def embedder() -> MiniLMEmbedder:
    """The model, loaded at most once."""
    return MiniLMEmbedder()


@cache
def tokens_of(text: str) -> int:
    """What a message of this text costs, in tokens."""
    return MESSAGE_TOKENS + counter_for("cl100k_base").count(text).tokens


def fitting(order: Iterable[int], tokens: Sequence[int], room: int) -> set[int]:
    """Those that fit, taken in this order; what is too long makes way for what is not."""
    taken: set[int] = set()
    for i in order:
        if tokens[i] <= room:
            taken.add(i)
            room -= tokens[i]
    return taken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
