"""Read and write messages as Microsoft Agent Framework 1.x has them.

Promise: what is read is what the framework's clients send; what is neither text nor call nor result (reasoning, calls that
the provider ran, files, errors) is counted and stays with its message or leaves with it; a message that is rewritten is a
new one with every field but those that were rewritten.

Source: ``_build_openai_messages`` of agent-framework-openai 1.17: each content but calls is a message of its own; approvals
are not sent.
"""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from agent_framework import Content
from agent_framework import Message as HostMessage

from autogen_context.messages.message import Image, Message, ToolCall, ToolResult, content_digest
from autogen_context.messages.openai_chat import canonical

AT_HOME = frozenset({"function_approval_request", "function_approval_response", "usage"})
NOT_SENT = frozenset({"raw_representation", "additional_properties", "annotations", "exception"})
ANOTHER_MESSAGE = '{"role": ""}'  # what each further content costs where it is sent as a message


class AgentFrameworkFormat:
    """The host format of Agent Framework 1.x."""

    own_name = ""

    def read(self, payload: object, /) -> Message:
        """The message in a payload; a ``ValueError`` where it is something else."""
        message = as_message(payload)
        sent = [content for content in message.contents if content.type not in AT_HOME]
        texts = [content.text or "" for content in sent if content.type == "text"]
        calls = [content for content in sent if is_call(content)]
        results = [c for c in sent if is_result(c, message.role)]
        images = [c for c in sent if is_image(c)] + [
            item for result in results for item in result.items or () if item.type != "text"
        ]
        known = {id(content) for content in (*calls, *results, *images)}
        others = [as_json(c) for c in sent if c.type != "text" and id(c) not in known]
        messages = len(sent) - max(0, len(calls) - 1)
        return Message(
            role=message.role,
            text="\n".join(texts),
            calls=tuple(read_call(content) for content in calls),
            results=tuple(
                ToolResult(call_id=result.call_id or "", text=text_of_result(result))
                for result in results
            ),
            name=name_of(message),
            images=(Image(),) * len(images),
            extra="\n".join([*others, *[ANOTHER_MESSAGE] * (messages - 1)]),
            text_parts=max(1, len(texts)),
        )

    def snapshot(self, payload: object, /) -> object:
        """What is sent of it, as text."""
        message = as_message(payload)
        contents = [as_json(each) for each in message.contents if each.type not in AT_HOME]
        return message.role, name_of(message), tuple(contents)

    def digest(self, snapshot: object, /) -> bytes:
        """16 bytes that stand for a snapshot."""
        return content_digest(repr(snapshot))

    def rewrite(self, payload: object, message: Message, /) -> HostMessage:
        """A new message with the texts of ``message`` and all other fields of ``payload``."""
        before = as_message(payload)
        if before.role != message.role:
            return self.compose(message)
        text, calls, results = message.text, iter(message.calls), iter(message.results)
        contents: list[Content] = []
        for content in before.contents:
            if content.type == "text":
                contents += [Content.from_text(text)] if text else []
                text = ""
            elif is_call(content):
                contents.append(written_call(content, next(calls)))
            elif is_result(content, before.role):
                result = next(results, None)  # one too many is in the text of the one before it
                if result is not None:
                    contents.append(
                        written_result(content, result, with_media=bool(message.images))
                    )
            elif message.images or not is_image(content):
                contents.append(content)
        return HostMessage(
            before.role,
            [*contents, Content.from_text(text)] if text else contents,
            author_name=before.author_name,
            message_id=before.message_id,
            additional_properties=before.additional_properties,
        )

    def compose(self, message: Message, /) -> HostMessage:
        """A message for one of our own."""
        results = [Content.from_function_result(r.call_id, result=r.text) for r in message.results]
        return HostMessage(message.role, results or [message.text])


def as_message(payload: object) -> HostMessage:
    """The payload, if it is a message of the framework."""
    if isinstance(payload, HostMessage):
        return payload
    raise ValueError(f"a message must be an agent_framework.Message, got {type(payload).__name__}")


def name_of(message: HostMessage) -> str:
    """The author as it is sent: no client sends that of a result, which the framework sets when a run ends."""
    return "" if message.role == "tool" else message.author_name or ""


def is_call(content: Content) -> bool:
    """Whether a content is a call that the framework runs."""
    return content.type == "function_call" and not (content.hosted or content.informational_only)


def is_result(content: Content, role: str) -> bool:
    """Whether a content is what a call returned that the framework ran."""
    return content.type == "function_result" and role == "tool"


def is_image(content: Content) -> bool:
    """Whether a content is data that is no text: no provider says what a document or a sound costs."""
    return content.type in ("data", "uri", "hosted_file")


def read_call(content: Content) -> ToolCall:
    """A call."""
    return ToolCall(
        id=content.call_id or "", name=content.name or "", arguments=arguments_of(content)
    )


def arguments_of(content: Content) -> str:
    """The arguments of a call as they are sent."""
    given = content.arguments
    return given if isinstance(given, str) else json.dumps(given) if given is not None else ""


def text_of_result(content: Content) -> str:
    """The text of a result as it is sent: that of its items, or the result."""
    if content.items:
        return "\n".join(item.text or "" for item in content.items if item.type == "text")
    result: object = content.result
    return result if isinstance(result, str) else "" if result is None else canonical(result)


def as_json(content: Content) -> str:
    """A content as text; of data a digest."""
    fields = {k: v for k, v in content.to_dict().items() if k not in NOT_SENT and v is not None}
    uri = fields.get("uri")
    if isinstance(uri, str) and uri.startswith("data:"):
        fields["uri"] = content_digest(uri).hex()
    return canonical(cast("Mapping[str, object]", fields))


def written_call(content: Content, call: ToolCall) -> Content:
    """The call with other arguments."""
    if call.arguments == arguments_of(content):
        return content
    return Content.from_function_call(
        content.call_id or "",
        content.name or "",
        arguments=call.arguments,
        additional_properties=content.additional_properties,
    )


def written_result(content: Content, result: ToolResult, *, with_media: bool) -> Content:
    """The result with another text, under the id of its call."""
    media = [item for item in content.items or () if item.type != "text"] if with_media else []
    parts: str | Sequence[Content] = (
        [Content.from_text(result.text), *media] if media else result.text
    )
    return Content.from_function_result(
        result.call_id, result=parts, additional_properties=content.additional_properties
    )
