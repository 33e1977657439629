"""What a turn costs: one new message of some 100 tokens on histories of 100 and of 2,000 messages (200,000 tokens).

Usage: python benchmarks/turn_cost.py

``each old`` is what a message that was there before adds to a turn. The window is never full: what is timed is noticing
that nothing old changed, beside libraries that count or copy the whole history at each turn. Peers that are not
installed are left out; AutoGen's own count with tiktoken, whose ranks of cl100k_base must be on disk
(TIKTOKEN_CACHE_DIR).

With everything switched on all triggers look at each turn, finished spans are out of sight, and each message, a person's, is
judged by whether it asks for something out of sight.

Below that, what a turn of an agent costs, a call and its result, by when the history is rewritten: half of the turns cost
no more than the first number, nine of ten no more than the second. With ``priced`` all triggers look at each turn.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from statistics import quantiles
from typing import Literal

import peers
from material import ENCODING, ROOMY_TOKENS, history, new_messages, tokenizer, tokens_of
from peers import Conversation
from side_by_side import MOST_RUNS, MakeReady, Run, medians, ms, seconds, table, times

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.testing import ChatMessage
from autogen_context.tokens.measure import TokenCounter

SIZES = (100, 2_000)
ROUNDS = 9
MOST_TURNS = ROUNDS * MOST_RUNS
AGENT_SIZES = (500, 2_000, 8_000)
AGENT_TURNS = 100
AGENT_WINDOW_TOKENS = 10_000_000  # that none of these fills

OURS = "manager, same objects"
BROUGHT_BY = {
    "autogen": '"autogen-context[classic]"',
    "autogen_core": '"autogen-context[agentchat]"',
    "autogen_ext": '"autogen-context[agentchat]"',
    "langchain_core": "langchain-core",
}

When = Literal["when_full", "cost_based"]
HandOver = Callable[[list[ChatMessage]], list[ChatMessage]]
Start = Callable[[Sequence[ChatMessage]], Conversation]


class ManagedConversation:
    """A history in an ``IncrementalContextManager``."""

    def __init__(
        self,
        history: Sequence[ChatMessage],
        *,
        hand_over: HandOver,
        counter: TokenCounter,
        compaction: When = "when_full",
    ) -> None:
        """With how the host hands its list over at each turn, and when the history is rewritten."""
        config = ContextConfig(window_tokens=ROOMY_TOKENS, compaction=compaction)
        self._manager = IncrementalContextManager(config=config, counter=counter)
        self._history = list(history)
        self._hand_over = hand_over
        self._manager.prepare_nowait(self._history)

    def turn(self, message: ChatMessage) -> Run:
        """The turn with one more message."""
        self._history.append(message)
        return partial(self._manager.prepare_nowait, self._hand_over(self._history))


class ManagedAgent:
    """An agent's conversation in an ``IncrementalContextManager``, which grows by a call and its result each turn."""

    def __init__(self, messages: int, *, compaction: When, counter: TokenCounter) -> None:
        """With when the history is rewritten."""
        config = ContextConfig(window_tokens=AGENT_WINDOW_TOKENS, compaction=compaction)
        self._manager = IncrementalContextManager(config=config, counter=counter)
        self._messages = history(messages + 2 * AGENT_TURNS)
        self._stop = messages
        self._manager.prepare_nowait(self._messages[: self._stop])

    def turn(self) -> Run:
        """The turn with one more call and its result."""
        self._stop += 2
        return partial(self._manager.prepare_nowait, self._messages[: self._stop])


def main() -> None:
    """Print a row for each library, and one for each way to hand a history to this one; then the turns of agents."""
    counter = tokenizer()
    with asyncio.Runner() as runner:
        conversations = dict(started(starts(counter, runner.get_loop())))
        turns = {key: turns_of(conversation) for key, conversation in conversations.items()}
        taken_s = medians(turns, rounds=ROUNDS)
    print(measured(history(SIZES[-1]), counter))
    print(table(head(), *rows(taken_s)))
    print()
    print(table(agent_head(), *agent_rows(counter)))


