"""The doctor of the prompt cache: of requests as they were sent, which broke the prefix of the one before, by what, and at what cost.

Promise: a request that only adds to an earlier one of its conversation is never named, whatever is in it; neither is a first request,
a branch, or one of another agent whose own prefix goes on. What the bytes do not explain is named only where a bill says that it was not
cached. Nothing is asked of anybody: the same requests give the same findings. docs/decisions/0029-cache-doctor.md has the rules.

Source: OpenAI, Anthropic (``prompt-caching``, read 2026-11): tools, then system, then messages; up to the first byte that differs.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import eq
from typing import NamedTuple

from autogen_context.text.difference import common_start, loosest
from autogen_context.tokens.prices import Price, price_of
from autogen_context.tokens.prompt_change import (
    Cause,
    Comparison,
    PromptChange,
    PromptPart,
    compared,
    is_version,
)

MOST_REQUESTS = (
    256  # the newest, with which one is compared: the last one with each head of each conversation
)
MOST_HEADS = 16  # of them of one conversation
LEAST_BILLED = 0.5  # fraction of what should be cached; a smaller one is not cached
LEAST_KEPT = 0.25  # fraction of the messages that a cut leaves word for word
MOST_FOUND = 0.9  # fraction of what the bytes lost from which on a provider had it after all, from another request
OWN_MARK = re.compile(
    r"left out here to fit the context window|\[… [\d,]+ \w+ …\]|\[Added to the conversation:"
)

OF_A_COMPACTION = frozenset[Cause](
    {
        "message edited",
        "message removed",
        "message inserted",
        "front cut",
        "history replaced",
        "rewritten",
        "counter",
    }
)

ADVICE: Mapping[Cause, str] = {
    "clock": 'put it into the newest message, behind what is cached (volatile="behind"), or let it change once a day',
    "identifier": 'leave it out, or put it into the newest message, behind what is cached (volatile="behind")',
    "counter": 'put it into the newest message, behind what is cached (volatile="behind")',
    "system prompt": "keep the system prompt as it is for a whole conversation; what changes goes into the newest message",
    "tool changed": "keep descriptions and schemas as they are for a whole conversation",
    "tool added": "offer all tools from the first request on; restrict them by tool_choice or allowed_tools; with find_tools ask for "
    "several at once, name them in the system prompt, or raise tools_fraction",
    "tool removed": "offer all tools in each request; restrict them by tool_choice or allowed_tools",
    "tools reordered": "sort the tools by name before each request",
    "setting": "keep it the same for a whole conversation, or ask in a request of its own",
    "rewritten": "serialise a message once and send the same text again, with keys in one order (sort_keys=True)",
    "call ids": "keep the ids that the model gave its calls",
    "message edited": "append what is new instead of editing what was sent",
    "message removed": "leave messages where they are until a compaction; then cut deep and once",
    "message inserted": "append at the end; what is looked up goes in front of or into the newest message",
    "messages reordered": "keep the order in which messages were first sent",
    "front cut": "do not slide the window at each turn: cut deep and rarely, as register(agent) does",
    "history replaced": "summarise rarely and deep, when the window is full or the cache has run out",
    "model": "stay with one model within a conversation, or give the other one a conversation of its own",
    "expired": "ask for a longer lifetime (prompt_cache_retention, ttl), or compact while it is cold anyway",
    "not cached": "give the requests of a conversation one prompt_cache_key, or cache_control marks; the provider decides",
    "compaction": "nothing to mend: the window was full or it paid, and the next turns only append",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPrompt:
    """A request as it was sent: its parts in the order in which a provider caches them, and what is known of its bill.

    Attributes:
        number: of the request in its file, from 1.
        parts: the tools, the settings that stand in front, and the messages.
        conversation: a name by which requests belong together; empty if nobody gives one.
        time_s: when it was sent, in seconds; ``None`` if that is unknown.
        prompt_tokens: billed input tokens, cached ones included; ``None`` if that is unknown.
        cached_tokens: of these; ``None`` if that is not reported, which is not 0.
        cache_ttl_s: how long it asks the provider to keep its prefix, in seconds; 0 if it says nothing of it.
        remark: what else may keep a provider from finding the prefix, in words.
    """

    number: int
    parts: Sequence[PromptPart]
    model: str = ""
    conversation: str = ""
    time_s: float | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    remark: str = ""
    cache_ttl_s: float = 0.0

    @property
    def tokens(self) -> int:
        """The tokens of the request, as billed or else as counted."""
        return self.counted_tokens if self.prompt_tokens is None else self.prompt_tokens

    @property
    def counted_tokens(self) -> int:
        """The tokens of its parts."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixBreak:
    """A request that paid again for what an earlier one had sent.

    Attributes:
        number: of the request, from 1.
        turn: its number in its conversation, from 1.
        cause: the first change, or what else kept it from being cached.
        evidence: the place and what stands there now and stood there before, in words.
        also: further causes in the same request, which break the prefix once the first one is mended.
        lost_tokens: that would have been cached, by the provider's rule.
        again_tokens: that were sent again behind the change, whatever the provider caches of them.
        cost_tokens: what they cost more, in uncached input tokens.
        dollars: the same; ``None`` if the price of the model is unknown.
    """

    number: int
    turn: int
    conversation: int
    cause: Cause
    evidence: str
    also: Sequence[str] = ()
    lost_tokens: int
    again_tokens: int
    cost_tokens: float
    dollars: float | None

    @property
    def advice(self) -> str:
        """How to avoid it."""
        return ADVICE[self.cause]

    @property
    def is_avoidable(self) -> bool:
        """Whether it is a fault; a compaction of our own is a cost that saves more."""
        return self.cause != "compaction"


