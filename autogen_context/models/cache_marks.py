"""Where Anthropic's prompt cache is marked in a request of its Messages API (``cache_control``), and with what lifetime.

Promise: a request has four marks at most, the caller's own included, and those stay as they are; only ``cache_control`` is added,
in copies of the blocks that have it; what is kept between requests are hashes, never text.

Marks stand where something ends that the next request has as well: the newest block, without what was not in the next request
twice in a row; the system prompt; the head, which outlives compactions; the tools. An entry is found up to 20 blocks before a mark,
so where a step adds more, or where the last request's end is not in this one, the end of what both share is marked in place of
the tools. See docs/decisions/0028-cache-marks.md.

Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching (2026-11-29).
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

Lifetime: TypeAlias = Literal["5m", "1h"]
Body: TypeAlias = Mapping[str, Any]
Place: TypeAlias = tuple[str | int, ...]
"""Where a block stands: ``("tools", 2)``, ``("system", 0)``, ``("messages", 3, 0)``; empty for the request itself."""

MARK = "cache_control"
MOST_MARKS = 4  # a request
# The API looks back on 20 blocks, the marked one included; the blocks that a step adds are counted here and there alike, but for
# messages that a host's client or the API joins.
LOOKBACK_BLOCKS = 16
# Kinds of blocks that a mark is known to be taken on; thinking takes none, and an empty text neither.
MARKABLE = frozenset({"text", "image", "document", "tool_use", "tool_result", "search_result"})
PLAIN = frozenset({str, int, float, bool, type(None)})
SECTIONS = {"tools": 0, "system": 1, "messages": 2}  # in the order of the cache


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a request's messages: their hashes, how many each message has, and the hash of what stands before them."""

    hashes: Sequence[int]
    counts: Sequence[int]
    front: int
    opening: int  # how many stand before the first answer

    @staticmethod
    def of(body: Body) -> "Blocks":
        """Read a request."""
        hashes: list[int] = []
        counts: list[int] = []
        opening = -1
        for message in body.get("messages") or ():
            role, blocks = message.get("role"), blocks_in(message.get("content"))
            if role == "assistant" and opening < 0:
                opening = len(hashes)
            hashes += [hash((role, hashed(block))) for block in blocks]
            counts.append(len(blocks))
        front = hash((hashed(body.get("tools")), hashed(blocks_in(body.get("system")))))
        return Blocks(hashes, counts, front, opening if opening >= 0 else len(hashes))

    def place(self, at: int) -> Place:
        """Return where the block with this number stands."""
        for index, count in enumerate(self.counts):
            if at < count:
                return "messages", index, at
            at -= count
        raise IndexError(at)

    def shared_with(self, other: "Blocks") -> int:
        """Return how many blocks two requests begin with; none if what stands before them differs."""
        if self.front != other.front:
            return 0
        pairs = enumerate(zip(self.hashes, other.hashes, strict=False))
        shorter = min(len(self.hashes), len(other.hashes))
        return next((at for at, (one, another) in pairs if one != another), shorter)


class CacheMarks:
    """Marks the requests of one conversation, by what each shares with the one before.

    Args:
        lifetime: how long what is marked stays cached without use.
    """

    def __init__(self, lifetime: Lifetime = "5m") -> None:
        self._lifetime: Lifetime = lifetime
        self._last: Blocks | None = None
        self._head: int | None = None  # blocks that no rewrite has changed
        self._lost = 0  # blocks of the request before the last one that the last one did not have

    def marked(self, body: Body, *, grows: bool = True) -> dict[str, Any]:
        """Return a request with marks; with ``grows=False`` nothing follows it, and only tools and system prompt are marked."""
        messages: Any = body.get("messages")
        if not isinstance(messages, list) or not all(
            isinstance(each, dict) for each in cast("list[object]", messages)
        ):
            return dict(body)  # of a form that is not known; marks are no reason to fail
        ends = [*ends_of(body, "system"), *ends_of(body, "tools")]
        if grows:
            ends = [*self._moving(Blocks.of(body)), *ends]
            ends.sort(key=lambda end: end[0])
        return with_marks(body, [place for _, place in ends], self._lifetime)

    def _moving(self, blocks: Blocks) -> Iterator[tuple[int, Place]]:
        """Yield the places to mark in the messages, each with its rank, and keep what this request was."""
        last, self._last = self._last, blocks
        shared = blocks.shared_with(last) if last else 0
        lost = len(last.hashes) - shared if last else 0
        # What was lost twice in a row will be again: the end is before it.
        volatile, self._lost = min(lost, self._lost), lost
        is_broken = lost > volatile
        if is_broken and shared:
            self._head = min(shared, self._head or shared)
        count = len(blocks.hashes) - volatile
        head = min(self._head or blocks.opening, len(blocks.hashes))
        if count > 0:
            yield 0, blocks.place(count - 1)
        if shared and (is_broken or count - shared >= LOOKBACK_BLOCKS):
            yield 2, blocks.place(shared - 1)
        if head:
            yield 3, blocks.place(head - 1)


def ends_of(body: Body, section: Literal["tools", "system"]) -> Iterator[tuple[int, Place]]:
    """Yield the last block of the tools or of the system prompt, with its rank."""
    count = len(blocks_in(body.get(section)))
    if count:
        yield (1 if section == "system" else 4), (section, count - 1)


