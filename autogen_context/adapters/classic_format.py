"""Message format of classic AutoGen: OpenAI's dicts, with all tool results of a step in one message.

Promise: reads exactly what the host sends to the model: each of ``tool_responses``, and no local field; a rewritten message
keeps its shape, its ids and every field that was not rewritten.

Source: ``ConversableAgent._generate_oai_reply_from_client``, the same in pyautogen 0.2.35 and autogen 0.14.1: the
responses are sent in place of the message that contains them; a message with a role other than ``tool`` (a user who
interrupts a call) is sent after its responses.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Literal, cast

from typing_extensions import override

from autogen_context.messages.message import Message, Origin
from autogen_context.messages.openai_chat import OpenAIChat, copied, fields_of, intensity_of

CONTEXT = "context"  # the host removes it from the newest message, in place, on sending
EXECUTED = re.compile(r"exitcode: -?\d+ \(execution (?:succeeded|failed)\)\nCode output: ")
"""What ``ConversableAgent`` replies when it has run code."""
AT_HOME = frozenset({CONTEXT, "metadata"})
RESPONSES = "tool_responses"


class ClassicFormat(OpenAIChat):
    """The host format of ``autogen`` up to 0.14 and of pyautogen 0.2 to 0.9.

    ``peers`` gives the agents whose messages the registered agent gets; they tell whose words those are. Which client it
    asks says whether a later system message is sent as one.
    """

    def __init__(
        self, peers: Callable[[], Iterable[object]] = tuple, *, later_system: bool = True
    ) -> None:
        self._peers, self.later_system = peers, later_system

    @override
    def read(self, payload: object, /) -> Message:
        """Read a message from a dict; raise ``ValueError`` if a field has the wrong type."""
        given = fields_of(payload)
        fields = roled(sent_fields(given))
        responses = responses_of(fields)
        if not responses:
            said = super().read(fields)
            author = author_among(self._peers(), said) if said.role == "user" else ""
            return replace(said, intensity=intensity_of(given), author=author)
        is_tool = fields.get("role") == "tool"  # only its responses are sent
        spoken = {k: v for k, v in fields.items() if k != RESPONSES}
        said = Message(role="tool") if is_tool else super().read(spoken)
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
        """Return a deep copy of the sent fields."""
        return copied(sent_fields(fields_of(payload)))

    @override
    def rewrite(self, payload: object, message: Message, /) -> dict[str, object]:
        """Return a new dict with the texts of ``message``, in the shape of ``payload``."""
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
        if message.role == "tool":  # the host repeats the responses in the content
            written["content"] = "\n\n".join(result.text for result in message.results)
        return written

    def _response(self, response: Mapping[str, object] | None, message: Message) -> object:
        """Return a tool response with a new text; its images are kept if the message has any."""
        if not response:
            return self.compose(message)
        fields = {"role": "tool", **response}
        return super().rewrite(fields, replace(message, role=str(fields["role"])))


def author_among(peers: Iterable[object], message: Message) -> Origin | Literal[""]:
    """Return whose words a user message is by the agent that sent it; empty if that is none of these, or has no model.

    An older release sends no name: then the only peer is the sender. A ``UserProxyAgent`` sends under one name what its
    person types, its automatic reply, and the output of code; where nobody is asked to type, that output is told from the rest.
    """
    known = list(peers)
    for peer in known if message.name or len(known) == 1 else ():
        if message.name and message.name != getattr(peer, "name", None):
            continue
        mode, has_model = getattr(peer, "human_input_mode", ""), getattr(peer, "llm_config", None)
        is_proxy = any(kind.__name__ == "UserProxyAgent" for kind in type(peer).__mro__)
        if has_model or not (is_proxy or mode == "ALWAYS"):
            return "agent" if has_model else ""
        if message.text and message.text == getattr(peer, "_default_auto_reply", ""):
            return "program"
        runs = getattr(peer, "_code_execution_config", False) is not False
        if runs and EXECUTED.match(message.text):
            return "program" if mode == "NEVER" else "doubtful"
        return "person"
    return ""


def roled(fields: Mapping[str, object], otherwise: str = "user") -> Mapping[str, object]:
    """Return the fields with a role; the host's transforms, and the host for some clients, accept messages without."""
    if fields.get("role") is not None or "content" not in fields:
        return fields
    spoken_by_model = fields.get("tool_calls") or fields.get("function_call")
    is_result = fields.get("tool_call_id") or fields.get(RESPONSES)
    role = "assistant" if spoken_by_model else "tool" if is_result else otherwise
    return {**fields, "role": role}


def sent_fields(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Return the fields that the host sends; a callable content is rendered with the message's context."""
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
    """Return the tool responses of a message; raise ``ValueError`` if they are not a list."""
    responses = fields.get(RESPONSES) or ()
    if not isinstance(responses, list | tuple):
        found = type(responses).__name__
        raise ValueError(f"'{RESPONSES}' must be a list, got {found}")  # noqa: TRY004 - a wrong argument is a ValueError here
    return [
        roled(fields_of(response, "a tool response"), "tool")
        for response in cast("Sequence[object]", responses)
    ]
