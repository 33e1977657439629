"""The fields of ``ContextConfig`` and their types, and the parts that are made of them alone.

Promise: each field has a default, a range and a description. Values of another type are refused; text from the environment
is converted.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, cast, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from autogen_context.budget.manager import TokenBudgetManager
from autogen_context.budget.policy import Profile, Role
from autogen_context.cache.seal import LEAST_KEY_CHARS
from autogen_context.messages.tool_call import NamedKind
from autogen_context.prioritizer.attention import AttentionFilter

if TYPE_CHECKING:  # imported only when used
    from autogen_context.triggers.hybrid import SemanticHybridTrigger
    from autogen_context.triggers.intent import KnownIntent

KINDS = tuple(name for part in get_args(NamedKind) for name in (get_args(part) or (part,)))


def refuse_bool(value: object) -> object:
    """Refuse ``true``, which Python and YAML would accept as 1."""
    if isinstance(value, bool):
        raise PydanticCustomError("number_type", "Input should be a number")
    return value


def from_json(value: object) -> object:
    """Parse a value that comes from the environment as JSON text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def list_of_names(value: object) -> object:
    """Require a list; a single name would be read as its letters."""
    names = from_json(value)
    if not isinstance(names, list | tuple):
        raise PydanticCustomError("names", 'Input should be a list of names, such as ["Alice"]')
    return cast("Sequence[object]", names)  # pydantic validates the elements


def known_kind(value: object) -> object:
    """Require a known kind of tool."""
    if value not in KINDS:
        message = "Input should be one of {kinds}"
        raise PydanticCustomError("kind", message, {"kinds": ", ".join(KINDS)})
    return value


def long_enough(value: str) -> str:
    """Require a key that cannot be guessed, or none."""
    if 0 < len(value) < LEAST_KEY_CHARS:
        message = "Input should have at least {least} random characters"
        raise PydanticCustomError("key", message, {"least": LEAST_KEY_CHARS})
    return value


MOST = 2**53  # the largest integer that any JSON reader keeps exactly
Number = Annotated[int, BeforeValidator(refuse_bool), Field(ge=0, lt=MOST)]
Positive = Annotated[int, BeforeValidator(refuse_bool), Field(gt=0, lt=MOST)]
UnitFraction = Annotated[float, BeforeValidator(refuse_bool), Field(ge=0, le=1)]
Full = Annotated[float, BeforeValidator(refuse_bool), Field(gt=0, le=1)]
Inner = Annotated[float, BeforeValidator(refuse_bool), Field(gt=0, lt=1)]
Seconds = Annotated[float, BeforeValidator(refuse_bool), Field(ge=0, lt=MOST)]
AboveZero = Annotated[float, BeforeValidator(refuse_bool), Field(gt=0, lt=MOST)]
Url = Annotated[str, Field(pattern=r"^https?://\S+$")]
Tools = Annotated[
    Mapping[str, Annotated[NamedKind, BeforeValidator(known_kind)]], BeforeValidator(from_json)
]
Key = Annotated[str, AfterValidator(long_enough)]
Names = Annotated[tuple[str, ...], BeforeValidator(list_of_names)]
Reduce = Literal["auto", "off", "lossless", "lossy"]
When = Literal["when_full", "when_cache_cold", "cost_based"]
Orphans = Literal["repair", "report", "refuse"]
OnRemoval = Literal["auto", "forget", "keep"]
Volatile = Literal["report", "behind"]
CacheMarking = Literal["auto", "1h", "off"]
CacheKey = Literal["auto", "on", "off"]


