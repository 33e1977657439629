"""Prose, notes and transcripts to compress, and a counter in characters."""

from hypothesis import strategies as st

from autogen_context.tokens.measure import Count


class Letters:
    """A token a character, as a plain number."""

    def count(self, text: str, /) -> int:
        """Characters of a text."""
        return len(text)


class Quarters:
    """Four characters a token, with its source."""

    def count(self, text: str, /) -> Count:
        """Tokens of a text."""
        return Count(tokens=-(-len(text) // 4), source="estimate")


SENTENCES = (
    "The parser reads config.toml before anything else.",
    "The parser reads config.toml before anything else.",
    "Retries are limited to 7 per request, and the pause grows to 30 seconds.",
    "It should be noted that the cache is, of course, never written by readers.",
    "Never send user data to the staging cluster.",
    "For example, a user may ask for a refund of 40 euros.",
    "For instance, an order may be split in two.",
    "We talked for a while about the weather and about lunch.",
    "Okay, thanks!",
    'The error says "connection reset by peer" at 10:42 on 2026-03-01.',
    "Ada Byron owns src/app/main.py, and she reviews changes on Mondays.",
    "The release (which was planned for long) is due on 12 May 2026.",
    "检索结果在第二页。",
    "- item one of the list",
    "# A heading",
    "[user] Please look at order 4711.",
    "assistant: I looked, it was shipped.",
    "```\nprint('x')\n```",
    "",
    "    indented = True",
    "x" * 300,
    "A",
    "\ud800 half a pair",
)
TEXTS = st.one_of(
    st.lists(st.sampled_from(SENTENCES), max_size=40).map("\n".join),
    st.lists(st.sampled_from(SENTENCES), max_size=40).map(" ".join),
    st.text(max_size=200),
)
"""Up to a few thousand characters of all sorts."""

REPORT = """\
# Incident report

The checkout service failed on 2026-03-01 between 10:42 and 11:05. Orders were lost. The checkout service failed on \
2026-03-01 between 10:42 and 11:05.

## Cause

The pool in src/checkout/pool.py had 20 connections, and 35 were needed. It should be noted that this was, in fact, known. \
For example, the load test of 12 February had used all of them. For instance, the batch job of Fridays had waited for one. \
We had long discussions about this, and everybody had an opinion of some kind or other.

## Measures

Raise POOL_SIZE to 60. Never restart the service during business hours. Maria Gonzalez talks to the customers.
The weather was nice that day, as everybody said.
"""
