"""How fast texts are compressed without a model, and what is kept.

Usage: python benchmarks/compress.py

The texts are pages of Python's own library reference as it stands in docstrings, and a transcript made of them. Times are of
texts that were not seen before; a token is four characters.
"""

import pydoc_data.topics as library
from collections.abc import Callable, Iterator
from functools import partial

from side_by_side import medians, ms, table

from autogen_context.compressor.compressor import SemanticCompressor

SIZES = (50_000, 200_000, 400_000)
SHARES = (0.5, 0.2, 0.1)
ROUNDS = 3
HEAD = ("text", "characters", "to", "time", "MB/s", "quality", "step")


class Quarters:
    """Four characters a token."""

    def count(self, text: str, /) -> int:
        """Tokens of a text."""
        return -(-len(text) // 4)


def main() -> None:
    """Print a row for each text and target."""
    print(table(HEAD, *rows()))


def rows() -> Iterator[tuple[str, ...]]:
    """Texts at their sizes, and what became of them."""
    for name, text in (("reference", reference()), ("transcript", transcript())):
        for size in SIZES:
            for share in SHARES:
                yield row(name, text[:size], share)


def row(name: str, text: str, share: float) -> tuple[str, ...]:
    """One text at one target."""
    target = int(len(text) / 4 * share)
    taken_s = medians({name: partial(fresh, text, target)}, rounds=ROUNDS)[name]
    result = SemanticCompressor(counter=Quarters()).compress_nowait(text, target_tokens=target)
    return (
        name,
        f"{len(text):,}",
        f"{share:.0%}",
        ms(taken_s),
        f"{len(text) / taken_s / 1e6:.2f}",
        f"{result.quality:.1f}",
        result.strategy,
    )


def fresh(text: str, target_tokens: int) -> Callable[[], object]:
    """A run in which nothing is remembered."""
    compressor = SemanticCompressor(counter=Quarters())
    return lambda: compressor.compress_nowait(text, target_tokens=target_tokens)


def reference() -> str:
    """Prose, lists and code of the language reference."""
    topics: dict[str, str] = library.topics
    return "\n\n".join(topics.values())


def transcript() -> str:
    """The paragraphs of the reference, said by a person and an assistant in turn."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in reference().split("\n\n")]
    roles = ("user", "assistant")
    return "\n".join(f"[{roles[i % 2]}] {paragraph}" for i, paragraph in enumerate(paragraphs))


if __name__ == "__main__":
    main()