class Settings(BaseModel):
    """All settings with their defaults and ranges."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    model: str = ""
    """Name of the model; it determines the limits and the tokenizer."""
    window_tokens: Positive | None = None
    """The most input tokens a request may have, above 0; default: the model's limit."""
    reserve_tokens: Number = 0
    """Tokens of the window reserved for what the host adds unseen (system prompt, tool schemas); below `window_tokens`."""
    compact_at_fraction: Full = 1.0
    """Fraction of the window at which a compaction is due; above 0, at most 1."""
    compact_to_fraction: Inner | None = None
    """Fraction of the window, without protected messages, that a compaction leaves; above 0, below `compact_at_fraction`.
    Default by window: 0.36 of `compact_at_fraction` up to 8,000 tokens, rising to 0.52 from 16,000 on."""
    profile: Profile = "value"
    """How a compaction divides the window. `value`: by score, with budgets for people's messages, the newest units and
    notices that depend on the task's complexity and `role`. `balanced`: by sections, adjusted by complexity, `role` and
    measured use. `conservative`, `strict`: fixed tables, without `compact_to_fraction`."""
    role: Role = "assistant"
    """The agent's role; it adjusts the budgets of `value` and `balanced`."""
    prepare_at_fraction: Full = 0.8
    """Fraction of the window at which summaries of what leaves next, and a model's advice, are requested in the background;
    above 0, at most 1."""
    summary_timeout_s: Seconds = 5.0
    """How long `prepare` may wait for summaries when it compacts, in seconds; 0 uses those that are ready."""
    prioritizer_timeout_s: Seconds = 5.0
    """How long `prepare` may wait for the scores of an `async` prioritizer of yours when it compacts, in seconds."""
    reduce: Reduce = "auto"
    """How a tool result is reduced on arrival: `off`, `lossless`, `lossy`, or `auto`: `lossy` for an agent that has the
    tool `recall_context`, else `lossless`."""
    compaction: When = "when_cache_cold"
    """When to compact. `when_full`: only if the window forces it. `when_cache_cold`: also when the provider's cache has
    expired and it pays (needs a clock), and finished work as soon as that pays if `cached_input_fraction` is set to 0.25
    or more. `cost_based`: finished work as soon as it pays, whatever the price."""
    cached_input_fraction: UnitFraction | None = None
    """Price of a cached input token relative to an uncached one, 0 to 1; 1 without a cache. Default: the price of the
    model's provider; 0 for a local engine, as indicated by `prefill_tokens_per_s` or a name such as `ollama/llama3.1`."""
    prefill_tokens_per_s: AboveZero | None = None
    """Uncached input tokens that a local engine evaluates per second, above 0; reports then show costs in seconds."""
    cache_marks: CacheMarking = "auto"
    """Whether `register` marks requests to Claude for Anthropic's prompt cache, without which all input is billed at its full
    price. `auto`: with its lifetime of 5 minutes. `1h`: with one of an hour, whose writing costs twice the price of input
    instead of 1.25 times. `off`: no marks but those of the host."""
    prompt_cache_key: CacheKey = "auto"
    """Whether `register` sends OpenAI a `prompt_cache_key`, a digest that is the same for all requests of a conversation, so
    that they are routed to where its prefix is cached. `auto`: to `api.openai.com` only, since others may refuse the field."""
    dry_run: bool = False
    """Report in `Prepared.finished` which finished work `cost_based` would cut, and at what price, without cutting it."""
    enable_subtask_detection: bool = True
    """Whether completed subtasks count as finished work."""
    enable_intent_detection: bool = True
    """Whether a change of intent finishes a phase of work."""
    enable_boundary_detection: bool = True
    """Whether moving to another file or module finishes a span of work."""
    enable_staleness_detection: bool = True
    """Whether stale turns count as finished work."""
    staleness_threshold: UnitFraction = 0.7
    """Staleness, 0 to 1, above which a turn is stale."""
    fallback_turns: Number = 0
    """For `cost_based`: number of turns without a proposal after which older turns count as finished; 0 for never."""
    project_fraction: Inner = 0.15
    """The most of the window for the project context; above 0, below 1."""
    tools_fraction: Full = 0.2
    """Fraction of the window above which schemas of tools are deferred behind `find_tools`, where an agent has that tool and
    more than ten others; above 0, at most 1, which defers only what does not fit at all."""
    attention_threshold: UnitFraction = 0.15
    """For `attention_filter()`: lowest relevance, 0 to 1, of a part that is kept."""
    attention_top_k: Positive | None = None
    """For `attention_filter()`: keep this many of the best parts instead, above 0; default: the threshold decides."""
    versions: Positive = 20
    """Number of versions of the context to keep, above 0."""
    tools: Tools = {}
    """Kinds of your own tools by name: `read`, `write`, `search`, `run`, `test`, `other` or `shell`."""
    people: Names = ()
    """Names under which people write, in addition to `user` and those that the host knows; in a list without a host also
    `user_proxy`, if it is a person's. What others say is no rule and no instruction."""
    program_output: Names = ()
    """What is a program's output in the user role: names under which programs write, and beginnings of texts, such as
    `<returncode>` or `Observation:`; a beginning has a character that no name has."""
    orphans: Orphans = "repair"
    """How to treat a call without result or a result without call: `repair`, `report` or `refuse`."""
    on_host_removal: OnRemoval = "auto"
    """What becomes of messages that the host takes out of its list: `forget` deletes all that was kept of them, `keep` keeps
    originals and statements, `auto` forgets what is deleted or edited and keeps what is only cut from the front."""
    alternate_roles: bool = False
    """For models that require alternating user and assistant messages."""
    single_system: bool = False
    """For models that accept a single system message, at the start."""
    volatile: Volatile = "report"
    """What becomes of parts of the system prompt that change from turn to turn, such as a clock: `report` says so once;
    `behind` sends them as a system message before the newest unit, so that what stands in front stays in the provider's cache."""
    enabled: bool = True
    """`false` passes all messages through unchanged."""
    default_window_tokens: Positive = 8192
    """Window for an unknown model, in tokens, above 0."""
    limits_file: Path | None = None
    """Your own `model_limits.json`; a relative path is resolved from the working directory."""
    limits_ttl_s: Seconds = 3600.0
    """How long a looked-up limit is cached, in seconds; 0 for no cache."""
    discovery_url: Url | None = None
    """Base URL of an OpenAI-compatible server to ask for limits; default: none is asked."""
    discovery_timeout_s: AboveZero = 5.0
    """Time limit for that server, in seconds, above 0."""
    tokenizer_timeout_s: Seconds = 5.0
    """How long the first `prepare` may wait for the download of a tokenizer, in seconds; 0 for no download."""
    embedding_timeout_s: Seconds = 2.0
    """How long `prepare` may wait for the embedding of a question, in seconds; 0 for no waiting."""
    originals_bytes: Number = 64 * 1024 * 1024
    """Memory for originals of messages that left the window, in bytes; 0 keeps none in memory."""
    originals_directory: Path | None = None
    """Folder that also stores originals; default: memory only."""
    originals_disk_bytes: Positive = 1024 * 1024 * 1024
    """Size limit of that folder, in bytes, above 0."""
    originals_ttl_s: Seconds = 0.0
    """How long an original is kept, in seconds; 0 for until its space is needed."""
    tenant: str = ""
    """Tenant that the agent works for; originals and cached values are never shared between tenants."""
    agent: str = ""
    """Name of the agent; it scopes its originals and cached values within the tenant. `register` takes the agent's own."""
    store_key: Key = Field(default="", exclude=True, repr=False)
    """Secret that seals what is kept in folders and on servers, the same for all that share them: at least 16 random
    characters; never written anywhere. Default: a folder has a key of its own, a server without one shares nothing of people."""

    def budget_manager(self) -> TokenBudgetManager:
        """Return the budget of these settings."""
        return TokenBudgetManager(
            role=self.role,
            profile=self.profile,
            compact_at_fraction=self.compact_at_fraction,
            compact_to_fraction=self.compact_to_fraction,
        )

    def hybrid_trigger(self, *, known: "KnownIntent | None" = None) -> "SemanticHybridTrigger":
        """Return the trigger of these settings; ``known`` looks up a model's intents."""
        from autogen_context.triggers.hybrid import SemanticHybridTrigger  # noqa: PLC0415 - most need none

        return SemanticHybridTrigger(
            subtasks=self.enable_subtask_detection,
            intents=self.enable_intent_detection,
            boundaries=self.enable_boundary_detection,
            staleness=self.enable_staleness_detection,
            staleness_threshold=self.staleness_threshold,
            fallback_turns=self.fallback_turns,
            known=known,
        )

    def attention_filter(self) -> AttentionFilter:
        """Return the filter of these settings: by threshold or top k."""
        return AttentionFilter(threshold=self.attention_threshold, top_k=self.attention_top_k)


