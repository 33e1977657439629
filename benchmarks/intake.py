"""What it costs to take 200,000 tokens in at once, beside the time that the tokenizer alone needs for the same texts.

Usage: python benchmarks/intake.py

``beside`` is reading, segmenting, keeping a copy to compare with, deciding and certifying, for each of 2,000
messages. ``tiktoken`` is measured where its ranks are on disk (TIKTOKEN_CACHE_DIR), ``bpe-openai`` where it is
installed (extra ``fast``).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from material import ENCODING, ROOMY_TOKENS, history, texts_of
from side_by_side import MakeReady, Run, medians, ms, table, times

from autogen_context import IncrementalContextManager
from autogen_context.testing import ChatMessage
from autogen_context.tokens.measure import (
    BpeOpenAICounter,
    EstimateCounter,
    TiktokenCounter,
    TokenCounter,
)

MESSAGES = 2_000
ROUNDS = 9
HEAD = ("tokenizer", "tokens", "alone", "taking in", "ratio", "beside, a message")

COUNTERS: Mapping[str, Callable[[], TokenCounter]] = {
    "bpe-openai": partial(BpeOpenAICounter, ENCODING),
    "tiktoken": partial(TiktokenCounter, ENCODING),
    "estimate": EstimateCounter,
}


def main() -> None:
    """Print a row for each tokenizer."""
    messages = history(MESSAGES)
    texts = texts_of(messages)
    counters = dict(at_hand())
    alternatives: dict[tuple[str, str], MakeReady] = {}
    for name, counter in counters.items():
        alternatives[name, "alone"] = partial(alone, counter, texts)
        alternatives[name, "taking in"] = partial(taking_in, counter, messages)
    taken_s = medians(alternatives, rounds=ROUNDS)
    print(f"{MESSAGES:,} messages, {len(texts):,} texts; tokens are those of the texts")
    print(table(HEAD, *(row(name, count_all(c, texts), taken_s) for name, c in counters.items())))


def at_hand() -> Iterator[tuple[str, TokenCounter]]:
    """The tokenizers that can be measured here, warm."""
    for name, make in COUNTERS.items():
        try:
            counter = make()
        except (ImportError, FileNotFoundError) as error:
            print(f"without {name}: {error}")
        else:
            counter.count("warm")
            yield name, counter


def alone(counter: TokenCounter, texts: Sequence[str]) -> Run:
    """The tokenizer over all texts."""
    return partial(count_all, counter, texts)


def count_all(counter: TokenCounter, texts: Sequence[str]) -> int:
    """Tokens of all texts."""
    return sum(counter.count(text).tokens for text in texts)


def taking_in(counter: TokenCounter, messages: list[ChatMessage]) -> Run:
    """The first turn of a new manager."""
    manager = IncrementalContextManager(window_tokens=ROOMY_TOKENS, counter=counter)
    return partial(manager.prepare_nowait, messages)


def row(name: str, tokens: int, taken_s: Mapping[tuple[str, str], float]) -> list[str]:
    """Both times of a tokenizer, their ratio, and what a message costs beside it."""
    own, whole = taken_s[name, "alone"], taken_s[name, "taking in"]
    beside = f"{(whole - own) / MESSAGES * 1e6:.1f} µs"
    return [name, f"{tokens:,}", ms(own), ms(whole), times(whole / own), beside]


if __name__ == "__main__":
    main()