class Base(NamedTuple):
    """What a request goes on from: a conversation, from 0, and its last request that a provider would find, if there is one."""

    conversation: int
    earlier: "Seen | None"


def diagnose(
    prompts: Sequence[SentPrompt], *, price: Callable[[str], Price] = price_of
) -> list[PrefixBreak]:
    """Return what broke the prefix of which request, in their order.

    Args:
        prompts: n requests, oldest first, of one conversation or several, interleaved or not.
        price: gives the price and the caching rule of a model.
    """
    every = seen(prompts)
    heads = Heads(every)
    found, turns, last = list[PrefixBreak](), list[int](), dict[tuple[int, Head], Seen]()
    for now in every:
        base = base_of(now, last, heads) or Base(len(turns), None)
        if base.conversation == len(turns):
            turns.append(0)
        turns[base.conversation] += 1
        if base.earlier is not None:
            cached = [each.prompt for each in last.values()]
            pair = Pair(base.earlier.prompt, now.prompt, cached, price(now.prompt.model))
            if (what := pair.finding) is not None:
                turn = turns[base.conversation]
                found.append(replace(what, conversation=base.conversation + 1, turn=turn))
        last.pop((base.conversation, now.head), None)
        last[base.conversation, now.head] = now
        forget(last, base.conversation)
    return found


def forget(last: dict[tuple[int, "Head"], "Seen"], conversation: int) -> None:
    """Leave out the oldest heads of a conversation, and of all, that are too many."""
    own = [key for key in last if key[0] == conversation]
    for key in [*own[:-MOST_HEADS], *[*last][:-MOST_REQUESTS]]:
        last.pop(key, None)


# Which earlier request it goes on from

Head = tuple[str, tuple[PromptPart, ...]]
"""What tells requests apart that a provider caches apart from the first byte on: model, tools, settings, system messages in front."""


class Seen(NamedTuple):
    """A request with what it is compared by: its head, that without clocks, identifiers and counters, and its messages."""

    at: int
    prompt: SentPrompt
    head: Head
    loose_head: Head
    messages: Sequence[PromptPart]
    loose: Sequence[tuple[str, str]]  # roles, and texts without what changes of itself
    counts: Mapping[tuple[str, str], int]


