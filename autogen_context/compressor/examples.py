"""Compress examples: the first of several stays, a mark counts the others; a block of code keeps its ends.

Promise: what is no example stays as it is; the marks say how many went. Linear time.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from autogen_context.compressor.passage import Passage

EXAMPLE = re.compile(
    r"(?:as an? |another |one )?(?:for (?:example|instance)\b|e\.g\.|examples?\b|(?:as an )?illustration\b|to illustrate\b"
    r"|imagine\b|suppose\b|say,|consider (?:the case|a |an )|think of\b|likewise\b|similarly\b)",
    re.IGNORECASE,
)
ANNOUNCED = re.compile(
    r"\b(?:examples?|e\.g\.|for instance|such as|like this|samples?)\b.{0,20}:$", re.IGNORECASE
)
ASIDE = re.compile(
    r" ?\((?:e\.g\.|for (?:example|instance)|such as)[^()\n]{0,200}\)", re.IGNORECASE
)
BLOCK_LINES = 12  # a block of more keeps its ends
BLOCK_HEAD = 5
BLOCK_TAIL = 3


def with_short_examples(passages: Sequence[Passage]) -> list[Passage]:
    """The passages with one example where several stand together, and with short blocks."""
    shortened = [without_aside(passage) for passage in passages]
    return [with_ends(passage) for passage in first_examples(shortened)]


def first_examples(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Of examples in a row the first, with a mark for the others."""
    flags = examples_among(passages)
    at = 0
    while at < len(passages):
        end = at + 1
        while flags[at] and end < len(passages) and flags[end]:
            end += 1
        yield with_mark(passages[at], others=end - at - 1)
        at = end


def examples_among(passages: Sequence[Passage]) -> list[bool]:
    """For each passage whether it is an example: it says so, or is listed where examples were announced."""
    flags: list[bool] = []
    announced = -1  # the section in which examples are listed
    for before, passage in zip([None, *passages], passages, strict=False):
        if before is not None and before.text.endswith(":") and ANNOUNCED.search(before.text):
            announced = passage.section
        listed = passage.kind in {"item", "block"} and passage.section == announced
        flags.append(listed or (passage.kind == "sentence" and is_example(passage)))
    return flags


def is_example(passage: Passage) -> bool:
    """Whether a sentence says that it is an example, and announces none."""
    return EXAMPLE.match(passage.text) is not None and not passage.text.endswith(":")


def with_mark(passage: Passage, *, others: int) -> Passage:
    """An example that stands for others as well."""
    if not others:
        return passage
    noun = "example" if others == 1 else "examples"
    return replace(passage, text=f"{passage.text} [… {others} more {noun} …]")


def without_aside(passage: Passage) -> Passage:
    """The passage without examples in brackets."""
    if passage.kind == "block" or "(" not in passage.text:
        return passage
    return replace(passage, text=ASIDE.sub("", passage.text))


def with_ends(passage: Passage) -> Passage:
    """A long block without its middle."""
    lines = passage.text.split("\n") if passage.kind == "block" else []
    if len(lines) <= BLOCK_LINES:
        return passage
    gone = len(lines) - BLOCK_HEAD - BLOCK_TAIL
    kept = [*lines[:BLOCK_HEAD], f"[… {gone} lines …]", *lines[-BLOCK_TAIL:]]
    return replace(passage, text="\n".join(kept))
