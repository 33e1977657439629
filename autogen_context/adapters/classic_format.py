"""Read and write messages as classic AutoGen keeps them: OpenAI's dicts, and all results of a step in one of them.

Promise: what is read is what the host sends to the model, ``tool_responses`` one by one and no field that stays at
home; a rewritten message keeps its shape, its ids, and all fields but those that were rewritten.

Source: ``ConversableAgent._generate_oai_reply_from_client``, the same in pyautogen 0.2.35 and autogen 0.14.1: the
responses are sent in the place of the message that holds them, and a message of another role than ``tool`` (a person who
interrupts a call) is sent behind its responses.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import cast

from typing_extensions import override

from autogen_context.messages.message import Message
from autogen_context.messages.openai_chat import OpenAIChat, copied, fields_of, intensity_of

CONTEXT = "context"  # taken out of the newest message by the host, in place, when it is sent
AT_HOME = frozenset({CONTEXT, "metadata"})
RESPONSES = "tool_responses"


class ClassicFormat(OpenAIChat):
    """The host format of ``autogen`` up to 0.14 and of pyautogen 0.2 to 0.9."""

    @override
    def read(self, payload: object, /) -> Message:
        """The message in a dict; a ``ValueError`` where a field is of the wrong type."""
        given = fields_of(payload)
        fields = roled(sent_fields(given))
        responses = responses_of(fields)
        if not responses:
            return replace(super().read(fields), intensity=intensity_of(given))
        is_tool = fields.get("role") == "tool"  # of which nothing is sent but its responses
        beside = {k: v for k, v in fields.items() if k != RESPONSES}
        said = Message(role="tool") if is_tool else super().read(beside)
        read = [super(ClassicFormat, self).read(response) for response in responses]
        return replace(
            said,
            results=tuple(result for message in read for result in message.results),
            text_parts=said.text_parts + sum(message.text_parts - 1 for message in read),
            images=(*said.images, *(image for message in read for image in message.images)),
            extra="\n".join(extra for extra in (said.extra, *(m.extra for m in read)) if extra),
        )

    @override
    def snapshot(self, payload: object, /) -> object:
        """A private deep copy of what is sent."""
        return copied(sent_fields(fields_of(payload)))

    @override
    def rewrite(self, payload: object, message: Message, /) -> dict[str, object]:
        """A new dict with the texts of ``message``, in the shape of ``payload``."""
        fields = {k: v for k, v in roled(fields_of(payload)).items() if k != RESPONSES}
        responses = responses_of(fields_of(payload))
        if not (responses and message.results):
            return super().rewrite(fields, message)
        said = replace(message, results=())
        written = super().rewrite(fields, said)
        written[RESPONSES] = [
            self._response(response, replace(said, role="tool", results=(result,)))
            for response, result in zip_longest(responses, message.results)
            if result is not None
        ]
        if message.role == "tool":  # the content repeats the responses, for those who read along
            written["content"] = "\n\n".join(result.text for result in message.results)
        return written

    def _response(self, response: Mapping[str, object] | None, message: Message) -> object:
        """One of the responses with another text; its images stay if the message has any."""
        if not response:
            return self.compose(message)
        fields = {"role": "tool", **response}
        return super().rewrite(fields, replace(message, role=str(fields["role"])))


def roled(fields: Mapping[str, object], otherwise: str = "user") -> Mapping[str, object]:
    """The fields with a role: the host's transforms take messages without one, and so does the host for some clients."""
    if fields.get("role") is not None or "content" not in fields:
        return fields
    spoken_by_model = fields.get("tool_calls") or fields.get("function_call")
    is_result = fields.get("tool_call_id") or fields.get(RESPONSES)
    role = "assistant" if spoken_by_model else "tool" if is_result else otherwise
    return {**fields, "role": role}


def sent_fields(fields: Mapping[str, object]) -> Mapping[str, object]:
    """The fields that the host sends, its content as text where that is a function of the message's context."""
    content = fields.get("content")
    if not callable(content) and AT_HOME.isdisjoint(fields):
        return fields
    sent = {k: v for k, v in fields.items() if k not in AT_HOME}
    if callable(content):
        context = fields.get(CONTEXT)
        render = cast("Callable[[object], object]", content)  # as OpenAIWrapper.instantiate does
        sent["content"] = render(context) if context is not None else None
    return sent


def responses_of(fields: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    """The results in a message that holds those of a whole step."""
    responses = fields.get(RESPONSES) or ()
    if not isinstance(responses, list | tuple):
        found = type(responses).__name__
        raise ValueError(f"'{RESPONSES}' must be a list, got {found}")  # noqa: TRY004 - a wrong argument is a ValueError here
    return [
        roled(fields_of(response, "a tool response"), "tool")
        for response in cast("Sequence[object]", responses)
    ]