class SettingArguments(TypedDict, total=False):
    """The settings that are arguments of a manager and of every adapter, by their names; ``None`` counts as not given.

    ``model`` is an argument of its own; ``tools`` and ``agent`` have other meanings there, and are given with ``config=``.
    """

    # the window, and what a compaction leaves of it
    window_tokens: int | None
    reserve_tokens: int | None
    compact_at_fraction: float | None
    compact_to_fraction: float | None
    profile: Profile | None
    role: Role | None

    # what `prepare` may wait for
    prepare_at_fraction: float | None
    summary_timeout_s: float | None
    prioritizer_timeout_s: float | None

    # when and how something is cut
    reduce: Reduce | None
    compaction: When | None
    cached_input_fraction: float | None
    prefill_tokens_per_s: float | None
    cache_marks: CacheMarking | None
    prompt_cache_key: CacheKey | None
    dry_run: bool | None
    enable_subtask_detection: bool | None
    enable_intent_detection: bool | None
    enable_boundary_detection: bool | None
    enable_staleness_detection: bool | None
    staleness_threshold: float | None
    fallback_turns: int | None

    # what is shown and kept
    project_fraction: float | None
    tools_fraction: float | None
    versions: int | None

    # what the messages are
    people: Sequence[str] | None
    program_output: Sequence[str] | None
    orphans: Orphans | None
    on_host_removal: OnRemoval | None
    alternate_roles: bool | None
    single_system: bool | None
    volatile: Volatile | None
    enabled: bool | None

    # limits of models
    default_window_tokens: int | None
    limits_file: str | Path | None
    limits_ttl_s: float | None
    discovery_url: str | None
    discovery_timeout_s: float | None
    tokenizer_timeout_s: float | None
    embedding_timeout_s: float | None

    # originals
    originals_bytes: int | None
    originals_directory: str | Path | None
    originals_disk_bytes: int | None
    originals_ttl_s: float | None
    tenant: str | None
    store_key: str | None
