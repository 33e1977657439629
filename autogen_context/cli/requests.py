"""Read requests as they were sent to a model, from JSON or JSON Lines: chats of OpenAI, Responses, Messages of Anthropic, and logs of them.

Promise: what a provider caches is what is compared: marks such as ``cache_control``, empty fields and the order of a message's own
fields count for nothing, the order of keys in a tool's schema does. Anything unreadable raises a ``ValueError`` that names the file and the
place in it.

Source: the references of OpenAI's chat completions and Responses, of Anthropic's Messages, and of LiteLLM's logs (read 2026-11).
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

from autogen_context.cli.recording import (
    STANDARD_INPUT,
    conversations_in,
    documents_in,
    is_list,
    is_object,
    text_of,
)
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prefix import SentPrompt
from autogen_context.tokens.prices import HOUR_S
from autogen_context.tokens.prompt_change import Place, PromptPart

JsonObject = dict[str, object]

BODIES = ("request", "body", "kwargs", "params", "payload", "input", "inputs", "data", "json")
LISTS = ("messages", "input", "contents")  # of a chat, of Responses, of Gemini
ANSWERS = ("response", "body", "output", "result", "completion")
USAGES = ("usage", "usage_metadata", "usageMetadata", "token_usage")
TIMES = (
    "time",
    "timestamp",
    "created",
    "created_at",
    "start_time",
    "startTime",
    "sent_at",
    "date",
    "ts",
    "at",
)
NAMES = (
    "conversation_id",
    "conversation",
    "session_id",
    "session",
    "thread_id",
    "thread",
    "chat_id",
)
# Settings that stand in front of the messages: of OpenAI, whose schemas are part of the prompt, and of Anthropic.
FORMATS = ("response_format", "text", "output_format", "output_config")
PLAIN_FORMATS = ({"format": {"type": "text"}}, {"type": "text"})
BEFORE_MESSAGES = ("tool_choice", "thinking")
MARKS = ("cache_control", "cachePoint")  # where to cache, which is no content
PROMPTS = ("system", "instructions", "system_instruction", "systemInstruction")
MILLISECONDS_FROM = 1e11  # seconds in the year 5138
LIFETIME = re.compile(r"(\d+)h")
LIFETIME_OF_A_MARK = re.compile(r'"cache_control": \{[^{}]*"ttl": "(\d+)h"')
EXPECTED = "expected are requests as they were sent, with 'messages', 'input' or 'contents'"


def read_requests(path: str) -> list[SentPrompt]:
    """Return the requests in a file (``"-"``: standard input), in order: at least one."""
    name = "standard input" if path == STANDARD_INPUT else path
    try:
        return requests_in(text_of(path))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def requests_in(text: str) -> list[SentPrompt]:
    """Return the requests in the text of a file."""
    documents = documents_in(text)
    read = Reader()
    found = [
        read.request(request, where)
        for value, place in documents
        for request, where in listed_in(value, place)
    ]
    if not any(prompt is not None for prompt in found):
        # Messages without a request around them, or a state: one conversation each, as `replay` reads it.
        for recorded in conversations_in(documents):
            fields: JsonObject = {
                "messages": list(recorded.messages),
                "tools": list(recorded.tools),
            }
            found.append(read.request({**fields, "model": recorded.model}, recorded.path))
    prompts = [prompt for prompt in found if prompt is not None]
    if not prompts:
        raise ValueError(f"no request in it; {EXPECTED}")
    names = [prompt.conversation for prompt in prompts if prompt.conversation]
    if len(set(names)) == len(
        names
    ):  # a name of its own for each request says nothing of conversations
        prompts = [replace(prompt, conversation="") for prompt in prompts]
    return [replace(prompt, number=number) for number, prompt in enumerate(prompts, 1)]


def listed_in(value: object, place: str) -> Iterator[tuple[object, str]]:
    """Yield the entries of a list of requests, or the one value."""
    if is_object(value):
        for key in ("requests", "entries", "calls", "logs", "traces"):
            if is_list(inner := value.get(key)) and inner:
                value = inner
                break
    if is_list(value) and value and all(is_object(each) and body_of(each) for each in value):
        for i, each in enumerate(value):
            yield each, f"{place}[{i}]"
    else:
        yield value, place


def body_of(value: object) -> JsonObject | None:
    """Return the request in a JSON object: itself, or what stands under a known key."""
    if not is_object(value):
        return None
    if any(is_list(value.get(key)) for key in LISTS) or (
        isinstance(value.get("input"), str) and "model" in value
    ):
        return value
    for key in BODIES:
        inner = value.get(key)
        if isinstance(inner, str) and inner.lstrip().startswith("{"):
            try:
                inner = cast("object", json.loads(inner))
            except ValueError:
                continue
        if is_object(inner) and (found := body_of(inner)) is not None:
            return {**{k: value[k] for k in ("model", "tools") if k in value}, **found}
    return None


class Reader:
    """Reads requests; equal texts of several requests are one object, and counted once."""

    def __init__(self) -> None:
        self._known = dict[tuple[str, Place, str, str], PromptPart]()
        self._counters = dict[str, MessageCounter]()

    def request(self, value: object, place: str) -> SentPrompt | None:
        """Return the request in a JSON value; ``None`` if there is none."""
        body = body_of(value)
        if body is None or not is_object(value):
            return None
        try:
            model = text_in(body, "model") or text_in(value, "model")
            parts = [self._part(model, *each) for each in parts_of(body)]
        except (TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{place}: the request cannot be read; {EXPECTED}") from error
        if all(part.place in ("tool", "setting") for part in parts):
            return None
        prompt_tokens, cached_tokens = usage_of(value)
        return SentPrompt(
            number=0,
            parts=parts,
            model=model,
            conversation=conversation_of(value, body),
            time_s=time_of(value),
            prompt_tokens=prompt_tokens,
            cached_tokens=cached_tokens,
            remark=remark_of(body),
            cache_ttl_s=ttl_of(body),
        )

    def _part(self, model: str, place: Place, name: str, text: str, value: object) -> PromptPart:
        key = (model, place, name, text)
        if key not in self._known:
            counter = self._counters.get(model)
            if counter is None:
                counter = self._counters[model] = MessageCounter.for_model(model)
            tokens = tokens_of(counter, place, text, value)
            self._known[key] = PromptPart(place, name, text, tokens)
        return self._known[key]


def tokens_of(counter: MessageCounter, place: Place, text: str, value: object) -> int:
    """Return the tokens of a part, those of a chat message with what its format adds."""
    if place != "tool" and is_object(value) and "role" in value:
        try:
            return counter.message(OpenAIChat().read(value))
        except ValueError:
            pass  # of another format
    return counter.count(text).tokens


Raw = tuple[Place, str, str, object]
"""A part as read: its place, its name, all that is sent of it as text, and the value for counting."""


def parts_of(body: JsonObject) -> Iterator[Raw]:
    """Yield the parts of a request in the order in which a provider caches them: tools, system prompt, messages."""
    for tool in tools_in(body):
        yield "tool", tool_name(tool), as_text(without_marks(tool)), tool
    for key in FORMATS:
        if (value := body.get(key)) and value not in PLAIN_FORMATS:
            yield "setting", key, as_text(value), value
    for key in PROMPTS:
        if value := body.get(key):
            yield "system", "system", said(without_marks(value)), value
    if is_anthropic(body):
        for key in BEFORE_MESSAGES:
            if value := body.get(key):
                yield "setting", key, as_text(value), value
    key = next((key for key in LISTS if body.get(key)), "")
    listed = body.get(key)
    if isinstance(listed, str):
        listed = [{"role": "user", "content": listed}]
    is_first = True
    for message in listed if is_list(listed) else []:
        role = role_of(message)
        is_first = is_first and role in SYSTEM_ROLES
        place: Place = "system" if is_first else "message"
        yield place, role, said(without_marks(message)), message


def tools_in(body: JsonObject) -> Iterator[JsonObject]:
    """Yield the tools of a request, or the functions of OpenAI's older form."""
    for key in ("tools", "functions"):
        listed = body.get(key)
        for tool in listed if is_list(listed) else []:
            if is_object(tool):
                yield tool