def seen(prompts: Sequence[SentPrompt]) -> list[Seen]:
    """Return requests with what they are compared by; each text is looked at once."""
    known = dict[str, str]()

    def loose(part: PromptPart) -> str:
        if part.text not in known:
            known[part.text] = loosest(part.text)
        return known[part.text]

    found: list[Seen] = []
    for at, prompt in enumerate(prompts):
        ends = next((i for i, part in enumerate(prompt.parts) if part.place == "message"), None)
        head = tuple(prompt.parts[:ends])
        loose_head = tuple(
            part._replace(text=loose(part), tokens=0) if part.place == "system" else part
            for part in head
        )
        messages = [part for part in prompt.parts if part.place == "message"]
        texts = [(part.name, loose(part)) for part in messages]
        model = prompt.model
        found.append(
            Seen(at, prompt, (model, head), (model, loose_head), messages, texts, Counter(texts))
        )
    return found


class Heads:
    """The requests of a file by their heads: where an old head comes again, one with another head is of somebody else."""

    def __init__(self, every: Sequence[Seen]) -> None:
        self._last = {each.head: each.at for each in every}
        self._last_loose = {each.loose_head: each.at for each in every}

    def comes_after(self, now: Seen, head: Head) -> bool:
        """Whether a request with this very head comes after one."""
        return self._last[head] > now.at

    def like_comes_after(self, now: Seen, loose_head: Head) -> bool:
        """Whether a request with a head like this comes after one."""
        return self._last_loose[loose_head] > now.at


def base_of(now: Seen, last: Mapping[tuple[int, Head], Seen], heads: Heads) -> Base | None:
    """Return what a request goes on from; ``None`` if it begins a conversation."""
    name = now.prompt.conversation
    near = [
        (conversation, earlier)
        for (conversation, _), earlier in reversed(list(last.items()))
        if not (name and earlier.prompt.conversation) or name == earlier.prompt.conversation
    ]
    own = [each for each in near if each[1].head == now.head]
    starts = [each for each in own if is_start(each[1].prompt.parts, now.prompt.parts)]
    if starts:  # it only adds to it, whatever else it may look like
        return Base(*max(starts, key=lambda each: len(each[1].messages)))
    followed = [(overlap(earlier, now), n, earlier) for n, earlier in own]
    most = max(followed, key=lambda each: each[0], default=None)
    if most and most[0]:
        return Base(most[1], most[2])
    others = [
        ((likeness(earlier, now), count), n, earlier)
        for n, earlier in near
        if earlier.head != now.head and (count := overlap(earlier, now))
    ]
    if not others:
        return None
    _, conversation, earlier = max(others, key=lambda each: each[0])
    return Base(conversation, earlier if is_same_agent(earlier, now, heads) else None)


def is_start(old: Sequence[PromptPart], new: Sequence[PromptPart]) -> bool:
    """Whether a request only adds to another one."""
    return len(old) <= len(new) and all(map(eq, old, new))


def overlap(earlier: Seen, now: Seen) -> int:
    """Return how many messages of an earlier request a request has, in these or other versions; 0 unless it goes on from it.

    It does so if something follows the newest message of the earlier one, which may itself have been changed, or if all
    messages are alike and what stands in front is not, or if under the same head a part of them is left word for word.
    """
    old, new = earlier.messages, now.messages
    if not old or not new:
        return 0
    same = sum(
        min(count, earlier.counts[each])
        for each, count in now.counts.items()
        if each in earlier.counts
    )
    if earlier.loose[-1] in now.counts and earlier.loose[-1] in now.loose[:-1]:
        return same
    if earlier.head != now.head and earlier.loose == now.loose:
        return same
    if earlier.head == now.head and same:
        kept = (Counter(part[:3] for part in old) & Counter(part[:3] for part in new)).total()
        if kept >= max(2, LEAST_KEPT * min(len(old), len(new))):
            return kept
    at = len(old) - 1
    is_changed = len(new) > len(old) and earlier.loose[:at] == now.loose[:at]
    return same + 1 if is_changed and is_version(old[at], new[at]) else 0


