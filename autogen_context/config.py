"""What a user may set, in one value that the manager and the adapters read.

Promise: a ``ContextConfig`` that exists is valid; every key it was given is used, warned about, or an error that names
the key, where it was given, and the way out; ``ContextConfig(**config.model_dump(mode="json", exclude_defaults=True))``
equals ``config``.
"""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from typing_extensions import override

from autogen_context.config_keys import Given, Problem, Reading, read
from autogen_context.config_problems import line_of, require_below, reworded
from autogen_context.config_sources import (
    given_as_arguments,
    given_in_environment,
    given_in_file,
)
from autogen_context.config_values import Number, Seconds, Share, Tools


class ContextConfig(BaseModel):
    """How an agent's context is kept: a frozen value, from arguments alone.

    ``ContextConfig.load`` reads a file and the environment as well. The keys of the original are understood;
    docs/configuration.md lists both.

    Raises:
        ValueError: a setting is unknown, out of its range, or given twice with different values; all of them in one error.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )

    model: str = Field(
        default="", description="Name of the model; it decides the limits and the tokenizer."
    )
    window_tokens: Number | None = Field(
        default=None,
        gt=0,
        description="The most input tokens a request may have, above 0; left out, the model's limit.",
    )
    reserve_tokens: Number = Field(
        default=0,
        ge=0,
        description="Of these, what the host adds unseen (system prompt, tool schemas); below `window_tokens`.",
    )
    compact_at_share: Share = Field(
        default=1.0,
        gt=0,
        le=1,
        description="How full the room may get before a compaction; above 0, at most 1.",
    )
    compact_to_share: Share | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="How full a compaction leaves the room beside what must stay; above 0, below `compact_at_share`. "
        "Left out, by the room: 0.36 up to 8,000 tokens, 0.52 from 16,000 on, of `compact_at_share`.",
    )
    prepare_at_share: Share = Field(
        default=0.8,
        gt=0,
        le=1,
        description="How full the room may get before what will go next is summarised ahead; above 0, at most 1.",
    )
    summary_timeout_s: Seconds = Field(
        default=0.0,
        ge=0,
        description="How long an awaited turn that compacts may wait for summaries, in seconds; 0: it takes what is there.",
    )
    reduce: Literal["auto", "off", "lossless", "lossy"] = Field(
        default="auto",
        description="How a tool's result is made smaller before it is first sent: `off`, `lossless`, `lossy` as well, or "
        "`auto`: `lossy` for an agent that has the tool `recall_context`, else `lossless`.",
    )
    tools: Tools = Field(
        default={},
        description="What tools of your own do, by name: `read`, `write`, `search`, `run`, `test`, `other` or `shell`.",
    )
    orphans: Literal["repair", "report", "refuse"] = Field(
        default="repair",
        description="What becomes of a call without its result or a result without its call: "
        "`repair`, `report` or `refuse`.",
    )
    alternate_roles: bool = Field(
        default=False, description="For models that insist on alternating user and assistant."
    )
    single_system: bool = Field(
        default=False, description="For models that take one system message, at the start."
    )
    enabled: bool = Field(default=True, description="`false` passes every message through.")
    default_window_tokens: Number = Field(
        default=8192,
        gt=0,
        description="The window where nothing is known of the model, in tokens, above 0.",
    )
    limits_file: Path | None = Field(
        default=None,
        description="Your own `model_limits.json`; a relative path starts at the working directory.",
    )
    limits_ttl_s: Seconds = Field(
        default=3600.0,
        ge=0,
        description="How long a limit that was looked up holds, in seconds; 0: looked up each time.",
    )
    discovery_url: str | None = Field(
        default=None,
        pattern=r"^https?://\S+$",
        description="Base URL of an OpenAI-compatible server to ask for limits; left out, none is asked.",
    )
    discovery_timeout_s: Seconds = Field(
        default=5.0, gt=0, description="How long that server may take, in seconds, above 0."
    )
    tokenizer_timeout_s: Seconds = Field(
        default=5.0,
        ge=0,
        description="How long the first awaited turn may wait for a tokenizer's download, in seconds; 0: never download.",
    )
    embedding_timeout_s: Seconds = Field(
        default=2.0,
        ge=0,
        description="How long an awaited turn may wait for the vector of a question, in seconds; 0: not at all.",
    )
    stash_bytes: Number = Field(
        default=64 * 1024 * 1024,
        ge=0,
        description="What the stash of originals may hold in memory, in bytes; 0: nothing is kept there.",
    )
    stash_directory: Path | None = Field(
        default=None, description="A folder that keeps originals as well; left out, memory alone."
    )
    stash_disk_bytes: Number = Field(
        default=1024 * 1024 * 1024,
        gt=0,
        description="What that folder may hold, in bytes, above 0.",
    )
    stash_ttl_s: Seconds = Field(
        default=0.0, ge=0, description="How long an original is kept, in seconds; 0: by room alone."
    )
    tenant: str = Field(default="", description="For whom it works; no other gets its originals.")
    agent: str = Field(default="", description="Which of the tenant's agents this is.")

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        **settings: object,
    ) -> Self:
        """Read settings from arguments, else the environment, else a file, else the defaults.

        Args:
            path: a .toml, .json, .yaml or .yml file; its settings stand at the top or in a table ``autogen_context``.
            environ: variables such as ``AUTOGEN_CONTEXT_WINDOW_TOKENS``; left out, those of the process.
            settings: as for ``ContextConfig``.

        Returns:
            The settings, each from the first place that gives it.

        Raises:
            ValueError: the file cannot be read, or a setting is wrong; it names the file or variable.
            MissingExtra: the file is YAML and PyYAML is not installed.
        """
        variables = os.environ if environ is None else environ
        layers = [
            given_in_file(Path(path)) if path is not None else [],
            given_in_environment(variables),
            given_as_arguments(settings),
        ]
        server_url = variables.get("OPENAI_BASE_URL")
        reading = read(layers, settings=cls.model_fields, server_url=server_url)
        for text in reading.warnings:
            warnings.warn(text, stacklevel=2)
        return cls.model_validate(reading)

    def updated(self, **settings: object) -> Self:
        """These settings with others in place of them; ``None`` leaves one as it is.

        Raises:
            ValueError: a setting is wrong.
        """
        given = {name: value for name, value in settings.items() if value is not None}
        return type(self).model_validate(self.model_dump(exclude_unset=True) | given)

    @override
    def __hash__(self) -> int:
        """Equal settings have equal hashes, mappings among them included."""
        return hash(self.model_dump_json())

    @field_validator("reserve_tokens")
    @classmethod
    def _leaves_room(cls, reserve_tokens: int, info: ValidationInfo) -> int:
        require_below("window_tokens", reserve_tokens, info)
        return reserve_tokens

    @field_validator("compact_to_share")
    @classmethod
    def _makes_room(cls, compact_to_share: float | None, info: ValidationInfo) -> float | None:
        if compact_to_share is not None:
            require_below("compact_at_share", compact_to_share, info)
        return compact_to_share

    @model_validator(mode="wrap")
    @classmethod
    def _understand(cls, given: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(given, Reading):
            return cls._checked(given, validate)
        if not isinstance(given, Mapping):
            return validate(given)
        # isinstance cannot tell what a mapping holds; here it is the arguments of a call, or what stands for them.
        arguments = given_as_arguments(cast("Mapping[str, object]", given))
        reading = read([arguments], settings=cls.model_fields, server_url=None)
        for text in reading.warnings:
            warnings.warn(text, stacklevel=3)  # past this method and pydantic's __init__
        return cls._checked(reading, validate)

    @classmethod
    def _checked(cls, reading: Reading, validate: ModelWrapValidatorHandler[Self]) -> Self:
        """All that is wrong goes into one error, by the names that the user knows."""
        lines = [line_of(problem) for problem in reading.problems]
        try:
            config = validate({key: given.value for key, given in reading.given.items()})
        except ValidationError as error:
            lines += [line_of(cls._problem(found, reading.given)) for found in error.errors()]
        else:
            if not lines:
                return config
        raise ValidationError.from_exception_data(cls.__name__, lines)

    @classmethod
    def _problem(cls, found: ErrorDetails, given: Mapping[str, Given]) -> Problem:
        return reworded(found, given, cls.model_fields[str(found["loc"][0])].default)
