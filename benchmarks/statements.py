"""What of that which people state in everyday words is still in the request much later.

Usage: python benchmarks/statements.py [FILE] [--window TOKENS ...] [--show]

FILE (`statements.json` beside this script) holds statements from many fields of life: single ones, pairs that are alike but
about different subjects, updates and withdrawals. Eight items go into each conversation, over its first turns, and 60 turns
of work talk with tool results follow. `prepare_nowait` gives the request before each answer, and the last request is read:

- single, distinct, newest: per cent of the items whose statement, both statements, newer statement stands there;
- stale: per cent of the updates whose old value stands behind the new one or without it (lower is better);
- revived: per cent of the withdrawals whose rule stands without the withdrawal behind it (lower is better);
- free: the median fraction of the window that a compaction leaves free;
- lost with room: statements that are missing although the last compaction left room: over 2 % of the window below
  `compact_to_fraction` or, where none is configured, over 15 % of the window.

A statement stands there when all strings that its item needs stand, whole and in any case, within 300 characters.
`--show` lists the items that fell short.
"""

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Literal

from pydantic import TypeAdapter
from work_talk import Message, WorkTalk

from autogen_context import IncrementalContextManager

BESIDE = Path(__file__).with_name("statements.json")
WINDOWS = (3_000, 6_000)
ITEMS = 8
TURNS = 60
STRETCH = 300
SECOND_AFTER = 7
ROOM = 0.02
ROOM_WHERE_NONE_IS_SET = 0.15
SYSTEM = "You are a capable assistant with access to the person's project and tools."
ANSWERS = ("All right.", "Understood.", "Got it.", "OK, thanks for telling me.", "Fine, will do.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One statement, or two that belong together, and what shows that each is there."""

    id: str
    kind: Literal["single", "distinct", "update", "withdrawal"]
    language: str
    messages: tuple[str, ...]
    needs: tuple[tuple[str, ...], ...]
    words: Literal["same", "other"] | None = None


@dataclass(slots=True)
class Findings:
    """What became of the items of one window: ids by what fell short, and how the compactions went."""

    missing: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    compactions: int = 0
    free: list[float] = field(default_factory=list[float])
    lost_with_room: list[str] = field(default_factory=list[str])


def main() -> None:
    """Print a row for each window."""
    options = _options()
    items = TypeAdapter(list[Item]).validate_json(options.file.read_bytes())
    print(
        f"{'window':>7} {'single':>7} {'distinct':>9} {'newest':>7} {'stale':>6} {'revived':>8}",
        end="",
    )
    print(f" {'compactions':>12} {'free':>6} {'lost with room':>15}")
    for window_tokens in options.window:
        found = measure(items, window_tokens)
        print(_row(window_tokens, items, found))
        if options.show:
            for name, ids in (*found.missing.items(), ("lost with room", found.lost_with_room)):
                print(f"        {name}: {' '.join(sorted(ids))}")


def measure(items: Sequence[Item], window_tokens: int) -> Findings:
    """Hold every conversation in a window of `window_tokens`, and read each last request."""
    order = list(items)
    Random(1).shuffle(order)  # noqa: S311 - the same conversations each time
    values = _values(items)
    found = Findings()
    for number, start in enumerate(range(0, len(order), ITEMS)):
        few = order[start : start + ITEMS]
        talk = WorkTalk(number, lambda text: values & set(_words(text)))
        last, has_room = _hold(conversation(few, talk), window_tokens, found)
        for item in few:
            _judge(item, last, found, has_room=has_room)
    return found


def conversation(items: Sequence[Item], talk: WorkTalk) -> list[Message]:
    """One conversation: the items over the first turns among work, then 60 turns of work."""
    said: dict[int, str] = {}
    for number, item in enumerate(items):
        for place, text in enumerate(item.messages):
            said[2 * number + SECOND_AFTER * place] = text
    messages: list[Message] = [{"role": "system", "content": SYSTEM}]
    for turn in range(2 * ITEMS + SECOND_AFTER):
        if turn not in said:
            messages += talk.turn()
            continue
        messages.append({"role": "user", "content": said[turn]})
        answer = {"role": "assistant", "content": ANSWERS[turn % len(ANSWERS)]}
        messages += [answer] if turn % 4 else talk.work()
    for _ in range(TURNS):
        messages += talk.turn()
    return messages


def _hold(messages: list[Message], window_tokens: int, found: Findings) -> tuple[str, bool]:
    """The text of the last request, and whether the last compaction left room."""
    manager = IncrementalContextManager(
        model="gpt-4", window_tokens=window_tokens, reserve_tokens=0
    )
    configured = manager.config.model_dump()
    aim = next(value for name, value in configured.items() if name.startswith("compact_to_"))
    most = 1 - ROOM_WHERE_NONE_IS_SET if aim is None else aim - ROOM
    has_room = False
    sent: Iterable[Message] = ()
    for place, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        prepared = manager.prepare_nowait(messages[:place])
        sent = prepared.messages
        if prepared.compacted:
            used = prepared.certificate.bound.tokens / window_tokens
            found.compactions += 1
            found.free.append(1 - used)
            has_room = used < most
    return "\n".join(_texts(sent)), has_room


def _texts(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        yield str(message.get("content") or "")
        for call in message.get("tool_calls") or ():
            yield str(call["function"]["arguments"])


def _judge(item: Item, text: str, found: Findings, *, has_room: bool) -> None:
    places = [standing(needs, text) for needs in item.needs]
    first, last = places[0], places[-1]
    is_lost = False
    if item.kind == "withdrawal":
        is_revived = first is not None and (last is None or first > last)
        _note(found, "revived", item, fell_short=is_revived)
    elif item.kind == "update":
        is_lost = last is None
        _note(found, "newest", item, fell_short=is_lost)
        is_stale = first is not None and (last is None or first > last)
        _note(found, "stale", item, fell_short=is_stale)
    else:
        is_lost = None in places
        _note(found, item.kind, item, fell_short=is_lost)
    if is_lost and has_room:
        newest = places[-1:] if item.kind == "update" else places
        found.lost_with_room += [item.id] * newest.count(None)


def _note(found: Findings, name: str, item: Item, *, fell_short: bool) -> None:
    ids = found.missing.setdefault(name, [])
    if fell_short:
        ids.append(item.id)


def standing(needs: Sequence[str], text: str) -> int | None:
    """Where the last stretch of 300 characters starts that holds all of `needs`; none: None."""
    text = " ".join(text.split()).casefold()
    spots = [
        [found.span() for found in re.finditer(_whole(need), text)]
        for need in (" ".join(need.split()).casefold() for need in needs)
    ]
    for start in sorted({start for found in spots for start, _ in found}, reverse=True):
        if all(any(a >= start and b <= start + STRETCH for a, b in found) for found in spots):
            return start
    return None


def _whole(need: str) -> str:
    return rf"(?<!\w){re.escape(need)}(?!\w)"


def _values(items: Iterable[Item]) -> set[str]:
    """The names and numbers among what is needed: words with a digit, or with a capital that no sentence asks for."""
    return {
        word.casefold()
        for item in items
        for message, needs in zip(item.messages, item.needs, strict=True)
        for need in needs
        for word in need.split()
        if any(letter.isdigit() for letter in word)
        or (word[0].isupper() and not message.startswith(word))
    }


def _words(text: str) -> list[str]:
    return re.findall(r"[\w'.:,-]*\w", text.casefold())


def _row(window_tokens: int, items: Sequence[Item], found: Findings) -> str:
    total = {
        kind: sum(item.kind == kind for item in items)
        for kind in ("single", "distinct", "update", "withdrawal")
    }

    def there(name: str, kind: str) -> float:
        return 100 - short(name, kind)

    def short(name: str, kind: str) -> float:
        return 100 * len(found.missing.get(name, ())) / max(total[kind], 1)

    free = 100 * median(found.free) if found.free else 100.0
    return (
        f"{window_tokens:7d} {there('single', 'single'):6.1f}% {there('distinct', 'distinct'):8.1f}%"
        f" {there('newest', 'update'):6.1f}% {short('stale', 'update'):5.1f}%"
        f" {short('revived', 'withdrawal'):7.1f}% {found.compactions:12d} {free:5.1f}%"
        f" {len(found.lost_with_room):15d}"
    )


def _options() -> Any:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=BESIDE)
    parser.add_argument("--window", nargs="+", type=int, default=WINDOWS)
    parser.add_argument("--show", action="store_true", help="list the items that fell short")
    return parser.parse_args()


if __name__ == "__main__":
    main()
