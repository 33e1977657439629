"""``register`` for agents of every supported host (agent framework), and the context it returns.

Promise: for an unsupported agent the error names the supported hosts; only the agent's own host is imported.
"""

import json
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, Unpack, cast

from typing_extensions import override

from autogen_context.adapters.provider_calls import ProviderCalls
from autogen_context.argument import wrong_argument
from autogen_context.config.config import ContextConfig
from autogen_context.errors import StateError
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.options import ManagerOptions, divided, takes_options
from autogen_context.manager.parts import limits_of, opened
from autogen_context.manager.prepared import Payload, Prepared
from autogen_context.manager.runner import ToolSchemas
from autogen_context.messages.find_tools import description_of, is_find_tool
from autogen_context.messages.message import HostFormat, Message
from autogen_context.models.completion import ModelClient
from autogen_context.view.prompt import as_text

if TYPE_CHECKING:
    from autogen_context.manager.facts import ContextFacts
    from autogen_context.manager.forgetting import Forgotten
    from autogen_context.view.explanation import Explanation
    from autogen_context.view.statement import PersonStatement

# Reserve for an unknown system prompt (about a page), and for unknown tools (about a dozen). AgentChat's default prompt has
# 28 tokens, classic's has 460, and a tool has about 80 (measured 2026-11).
UNSEEN_TOKENS = 1_000
UNSEEN_FRACTION = 0.125  # of the window, as an upper limit


class Host(NamedTuple):
    """How agents of a host are registered.

    Attributes:
        agents: what they are called, for the error that says what is known.
        entry: a function, or the ``module:function`` to import it from.
        needed: the requirement to install, where the import fails.
    """

    agents: str
    entry: "HostEntry | str"
    needed: str = ""


