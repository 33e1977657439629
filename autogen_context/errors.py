"""Exceptions that callers may want to handle.

::

    ContextError
    ├── ContextWindowExceeded    the protected content does not fit into the window
    ├── InvalidTranscript    the messages do not form a conversation
    ├── NotInHistory        the message is not in the list prepared last
    ├── OriginalNotFound    the original was never stored or has been evicted
    ├── ChangeRefused       a change is invalid; none was applied
    ├── CompletionFailed    a chat model gave no usable answer
    ├── EmbeddingFailed     an embedding model gave no usable vectors
    ├── ManagerClosed       a closed manager was asked to prepare a turn
    ├── TurnUnderWay        a part that is called in a turn asked for another one
    ├── StateError          a saved state cannot be loaded
    ├── StoreUnavailable    a store did not answer, or returned an error
    ├── StoreRefused        a shared store rejected the credentials in its URL
    └── MissingExtra        an optional dependency is not installed

Invalid arguments raise a plain ``ValueError`` in the function or constructor they were passed to.
"""

from collections.abc import Mapping

from typing_extensions import override


class ContextError(Exception):
    """Base class of all errors that this package raises deliberately."""


class ContextWindowExceeded(ContextError):
    """The protected content does not fit into the window, even shortened to stubs.

    Attributes:
        limit_tokens: maximum size of a request, in tokens.
        least_tokens: minimum size of the protected content, in tokens.
        parts: breakdown of ``least_tokens`` (``"system"``, ``"pinned"``, ``"newest"`` …), in tokens.
        tools: number of tools in the request.
        tools_tokens: tokens of their schemas, which are part of ``"tools and format"``.
    """

    def __init__(
        self,
        *,
        limit_tokens: int,
        least_tokens: int,
        parts: Mapping[str, int],
        tools: int = 0,
        tools_tokens: int = 0,
    ) -> None:
        self.limit_tokens = limit_tokens
        self.least_tokens = least_tokens
        self.parts = dict(parts)
        self.tools, self.tools_tokens = tools, tools_tokens
        listed = ", ".join(f"{name} {tokens}" for name, tokens in self.parts.items())
        needed = f"need {least_tokens} tokens and the limit is {limit_tokens} ({listed})"
        if tools_tokens and least_tokens - tools_tokens <= limit_tokens:
            super().__init__(
                f"the protected messages and {tools} tools {needed}; the schemas of the tools take {tools_tokens} of them, and "
                "without these all fits: send fewer or shorter ones, or have them deferred behind find_tools, as register(agent) "
                "does and find_tools_schema() among the tools of prepare (docs/guides/tools.md); or raise window_tokens"
            )
            return
        super().__init__(
            f"the protected messages {needed}; "
            "raise window_tokens, lower reserve_tokens, shorten the system prompt, or unpin messages"
        )

    def within(
        self,
        limit_tokens: int,
        others: Mapping[str, int],
        *,
        tools: int = 0,
        tools_tokens: int = 0,
    ) -> "ContextWindowExceeded":
        """Return the error for the whole request: its non-message parts added, against the full limit."""
        return ContextWindowExceeded(
            limit_tokens=limit_tokens,
            least_tokens=self.least_tokens + sum(others.values()),
            parts={**self.parts, **others},
            tools=tools,
            tools_tokens=tools_tokens,
        )


class InvalidTranscript(ContextError):
    """A message cannot be read, or is an orphan under ``orphans="refuse"``.

    Attributes:
        index: position of the first invalid message, from 0.
        reason: what is wrong with it.
    """

    def __init__(self, *, index: int, reason: str) -> None:
        self.index = index
        self.reason = reason
        super().__init__(f"message {index}: {reason}")


class NotInHistory(ContextError, LookupError):
    """The message is not in the list that the manager prepared last."""

    def __init__(self) -> None:
        super().__init__(
            "this message is not in the list that was prepared last; "
            "pass one of those messages, unchanged"
        )


class OriginalNotFound(ContextError, KeyError):
    """No original is stored under this handle.

    Attributes:
        handle: the requested handle.
        evicted: number of originals that the store has evicted so far to stay within its size limit.
    """

    def __init__(self, handle: str, *, evicted: int) -> None:
        self.handle = handle
        self.evicted = evicted
        super().__init__(
            f"no original is kept under {handle!r} (evicted so far: {evicted}); "
            "raise originals_bytes to keep more"
        )

    @override
    def __str__(self) -> str:  # KeyError.__str__ returns the repr of its argument
        return str(self.args[0])


class ChangeRefused(ContextError):
    """A change is invalid or would break the context; the context is unchanged.

    Attributes:
        index: position of the rejected change in the list, from 0.
        change: short description of the change.
        reason: what is wrong with it.
    """

    def __init__(self, *, index: int, change: str, reason: str, way_out: str) -> None:
        self.index = index
        self.change = change
        self.reason = reason
        super().__init__(f"change {index} ({change}): {reason}; {way_out}")


class CompletionFailed(ContextError):
    """A chat model gave no usable answer; ``reason`` is this package's wording, not the provider's."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the chat model gave no usable answer: {reason}")


class EmbeddingFailed(ContextError):
    """The embedding model named ``model`` gave no usable vectors."""

    def __init__(self, model: str, *, reason: str) -> None:
        self.model = model
        self.reason = reason
        super().__init__(f"embedding model {model!r}: {reason}")


class ManagerClosed(ContextError):
    """A manager was asked to prepare a turn after ``aclose``."""

    def __init__(self) -> None:
        super().__init__(
            "this manager is closed; create a new one and continue with "
            "load_state(closed.save_state())"
        )


class TurnUnderWay(ContextError):
    """A part that is called in a turn, such as a compressor, asked the same manager for a turn."""

    def __init__(self) -> None:
        super().__init__(
            "this thread prepares a turn of this manager already; in a part of it, only read (usage, explain, save_state, "
            "versions, recall) or pin"
        )


class StateError(ContextError):
    """A saved state is damaged or has a schema version that this release does not support."""


class StoreUnavailable(ContextError):
    """A store did not answer or returned an error; ``store`` is its file, or its URL without the password."""

    def __init__(self, store: str, *, reason: str) -> None:
        self.store = store
        self.reason = reason
        super().__init__(f"the store {store} cannot be used: {reason}")


class StoreRefused(ContextError):
    """A shared store rejected the credentials in its URL; ``store`` is the URL without the password."""

    def __init__(self, store: str) -> None:
        self.store = store
        super().__init__(
            f"the shared store {store} rejects the user name, the password or the permissions; "
            "give them in the url: redis://user:password@host:port/database"
        )


class MissingExtra(ContextError, ImportError):
    """A required optional dependency is not installed.

    Attributes:
        extra: name of the extra that installs it.
    """

    def __init__(self, extra: str, *, needed_for: str) -> None:
        self.extra = extra
        super().__init__(f'{needed_for} needs: pip install "autogen-context[{extra}]"')
