"""Counters that anybody can check by hand, and a chat format beside them."""

from autogen_context.testing import approximate_tokens
from autogen_context.tokens.measure import Count
from autogen_context.tokens.message_counter import ImageRule, MessageCounter, Overheads


class Characters:
    """Four characters a token, rounded up."""

    def count(self, text: str, /) -> Count:
        """Tokens of a text."""
        return Count(tokens=-(-len(text) // 4), source="tokenizer")


class Approximate:
    """Counts as the testing package's server and model do."""

    def count(self, text: str, /) -> Count:
        """Tokens of a text."""
        return Count(tokens=approximate_tokens(text), source="tokenizer")


class Recorded:
    """A token a character; it remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, text: str, /) -> Count:
        """Tokens of a text."""
        self.asked.append(text)
        return Count(tokens=len(text), source="estimate")


OVERHEADS = Overheads(
    per_message=4,
    per_name=1,
    per_request=3,
    per_call=3,
    per_result=2,
    image=ImageRule(at_most_tokens=85),
)
COUNTER = MessageCounter(Characters(), OVERHEADS)
