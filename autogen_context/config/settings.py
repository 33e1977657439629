"""All that a user may set, and the kinds of values that settings have.

Promise: fields alone, each with its default, its range and what it does; ``ContextConfig`` reads and checks them. What is
no value of a kind is refused, and what the environment can say only as text is read.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, cast, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from autogen_context.messages.tool_call import NamedKind

KINDS = tuple(name for part in get_args(NamedKind) for name in (get_args(part) or (part,)))


def refuse_bool(value: object) -> object:
    """Python and YAML would take ``true`` for 1, which as a number of tokens is a slip."""
    if isinstance(value, bool):
        raise PydanticCustomError("number_type", "Input should be a number")
    return value


def from_json(value: object) -> object:
    """The value of a variable of the environment, which is always text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def list_of_names(value: object) -> object:
    """A list; one name alone would be read as its letters."""
    names = from_json(value)
    if not isinstance(names, list | tuple):
        raise PydanticCustomError("names", "Input should be a list of names, such as ['Alice']")
    return cast("Sequence[object]", names)  # what is in it is checked next


def known_kind(value: object) -> object:
    """What a tool does."""
    if value not in KINDS:
        message = "Input should be one of {kinds}"
        raise PydanticCustomError("kind", message, {"kinds": ", ".join(KINDS)})
    return value


MOST = 2**53  # what any JSON reader can hold
Number = Annotated[int, BeforeValidator(refuse_bool), Field(ge=0, lt=MOST)]
Positive = Annotated[int, BeforeValidator(refuse_bool), Field(gt=0, lt=MOST)]
Share = Annotated[float, BeforeValidator(refuse_bool), Field(ge=0, le=1)]
Full = Annotated[float, BeforeValidator(refuse_bool), Field(gt=0, le=1)]
Inner = Annotated[float, BeforeValidator(refuse_bool), Field(gt=0, lt=1)]
Seconds = Annotated[float, BeforeValidator(refuse_bool), Field(ge=0, lt=MOST)]
AboveZero = Annotated[float, BeforeValidator(refuse_bool), Field(gt=0, lt=MOST)]
Url = Annotated[str, Field(pattern=r"^https?://\S+$")]
Tools = Annotated[
    Mapping[str, Annotated[NamedKind, BeforeValidator(known_kind)]], BeforeValidator(from_json)
]
Names = Annotated[tuple[str, ...], BeforeValidator(list_of_names)]


