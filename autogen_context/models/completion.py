"""The seam to chat models: anything that answers a prompt with a text."""

from typing import Any, Literal, Protocol, cast

from autogen_context.argument import wrong_argument


class Complete(Protocol):
    """What the package asks of a chat model; a host's own client is wrapped in a function of this shape."""

    async def __call__(self, prompt: str, /) -> str:
        """Answer a prompt. Any exception counts as no answer."""
        ...


class CompletesPrompts(Protocol):
    """A client with such a function, such as ``CompletionClient``."""

    async def complete(self, prompt: str, /) -> str:
        """Answer a prompt."""
        ...


class HostClient(Protocol):
    """A client of a host, such as autogen-ext's: the entries of that host take it."""

    @property
    def model_info(self) -> Any:
        """What it says of its model."""
        ...


ModelClient = Complete | CompletesPrompts | HostClient
"""Who is called where a model is asked."""


def complete_of(
    client: ModelClient | Literal["host"], *, argument: str = "model_client"
) -> Complete:
    """What a client answers prompts with.

    Raises:
        ValueError: it answers none; names the argument and the way out.
    """
    found: object = getattr(client, "complete", client)
    if callable(found):
        return cast("Complete", found)  # it is called with a prompt, and its answer is looked at
    give = "a CompletionClient, or an async function of a prompt; complete_with(client) makes one of autogen-agentchat's"
    raise wrong_argument(argument, client, give)
