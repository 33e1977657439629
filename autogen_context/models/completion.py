"""The seam to chat models: anything that answers a prompt with a text."""

from typing import Protocol


class Complete(Protocol):
    """What the package asks of a chat model; a host's own client is wrapped in a function of this shape."""

    async def __call__(self, prompt: str, /) -> str:
        """Answer a prompt. Any exception counts as no answer."""
        ...
