"""The errors that a caller may want to handle.

::

    ContextError
    ├── ContextWindowExceeded    what must stay is larger than the window
    ├── InvalidTranscript    the messages do not form a conversation
    ├── NotInHistory        a message that the manager never saw
    ├── OriginalNotFound    an original that is not kept (any more)
    ├── ChangeRefused       a change that cannot be applied; nothing was
    ├── NoSuchVersion       a version that there never was, or that is not kept any more
    ├── CompletionFailed    a chat model gave no usable answer
    ├── EmbeddingFailed     an embedding model gave no vectors, or none that can be used
    ├── ManagerClosed       a manager that was closed is asked for a turn
    ├── StateError          a saved state that cannot be loaded
    ├── StoreUnavailable    a store gave no answer, or declined
    ├── StoreRefused        a shared store refuses whoever comes with this url
    └── MissingExtra        an optional dependency is needed and not installed

A wrong argument is a plain ``ValueError``, raised where the argument was given.
"""

from collections.abc import Mapping, Sequence

from typing_extensions import override


class ContextError(Exception):
    """Root of every error that this package raises on purpose."""


class ContextWindowExceeded(ContextError):
    """What must stay exceeds what the window holds, even shortened to stubs.

    Attributes:
        limit_tokens: what a request may have, in tokens.
        floor_tokens: what must stay needs at least, in tokens.
        parts: the floor by what it consists of (``"system"``, ``"pinned"``, ``"newest"`` …), in tokens.
    """

    def __init__(self, *, limit_tokens: int, floor_tokens: int, parts: Mapping[str, int]) -> None:
        self.limit_tokens = limit_tokens
        self.floor_tokens = floor_tokens
        self.parts = dict(parts)
        listed = ", ".join(f"{name} {tokens}" for name, tokens in self.parts.items())
        super().__init__(
            f"what must stay needs {floor_tokens} tokens and the limit is {limit_tokens} ({listed}); "
            "raise window_tokens, lower reserve_tokens, shorten the system prompt, or unpin messages"
        )

    def within(self, limit_tokens: int, beside: Mapping[str, int]) -> "ContextWindowExceeded":
        """The same error for the whole request: with what it has beside messages, against the whole limit."""
        return ContextWindowExceeded(
            limit_tokens=limit_tokens,
            floor_tokens=self.floor_tokens + sum(beside.values()),
            parts={**self.parts, **beside},
        )


class InvalidTranscript(ContextError):
    """A message that cannot be read, or orphans where ``orphans="refuse"`` was asked for.

    Attributes:
        index: position of the first faulty message in the list, from 0.
        reason: what is wrong with it.
    """

    def __init__(self, *, index: int, reason: str) -> None:
        self.index = index
        self.reason = reason
        super().__init__(f"message {index}: {reason}")


class NotInHistory(ContextError, LookupError):
    """The manager was asked about a message that is not in the list it saw last."""

    def __init__(self) -> None:
        super().__init__(
            "this message is not in the list that was prepared last; "
            "pass one of those messages, unchanged"
        )


class OriginalNotFound(ContextError, KeyError):
    """No original is kept under this handle.

    Attributes:
        handle: what was asked for.
        evicted: how many originals their store gave up so far, for want of room.
    """

    def __init__(self, handle: str, *, evicted: int) -> None:
        self.handle = handle
        self.evicted = evicted
        super().__init__(
            f"no original is kept under {handle!r} (evicted so far: {evicted}); "
            "raise originals_bytes to keep more"
        )

    @override
    def __str__(self) -> str:  # a KeyError shows its argument's repr
        return str(self.args[0])


class ChangeRefused(ContextError):
    """A change makes no sense, or would leave the context broken; everything is as it was before.

    Attributes:
        index: which of the changes that were given, from 0.
        change: it in a few words.
        reason: what is wrong with it.
    """

    def __init__(self, *, index: int, change: str, reason: str, way_out: str) -> None:
        self.index = index
        self.change = change
        self.reason = reason
        super().__init__(f"change {index} ({change}): {reason}; {way_out}")


class NoSuchVersion(ContextError, LookupError):
    """There is no version of this ``number``, or it is not kept any more; ``known`` are those that are, oldest first."""

    def __init__(self, number: int, *, known: Sequence[int]) -> None:
        self.number = number
        self.known = tuple(known)
        super().__init__(
            f"no version {number} is kept, only {self.known[0]} to {self.known[-1]}; "
            "see manager.versions"
        )


class CompletionFailed(ContextError):
    """A chat model gave no usable answer; ``reason`` is in words of ours."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the chat model gave no usable answer: {reason}")


class EmbeddingFailed(ContextError):
    """An embedding model, of this name, gave no vectors, or none that can be used."""

    def __init__(self, model: str, *, reason: str) -> None:
        self.model = model
        self.reason = reason
        super().__init__(f"embedding model {model!r}: {reason}")


class ManagerClosed(ContextError):
    """A turn was asked of a manager after ``aclose``."""

    def __init__(self) -> None:
        super().__init__(
            "this manager was closed, so nothing is done in the background any more; make another one, and go on with "
            "load_state(closed.save_state())"
        )


class StateError(ContextError):
    """A saved state that is damaged, or of a schema version that this release does not know."""


class StoreUnavailable(ContextError):
    """A store, by its file or its url without a password, gave no answer, or declined what it was asked."""

    def __init__(self, store: str, *, reason: str) -> None:
        self.store = store
        self.reason = reason
        super().__init__(f"the store {store} cannot be used: {reason}")


class StoreRefused(ContextError):
    """A shared store, by its url without a password, refuses whoever comes with this url."""

    def __init__(self, store: str) -> None:
        self.store = store
        super().__init__(
            f"the shared store {store} refuses the user name, the password or the rights; "
            "give them in the url: redis://user:password@host:port/database"
        )


class MissingExtra(ContextError, ImportError):
    """An optional dependency is needed and not installed.

    Attributes:
        extra: the name to install it by.
    """

    def __init__(self, extra: str, *, needed_for: str) -> None:
        self.extra = extra
        super().__init__(f'{needed_for} needs: pip install "autogen-context[{extra}]"')
