"""What a user may set, in one value that the manager and the adapters read.

Promise: a ``ContextConfig`` that exists is valid; every key it was given is used, warned about, or an error that names
the key, where it was given, and the way out; ``ContextConfig(**config.model_dump(mode="json", exclude_defaults=True))``
equals ``config``.
"""

import os
import reprlib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self, cast

from pydantic import (
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError
from typing_extensions import override

from autogen_context.argument import require_kind, require_path
from autogen_context.config.given import (
    FILE_VARIABLE,
    Given,
    Problem,
    Reading,
    given_as_arguments,
    given_in_environment,
    given_in_file,
    of_other_programs,
    read,
)
from autogen_context.config.settings import Settings
from autogen_context.prioritizer.attention import AttentionFilter


class ContextConfig(Settings):
    """How an agent's context is kept: a frozen value, from arguments alone.

    ``ContextConfig.load`` reads a file and the environment as well. The keys of the original are understood;
    docs/configuration.md lists both.

    Raises:
        ValueError: a setting is unknown, out of its range, or given twice with different values; all of them in one error.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
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
            path: a .toml, .json, .yaml or .yml file; its settings stand at the top, or in a table ``autogen_context`` or ``agent``.
                Left out, the file that the variable ``AUTOGEN_CONTEXT_CONFIG`` names, if any.
            environ: variables such as ``AUTOGEN_CONTEXT_WINDOW_TOKENS``; left out, those of the process.
            settings: as for ``ContextConfig``.

        Returns:
            The settings, each from the first place that gives it.

        Raises:
            ValueError: the file cannot be read, or a setting is wrong; it names the file or variable.
            MissingExtra: the file is YAML and PyYAML is not installed.
        """
        variables = os.environ if environ is None else environ
        named = given_in_environment(variables)
        return cls._from_places(path, variables, [], named, given_as_arguments(settings))

    @classmethod
    def for_entry(
        cls, config: Self | None, *, said: Mapping[str, object] | None = None, **settings: object
    ) -> Self:
        """The settings with which a manager or an adapter works, the environment among them.

        Args:
            config: what the user set; it wins over the environment.
            said: what the host says of its model; everything else wins over it.
            settings: arguments beside ``config``, which win over it; ``None`` is not given.

        Raises:
            ValueError: a setting is wrong; it names the argument, the file or the variable.
        """
        if config is not None:
            require_kind("config", config, ContextConfig, give="a ContextConfig(...)")
        chosen = config.model_dump(exclude_unset=True) if config is not None else {}
        chosen |= {name: value for name, value in settings.items() if value is not None}
        named = given_in_environment(os.environ)
        others = of_other_programs(named, cls.model_fields)
        for other in others:
            warnings.warn(f"{other.name} has no effect: it names no setting", stacklevel=3)
        named = [given for given in named if given not in others]
        said_by_host, arguments = given_as_arguments(said or {}), given_as_arguments(chosen)
        return cls._from_places(None, os.environ, said_by_host, named, arguments)

    @classmethod
    def _from_places(
        cls,
        path: str | os.PathLike[str] | None,
        variables: Mapping[str, str],
        *layers: Sequence[Given],
    ) -> Self:
        """Settings from what a host says, variables and arguments, and from a file, which comes second."""
        named = variables.get(FILE_VARIABLE) if path is None else path
        if path is not None:
            require_path("path", path)
        said, *others = layers
        layers = (said, given_in_file(Path(named)) if named else [], *others)
        server_url = variables.get("OPENAI_BASE_URL")
        reading = read(layers, settings=cls.model_fields, server_url=server_url)
        for text in reading.warnings:
            warnings.warn(text, stacklevel=3)
        return cls.model_validate(reading)

    def updated(self, **settings: object) -> Self:
        """These settings with others in place of them; ``None`` leaves one as it is.

        Raises:
            ValueError: a setting is wrong.
        """
        given = {name: value for name, value in settings.items() if value is not None}
        return type(self).model_validate(self.model_dump(exclude_unset=True) | given)

    def attention_filter(self) -> AttentionFilter:
        """What leaves out parts of a context by these settings: above a threshold, or the best so many."""
        return AttentionFilter(threshold=self.attention_threshold, top_k=self.attention_top_k)

    @override
    def __hash__(self) -> int:
        """Equal settings have equal hashes, mappings among them included."""
        return hash(self.model_dump_json())

    @field_validator("reserve_tokens")
    @classmethod
    def _leaves_room(cls, reserve_tokens: int, info: ValidationInfo) -> int:
        require_below("window_tokens", reserve_tokens, info)
        return reserve_tokens

    @field_validator("compact_to_fraction")
    @classmethod
    def _makes_room(cls, compact_to_fraction: float | None, info: ValidationInfo) -> float | None:
        if compact_to_fraction is not None:
            require_below("compact_at_fraction", compact_to_fraction, info)
        return compact_to_fraction

    @field_validator("profile")
    @classmethod
    def _says_alone_how_full(cls, profile: str, info: ValidationInfo) -> str:
        said: object = info.data.get("compact_to_fraction")
        if said is not None and profile in ("conservative", "strict"):
            message = (
                "Input says itself what compact_to_fraction does, which is {said}; give one of them"
            )
            raise PydanticCustomError("conflict", message, {"said": said})
        return profile

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
            fields = cls.model_fields
            lines += [line_of(reworded(e, reading.given, fields)) for e in error.errors()]
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


def reworded(
    found: ErrorDetails, given: Mapping[str, Given], fields: Mapping[str, FieldInfo]
) -> Problem:
    """Pydantic's complaint about one field, with the name and the place that the user knows."""
    key, *within = found["loc"]
    value = reprlib.repr(found["input"])
    place = "".join(f"{p!r} of " if isinstance(p, str) else f"item {p} of " for p in within[:1])
    default = fields[str(key)].default
    message = (
        f"{place}{given[str(key)].name} is {value}: {found['msg']}; the default is {default!r}"
    )
    return Problem(key=str(key), message=message)


def line_of(problem: Problem) -> InitErrorDetails:
    """A problem as pydantic collects them; the key stands as the input, so that a secret under a wrong name stays out."""
    kind = PydanticCustomError("setting", "{message}", {"message": problem.message})
    return InitErrorDetails(type=kind, loc=(problem.key,), input=problem.key)