def likeness(earlier: Seen, now: Seen) -> int:
    """Return how alike the heads of two requests are."""
    pairs = zip(parts_by_place(earlier.head), parts_by_place(now.head), strict=True)
    alike = sum(old == new for old, new in pairs)
    is_loosely = earlier.loose_head[1] == now.loose_head[1]
    return alike + 2 * is_loosely + (earlier.prompt.model == now.prompt.model)


def parts_by_place(head: Head) -> tuple[list[PromptPart], ...]:
    """Return tools, settings and system messages in front."""
    return tuple(
        [p for p in head[1] if p.place == place] for place in ("tool", "setting", "system")
    )


def is_same_agent(earlier: Seen, now: Seen, heads: Heads) -> bool:
    """Whether a request with another head is of the same agent, whose head was changed, and not of another one or on the side.

    An agent's tools are left out, or a format is asked for, in single requests: that is no change unless it lasts. Nor is it one
    where the earlier head comes again, or where the system prompt is another one together with model or tools.
    """
    old, new = parts_by_place(earlier.head), parts_by_place(now.head)
    names = ("tools", "settings", "system")
    differs = [name for name, a, b in zip(names, old, new, strict=True) if a != b]
    if earlier.prompt.model != now.prompt.model:
        differs.append("model")
    some = [name for name, a, b in zip(names[:2], old[:2], new[:2], strict=True) if not (a and b)]
    if set(some) & set(differs):
        lasts = heads.comes_after(now, now.head) or "system" in differs
        if heads.like_comes_after(now, earlier.loose_head) or not lasts:
            return False
    if "system" not in differs:
        return True
    loose = [
        [p for p in head[1] if p.place == "system"] for head in (earlier.loose_head, now.loose_head)
    ]
    if loose[0] == loose[1]:
        return not heads.comes_after(now, earlier.head)
    if heads.like_comes_after(now, earlier.loose_head):
        return False
    if any(map(is_version, old[2], new[2])) or (differs == ["system"] and not (old[2] and new[2])):
        return True
    return differs == ["system"] and heads.like_comes_after(now, now.loose_head)


# What broke it


