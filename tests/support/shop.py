"""A small project, and conversations about it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from autogen_context import IncrementalContextManager, Prepared, ProjectContext
from autogen_context.errors import ContextWindowExceeded
from autogen_context.testing import ChatMessage
from support import keeping
from support.keeping import TOLD
from support.tree import PRICE, SHOP, grown

Transcript = list[ChatMessage]
Outcome = Prepared[ChatMessage] | ContextWindowExceeded

HEAD = "[The project shop, from its files."
SIGNATURE = "def price_of(thing: str) -> int"
OTHERS = tuple(f"def price_of(thing: str, day_{n}: int) -> int" for n in range(4))
SYSTEM: ChatMessage = {"role": "system", "content": "You write code."}


def priced(signature: str) -> str:
    """The module of prices, with another signature."""
    return PRICE.replace(SIGNATURE, signature)


class Shop:
    """A small project, and whoever talks about it.

    Attributes:
        root: its folder.
        project: its context.
    """

    def __init__(self, folder: Path) -> None:
        self.root = grown(folder / "shop", SHOP)
        self.project = ProjectContext(self.root)

    def write(self, name: str, content: str | bytes) -> None:
        """Somebody edits a file."""
        grown(self.root, {name: content})

    def manager(self, window_tokens: int = 6_000, **more: object) -> IncrementalContextManager:
        """Keeps a conversation about it."""
        return keeping.manager(window_tokens, project=self.project, **more)


async def outcome_of(manager: IncrementalContextManager, messages: Transcript) -> Outcome:
    """A turn, or the error in its place."""
    try:
        return await manager.prepare(messages)
    except ContextWindowExceeded as error:
        return error


def is_own(message: ChatMessage) -> bool:
    """Whether it is a head, or what is told beside the conversation."""
    content = str(message.get("content"))
    return message["role"] == "user" and content.startswith((HEAD, TOLD))


def heads_in(messages: Sequence[ChatMessage]) -> list[str]:
    """The heads in a request."""
    return [str(m["content"]) for m in messages if str(m.get("content")).startswith(HEAD)]


def talk(turns: int, words: int = 40) -> Iterator[ChatMessage]:
    """An answer and another question, again and again."""
    for n in range(turns):
        yield {"role": "assistant", "content": f"{n} " + "and so on " * words}
        yield {"role": "user", "content": f"Go on with {n}."}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A project."""
    return Shop(tmp_path)
