"""What broke the prefix of a request of a run, as its event says it: cause, place and tokens, and no text.

Promise: the texts of two requests are compared where they are, in memory, by the doctor's own comparison; only the result is
recorded. A turn that only adds to the one before it costs nothing here.
"""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autogen_context.manager.event_schema import LostEvent
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.tool_schema import ToolText
from autogen_context.tokens.prices import Price
from autogen_context.tokens.prompt_change import Place, PromptPart, compared


class Broken(NamedTuple):
    """What broke a prefix: the cause, and the changed part in words."""

    cause: str
    place: str


def lost_in(
    old: Sequence[PromptPart],
    new: Sequence[PromptPart],
    *,
    prefix: int,
    counted: int,
    price: Price,
    is_compacted: bool,
    earlier: Broken | None,
) -> LostEvent | None:
    """Return what a request lost of the provider's cache, and why; ``None`` if nothing that it sends again.

    Args:
        old: the parts of the request before.
        new: those of this one.
        prefix: tokens that it has in common with the start of the last one with its tools.
        counted: its tokens.
        price: of its input.
        is_compacted: whether a compaction made it.
        earlier: cause and place of a change since the last request with its tools, if there was one.
    """
    heads = [[part for part in parts if part.place != "message"] for parts in (old, new)]
    changes = [] if heads[0] == heads[1] else list(compared(*heads).changes)
    sent = {part.text for part in old}
    known = sum(part.tokens for part in new if part.text in sent)
    why = earlier
    if is_compacted and not changes:
        why = Broken("compaction", "")
    elif not changes:
        result = compared(old, new)
        known = max(known, sum(new[i].tokens for i in result.known))
        changes = list(result.changes)
    if changes:
        why = Broken(changes[0].cause, changes[0].place)
    if why is None:
        return None
    again = min(counted, known) - prefix
    if again <= 0:
        return None
    should, does = price.cached_tokens(prefix + again), price.cached_tokens(prefix)
    cost = price.cost_tokens(counted, does) - price.cost_tokens(counted, should)
    return LostEvent(
        cause=why.cause, where=why.place, tokens=should - does, again=again, cost=round(cost, 1)
    )


def parts_of(
    tools: Sequence[ToolText], fixed: int, messages: Iterator[tuple[Message, int]]
) -> list[PromptPart]:
    """Return the parts of a request: tools, which together have the ``fixed`` tokens, and messages with theirs."""
    parts = [
        PromptPart("tool", tool.name, tool.text, 0 if at else fixed)
        for at, tool in enumerate(tools)
    ]
    is_first = True
    for message, tokens in messages:
        is_first = is_first and message.role in SYSTEM_ROLES
        place: Place = "system" if is_first else "message"
        parts.append(PromptPart(place, message.role, text_of(message), tokens))
    return parts


def text_of(message: Message) -> str:
    """Return all that is sent of a message but its role: its texts, and in a last line the rest as JSON."""
    lines = [message.text, *(result.text for result in message.results)]
    calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.calls]
    ids = [{"call_id": result.call_id} for result in message.results]
    images = [image.digest for image in message.images]
    rest = [each for each in (calls, ids, images, message.name, message.extra) if each]
    last = [json.dumps(rest, ensure_ascii=False)] if rest else []
    return "\n".join([*filter(None, lines), *last])