@dataclass(frozen=True, slots=True)
class Pair:
    """A request, the one that it goes on from, and all that a provider may have cached."""

    earlier: SentPrompt
    prompt: SentPrompt
    cached: Sequence[SentPrompt]
    price: Price

    @property
    def finding(self) -> PrefixBreak | None:
        """What broke the prefix; ``None`` if nothing did."""
        result = compared(self.earlier.parts, self.prompt.parts)
        changes = [*self._other_model(), *marked(result, self.earlier, self.prompt)]
        if not changes:
            return self._uncached()
        known = sum(self.prompt.parts[i].tokens for i in result.known)
        shared = min(known, max(self._shared(each) for each in [self.earlier, *self.cached]))
        should, does = self._cached_of(known), self._cached_of(shared)
        billed = self.prompt.cached_tokens
        if known <= shared:
            return None
        # A smaller loss is within what the counts here and there differ by.
        is_plain = does < MOST_FOUND * should
        if billed is not None and is_plain and billed >= does + MOST_FOUND * (should - does):
            return None
        first, *others = changes
        also = [change.evidence for change in others]
        if self._is_cold:
            also.append(self._idle_in_words)
        lost = should - (does if billed is None else min(should, billed))
        return self._named(first.cause, first.evidence, lost=lost, again=known - shared, also=also)

    def _uncached(self) -> PrefixBreak | None:
        """What kept a prefix that was sent again byte for byte from being cached: time, or what only the bill knows."""
        shared = self._shared(self.earlier)
        should, billed = self._cached_of(shared), self.prompt.cached_tokens
        if not should or (billed is not None and billed >= LEAST_BILLED * should):
            return None
        lost = should - (billed or 0)
        if self._is_cold:
            return self._named("expired", self._idle_in_words, lost=lost, again=shared)
        if billed is None:
            return None
        said = (
            f"the front is that of request {self.earlier.number}, byte for byte, and of the {should:,} tokens that should be "
            f"cached the bill says {billed:,}"
        )
        remark = f"; {self.prompt.remark}" if self.prompt.remark else ""
        return self._named("not cached", said + remark, lost=lost, again=shared)

    def _named(
        self, cause: Cause, evidence: str, *, lost: int, again: int, also: Sequence[str] = ()
    ) -> PrefixBreak:
        tokens = max(lost, self.prompt.tokens)
        cost = self.price.cost_tokens(tokens, 0) - self.price.cost_tokens(tokens, lost)
        return PrefixBreak(
            number=self.prompt.number,
            turn=0,
            conversation=0,
            cause=cause,
            evidence=evidence,
            also=also,
            lost_tokens=lost,
            again_tokens=round(again * self._scale),
            cost_tokens=cost,
            dollars=self.price.dollars(cost),
        )

    def _other_model(self) -> Iterator[PromptChange]:
        before, now = self.earlier.model, self.prompt.model
        if before != now:
            said = f"{now or 'no model'!r} is asked, and {before or 'no model'!r} had the conversation in its cache"
            yield PromptChange(cause="model", place="model", evidence=said)

    def _shared(self, earlier: SentPrompt) -> int:
        """Return the tokens that a request has in common with the start of an earlier one, as counted here."""
        if earlier.model != self.prompt.model:
            return 0
        same = sum(1 for _ in takewhile(bool, map(eq, earlier.parts, self.prompt.parts)))
        tokens = sum(part.tokens for part in self.prompt.parts[:same])
        if same < min(len(earlier.parts), len(self.prompt.parts)):
            old, new = earlier.parts[same], self.prompt.parts[same]
            if old[:2] == new[:2] and new.text:
                tokens += new.tokens * common_start(old.text, new.text) // len(new.text)
        return tokens

    def _cached_of(self, tokens: int) -> int:
        """Return how many of so many counted tokens a provider caches."""
        return self.price.cached_tokens(round(tokens * self._scale))

    @property
    def _scale(self) -> float:
        """By how much the bill is above the count here."""
        counted = self.prompt.counted_tokens
        return self.prompt.tokens / counted if counted else 1.0

    @property
    def _idle_s(self) -> float | None:
        """How long nobody had asked for what the request begins with; ``None`` if that is unknown."""
        if self.prompt.time_s is None:
            return None
        least = LEAST_BILLED * self._shared(self.earlier)
        times = [
            each.time_s
            for each in [self.earlier, *self.cached]
            if each is self.earlier or self._shared(each) >= max(1.0, least)
        ]
        known = [time_s for time_s in times if time_s is not None]
        return self.prompt.time_s - max(known) if len(known) == len(times) else None

    @property
    def _is_cold(self) -> bool:
        return self._idle_s is not None and self._idle_s > self._ttl_s

    @property
    def _idle_in_words(self) -> str:
        return idle_in_words(self._idle_s or 0, self._ttl_s)

    @property
    def _ttl_s(self) -> float:
        return max(self.earlier.cache_ttl_s, self.price.cache_ttl_s)


def idle_in_words(idle_s: float, ttl_s: float) -> str:
    """Say why a prefix has expired."""
    return f"{idle_s:,.0f} s passed since the last request, and the provider keeps a prefix for {ttl_s:,.0f} s"


def marked(result: Comparison, earlier: SentPrompt, prompt: SentPrompt) -> Iterator[PromptChange]:
    """Yield the changes of a comparison, those that a compaction of our own made as that: its marks stand where none stood."""
    before = {part.text for part in earlier.parts}
    end = max(result.known, default=0)
    own = [part for part in prompt.parts[:end] if part.text not in before]
    is_own = any(part.place != "tool" and OWN_MARK.search(part.text) for part in own)
    said = False
    for change in result.changes:
        if not (is_own and change.cause in OF_A_COMPACTION):
            yield change
        elif not said:
            said = True
            words = f"autogen_context cut the history, from {change.place} on"
            yield PromptChange(cause="compaction", place=change.place, evidence=words)