def with_marks(body: Body, places: Sequence[Place], lifetime: Lifetime) -> dict[str, Any]:
    """Return a request that is marked at the first of these places that there is room for, in the order given.

    A place whose block takes no mark stands for the one before it. No lifetime is longer than that of a mark before it, which the
    API refuses.
    """
    own = own_marks(body)
    chosen: dict[Place, Lifetime] = {}
    for place in places:
        if len(own) + len(chosen) >= MOST_MARKS:
            break
        taken = markable(body, place)
        if taken is not None and taken not in own and taken not in chosen:
            chosen[taken] = lifetime_at(taken, own, lifetime)
    marked = dict(body)
    for place, chosen_lifetime in chosen.items():
        mark_at(marked, place, chosen_lifetime)
    return marked


def own_marks(body: Body) -> dict[Place, Lifetime]:
    """Return the marks that a request has, with their lifetimes; one on the request itself is that of the newest block."""
    found: dict[Place, Lifetime] = {}
    for section in ("tools", "system"):
        for index, block in enumerate(blocks_in(body.get(section))):
            if isinstance(block, Mapping) and MARK in block:
                found[section, index] = lifetime_of(cast("Body", block)[MARK])
    messages: Sequence[Body] = body.get("messages") or ()
    for index, message in enumerate(messages):
        for at, block in enumerate(blocks_in(message.get("content"))):
            if isinstance(block, Mapping) and MARK in block:
                found["messages", index, at] = lifetime_of(cast("Body", block)[MARK])
    if body.get(MARK) and messages:
        last = len(messages) - 1
        place = "messages", last, len(blocks_in(messages[last].get("content"))) - 1
        found[() if place in found else place] = lifetime_of(body[MARK])
    return found


def lifetime_of(mark: object) -> Lifetime:
    """Return the lifetime of a mark."""
    is_long = isinstance(mark, Mapping) and cast("Body", mark).get("ttl") == "1h"
    return "1h" if is_long else "5m"


def lifetime_at(place: Place, own: Mapping[Place, Lifetime], wanted: Lifetime) -> Lifetime:
    """Return a mark's lifetime such that lifetimes do not grow from one mark to the next."""
    lasting = [order_of(other) for other, each in own.items() if each == "1h"]
    if any(other > order_of(place) for other in lasting):
        return "1h"
    short = [order_of(other) for other, each in own.items() if each == "5m"]
    return "5m" if any(other < order_of(place) for other in short) else wanted


def order_of(place: Place) -> tuple[int, ...]:
    """Return what sorts places in the order of the cache; the request itself comes last."""
    if not place:
        return (len(SECTIONS),)
    return SECTIONS[str(place[0])], *(int(each) for each in place[1:])


def markable(body: Body, place: Place) -> Place | None:
    """Return a place, or the nearest one before it in its section whose block takes a mark."""
    return next((each for each, block in back_from(body, place) if takes_mark(block)), None)


def back_from(body: Body, place: Place) -> Iterator[tuple[Place, Body]]:
    """Yield the block at a place and those before it in its section, newest first."""
    section, index = str(place[0]), int(place[1])
    if section != "messages":
        blocks = blocks_in(body[section])
        yield from (((section, i), blocks[i]) for i in range(index, -1, -1))
        return
    stop: int | None = int(place[2]) + 1
    for at in range(index, -1, -1):
        blocks = blocks_in(body["messages"][at].get("content"))[:stop]
        stop = None
        yield from (((section, at, i), blocks[i]) for i in range(len(blocks) - 1, -1, -1))


def takes_mark(block: object) -> bool:
    """Return True if the API takes a mark on this block, which may be a tool; objects of the client's are left as they are."""
    if not isinstance(block, Mapping):
        return False
    known = cast("Body", block)
    kind = known.get("type")
    if "name" in known and kind != "tool_use":
        return not known.get("defer_loading")
    return kind in MARKABLE and (kind != "text" or bool(str(known.get("text") or "").strip()))


def mark_at(body: dict[str, Any], place: Place, lifetime: Lifetime) -> None:
    """Mark a block in a copy of what is on the way to it; ``body`` itself is ours."""
    mark = {"type": "ephemeral", **({"ttl": "1h"} if lifetime == "1h" else {})}
    section, index = str(place[0]), int(place[1])
    if section != "messages":
        blocks = [*blocks_in(body[section])]
        blocks[index] = {**blocks[index], MARK: mark}
        body[section] = blocks
        return
    messages = [*body["messages"]]
    content = [*blocks_in(messages[index].get("content"))]
    at = int(place[2])
    content[at] = {**content[at], MARK: mark}
    messages[index] = {**messages[index], "content": content}
    body["messages"] = messages


def blocks_in(content: object) -> Sequence[Any]:
    """Return a content as blocks; a text is a block of its own."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else ()
    return cast("Sequence[Any]", content) if isinstance(content, list | tuple) else ()


def hashed(value: Any) -> int:
    """Return a hash of a JSON value without its marks; that of a text is kept by Python, so that it is computed once."""
    kind = value.__class__
    if kind in PLAIN:
        return hash(value)
    if kind is dict:
        if MARK in value:
            value = {name: each for name, each in value.items() if name != MARK}
        parts = [each if type(each) in PLAIN else hashed(each) for each in value.values()]
        return hash((*value, *parts))
    if kind is list or kind is tuple:
        return hash(tuple(map(hashed, value)))
    if isinstance(value, Mapping):
        return hashed(dict(cast("Body", value)))
    fields = getattr(value, "__dict__", None)  # of an object of the client's
    if fields is not None:
        return hashed(fields)
    return hash(value) if isinstance(value, Hashable) else hash(repr(value))