def tool_name(tool: JsonObject) -> str:
    """Return the name of a tool; of one without a name, its type."""
    inner = tool.get("function")
    named = inner if is_object(inner) else tool
    return text_in(named, "name") or text_in(tool, "type") or "tool"


def role_of(message: object) -> str:
    """Return the role of a message; of an item without one, its type."""
    if not is_object(message):
        return "user"
    return text_in(message, "role") or text_in(message, "type") or "user"


def is_anthropic(body: JsonObject) -> bool:
    """Whether a request is one of Anthropic's Messages."""
    tools = list(tools_in(body))
    return "system" in body or any("input_schema" in tool for tool in tools) or "thinking" in body


def said(value: object) -> str:
    """Return all that is sent of a message: its text as it is, and what else it has as JSON in a last line."""
    if not is_object(value):
        texts = (
            [text_in(block, "text") if is_object(block) else str(block) for block in value]
            if is_list(value)
            else []
        )
        plain = is_list(value) and all(
            is_object(block) and set(block) <= {"type", "text"} for block in value
        )
        return "\n".join(texts) if plain else value if isinstance(value, str) else as_text(value)
    content = value.get("content", value.get("parts"))
    rest = {
        key: value[key]
        for key in sorted(value)
        if key not in ("role", "content", "parts") and value[key] not in (None, [], "", {}, False)
    }
    if isinstance(content, str) or content is None:
        text = content or ""
    elif is_list(content) and all(is_object(b) and set(b) <= {"type", "text"} for b in content):
        text = "\n".join(text_in(block, "text") for block in content if is_object(block))
    else:
        text, rest = "", {"content": content, **rest}
    rest.pop("type", None) if rest.get("type") == "message" else None
    return "\n".join([*([text] if text else []), *([as_text(rest)] if rest else [])])


