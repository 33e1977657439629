"""When a history is rewritten, by the price rule and by others, beside an oracle that knows what comes.

Usage: python benchmarks/price_rule.py [--model NAME] [--pause TURNS] FILE:WINDOW:SHARE ...

A file has conversations, one JSON object a line with ``messages`` in OpenAI's format; it may be gzipped. Each is sent as
it grows: a request before each answer of the model. What its messages have in tokens, results reduced on arrival, is
measured with the manager in a window that nothing fills.

Actions: in each turn a history is held, or cut to what opens it (up to the first answer), what is new, and SHARE of the
rest of the WINDOW; if that is not less than what is there, there is nothing to cut. What does not fit must be cut. All
policies and the oracle have the same actions, tokens and prices, so that they differ in one thing: when.

With ``--pause`` the provider's cache is cold in each turn whose number is a multiple.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from recorded import ROOMY_TOKENS, Conversation, conversation_of, read
from side_by_side import table

from autogen_context.tokens.prices import (
    Rates,
    Rewrite,
    RewritePrice,
    estimate,
    price_of,
    price_of_rewrite,
)

LEAST_NEW_ROOM = 200  # tokens of the window that the newest message never takes


def expected(turn: int) -> int:
    """The turns that a manager expects."""
    return turn + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What all policies share."""

    window_tokens: int
    share: float
    rates: Rates
    pause: int

    def is_cold(self, turn: int) -> bool:
        """Whether nothing is cached."""
        return self.pause > 0 and turn % self.pause == 0

    def left_tokens(self, head: int, new: int) -> int:
        """What a cut leaves."""
        room = max(0, self.window_tokens - head - new)
        return min(self.window_tokens, int(head + new + self.share * room))

    def cost(self, tokens: int, *, shared: int, turn: int) -> float:
        """What a request costs."""
        cached = 0 if self.is_cold(turn) else self.rates.cached_tokens(min(tokens, shared))
        return self.rates.cost_tokens(tokens, cached)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What conversations cost."""

    cost_tokens: float = 0.0
    cuts: int = 0

    def __add__(self, other: "Outcome") -> "Outcome":
        """Of both."""
        return Outcome(
            cost_tokens=self.cost_tokens + other.cost_tokens, cuts=self.cuts + other.cuts
        )


Policy = Callable[[int, RewritePrice, bool], bool]
"""Whether to cut in a turn, at a price, where the window forces it or not."""


def main() -> None:
    """Print a row for each setting."""
    args = arguments()
    rates = price_of(args.model)
    rows: list[Sequence[str]] = [
        ("recording : window : share", "oracle", "cuts", *POLICIES, "cuts of the rule")
    ]
    for setting in args.settings:
        path, window, share = setting.rsplit(":", 2)
        world = World(window_tokens=int(window), share=float(share), rates=rates, pause=args.pause)
        rows.append((f"{Path(path).name}:{window}:{share}", *measured(Path(path), world)))
    print("oracle: of sending everything, reduced on arrival; the others: of the oracle")
    print(table(*rows))


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description="When a history is rewritten.")
    parser.add_argument("settings", nargs="+", metavar="FILE:WINDOW:SHARE")
    parser.add_argument("--model", default="gpt-5", help="whose price rule holds")
    parser.add_argument(
        "--pause", type=int, default=0, help="the cache is cold every so many turns"
    )
    return parser.parse_args()


def measured(path: Path, world: World) -> list[str]:
    """The cells of a row."""
    conversations = recorded(path)
    roomy = replace(world, window_tokens=ROOMY_TOKENS)
    everything = total(played(c, roomy, forced_only(0)) for c in conversations)
    inside = [fitted(conversation, world) for conversation in conversations]
    best = total(oracle(conversation, world) for conversation in inside)
    found = {
        name: total(played(c, world, make(len(c.new_tokens))) for c in inside)
        for name, make in POLICIES.items()
    }
    relative = [f"{one.cost_tokens / best.cost_tokens:.3f}" for one in found.values()]
    share = f"{best.cost_tokens / everything.cost_tokens:.3f}"
    return [share, str(best.cuts), *relative, str(found["rule"].cuts)]


@cache
def recorded(path: Path) -> list[Conversation]:
    """The conversations of a file, read once."""
    return [conversation_of(messages) for messages in read(path)]


def total(outcomes: Iterable[Outcome]) -> Outcome:
    """Of all."""
    return sum(outcomes, Outcome())


def fitted(conversation: Conversation, world: World) -> Conversation:
    """The same with what is new never larger than the window lets it be."""
    most = world.window_tokens - conversation.head_tokens - LEAST_NEW_ROOM
    new = [max(0, min(tokens, most)) for tokens in conversation.new_tokens]
    return Conversation(head_tokens=conversation.head_tokens, new_tokens=new)


def played(conversation: Conversation, world: World, policy: Policy) -> Outcome:
    """What a conversation costs under a policy."""
    head = window = conversation.head_tokens
    cost, cuts = world.cost(head, shared=0, turn=0), 0
    for turn, new in enumerate(conversation.new_tokens, 1):
        held = window + new
        price = price_of_cut(held, new=new, head=head, turn=turn, world=world)
        is_cut = policy(turn, price, held > world.window_tokens) and price.rewrite.saved_tokens > 0
        shared = head if is_cut else window
        window = held - (price.rewrite.saved_tokens if is_cut else 0)
        cost += world.cost(window, shared=shared, turn=turn)
        cuts += is_cut
    return Outcome(cost_tokens=cost, cuts=cuts)


def price_of_cut(held: int, *, new: int, head: int, turn: int, world: World) -> RewritePrice:
    """What it costs to cut now."""
    rewrite = Rewrite(
        window_tokens=held,
        untouched_tokens=head,
        saved_tokens=max(0, held - world.left_tokens(head, new)),
        new_tokens=new,
    )
    return price_of_rewrite(rewrite, world.rates, is_cold=world.is_cold(turn))


def oracle(conversation: Conversation, world: World) -> Outcome:
    """The least that a conversation can cost with these actions: a search over the turn of the last cut.

    What a cut leaves does not depend on what was cut before, so that nothing else needs to be known of the past.
    """
    head = conversation.head_tokens
    first = Outcome(cost_tokens=world.cost(head, shared=0, turn=0))
    best: dict[int, tuple[int, Outcome]] = {0: (head, first)}  # by the last cut: window, so far
    for turn, new in enumerate(conversation.new_tokens, 1):
        left = world.left_tokens(head, new)
        cut = Outcome(cost_tokens=world.cost(left, shared=head, turn=turn), cuts=1)
        can_cut = [so_far for window, so_far in best.values() if window + new > left]
        best = {
            last: (window + new, so_far + held_for(window, new, turn, world))
            for last, (window, so_far) in best.items()
            if window + new <= world.window_tokens
        }
        if can_cut:
            best[turn] = (left, cheapest(can_cut) + cut)
    return cheapest([so_far for _, so_far in best.values()])


def held_for(window: int, new: int, turn: int, world: World) -> Outcome:
    """What a turn costs that only appends."""
    return Outcome(cost_tokens=world.cost(window + new, shared=window, turn=turn))


def cheapest(outcomes: Sequence[Outcome]) -> Outcome:
    """The one that costs least."""
    return min(outcomes, key=lambda outcome: outcome.cost_tokens)


def forced_only(_turns: int) -> Policy:
    """Cuts what does not fit."""
    return lambda _turn, _price, is_forced: is_forced


def always(_turns: int) -> Policy:
    """Cuts whenever there is something to cut."""
    return lambda _turn, _price, _is_forced: True


def paid_back(_turns: int) -> Policy:
    """Cuts as soon as the turns expected pay it back, whatever waiting has cost."""
    return lambda turn, price, is_forced: is_forced or price.gain_tokens(expected(turn)) > 0


def paid_back_for_sure(turns: int) -> Policy:
    """The same, the number of turns known."""
    return lambda turn, price, is_forced: is_forced or price.gain_tokens(turns + 1 - turn) > 0


def rule(_turns: int) -> Policy:
    """What is under test."""
    return ruled(expected)


def rule_for_sure(turns: int) -> Policy:
    """The same, the number of turns known."""
    return ruled(lambda turn: turns + 1 - turn)


def ruled(turns_left: Callable[[int], int]) -> Policy:
    """The rule with an estimate of the turns to come."""
    carried = 0.0

    def policy(turn: int, price: RewritePrice, is_forced: bool) -> bool:  # noqa: FBT001 - as Policy
        nonlocal carried
        turns = turns_left(turn)
        verdict = estimate(price, waited_tokens=carried, turns=turns, is_forced=is_forced)
        carried = 0.0 if verdict.rewrites else verdict.waited_tokens
        return verdict.rewrites

    return policy


POLICIES: Mapping[str, Callable[[int], Policy]] = {
    "forced only": forced_only,
    "rule": rule,
    "turns known": rule_for_sure,
    "paid back": paid_back,
    "paid back, turns known": paid_back_for_sure,
    "always": always,
}


if __name__ == "__main__":
    main()
