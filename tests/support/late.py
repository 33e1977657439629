"""A project whose files take as long to read as somebody likes."""

import asyncio
from pathlib import Path
from threading import Event

from typing_extensions import override

from autogen_context import IncrementalContextManager, ProjectContext
from autogen_context.project.index import Builder, Kept
from support.counting import Characters
from support.hearing import PATIENCE_S


class Slow(Kept):
    """Builds nothing before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = Event()

    @override
    async def get_or_build(self, key: str, builder: Builder) -> str:
        """What is built, late."""
        await asyncio.to_thread(self.go.wait, PATIENCE_S)  # a test that failed lets nobody go
        return await super().get_or_build(key, builder)


def slow(root: Path) -> tuple[Slow, IncrementalContextManager]:
    """A project that waits, and a manager of it."""
    builds = Slow()
    project = ProjectContext(root, cache=builds)
    return builds, IncrementalContextManager(
        window_tokens=3_000, counter=Characters(), project=project
    )
