"""Find the conversations in JSON documents, whoever wrote them.

Promise: all formats come out as one: messages as OpenAI has them, the tools, and the model where it was recorded. Every
message that comes out can be read; one that cannot is an error that names its place.

Understood: lists of messages; objects with ``messages``, such as requests, fine-tuning examples and batch files; states
of AutoGen's agents, teams and contexts; lists of messages by name, such as a classic agent's ``chat_messages``; lists of
all of these.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from autogen_context.cli.recording.autogen import AGENTCHAT_TYPES, as_openai
from autogen_context.cli.recording.documents import Document, JsonObject, is_list, is_object
from autogen_context.messages.openai_chat import OpenAIChat

MESSAGE_LISTS = ("messages", "chat_history")
WRAPPERS = ("request", "body", "input", "agent_state", "inner_team_state", "llm_context")
EXPECTED = "expected are messages, an object with 'messages', or a state that AutoGen saved"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedConversation:
    """One conversation.

    Attributes:
        id: its name in the file, or where it stands there.
        messages: OpenAI chat messages, oldest first.
        tools: schemas of the tools that were sent with it.
        model: the model that was recorded; empty where none was.
    """

    id: str
    messages: list[JsonObject]
    tools: list[JsonObject]
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the objects around a list of messages say of it.

    Attributes:
        path: the way to it: ``line 3: messages``.
        id: the nearest name.
        model: the nearest model.
        tools: the nearest tools.
    """

    path: str = ""
    id: str = ""
    model: str = ""
    tools: tuple[JsonObject, ...] = ()

    def at(self, step: str) -> "Surroundings":
        """One step further in."""
        return replace(self, path=f"{self.path}{step}")


def conversations_in(documents: Sequence[Document]) -> list[RecordedConversation]:
    """The conversations in documents; those without any message are left out.

    Raises:
        ValueError: a message cannot be read, or there is none.
    """
    if len(documents) > 1 and is_message(documents[0].value):
        return [message_per_document(documents)]
    found = [c for document in documents for c in conversations_of(document)]
    spoken = [conversation for conversation in found if conversation.messages]
    if not spoken:
        raise ValueError("its conversations have no messages yet; record one that has")
    return spoken


def message_per_document(documents: Sequence[Document]) -> RecordedConversation:
    """A conversation of which each document is a message."""
    messages = [m for d in documents for m in readable(d.value, d.place)]
    return RecordedConversation(id="conversation", messages=messages, tools=[])


def conversations_of(document: Document) -> list[RecordedConversation]:
    """The conversations in one document, in its order.

    Raises:
        ValueError: there is none.
    """
    separator = ": " if document.place else ""
    near = Surroundings(path=document.place + separator, id=document.place)
    found = list(found_in(document.value, near))
    if not found:
        raise ValueError(f"{near.path}no messages in {described(document.value)}; {EXPECTED}")
    return found


def found_in(value: object, near: Surroundings) -> Iterator[RecordedConversation]:
    """All conversations in a JSON value."""
    if is_message(value):
        yield conversation([value], near)
    elif is_list(value):
        yield from found_in_list(value, near)
    elif is_object(value):
        yield from found_in_object(value, named(value, near))


def found_in_list(values: list[object], near: Surroundings) -> Iterator[RecordedConversation]:
    """The conversation that a list is, or those in its items."""
    if any(map(is_message, values)):
        yield conversation(values, near)
        return
    for i, value in enumerate(values):
        yield from found_in(value, replace(near.at(f"[{i}]"), id=f"{near.id}[{i}]"))


def found_in_object(fields: JsonObject, near: Surroundings) -> Iterator[RecordedConversation]:
    """The conversations that an object has under the first key that is known, else under names."""
    lists = [key for key in MESSAGE_LISTS if is_list(fields.get(key))]
    inner = [key for key in WRAPPERS if is_object(fields.get(key))]
    agents = fields.get("agent_states")
    if lists:
        yield conversation(fields[lists[0]], near.at(lists[0]))
    elif is_object(agents):
        yield from found_by_name(agents, near.at("agent_states."))
    elif inner:
        yield from found_in(fields[inner[0]], near.at(f"{inner[0]}."))
    elif is_by_name(fields):
        yield from found_by_name(fields, near)


def found_by_name(fields: JsonObject, near: Surroundings) -> Iterator[RecordedConversation]:
    """The conversations of agents."""
    for name, value in fields.items():
        step = name if is_list(value) else f"{name}."
        yield from found_in(value, replace(near.at(step), id=name))


def is_by_name(fields: JsonObject) -> bool:
    """Whether an object has a list of messages under each name."""
    return bool(fields) and all(is_list(v) and all(map(is_message, v)) for v in fields.values())


def is_message(value: object) -> bool:
    """Whether a JSON value is meant as a message."""
    return is_object(value) and ("role" in value or str(value.get("type")) in AGENTCHAT_TYPES)


def named(fields: JsonObject, near: Surroundings) -> Surroundings:
    """The surroundings with what an object says of what is in it."""
    names = (fields.get(key) for key in ("id", "custom_id", "conversation_id"))
    model = fields.get("model")
    tools = tools_in(fields)
    return replace(
        near,
        id=next((str(name) for name in names if isinstance(name, str | int)), near.id),
        model=model if isinstance(model, str) else near.model,
        tools=tools or near.tools,
    )


def tools_in(fields: JsonObject) -> tuple[JsonObject, ...]:
    """The tool schemas of a request; ``functions`` is OpenAI's older form."""
    tools, older = fields.get("tools"), fields.get("functions")
    if is_list(tools):
        return tuple(tool for tool in tools if is_object(tool))
    functions = older if is_list(older) else []
    return tuple({"type": "function", "function": f} for f in functions if is_object(f))


def conversation(values: object, near: Surroundings) -> RecordedConversation:
    """A list of messages with what its surroundings say of it."""
    items = values if is_list(values) else []
    messages = [m for i, value in enumerate(items) for m in readable(value, f"{near.path}[{i}]")]
    return RecordedConversation(
        id=near.id or "conversation", messages=messages, tools=list(near.tools), model=near.model
    )


def readable(value: object, place: str) -> list[JsonObject]:
    """A message as OpenAI has it, or as several.

    Raises:
        ValueError: it cannot be read; names the place.
    """
    try:
        messages = as_openai(value)
        for message in messages:
            OpenAIChat().read(message)
    except ValueError as error:
        raise ValueError(f"{place}: {error}; correct it or leave it out") from error
    return messages


def described(value: object) -> str:
    """What a JSON value is, in words."""
    if is_object(value):
        return f"an object with {keys_of(value)}" if value else "an empty object"
    if is_list(value):
        return f"a list of {len(value)}" if value else "an empty list"
    return "a text" if isinstance(value, str) else "a number, true, false or null"


def keys_of(fields: Mapping[str, object]) -> str:
    """The first keys of an object."""
    keys = list(fields)
    return ", ".join(map(repr, keys[:5])) + (" ..." if len(keys) > 5 else "")  # noqa: PLR2004 - a line's worth