def measured(messages: Sequence[ChatMessage], counter: TokenCounter) -> str:
    """What the larger history has, and how that was counted."""
    tokens, source = tokens_of(messages, counter), counter.count("").source
    return f"{len(messages):,} messages have {tokens:,} tokens of {ENCODING} by {source}"


def starts(counter: TokenCounter, loop: asyncio.AbstractEventLoop) -> dict[str, Start]:
    """How each library starts with a history."""
    managed = partial(ManagedConversation, counter=counter)
    return {
        OURS: partial(managed, hand_over=list),
        "manager, everything switched on": partial(
            managed, hand_over=list, compaction="cost_based"
        ),
        "manager, deep copies": partial(managed, hand_over=deepcopy),
        "manager, read from JSON": partial(managed, hand_over=through_json),
        "ManagedChatCompletionContext": partial(peers.managed_context, loop=loop),
        "ContextTransform, deep copies": partial(peers.context_transform, counter=counter),
        "AutoGen TokenLimitedChatCompletionContext": partial(peers.token_limited, loop=loop),
        "classic AutoGen MessageTokenLimiter": peers.token_limiter,
        "langchain-core trim_messages": partial(peers.LangchainConversation, counter),
        "langchain-core trim_messages, approximate": partial(peers.LangchainConversation, None),
    }


def started(all_starts: Mapping[str, Start]) -> Iterator[tuple[tuple[str, int], Conversation]]:
    """A conversation for each library and size; libraries that are not at hand are named and left out."""
    for name, start in all_starts.items():
        try:
            for size in SIZES:
                yield (name, size), start(history(size - MOST_TURNS // 2))
        except ImportError as error:
            missing = str(error.name).partition(".")[0]
            print(f"without {name}: {error}; pip install {BROUGHT_BY.get(missing, missing)}")
        except FileNotFoundError as error:
            print(f"without {name}: {error}")


def through_json(messages: list[ChatMessage]) -> list[ChatMessage]:
    """Equal messages that share nothing, as from a file or a database."""
    copies: list[ChatMessage] = json.loads(json.dumps(messages))
    return copies


def turns_of(conversation: Conversation) -> MakeReady:
    """The turns of a conversation, which grows by a message each."""
    new = new_messages(MOST_TURNS)
    return lambda: conversation.turn(next(new))


def head() -> list[str]:
    """The names of the columns."""
    sizes = [f"{size:,} messages" for size in SIZES]
    return ["one new message", *sizes, "each old", "beside the first"]


def rows(taken_s: Mapping[tuple[str, int], float]) -> Iterator[list[str]]:
    """A row for each library."""
    small, large = SIZES
    for name, size in taken_s:
        if size == large:
            short, long = taken_s[name, small], taken_s[name, large]
            each_old = f"{(long - short) / (large - small) * 1e6:.3f} µs"
            yield [name, ms(short), ms(long), each_old, times(long / taken_s[OURS, large])]


def agent_head() -> list[str]:
    """The names of the columns."""
    return ["one turn of an agent", *(f"{size:,} messages" for size in AGENT_SIZES)]


def agent_rows(counter: TokenCounter) -> Iterator[list[str]]:
    """A row for each answer to when the history is rewritten."""
    rewrites: tuple[When, ...] = ("when_full", "cost_based")
    agents: dict[tuple[When, int], ManagedAgent] = {
        (rewrite, size): ManagedAgent(size, compaction=rewrite, counter=counter)
        for rewrite in rewrites
        for size in AGENT_SIZES
    }
    taken_s: dict[tuple[When, int], list[float]] = {key: [] for key in agents}
    for _ in range(AGENT_TURNS):
        for key, agent in agents.items():
            taken_s[key].append(seconds(agent.turn()))
    for rewrite in rewrites:
        yield [f"compaction={rewrite!r}", *(spread(taken_s[rewrite, size]) for size in AGENT_SIZES)]


def spread(taken_s: Sequence[float]) -> str:
    """The median and the last of nine in ten, as a cell."""
    tenths = quantiles(taken_s, n=10)
    return f"{ms(tenths[4])} / {ms(tenths[8])}"


if __name__ == "__main__":
    main()
