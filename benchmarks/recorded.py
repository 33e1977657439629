"""Recorded conversations as the sizes of their requests.

Promise: what a message has in tokens is what the manager would send of it in a window that nothing fills: results are
reduced on arrival, nothing is cut.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from autogen_context import IncrementalContextManager

ROOMY_TOKENS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The requests of a conversation.

    Attributes:
        head_tokens: of the first one.
        new_tokens: what each further one has more.
    """

    head_tokens: int
    new_tokens: Sequence[int]


def read(path: Path) -> list[list[Mapping[str, object]]]:
    """The messages of each conversation of a file of JSON lines, gzipped or not."""
    packed = path.read_bytes()
    text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode("utf-8")
    return [json.loads(line)["messages"] for line in text.split("\n") if line]


def conversation_of(messages: Sequence[Mapping[str, object]]) -> Conversation:
    """The requests of recorded messages."""
    manager = IncrementalContextManager(model="gpt-4", window_tokens=ROOMY_TOKENS)
    totals = [
        manager.prepare_nowait(messages[:i]).certificate.counted_tokens
        for i, message in enumerate(messages)
        if i and message["role"] == "assistant"
    ]
    grown = [after - before for before, after in pairwise(totals)]
    return Conversation(head_tokens=totals[0], new_tokens=grown)