def without_marks(value: object) -> object:
    """Return a JSON value without the marks that say where to cache."""
    if is_object(value):
        return {key: without_marks(each) for key, each in value.items() if key not in MARKS}
    if is_list(value):
        return [
            without_marks(each)
            for each in value
            if not (is_object(each) and set(each) <= set(MARKS))
        ]
    return value


def as_text(value: object) -> str:
    """Return a value as JSON with its keys in their order."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def text_in(fields: JsonObject, key: str) -> str:
    """Return a text under a key; empty if there is none."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def conversation_of(*places: JsonObject) -> str:
    """Return the name by which requests belong together; empty if nobody gives one."""
    for fields in places:
        for each in (
            fields,
            fields.get("metadata"),
            fields.get("extra"),
            fields.get("litellm_params"),
        ):
            if is_object(each):
                for key in NAMES:
                    if isinstance(name := each.get(key), str | int) and name != "":
                        return str(name)
    return ""


def remark_of(body: JsonObject) -> str:
    """Say what a request has besides its content that decides where its prefix is looked for."""
    if is_anthropic(body) and "cache_control" not in as_text(body):
        return "it has no cache_control mark, without which nothing is cached"
    key = text_in(body, "prompt_cache_key")
    return f"its prompt_cache_key is {key!r}" if key else ""


def ttl_of(body: JsonObject) -> float:
    """Return how long a request asks the provider to keep its prefix, in seconds: OpenAI by a field, Anthropic by its marks; else 0."""
    if (found := LIFETIME.fullmatch(text_in(body, "prompt_cache_retention"))) is None:
        found = LIFETIME_OF_A_MARK.search(as_text(body)) if is_anthropic(body) else None
    return HOUR_S * float(found[1]) if found else 0.0


# Bills


def usage_of(value: JsonObject) -> tuple[int | None, int | None]:
    """Return the billed input tokens, cached ones included, and how many of them were cached; ``None`` where nobody says it."""
    for fields in (value, *(each for key in ANSWERS if is_object(each := value.get(key)))):
        inner = fields.get("body")
        for each in (fields, inner if is_object(inner) else {}):
            for key in USAGES:
                if is_object(usage := each.get(key)):
                    return billed_in(usage)
    return None, None


def billed_in(usage: JsonObject) -> tuple[int | None, int | None]:
    """Read a bill of OpenAI, Anthropic, DeepSeek, Gemini, or of a gateway that passes them on."""
    details = [
        each
        for key in ("prompt_tokens_details", "input_tokens_details", "input_token_details")
        if is_object(each := usage.get(key))
    ]
    cached = first_number(
        [*details, usage],
        *("cached_tokens", "cache_read", "cache_read_input_tokens", "prompt_cache_hit_tokens"),
        *("cached_input_tokens", "cachedContentTokenCount", "cached_content_token_count", "cached"),
    )
    whole = first_number(
        [usage],
        *("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count", "prompt"),
    )
    is_apart = "input_tokens" in usage and (
        "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage
    )
    if (
        whole is not None and is_apart and "prompt_tokens" not in usage
    ):  # Anthropic's, whose input excludes both
        written = first_number([usage], "cache_creation_input_tokens")
        whole += (cached or 0) + (written or 0)
    return whole, cached


def first_number(places: Sequence[JsonObject], *keys: str) -> int | None:
    """Return the first whole number under any of these keys."""
    for fields in places:
        for key in keys:
            value = fields.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return int(value)
    return None


def time_of(value: JsonObject) -> float | None:
    """Return when a request was sent, in seconds since 1970; ``None`` if nobody says it."""
    answers = (each for key in ANSWERS if is_object(each := value.get(key)))
    for fields in (value, *answers):
        for key in TIMES:
            if (time_s := seconds_of(fields.get(key))) is not None:
                return time_s
    return None


def seconds_of(value: object) -> float | None:
    """Return a time in seconds: of a number of seconds or milliseconds, or of a date and time of ISO 8601, in UTC by default."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1_000 if value > MILLISECONDS_FROM else float(value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None
