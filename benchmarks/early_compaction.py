"""What it saves and loses to cut early what is finished, by the price of a cached input token.

Usage: python benchmarks/early_compaction.py [--every N] FILE:WINDOW ...

A file has conversations, one JSON object a line with ``messages`` in OpenAI's format; it may be gzipped. Each is sent as it
grows, a request before each answer of the model, once compacted when the window is full and once cost-based. The bill is
reckoned from the lists themselves: what a request has in common with the one before, from its first message on, is cached.
Costs are of sending everything, at the same price. *Kept* is how many of the telling values that an answer takes up again
(arguments of its calls and what it says) from earlier messages stand in the request that it answers.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from recorded import read
from side_by_side import table

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.messages.identifiers import is_distinctive, values_of
from autogen_context.tokens.prices import Rates

CACHED_FRACTIONS = (0.1, 0.25, 0.5, 1.0)
CHARS_A_TOKEN = 4  # only ratios are shown

Message = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """Sums over requests.

    Attributes:
        new_tokens: that no request before had in front.
        cached_tokens: that the one before began with.
        taken_up: values that answers took up again.
        kept: of these, those that stood in the request.
        cuts: requests in which something was compacted.
    """

    new_tokens: int = 0
    cached_tokens: int = 0
    taken_up: int = 0
    kept: int = 0
    cuts: int = 0

    def __add__(self, other: "Bill") -> "Bill":
        """Of both."""
        return Bill(
            new_tokens=self.new_tokens + other.new_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            taken_up=self.taken_up + other.taken_up,
            kept=self.kept + other.kept,
            cuts=self.cuts + other.cuts,
        )

    def cost(self, cached_fraction: float) -> float:
        """In uncached tokens."""
        rates = Rates(cached_fraction=cached_fraction)
        return rates.cost_tokens(self.new_tokens + self.cached_tokens, self.cached_tokens)


def main() -> None:
    """Print a row for each recording and price."""
    parser = argparse.ArgumentParser(description="What early compaction saves and loses.")
    parser.add_argument("recordings", nargs="+", metavar="FILE:WINDOW")
    parser.add_argument("--every", type=int, default=1, help="every so many conversations")
    args = parser.parse_args()
    rows: list[Sequence[str]] = [
        ("recording : window : cached", "when full", "kept", "cost-based", "kept", "early cuts")
    ]
    for recording in args.recordings:
        path, window = recording.rsplit(":", 1)
        conversations = read(Path(path))[:: args.every]
        whole = sent_whole(conversations)
        full = replayed(conversations, int(window), 1.0, "when_full")  # whatever the price
        for cached in CACHED_FRACTIONS:
            early = replayed(conversations, int(window), cached, "cost_based")
            name = f"{Path(path).parent.name} : {window} : {cached}"
            rows.append(
                (
                    name,
                    *cells(full, whole, cached),
                    *cells(early, whole, cached),
                    str(early.cuts - full.cuts),
                )
            )
    print(table(*rows))


def cells(bill: Bill, whole: Bill, cached: float) -> tuple[str, str]:
    """Cost of sending everything, and what was kept, in per cent."""
    kept = 100 * bill.kept / bill.taken_up if bill.taken_up else 100
    return f"{bill.cost(cached) / whole.cost(cached):.3f}", f"{kept:.1f}"


def replayed(
    conversations: Sequence[Sequence[Message]], window: int, cached: float, compaction: str
) -> Bill:
    """The bill of all conversations, each with a manager of its own."""
    config = ContextConfig.model_validate(
        {
            "compaction": compaction,
            "cached_input_fraction": cached,
            "model": "gpt-4o",
            "window_tokens": window,
        }
    )
    bill = Bill()
    for messages in conversations:
        manager = IncrementalContextManager(config=config)
        sent = [manager.prepare_nowait(messages[:stop]) for stop in stops_of(messages)]
        bill += billed(messages, [each.messages for each in sent])
        bill += Bill(cuts=sum(each.compacted for each in sent))
    return bill


def sent_whole(conversations: Sequence[Sequence[Message]]) -> Bill:
    """The bill of sending everything."""
    return sum((billed(m, [m[:stop] for stop in stops_of(m)]) for m in conversations), Bill())


def stops_of(messages: Sequence[Message]) -> list[int]:
    """Where the model is to speak."""
    return [i for i, message in enumerate(messages) if i and message["role"] == "assistant"]


def billed(messages: Sequence[Message], requests: Sequence[Sequence[Message]]) -> Bill:
    """The bill of the requests of one conversation."""
    bill, before = Bill(), list[str]()
    for stop, request in zip(stops_of(messages), requests, strict=True):
        texts = [json.dumps(message, sort_keys=True, ensure_ascii=False) for message in request]
        shared = [
            a
            for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(texts, before, strict=False))
        ]
        cached, tokens = (sum(map(len, each)) // CHARS_A_TOKEN for each in (shared, texts))
        earlier = values_of("\n".join(told(messages[:stop])))
        taken_up = {
            v for v in values_of("\n".join(told(messages[stop : stop + 1]))) if is_distinctive(v)
        } & earlier
        kept = taken_up & values_of("\n".join(told(request)))
        bill += Bill(
            new_tokens=tokens - cached, cached_tokens=cached, taken_up=len(taken_up), kept=len(kept)
        )
        before = texts
    return bill


def told(messages: Sequence[Message]) -> Iterator[str]:
    """What messages say and call."""
    for message in messages:
        yield str(message.get("content") or "")
        yield str(message.get("tool_calls") or "")


if __name__ == "__main__":
    main()
