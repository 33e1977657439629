"""How far the estimate lies above the exact count, and how fast it is beside the tokenizers.

Usage: python benchmarks/estimate_accuracy.py [FILE OR FOLDER ...]

Without arguments: the standard library's sources, its reference in English, and generated texts. A kind of text is a
file's suffix. ``tiktoken`` is measured where its ranks are on disk, ``bpe-openai`` where it is installed.
"""

import base64
import json
import random
import string
import sys
import sysconfig
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pydoc_data import topics
from statistics import median
from time import perf_counter

from autogen_context.tokens.measure import (
    BpeOpenAICounter,
    EstimateCounter,
    TiktokenCounter,
    TokenCounter,
    counter_for,
)

ENCODINGS = ("cl100k_base", "o200k_base")
MOST_FILES = 200
LARGEST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Counts of some texts, and the speed they were counted at, in megabytes a second."""

    tokens: Sequence[int]
    megabytes_per_s: float


def main(arguments: Sequence[str]) -> None:
    """Print one row for each kind of text."""
    kinds = read(arguments) if arguments else generated()
    speeds = tokenizers()
    print(f"{'kind':<16}{'texts':>6}{'median':>8}{'worst':>7}{'below':>7}{'MB/s':>7}", end="")
    print("".join(f"{name:>14}" for name in speeds))
    for kind, texts in sorted(kinds.items()):
        print(row(kind, texts, speeds))


def row(kind: str, texts: Sequence[str], others: Mapping[str, TokenCounter]) -> str:
    """Ratios of the estimate to the larger exact count, and speeds."""
    estimated = timed(EstimateCounter(), texts)
    exact = zip(
        *(timed(counter_for(encoding), texts).tokens for encoding in ENCODINGS), strict=True
    )
    ratios = [
        guess / max(1, *counts) for guess, counts in zip(estimated.tokens, exact, strict=True)
    ]
    below = sum(ratio < 1 for ratio in ratios)
    speeds = [timed(other, texts).megabytes_per_s for other in others.values()]
    return (
        f"{kind:<16}{len(texts):>6}{median(ratios):>8.2f}{max(ratios):>7.2f}{below:>7}"
        f"{estimated.megabytes_per_s:>7.1f}" + "".join(f"{speed:>14.1f}" for speed in speeds)
    )


def timed(counter: TokenCounter, texts: Sequence[str]) -> Timed:
    """Each text once, nothing warmed up but the counter."""
    counter.count("warm")
    started = perf_counter()
    tokens = [counter.count(text).tokens for text in texts]
    took_s = perf_counter() - started
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return Timed(tokens=tokens, megabytes_per_s=size / 1e6 / took_s)


def tokenizers() -> dict[str, TokenCounter]:
    """The exact counters that are at hand."""
    found: dict[str, TokenCounter] = {}
    for name, make in (("bpe-openai", BpeOpenAICounter), ("tiktoken", TiktokenCounter)):
        try:
            found[name] = make(ENCODINGS[1])
        except (ImportError, FileNotFoundError) as error:
            print(f"without {name}: {error}")
    if not found:
        raise SystemExit("no tokenizer is at hand, so there is nothing to compare with")
    return found


def read(paths: Sequence[str]) -> dict[str, list[str]]:
    """The files named, and those in the folders named, by suffix."""
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for path in (file for name in paths for file in files_in(Path(name))):
        texts = kinds[path.suffix or path.name]
        if len(texts) < MOST_FILES and 0 < path.stat().st_size <= LARGEST_BYTES:
            texts.append(path.read_text("utf-8", errors="replace"))
    return {kind: texts for kind, texts in kinds.items() if texts}


def files_in(path: Path) -> Iterator[Path]:
    """The file itself, or the files of a folder."""
    if not path.exists():
        raise SystemExit(f"{path} does not exist")
    yield from (
        [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    )


def generated() -> dict[str, list[str]]:
    """Texts that every machine with Python has, and random ones that are the same each time."""
    chance = random.Random(1)  # noqa: S311 - the same texts each time
    library = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    rows = [
        {"id": n, "name": f"user {n}", "score": chance.random(), "tags": ["a", "b"]}
        for n in range(500)
    ]
    return {
        "code": [path.read_text("utf-8") for path in library],
        "prose": [text for text in topics.topics.values() if len(text) > 1_000],
        "json": [json.dumps(rows), json.dumps(rows, indent=2)],
        "base64": [base64.b64encode(chance.randbytes(50_000)).decode() for _ in range(5)],
        "hex": [chance.randbytes(50_000).hex() for _ in range(5)],
        "letters": ["".join(chance.choices(string.ascii_letters, k=50_000)) for _ in range(5)],
        "chinese": ["今天天气很好,我们一起去公园散步,然后回家吃晚饭。" * 500],
        "russian": ["Сегодня хорошая погода, поэтому мы гуляем в парке. " * 500],
        "any unicode": [
            "".join(map(chr, chance.choices(range(0xD800), k=20_000))) for _ in range(5)
        ],
    }


if __name__ == "__main__":
    main(sys.argv[1:])
