"""One line for an agent of any known host, and what every host's entry gives back.

Promise: an agent of no known host is refused by naming those that are known. No host is imported but that of the agent.
"""

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Unpack

from autogen_context.config.config import ContextConfig
from autogen_context.errors import StateError
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.parts import ManagerOptions, events_of, metrics_of
from autogen_context.manager.prepared import Payload, Prepared
from autogen_context.messages.message import Message

if TYPE_CHECKING:
    from autogen_context.prioritizer.selection import Explanation

# AgentChat's own system prompt has 28 tokens, classic's has 460, and a tool has about 80 (measured 2026-11): room for
# a page of prompt, and for a dozen tools.
UNSEEN_TOKENS = 1_000
UNSEEN_FRACTION = 0.125  # of a small window, at most

# A class that every agent of a host has among its own: the host's package, our module, and what its imports need.
HOSTS: Mapping[str, tuple[str, str, str]] = {
    "ChatAgent": ("autogen_agentchat", "agentchat", "autogen-agentchat>=0.5.7"),
    "ConversableAgent": ("autogen", "classic", "pyautogen>=0.2.15"),
    "Agent": ("ag2", "ag2", "ag2>=1.2"),
    "RawAgent": ("agent_framework", "agent_framework", "agent-framework-core>=1.23"),
}


class AgentContext(Generic[Payload]):
    """The context of one agent.

    Attributes:
        manager: that of the conversation at hand, for what is not here.
        last_prepared: the last request with its certificate and decisions; ``None`` before the first.
    """

    manager: IncrementalContextManager
    last_prepared: Prepared[Payload] | None

    def pin(self, message: Payload) -> None:
        """Keep a message verbatim from now on, and with it the call or the results that belong to it."""
        self.manager.pin(message)

    def unpin(self, message: Payload) -> None:
        """Let a pinned message go at the next compaction."""
        self.manager.unpin(message)

    def explain(self, message: Payload) -> "Explanation":
        """What became of a message in the last turn, and why; ``NotInHistory`` where the turn did not have it."""
        return self.manager.explain(message)

    def recall(self, handle: str) -> Sequence[Message]:
        """The originals of what was shortened or dropped; ``OriginalNotFound`` where they are not kept (any more)."""
        return self.manager.recall(handle)

    async def aclose(self) -> None:
        """End what is still under way in the background."""
        await self.manager.aclose()


def register(
    agent: object, model: str | None = None, **options: Unpack[ManagerOptions]
) -> AgentContext[Any]:
    """Keep an agent inside its window from its next request on, without losing what it will need.

    System prompt and tools are measured, what the provider bills corrects the count, and an agent that takes tools gets
    the tool ``recall_context``, by which it can ask for what left its window.

    Args:
        agent: an ``AssistantAgent`` of autogen-agentchat 0.5.7 to 0.7 (of it ``_model_client``, ``_model_context`` and ``_workbench``
            are set, since it has no public way), a ``ConversableAgent`` of classic AutoGen (through its hooks), or an
            ``Agent`` of AG2 1.x or of Microsoft Agent Framework (through a middleware).
        model: name of the agent's model; left out, as the agent's own settings say.
        options: as for ``IncrementalContextManager``; ``window_tokens`` is the one to begin with.

    Returns:
        The agent's context, to ask and to tell: ``explain``, ``pin``, ``last_prepared``, and ``manager`` for the rest.

    Raises:
        ValueError: the agent is of no known host or registered already, or a setting makes no sense.
    """
    for kind in type(agent).__mro__:
        package, module, needed = HOSTS.get(kind.__name__, ("", "", ""))
        if package and kind.__module__.partition(".")[0] == package:
            try:
                adapter = import_module(f"{__package__}.{module}")
            except ImportError as error:
                raise ValueError(
                    f"agent: the release of {package} that is installed does not have all that is used of it ({error}); "
                    f'pip install "{needed}"'
                ) from error
            entry: Callable[..., AgentContext[Any]] = getattr(adapter, f"register_{module}")
            return entry(agent, model, **named(options, str(getattr(agent, "name", None) or "")))
    found = f"{type(agent).__module__}.{type(agent).__qualname__}"
    raise ValueError(
        f"agent: {found} is no agent of a known host; known are an AssistantAgent of autogen-agentchat 0.5.7 to 0.7, a "
        "ConversableAgent of classic AutoGen (autogen, pyautogen up to 0.9), and an Agent of AG2 1.x (ag2) or of Microsoft "
        "Agent Framework 1.x; with a list of OpenAI messages use IncrementalContextManager"
    )


def named(options: ManagerOptions, agent: str) -> ManagerOptions:
    """An entry's arguments, with the agent's name for events that its settings do not name."""
    log, metrics = events_of(options.get("events")), metrics_of(options.get("metrics"))
    if log is not None and hasattr(log, "of"):  # else it is refused where its argument is named
        options["events"] = log.of(agent)
    if metrics is not None and hasattr(metrics, "of"):
        options["metrics"] = metrics.of(agent)
    return options


def take_up(
    manager: IncrementalContextManager, state: str | Mapping[str, object], *, place: str
) -> None:
    """Have a manager continue from a state, as JSON or its data; where it cannot be read it begins anew, with a warning."""
    try:
        manager.load_state(json.loads(state) if isinstance(state, str) else state)
    except (StateError, ValueError) as error:
        warnings.warn(f"{place}: begun anew, since the state cannot be read: {error}", stacklevel=3)


def settings_in(
    model: str | None, options: ManagerOptions, said: Mapping[str, object] | None = None
) -> ContextConfig:
    """The settings among an entry's arguments, which are taken out; what the host says of its model is the weakest."""
    config = ContextConfig.for_entry(
        options.pop("config", None),
        said={name: each for name, each in (said or {}).items() if each is not None},
        model=model,
        window_tokens=options.pop("window_tokens", None),
        reserve_tokens=options.pop("reserve_tokens", None),
    )
    if said is not None and not config.model and config.window_tokens is None:
        warnings.warn(
            f"the agent does not say which model it asks: a window of {config.default_window_tokens} tokens is assumed; give "
            "model= or window_tokens=",
            stacklevel=4,
        )
    return config


def with_reserve(config: ContextConfig, *, unseen: int) -> ContextConfig:
    """The settings with something held back for what nobody told of (prompt, tools), unless they say how much."""
    if "reserve_tokens" in config.model_fields_set or not unseen:
        return config
    window = config.window_tokens
    each = min(UNSEEN_TOKENS, int(window * UNSEEN_FRACTION)) if window else UNSEEN_TOKENS
    return config.model_copy(update={"reserve_tokens": unseen * each})
