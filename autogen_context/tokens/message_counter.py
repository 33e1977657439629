"""Count the messages and tools of a request, as an upper bound, and say where the number comes from.

Promise: each text is counted once while its count is remembered; what a chat format adds (roles, names, calls, images)
is counted too; and every number has the source of its counter. Counting starts at once with what is on this machine; only
``load_tokenizer`` waits, and not beyond its limit.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Self

from autogen_context.messages.message import Message, content_digest
from autogen_context.tokens.calibrate import Calibration
from autogen_context.tokens.families import Family, family_of, image_tokens
from autogen_context.tokens.measure import Count, Overheads, Source, TokenCounter
from autogen_context.tokens.tokenizers import counter_for, fetch_ranks

ESTIMATE_LOWEST_RATIO = 0.25  # an estimate is an upper bound; at worst some four times the truth
REMEMBERED_TEXTS = 50_000
# Parts of a content cost more apart than joined by newlines: up to 4 tokens where both ends are long runs of newlines, by
# o200k_base and cl100k_base, 2026-11.
PER_PART = 4
LONGEST_KEY = 4_096  # characters; a longer text is remembered by its digest, not by itself


class MessageCounter:
    """Counts messages with one counter of texts and one chat format.

    Args:
        counter: counts a text.
        overheads: what the format adds.
        calibration: what is known of the difference to bills before the first one.

    Attributes:
        overheads: the same.
        calibration: the same.
        source: where its numbers come from.
    """

    def __init__(
        self,
        counter: TokenCounter,
        overheads: Overheads,
        calibration: Calibration = Calibration(),  # noqa: B008 - it is frozen
    ) -> None:
        self.overheads = overheads
        self.calibration = calibration
        self._counter = counter
        self._known: dict[str | bytes, int] = {}  # oldest first
        self.source: Source = counter.count("").source

    @classmethod
    def for_model(
        cls, model: str, counter: TokenCounter | None = None, *, own_name: str = ""
    ) -> Self:
        """How to count for a model, by its name: tokenizer, chat format, and how far to trust both.

        Args:
            model: its name.
            counter: another counter of texts than its family's.
            own_name: the author's name under which the host sends messages of our own.
        """
        family = family_of(model)
        chosen = counter or counter_for(family.encoding)
        own = family.chat.per_name + chosen.count(own_name).tokens if own_name else 0
        counts = chosen.count("").source == "tokenizer"
        calibration = Calibration(
            ratio=1.0 if counter else family.ratio,  # who brings a counter brings the model's own
            lowest_ratio=family.lowest_ratio if counts else ESTIMATE_LOWEST_RATIO,
        )
        return cls(chosen, overheads_of(family, per_own=own), calibration)

    def count(self, text: str, /) -> Count:
        """Tokens of a text that is not remembered, such as a trial."""
        return self._counter.count(text)

    def text(self, text: str) -> int:
        """Tokens of a text."""
        if not text:
            return 0
        key = text if len(text) <= LONGEST_KEY else content_digest(text)
        known = self._known.get(key)
        return self._remember(key, self._counter.count(text).tokens) if known is None else known

    def message(self, message: Message) -> int:
        """Tokens of a message with everything its format adds; results count as the messages they are sent as."""
        over = self.overheads
        sent_as = len(message.results) + bool(message.text or not message.results)
        tokens = sent_as * over.per_message + self.text(message.text) + self.text(message.extra)
        tokens += (message.text_parts - 1) * PER_PART
        if message.name:
            tokens += over.per_name + self.text(message.name)
        elif message.own and message.role == "user":
            tokens += over.per_own
        for call in message.calls:
            tokens += over.per_call + self.text(call.name) + self.text(call.arguments)
        for result in message.results:
            name = over.per_name + self.text(result.name) if result.name else 0
            tokens += max(over.per_result, name) + self.text(result.text)
        for image in message.images:
            tokens += over.image_tokens(image)
        return tokens

    def tools(self, tools: Sequence[Mapping[str, object]]) -> int:
        """What the schemas of tools add to a request.

        Providers write a schema down in a form of their own, which is shorter than its JSON without spaces.

        Args:
            tools: the schemas as they are sent, in OpenAI's or any other form.

        Raises:
            ValueError: a schema that is not JSON; names the tool's position.
        """
        if not tools:
            return 0
        counted = sum(self.count(schema_json(tool, at)).tokens for at, tool in enumerate(tools))
        return counted + len(tools) * self.overheads.per_tool + self.overheads.per_tool_list

    def _remember(self, key: str | bytes, tokens: int) -> int:
        self._known[key] = tokens
        if len(self._known) > REMEMBERED_TEXTS:
            del self._known[next(iter(self._known))]
        return tokens


def schema_json(tool: Mapping[str, object], at: int) -> str:
    """A schema as text.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return json.dumps(tool, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"tools[{at}] cannot be written as JSON ({error}); pass plain dicts"
        ) from error


async def load_tokenizer(model: str, *, timeout_s: float) -> None:
    """Have the model's tokenizer ready, if it can be within the limit; 0 does not try."""
    if timeout_s > 0:
        await fetch_ranks(family_of(model).encoding, timeout_s=timeout_s)


def overheads_of(family: Family, *, per_own: int) -> Overheads:
    """What the family's chat format adds; a role is one token in every known vocabulary."""
    chat = family.chat
    return Overheads(
        per_message=chat.per_message + 1,
        per_name=chat.per_name,
        per_request=chat.per_request,
        per_call=chat.per_call,
        per_result=chat.per_result,
        per_tool=chat.per_tool,
        per_tool_list=chat.per_tool_list,
        image_tokens=partial(image_tokens, rule=family.image),
        per_own=per_own,
    )
