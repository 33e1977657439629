"""Refuse messages of formats other than OpenAI's chat format, where a tool call or its result could stand unseen.

Promise: what passes has its calls and results where they are looked for, so that a certificate speaks of all of them. A content
part of an unknown type is refused, since it could be either; the error names the format, if it is a known one, and the way out.

Source: the message references of each provider, read 2026-11.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, cast

# Types of content parts that are data: OpenAI's, and those of compatible endpoints (vLLM, Mistral, LiteLLM for Claude).
DATA_PARTS = frozenset(
    {
        *("image_url", "input_image", "image", "input_audio", "audio", "file", "input_file"),
        *("refusal", "thinking", "redacted_thinking", "reasoning", "document"),
        *("video_url", "input_video", "video", "audio_url"),
    }
)
# Keys by which an object refers to a call, or holds one, without regard to case and underscores.
LINKS = frozenset({"toolcallid", "tooluseid", "callid", "functioncall", "functionresponse"})
# Names of fields for calls and results, likewise; of a message only the spelling of OpenAI is read.
HOLDERS = LINKS | {"toolcalls", "functioncalls", "functionresponses", "toolresults"}
OURS = frozenset({"tool_calls", "tool_call_id", "function_call"})
RESPONSES = "an item of OpenAI's Responses API"
# A format by what its parts or items have: as the value of ``type``, or as a key.
FORMATS: Mapping[str, str] = {
    "tool_use": "Anthropic's",
    "tool_result": "Anthropic's",
    "server_tool_use": "Anthropic's",
    "toolUse": "Amazon Bedrock's",
    "toolResult": "Amazon Bedrock's",
    "tool-call": "the AI SDK's",
    "tool-result": "the AI SDK's",
    "functionCall": "Gemini's",
    "functionResponse": "Gemini's",
    "function_response": "Gemini's",
    "function_call": RESPONSES,
    "function_call_output": RESPONSES,
    "reasoning": RESPONSES,
    "item_reference": RESPONSES,
}
WAY_OUT = (
    "give OpenAI's chat messages, with calls under 'tool_calls' and each result as a message of the role 'tool' with its "
    "'tool_call_id', or a format of your own as host=; for an agent of a framework use register(agent), which reads what it has"
)


def refuse_foreign(fields: Mapping[str, object]) -> None:
    """Raise ``ValueError`` for a message that has no role, ``parts``, or calls and results in a field of another name."""
    role = fields.get("role")
    if not isinstance(role, str) or not role:
        kind = fields.get("type")
        if isinstance(kind, str) and kind in FORMATS:
            _refuse(f"type={kind!r}", FORMATS[kind])
        raise ValueError(f"a message needs a 'role' that is a string, got {role!r}; {WAY_OUT}")
    for name, value in fields.items():
        is_list = isinstance(value, list | tuple)
        if name == "parts" and (is_list or (value and "content" not in fields)):
            parts = cast("Sequence[object]", value if is_list else [value])
            _refuse("'parts' in place of 'content'", _named(parts) or "Gemini's")
        holds = value and name not in OURS and _bare(name) in HOLDERS
        if holds or (name not in ("content", "tool_calls") and _refers_to_calls(value)):
            _refuse(f"tool calls or results under {name!r}", _named([fields]) or "another one")


def refuse_part(fields: Mapping[str, object]) -> None:
    """Raise ``ValueError`` for a content part that is no text and of no type that is known to be data."""
    kind = fields.get("type")
    if kind not in DATA_PARTS:
        found = f"of type {kind!r}" if kind else f"with {list(fields)}"
        _refuse(f"a content part {found}", _named([fields]) or "one that is not known here")


def _refuse(found: str, whose: str) -> NoReturn:
    raise ValueError(f"{found}: the format is {whose}, which is not read here; {WAY_OUT}")


def _named(parts: Iterable[object]) -> str:
    """Return whose format these parts are of, if that is known."""
    marks = (mark for fields in map(_fields_in, parts) for mark in (fields.get("type"), *fields))
    return next((FORMATS[mark] for mark in marks if isinstance(mark, str) and mark in FORMATS), "")


def _refers_to_calls(value: object) -> bool:
    """Return True for a list of objects that name a call, as classic AutoGen's ``tool_responses`` do."""
    if not isinstance(value, list | tuple):
        return False
    several = map(_fields_in, cast("Sequence[object]", value))
    return any(_bare(key) in LINKS for each in several for key in each)


def _bare(name: object) -> str:
    """Return a name without regard to case, underscores and the like."""
    return "".join(filter(str.isalnum, str(name))).lower()


def _fields_in(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