T = TypeVar("T")
ADAPTERS = __package__
AGENTCHAT = f"{ADAPTERS}.agentchat:register_agentchat"
CLASSIC = f"{ADAPTERS}.classic:register_classic"
HOSTS: dict[str | type, Host] = {  # by the base class of its agents, or its package and name
    "autogen_agentchat.ChatAgent": Host(
        "an AssistantAgent of autogen-agentchat 0.5.7 to 0.7", AGENTCHAT, "autogen-agentchat>=0.5.7"
    ),
    "autogen_agentchat.Team": Host(
        "what selects the speaker in its teams", AGENTCHAT, "autogen-agentchat>=0.5.7"
    ),
    "autogen.ConversableAgent": Host(
        "a ConversableAgent of classic AutoGen (autogen, pyautogen up to 0.9)",
        CLASSIC,
        "pyautogen>=0.2.15",
    ),
    "autogen.Pattern": Host("what selects the speaker in its teams", CLASSIC, "autogen>=0.9"),
    "ag2.Agent": Host("an Agent of AG2 1.x (ag2)", f"{ADAPTERS}.ag2:register_ag2", "ag2>=1.2"),
    "agent_framework.RawAgent": Host(
        "an Agent of Microsoft Agent Framework 1.x",
        f"{ADAPTERS}.agent_framework:register_agent_framework",
        "agent-framework-core>=1.11",
    ),
}
REGISTERED = "agent: it is registered already; register each once"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The system prompt, for hosts that keep it apart from the messages; equal for equal text.

    Attributes:
        text: all of it.
        parts: how many the host has; several are marked up by its user, so that they stay as they are.
    """

    text: str
    parts: int = 1

    def as_message(self) -> Message:
        """Return it as a system message."""
        return Message(role="system", text=self.text, text_parts=max(1, self.parts))


HostEntry = Callable[[Any, str | None, ManagerOptions], "AgentContext[Any]"]
Bill = Callable[[float | None, float | None], None]
"""Records the billed tokens of a model call: all of its input, and those of it that were cached; ``None`` if it is not said."""


class Turn(NamedTuple, Generic[Payload]):
    """What a model call sends, and what records its bill.

    Attributes:
        prompt: the system prompt, where the host keeps it apart.
        tools: the tools to send.
        system_text: the text of a system message among the others; empty if there is none of ours.
    """

    messages: list[Payload]
    bill: Bill
    prompt: str
    tools: ToolSchemas
    system_text: str


class AgentContext(Generic[Payload]):
    """The context of one agent.

    Attributes:
        manager: the manager of the current conversation, for the rest of the API.
        calls: how its model calls use the provider's prompt cache.
        last_prepared: the last request with its certificate and decisions; ``None`` before the first.
    """

    def __init__(self, host: HostFormat, options: ManagerOptions) -> None:
        config = options.get("config") or ContextConfig()
        log: Any = opened("events", options.get("events"))
        self._options: ManagerOptions = {"limits": limits_of(config), **options, "events": log}
        self._new_manager = partial(IncrementalContextManager, host=host, **self._options)
        self.manager = self._new_manager()
        self.calls = ProviderCalls(config)
        self.last_prepared: Prepared[Payload] | None = None
        self._first_goal = ""

    @override
    def __repr__(self) -> str:
        """Say whose context it is, and what its last turn left."""
        return f"<{type(self).__name__} of {self.manager.config.agent or 'an agent'}: {self.manager!r}>"

    async def turn(
        self,
        manager: IncrementalContextManager,
        messages: Sequence[object],
        tools: ToolSchemas,
        *,
        prompt: str | Prompt = "",
        required: Iterable[str] = (),
    ) -> Turn[Payload]:
        """Return what a model call sends, and what records its bill.

        Args:
            manager: that of its conversation, from now on the current one.
            messages: what the host would send.
            tools: the schemas that go with it.
            prompt: the system prompt, where the host keeps it apart; it is counted, and not among the messages returned.
            required: names of tools that are sent in any case.
        """
        if self._first_goal:  # set before there was a conversation
            manager.goal, self._first_goal = self._first_goal, ""
        self.manager = manager
        first = Prompt(prompt) if isinstance(prompt, str) else prompt
        front = [first] if first.text else []
        prepared = await manager.prepare([*front, *messages], tools, required_tools=required)
        self.last_prepared = cast("Prepared[Payload]", prepared)

        def bill(prompt_tokens: float | None, cached_tokens: float | None) -> None:
            if prompt_tokens:
                cached = None if cached_tokens is None else int(cached_tokens)
                manager.record_usage(
                    prepared, prompt_tokens=int(prompt_tokens), cached_tokens=cached
                )

        sent, tools = self.last_prepared.messages, self.last_prepared.tools
        system_text = as_text(prepared.moved)
        if not front:
            return Turn(sent, bill, "", tools, system_text)
        text = sent[0].text if isinstance(sent[0], Prompt) else first.text
        return Turn(sent[1:], bill, text, tools, system_text)

    def pin(self, message: Payload) -> None:
        """Pin a message and its tool call or results: they are sent verbatim from now on."""
        self.manager.pin(message)

    def unpin(self, message: Payload) -> None:
        """Unpin a message, so that the next compaction may shorten or evict it."""
        self.manager.unpin(message)

    def explain(self, message: Payload) -> "Explanation":
        """Explain what the last turn did with a message; raise ``NotInHistory`` if it was not part of the turn."""
        return self.manager.explain(message)

    def rules(self) -> "tuple[PersonStatement, ...]":
        """Return the rules, limits and preferences of people that are in force; as of ``IncrementalContextManager.rules``."""
        return self.manager.rules()

    def statements(self) -> "tuple[PersonStatement, ...]":
        """Return all that people stated and still holds; as of ``IncrementalContextManager.statements``."""
        return self.manager.statements()

    def forget(
        self, message: Payload | None = None, *, handle: str = "", query: str = ""
    ) -> "Forgotten":
        """Forget a message, an original or all that has a text; as of ``IncrementalContextManager.forget``."""
        return self.manager.forget(message, handle=handle, query=query)

    @property
    def goal(self) -> str:
        """What people want of the agent; a program may assign it. As of ``IncrementalContextManager.goal``, for the current conversation."""
        return self.manager.goal

    @goal.setter
    def goal(self, goal: str | None) -> None:
        self.manager.goal = goal
        self._first_goal = "" if self.last_prepared or goal is None else goal

    @property
    def facts(self) -> "ContextFacts":
        """The facts that people stated, as they hold now: listed, edited, deleted; as of ``IncrementalContextManager.facts``."""
        return self.manager.facts

    def recall(self, handle: str) -> Sequence[Message]:
        """Return the originals of shortened or evicted content; raise ``OriginalNotFound`` if they are not stored."""
        return self.manager.recall(handle)

    async def aclose(self) -> None:
        """Stop the background work."""
        await self.manager.aclose()


@takes_options
def register(
    agent: object, model: str | None = None, **options: Unpack[ManagerOptions]
) -> AgentContext[Any]:
    """Keep an agent within its context window from its next request on, without losing what it will need.

    System prompt and tools are measured, and the tokens billed by the provider calibrate the count. An agent that takes
    tools gets ``recall_context``, which retrieves originals that left its window, and ``find_tools``, which is sent where
    the schemas of its tools take more than ``tools_fraction`` of the window: they are deferred until they are found or called.

    Args:
        agent: an ``AssistantAgent`` of autogen-agentchat 0.5.7 to 0.7 (its ``_model_client``, ``_model_context`` and
            ``_workbench`` are set, since there is no public API for it), a ``ConversableAgent`` of classic AutoGen (through
            its hooks), or an ``Agent`` of AG2 1.x or of Microsoft Agent Framework (through a middleware). What asks a model
            who speaks next is taken as well: a ``SelectorGroupChat`` or ``MagenticOneGroupChat`` of autogen-agentchat, a
            ``GroupChatManager`` or ``AutoPattern`` of classic AutoGen; their members are registered each by itself.
        model: name of the agent's model; by default read from the agent's own settings.
        options: as for ``IncrementalContextManager``: settings and parts; start with ``window_tokens``.

    Returns:
        The agent's context, with ``explain``, ``pin``, ``last_prepared``, and ``manager`` for the rest of the API.

    Raises:
        ValueError: the agent's host is not supported, the agent is registered already, or a setting is invalid.
    """
    for kind in type(agent).__mro__:
        host = HOSTS.get(kind) or HOSTS.get(f"{kind.__module__.partition('.')[0]}.{kind.__name__}")
        if host is not None:
            return entry_of(host)(agent, model, options)
    found = f"{type(agent).__module__}.{type(agent).__qualname__}"
    known = ", ".join(host.agents for host in HOSTS.values())
    raise ValueError(
        f"agent: {found} is no agent of a known host; known are {known}; of any other team or workflow "
        "register the agents, each by itself; with a list of OpenAI messages use IncrementalContextManager, and for a host of your own "
        "register_host"
    )


def register_host(agents: type | str, entry: "HostEntry | str", *, needed: str = "") -> None:
    """Let ``register`` take the agents of another host, in this process; a later call for the same class replaces an earlier one.

    Args:
        agents: the base class of its agents; or ``"package.Class"``, the outermost package and the name of a class, which need
            not be imported.
        entry: a function of an agent, the model's name or ``None``, and the options, which returns an ``AgentContext``; or the
            ``"module:function"`` to import it from when the first agent is registered. ``completed`` makes one value of the
            options, and ``AgentContext(OpenAIChat(), options)`` has a manager for a host that sends OpenAI's messages.
        needed: the requirement to name where that import fails.

    Raises:
        ValueError: an argument is neither a class nor a function, nor such a name.
    """
    if not (isinstance(agents, type) or agents.count(".") == 1):
        raise wrong_argument(
            "agents", agents, "a class, or its outermost package and name as 'package.Class'"
        )
    if not (callable(entry) or entry.count(":") == 1):
        raise wrong_argument("entry", entry, "a function, or where it is as 'module:function'")
    name = agents if isinstance(agents, str) else f"{agents.__module__}.{agents.__qualname__}"
    HOSTS[agents] = Host(f"a {name}", entry, needed)


def entry_of(host: Host) -> "HostEntry":
    """Return the function that registers an agent of a host; raise ``ValueError`` if it cannot be imported."""
    if not isinstance(host.entry, str):
        return host.entry
    module, _, function = host.entry.partition(":")
    try:
        return cast("HostEntry", getattr(import_module(module), function))
    except ImportError as error:
        way_out = f'; pip install "{host.needed}"' if host.needed else ""
        raise ValueError(
            f"agent: the release of its host that is installed does not have all that is used of it ({error}){way_out}"
        ) from error


def sent_of(
    given: Sequence[T],
    schemas: Sequence[Mapping[str, object]],
    sent_schemas: ToolSchemas,
    redescribed: Callable[[T, str], T],
) -> list[T]:
    """Return of a host's tools those that are sent, in their order.

    Args:
        given: the host's tools.
        schemas: those of these tools, in their order; perhaps with more that are no tools.
        sent_schemas: of these very schemas those to send, with ``find_tools`` written anew.
        redescribed: returns ``find_tools`` with another description.
    """
    places = {id(schema): at for at, schema in enumerate(schemas[: len(given)])}
    find = next((at for at, schema in enumerate(schemas[: len(given)]) if is_find_tool(schema)), 0)
    sent: list[T] = []
    for schema in sent_schemas:
        at = places.get(id(schema))
        if at is not None:
            sent.append(given[at])
        elif is_find_tool(schema):
            sent.append(redescribed(given[find], description_of(schema)))
    return sent


def take_up(
    manager: IncrementalContextManager, state: str | Mapping[str, object], *, place: str
) -> None:
    """Load a saved state (JSON text or its data) into a manager; if it is invalid, warn and start empty."""
    try:
        manager.load_state(json.loads(state) if isinstance(state, str) else state)
    except (StateError, ValueError) as error:
        warnings.warn(
            f"{place}: the saved state cannot be read, so the context starts empty: {error}",
            stacklevel=3,
        )


def completed(
    options: ManagerOptions,
    model: str | None = None,
    *,
    said: Mapping[str, object] | None = None,
    client: ModelClient | None = None,
    unseen: int = 0,
) -> ManagerOptions:
    """Return the options with all settings in ``config``, the host's client for ``model_client="host"``, and a clock.

    What the host ``said`` of its model has the lowest precedence. For each of ``unseen`` parts of a request (prompt, tools)
    room is reserved, unless the settings say how much.
    """
    settings, parts = divided({"clock": time.time, **options})
    config = ContextConfig.for_entry(
        parts.pop("config", None),
        {"model": model, **settings},
        said={name: each for name, each in (said or {}).items() if each is not None},
    )
    window = config.window_tokens
    if said is not None and not config.model and window is None:
        warnings.warn(
            f"the agent does not say which model it asks: a window of {config.default_window_tokens} tokens is assumed; give "
            "model= or window_tokens=",
            stacklevel=4,
        )
    if unseen and "reserve_tokens" not in config.model_fields_set:
        each = min(UNSEEN_TOKENS, int(window * UNSEEN_FRACTION)) if window else UNSEEN_TOKENS
        config = config.model_copy(update={"reserve_tokens": unseen * each})
    parts["config"] = config
    if client is not None and parts.get("model_client") == "host":
        parts["model_client"] = client
    return parts
