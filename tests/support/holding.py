"""A turn that is held where it measures a text, until it is let go."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Thread

from typing_extensions import override

from autogen_context.tokens.measure import Count
from support.counting import Characters

LONGEST_S = 20.0  # if nobody lets it go, so that a test that fails ends


class Holding(Characters):
    """Counts four characters a token, and waits where it comes upon a word.

    Attributes:
        word: what it waits at; empty for nothing.
        is_held: set while it waits.
        was_let_go: whether it was told to go on each time.
    """

    def __init__(self, word: str = "") -> None:
        self.word = word
        self.is_held, self._go = Event(), Event()
        self.was_let_go = True

    @override
    def count(self, text: str, /) -> Count:
        """Tokens of a text."""
        if self.word and self.word in text:
            self.is_held.set()
            self.was_let_go &= self._go.wait(LONGEST_S)
            self.is_held.clear()
        return super().count(text)

    def let_go(self) -> None:
        """Go on, and wait for nothing more."""
        self.word = ""
        self._go.set()

    @contextmanager
    def held(self, turn: Callable[[], object]) -> Generator[None]:
        """A turn in a thread of its own, which is held in the block; it has ended behind it."""
        thread = Thread(target=turn)
        thread.start()
        assert self.is_held.wait(LONGEST_S)
        try:
            yield
        finally:
            self.let_go()
            thread.join()
