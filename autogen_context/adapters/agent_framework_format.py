"""Message format of Microsoft Agent Framework 1.x.

Promise: reads exactly what the framework's clients send; content that is neither text nor tool call nor tool result
(reasoning, calls run by the provider, files, errors) is counted, and kept or dropped together with its message; a rewritten
message is a new one that differs only in the rewritten fields.

Source: ``_build_openai_messages`` of agent-framework-openai 1.17: calls share a message, every other content is a message
of its own; approvals are not sent.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, cast

from agent_framework import Content
from agent_framework import Message as HostMessage
from typing_extensions import override

from autogen_context.adapters.register import Prompt
from autogen_context.messages.canonical import canonical
from autogen_context.messages.message import (
    HostFormat,
    Image,
    Message,
    Origin,
    ToolCall,
    ToolResult,
    content_digest,
    with_text,
)

AT_HOME = frozenset({"function_approval_request", "function_approval_response", "usage"})
KINDS = ("text", "call", "result", "image", "other")
# Files and audio count as images, since no provider documents their cost.
KIND_OF_TYPE = {"text": "text", "data": "image", "uri": "image", "hosted_file": "image"}
NOT_SENT = frozenset({"raw_representation", "additional_properties", "annotations", "exception"})
ANOTHER_MESSAGE = '{"role": ""}'  # overhead of each further content sent as its own message


class AgentFrameworkFormat(HostFormat):
    """The host format of Agent Framework 1.x; answers without an author are those of the agent with this name.

    ``sources`` gives the ids of its context providers, whose messages (memories, documents) are no person's. Its client says
    whether it sends a later system message as one.
    """

    def __init__(
        self,
        agent_name: str = "",
        sources: Callable[[], Collection[str]] = frozenset[str],
        *,
        later_system: bool = True,
    ) -> None:
        self._agent_name, self._sources = agent_name, sources
        self.later_system = later_system

    @override
    def read(self, payload: object, /) -> Message:
        """Read the message in a payload; raise ``ValueError`` for any other type."""
        if isinstance(payload, Prompt):
            return payload.as_message()
        message = as_message(payload)
        sent: dict[str, list[Content]] = {kind: [] for kind in KINDS}
        for content in message.contents:
            if content.type not in AT_HOME:
                sent[kind_of(content, message.role)].append(content)
        texts, calls, results, images, others = sent.values()
        # Calls share a message; every other content is one of its own.
        further = sum(map(len, (texts, calls[:1], results, images, others))) - 1
        shown = [item for each in results for item in each.items or () if item.type != "text"]
        return Message(
            role=message.role,
            text="\n".join(content.text or "" for content in texts),
            calls=tuple(
                ToolCall(id=each.call_id or "", name=each.name or "", arguments=arguments_of(each))
                for each in calls
            ),
            results=tuple(
                ToolResult(call_id=each.call_id or "", text=text_of_result(each))
                for each in results
            ),
            name=self._name_of(message),
            images=tuple(
                Image(digest=content_digest(as_json(each)).hex()) for each in (*images, *shown)
            ),
            extra="\n".join([*map(as_json, others), *[ANOTHER_MESSAGE] * further]),
            text_parts=max(1, len(texts)),
            author=self._author_of(message),
        )

    @override
    def rewrite(self, payload: object, message: Message, /) -> object:
        """Return a copy of ``payload`` with the texts of ``message``."""
        if isinstance(payload, Prompt):
            return Prompt(message.text)
        before = as_message(payload)
        if before.role != message.role:
            return self.compose(message)
        calls, results = iter(message.calls), iter(message.results)
        contents: list[Content] = []
        for content in before.contents:
            kind = kind_of(content, before.role)
            if kind == "call":
                contents.append(written_call(content, next(calls)))
            elif kind == "result":
                result = next(results, None)  # surplus results were merged into the previous one
                if result is not None:
                    contents.append(
                        written_result(content, result, with_media=bool(message.images))
                    )
            elif message.images or kind != "image":
                contents.append(content)
        written = with_text(
            contents,
            message.text,
            is_text=lambda each: each.type == "text",
            as_text=Content.from_text,
        )
        return HostMessage(
            before.role,
            written,
            author_name=before.author_name,
            message_id=before.message_id,
            additional_properties=before.additional_properties,
        )

    @override
    def compose(self, message: Message, /) -> HostMessage:
        """Create a framework message for one of our own messages."""
        results = [Content.from_function_result(r.call_id, result=r.text) for r in message.results]
        return HostMessage(message.role, results or [message.text], author_name="")

    def _author_of(self, message: HostMessage) -> Origin | Literal[""]:
        """Return what the framework says of a user message: by whom it was provided, or that nobody but the user wrote it."""
        if message.role != "user":
            return ""
        given: object = message.additional_properties.get("_attribution")
        if isinstance(given, Mapping):
            provided = cast("Mapping[str, object]", given)
            if provided.get("source_id") in self._sources():
                return "program"
        return "" if message.author_name else "person"

    def _name_of(self, message: HostMessage) -> str:
        """Return the author name as sent; empty for tool results, whose author (set when a run ends) no client sends."""
        by_default = self._agent_name if message.role == "assistant" else ""
        name = by_default if message.author_name is None else message.author_name
        return "" if message.role == "tool" else name


def as_message(payload: object) -> HostMessage:
    """Return the payload if it is a framework message; raise ``ValueError`` otherwise."""
    if isinstance(payload, HostMessage):
        return payload
    raise ValueError(f"a message must be an agent_framework.Message, got {type(payload).__name__}")


def kind_of(content: Content, role: str) -> str:
    """Return which of ``KINDS`` a content is: a call and its result only if the framework runs it, not the provider."""
    if content.type == "function_call":
        is_hosted = getattr(content, "hosted", False) or content.informational_only
        return "other" if is_hosted else "call"
    if content.type == "function_result":
        return "result" if role == "tool" else "other"
    return KIND_OF_TYPE.get(content.type, "other")


def arguments_of(content: Content) -> str:
    """Return the arguments of a tool call as sent."""
    given = content.arguments
    return given if isinstance(given, str) else json.dumps(given) if given is not None else ""


def text_of_result(content: Content) -> str:
    """Return the text of a tool result as sent: the text of its items, else the result itself."""
    if content.items:
        return "\n".join(item.text or "" for item in content.items if item.type == "text")
    result: object = content.result
    return result if isinstance(result, str) else "" if result is None else canonical(result)


def as_json(content: Content) -> str:
    """Return a content as JSON text, a data URI as its digest."""
    fields = {k: v for k, v in content.to_dict().items() if k not in NOT_SENT and v is not None}
    uri = fields.get("uri")
    if isinstance(uri, str) and uri.startswith("data:"):
        fields["uri"] = content_digest(uri).hex()
    return canonical(cast("Mapping[str, object]", fields))


def written_call(content: Content, call: ToolCall) -> Content:
    """Return the tool call with the arguments of ``call``."""
    if call.arguments == arguments_of(content):
        return content
    return Content.from_function_call(
        content.call_id or "",
        content.name or "",
        arguments=call.arguments,
        additional_properties=content.additional_properties,
    )


def written_result(content: Content, result: ToolResult, *, with_media: bool) -> Content:
    """Return a tool result with the text and call id of ``result``."""
    media = [item for item in content.items or () if item.type != "text"] if with_media else []
    parts: str | Sequence[Content] = (
        [Content.from_text(result.text), *media] if media else result.text
    )
    return Content.from_function_result(
        result.call_id, result=parts, additional_properties=content.additional_properties
    )
