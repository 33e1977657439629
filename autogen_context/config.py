"""What a user may set, in one value that the manager and the adapters read.

Promise: a ``ContextConfig`` that exists is valid; every key it was given is used, warned about, or an error that names
the key, where it was given, and the way out; ``ContextConfig(**config.model_dump(mode="json", exclude_defaults=True))``
equals ``config``.
"""

import os
import reprlib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from autogen_context.config_keys import Given, Problem, Reading, read
from autogen_context.config_sources import (
    given_as_arguments,
    given_in_environment,
    given_in_file,
)


def refuse_bool(value: object) -> object:
    """Python and YAML would take ``true`` for 1, which as a number of tokens is a slip."""
    if isinstance(value, bool):
        raise PydanticCustomError("number_type", "Input should be a number")
    return value


Number = Annotated[int, BeforeValidator(refuse_bool)]
Share = Annotated[float, BeforeValidator(refuse_bool)]
Seconds = Annotated[float, BeforeValidator(refuse_bool)]


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
    compact_to_share: Share = Field(
        default=0.31,
        gt=0,
        lt=1,
        validate_default=True,
        description="How full a compaction leaves the room beside what must stay; above 0, below `compact_at_share`.",
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
        description="What the stash of originals may hold, in bytes; 0: nothing is kept.",
    )

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

    @field_validator("reserve_tokens")
    @classmethod
    def _leaves_room(cls, reserve_tokens: int, info: ValidationInfo) -> int:
        require_below("window_tokens", reserve_tokens, info)
        return reserve_tokens

    @field_validator("compact_to_share")
    @classmethod
    def _makes_room(cls, compact_to_share: float, info: ValidationInfo) -> float:
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
            lines += [line_of(reworded(found, reading.given)) for found in error.errors()]
        else:
            if not lines:
                return config
        raise ValidationError.from_exception_data(cls.__name__, lines)


def require_below(other: str, value: float, info: ValidationInfo) -> None:
    """Compare a value with a field before it; one that is left out or wrong itself is no bound."""
    bound: object = info.data.get(other)
    if isinstance(bound, int | float) and value >= bound:
        message = "Input should be below {other}, which is {bound}"
        raise PydanticCustomError("too_large", message, {"other": other, "bound": bound})


def reworded(found: ErrorDetails, given: Mapping[str, Given]) -> Problem:
    """Pydantic's complaint about one field, with the name and the place that the user knows."""
    key = str(found["loc"][0])
    value = reprlib.repr(found["input"])
    if key not in given:
        return Problem(key=key, message=f"{key} is {value} by default: {found['msg']}; give both")
    default = ContextConfig.model_fields[key].default
    message = f"{given[key].name} is {value}: {found['msg']}; the default is {default!r}"
    return Problem(key=key, message=message)


def line_of(problem: Problem) -> InitErrorDetails:
    """A problem as pydantic collects them; the key stands as the input, so that a secret under a wrong name stays out."""
    kind = PydanticCustomError("setting", "{message}", {"message": problem.message})
    return InitErrorDetails(type=kind, loc=(problem.key,), input=problem.key)
