"""A project whose files take as long to read as somebody likes."""

from pathlib import Path
from threading import Event

from typing_extensions import override

from autogen_context import IncrementalContextManager, ProjectContext
from autogen_context.cache.cache import ContextCache
from support.counting import Characters
from support.waiting import LONGEST_S


class Slow(ContextCache):
    """Answers, in a thread, when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = Event()

    @override
    def remembered(self, kind: str, key: str, /) -> object:
        """What is kept, late."""
        self.go.wait(LONGEST_S)  # a test that failed lets nobody go
        return super().remembered(kind, key)


def slow(root: Path) -> tuple[Slow, IncrementalContextManager]:
    """A project that waits, and a manager of it."""
    cache = Slow()
    project = ProjectContext(root, cache=cache)
    return cache, IncrementalContextManager(
        window_tokens=3_000, counter=Characters(), project=project
    )