class Settings(BaseModel):
    """The settings: their defaults, ranges and what each does."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    model: str = ""
    """Name of the model; it decides the limits and the tokenizer."""
    window_tokens: Positive | None = None
    """The most input tokens a request may have, above 0; left out, the model's limit."""
    reserve_tokens: Number = 0
    """Of these, what the host adds unseen (system prompt, tool schemas); below `window_tokens`."""
    compact_at_fraction: Full = 1.0
    """How full the room may get before a compaction; above 0, at most 1."""
    compact_to_fraction: Inner | None = None
    """How full a compaction leaves the room beside what must stay; above 0, below `compact_at_fraction`. Left out, by
    the room: 0.36 up to 8,000 tokens, 0.52 from 16,000 on, of `compact_at_fraction`."""
    profile: Literal["value", "balanced", "conservative", "strict"] = "value"
    """What shares out the room at a compaction: `value`: the score of each part, with some more or less for people, the
    newest and what is told by the task's complexity and `role`; `balanced`: shares of sections by these and what was
    used; `conservative` and `strict`: the tables of these names, without `compact_to_fraction`."""
    role: Literal["assistant", "coder", "planner", "researcher", "reviewer", "tester"] = "assistant"
    """What the agent does; it moves what each part has in `value` and `balanced`."""
    prepare_at_fraction: Full = 0.8
    """How full the room may get before what will go next is summarised ahead, and a model is asked for advice; above 0,
    at most 1."""
    summary_timeout_s: Seconds = 5.0
    """How long an awaited turn that compacts may wait for summaries, in seconds; 0: it takes what is there."""
    reduce: Literal["auto", "off", "lossless", "lossy"] = "auto"
    """How a tool's result is made smaller before it is first sent: `off`, `lossless`, `lossy` as well, or `auto`:
    `lossy` for an agent that has the tool `recall_context`, else `lossless`."""
    compaction: Literal["when_full", "when_cache_cold", "cost_based"] = "when_cache_cold"
    """When the history is cut: `when_full`: by the window alone; `when_cache_cold`: also when the provider's cache has
    run out and it is worth it, which takes a manager with a clock, and where `cached_input_fraction` is given as 0.25 or
    more what is finished as well, as soon as that pays; `cost_based`: what is finished at every price."""
    cached_input_fraction: Share | None = None
    """What a cached input token costs of an uncached one, 0 to 1; 1 where nothing is cached. Left out, what the model's
    provider takes; nothing for an engine of your own, which `prefill_tokens_per_s` or a name as `ollama/llama3.1` tells."""
    prefill_tokens_per_s: AboveZero | None = None
    """How many input tokens that are not cached an engine of your own reads in a second, above 0; reports tell costs in
    seconds then."""
    dry_run: bool = False
    """Whether what is finished is judged in each turn also where `compaction` does not act upon it, and told in
    `Prepared.finished`: what `cost_based` would cut, and at what price."""
    enable_subtask_detection: bool = True
    """Whether a completed subtask is finished."""
    enable_intent_detection: bool = True
    """Whether a change of intent finishes a phase."""
    enable_boundary_detection: bool = True
    """Whether work that moves on finishes a stretch."""
    enable_staleness_detection: bool = True
    """Whether what has grown stale is finished."""
    staleness_threshold: Share = 0.7
    """Above which staleness, 0 to 1, a turn is stale."""
    fallback_turns: Number = 0
    """For `cost_based`: after how many turns without a proposal the turns so far count as finished; 0: never."""
    project_fraction: Inner = 0.15
    """What the context of a project may have of the window at most; above 0, below 1."""
    attention_threshold: Share = 0.15
    """For `attention_filter()`: the least relevance, 0 to 1, that keeps a part of a context."""
    attention_top_k: Positive | None = None
    """For `attention_filter()`: keep so many of the best parts instead, above 0; left out, the threshold decides."""
    versions: Positive = 20
    """How many versions of the context are kept, above 0."""
    tools: Tools = {}
    """What tools of your own do, by name: `read`, `write`, `search`, `run`, `test`, `other` or `shell`."""
    people: Names = ()
    """Names of the people in a team of agents, beside who gives the first task and whose name says it (`user_proxy`);
    what other agents say makes no rules."""
    orphans: Literal["repair", "report", "refuse"] = "repair"
    """What becomes of a call without its result or a result without its call: `repair`, `report` or `refuse`."""
    alternate_roles: bool = False
    """For models that insist on alternating user and assistant."""
    single_system: bool = False
    """For models that take one system message, at the start."""
    enabled: bool = True
    """`false` passes every message through."""
    default_window_tokens: Positive = 8192
    """The window where nothing is known of the model, in tokens, above 0."""
    limits_file: Path | None = None
    """Your own `model_limits.json`; a relative path starts at the working directory."""
    limits_ttl_s: Seconds = 3600.0
    """How long a limit that was looked up holds, in seconds; 0: looked up each time."""
    discovery_url: Url | None = None
    """Base URL of an OpenAI-compatible server to ask for limits; left out, none is asked."""
    discovery_timeout_s: AboveZero = 5.0
    """How long that server may take, in seconds, above 0."""
    tokenizer_timeout_s: Seconds = 5.0
    """How long the first awaited turn may wait for a tokenizer's download, in seconds; 0: never download."""
    embedding_timeout_s: Seconds = 2.0
    """How long an awaited turn may wait for the vector of a question, in seconds; 0: not at all."""
    originals_bytes: Number = 64 * 1024 * 1024
    """What originals of what left the window may take in memory, in bytes; 0: nothing is kept there."""
    originals_directory: Path | None = None
    """A folder that keeps originals as well; left out, memory alone."""
    originals_disk_bytes: Positive = 1024 * 1024 * 1024
    """What that folder may hold, in bytes, above 0."""
    originals_ttl_s: Seconds = 0.0
    """How long an original is kept, in seconds; 0: by room alone."""
    tenant: str = ""
    """For whom it works; no other gets its originals."""
    agent: str = ""
    """Which of the tenant's agents this is."""
