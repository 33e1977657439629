"""ContextConfig: all settings as one value, read from arguments, environment and a file.

Promise: a ``ContextConfig`` that exists is valid. Every key that was given is used, warned about, or an error that names the
key, its source and the way out. ``ContextConfig(**config.model_dump(mode="json", exclude_defaults=True))`` equals ``config``,
but for the store's key, which is in no dump, text or error.
"""

import json
import os
import reprlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, Self, cast

from pydantic import (
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError
from typing_extensions import override

from autogen_context.argument import require_kind, require_path
from autogen_context.config.settings import Settings
from autogen_context.errors import MissingExtra

PREFIX = "AUTOGEN_CONTEXT_"
FILE_VARIABLE = f"{PREFIX}CONFIG"
TABLE = "autogen_context"
TABLE_OF_THE_ORIGINAL = "agent"
SUFFIXES = (".toml", ".json", ".yaml", ".yml")
DISCOVERY = "discovery_url"
SWITCH_OF_DISCOVERY = "enable_api_discovery"  # a flag in the original; a URL is needed
# Keys of the original: their new names, or what replaces them.
RENAMED = {
    "compression_threshold": "compact_at_fraction",
    "compression_ratio": "compact_to_fraction",  # both: fraction that remains
    "default_token_limit": "default_window_tokens",
    "model_limits_config_path": "limits_file",
    "model_limit_cache_ttl": "limits_ttl_s",
    SWITCH_OF_DISCOVERY: DISCOVERY,
    "api_discovery_timeout": "discovery_timeout_s",
    "masking_window": "fallback_turns",
}
WITHOUT_EFFECT = {
    "use_attention_context": "a compaction keeps what is worth most; parts of your own go through attention_filter()",
    "adaptive_compression": "a compaction always keeps what is worth most",
}
BELOW = {"reserve_tokens": "window_tokens", "compact_to_fraction": "compact_at_fraction"}
TRUTH = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


class Given(NamedTuple):
    """An unchecked value for a setting; ``name`` is the key as written, with its source, for messages."""

    key: str
    value: object
    name: str


@dataclass(slots=True)
class GivenSettings:
    """The given values by setting, the problems by key, and the warnings."""

    given: dict[str, Given] = field(default_factory=dict[str, Given])
    problems: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    warnings: list[str] = field(default_factory=list[str])


class ContextConfig(Settings):
    """All settings, frozen; the constructor reads arguments alone.

    ``ContextConfig.load`` also reads a file and the environment. Keys of the original are accepted; docs/configuration.md
    lists both.

    Raises:
        ValueError: settings are unknown, out of range, or given twice with different values; one error lists them all.
    """

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
            path: a .toml, .json, .yaml or .yml file with settings at the top level or in a table ``autogen_context`` or
                ``agent``; default: the file named by ``AUTOGEN_CONTEXT_CONFIG``, if set.
            environ: variables such as ``AUTOGEN_CONTEXT_WINDOW_TOKENS``; default: those of the process.
            settings: as for ``ContextConfig``.

        Returns:
            The settings, each from the first source that has it.

        Raises:
            ValueError: the file cannot be read, or a setting is wrong; it names the file or variable.
            MissingExtra: the file is YAML and PyYAML is not installed.
        """
        variables = os.environ if environ is None else environ
        if path is not None:
            require_path("path", path)
        named = given_in_environment(variables)
        return cls._from_places(path, variables, [], named, given_as_arguments(settings))

    @classmethod
    def for_entry(
        cls,
        config: Self | None,
        settings: Mapping[str, object],
        *,
        said: Mapping[str, object] | None = None,
    ) -> Self:
        """Return the settings of a manager or an adapter, from the host (``said``), the environment, ``config`` and arguments.

        Later sources win; an argument that is ``None`` counts as not given.
        """
        if config is not None:
            give = "a ContextConfig(...), or ContextConfig.load(file)"
            require_kind("config", config, ContextConfig, give=give)
        chosen = config.given if config is not None else {}
        chosen |= {name: value for name, value in settings.items() if value is not None}
        known = [*cls.model_fields, *RENAMED, *WITHOUT_EFFECT]
        named: list[Given] = []
        for given in given_in_environment(os.environ):
            if get_close_matches(given.key, known, n=1):
                named.append(given)
            else:  # may belong to another program
                warnings.warn(f"{given.name} has no effect: it names no setting", stacklevel=3)
        said_by_host = given_as_arguments(said or {})
        return cls._from_places(None, os.environ, said_by_host, named, given_as_arguments(chosen))

    @classmethod
    def _from_places(
        cls,
        path: str | os.PathLike[str] | None,
        variables: Mapping[str, str],
        said: Sequence[Given],
        *others: Sequence[Given],
    ) -> Self:
        file = variables.get(FILE_VARIABLE) if path is None else path
        layers = [said, given_in_file(Path(file)) if file else [], *others]
        reading = cls._read(layers, server_url=variables.get("OPENAI_BASE_URL"))
        for text in reading.warnings:
            warnings.warn(text, stacklevel=3)
        return cls.model_validate(reading)

    @property
    def given(self) -> dict[str, object]:
        """The settings that were given, with the key, which no dump has."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def updated(self, **settings: object) -> Self:
        """Return a copy with some settings replaced; ``None`` leaves a setting unchanged."""
        given = {name: value for name, value in settings.items() if value is not None}
        return type(self).model_validate(self.given | given)

    @override
    def __hash__(self) -> int:
        """Hash by value, mappings included."""
        return hash(self.model_dump_json())

    @field_validator(*BELOW)
    @classmethod
    def _leaves_room(cls, value: float | None, info: ValidationInfo) -> float | None:
        other = BELOW[str(info.field_name)]
        bound: object = info.data.get(other)  # missing if it is invalid itself
        if value is not None and isinstance(bound, int | float) and value >= bound:
            message = "Input should be below {other}, which is {bound}"
            raise PydanticCustomError("too_large", message, {"other": other, "bound": bound})
        return value

    @field_validator("profile")
    @classmethod
    def _says_alone_how_full(cls, profile: str, info: ValidationInfo) -> str:
        said: object = info.data.get("compact_to_fraction")
        if said is not None and profile in ("conservative", "strict"):
            message = (
                "this profile has its own compact_to_fraction; leave yours out, which is {said}"
            )
            raise PydanticCustomError("conflict", message, {"said": said})
        return profile

    @model_validator(mode="wrap")
    @classmethod
    def _understand(cls, given: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(given, Mapping):
            # isinstance cannot check the key type; these are keyword arguments.
            arguments = given_as_arguments(cast("Mapping[str, object]", given))
            given = cls._read([arguments], server_url=None)
            for text in given.warnings:
                warnings.warn(text, stacklevel=3)  # skip this method and pydantic's __init__
        if not isinstance(given, GivenSettings):
            return validate(given)
        problems = given.problems
        try:
            config = validate({key: each.value for key, each in given.given.items()})
            if not problems:
                return config
        except ValidationError as error:
            problems = problems + [cls._reworded(each, given.given) for each in error.errors()]
        kinds = [
            (key, PydanticCustomError("setting", "{said}", {"said": said}))
            for key, said in problems
        ]
        # The key stands for the input, since the value may be a secret under a wrong name.
        lines = [InitErrorDetails(type=kind, loc=(key,), input=key) for key, kind in kinds]
        raise ValidationError.from_exception_data(cls.__name__, lines)

    @classmethod
    def _read(cls, layers: Sequence[Sequence[Given]], *, server_url: str | None) -> GivenSettings:
        reading = GivenSettings()
        for layer in layers:
            named = (given.value for given in layer if given.key == DISCOVERY and given.value)
            to_ask = next(named, server_url)
            seen: dict[str, Given] = {}
            for each in layer:
                given = cls._meant(each, to_ask, reading)
                first = seen.setdefault(given.key, given) if given else None
                if given and first and first is not given and first.value != given.value:
                    said = f"{first.name} is {first.value!r} and {given.name} is {given.value!r}"
                    reading.problems.append((first.key, f"{said}; keep one"))
            reading.given |= seen
        return reading

    @classmethod
    def _meant(cls, given: Given, server_url: object, reading: GivenSettings) -> Given | None:
        key, name, settings = given.key, given.name, cls.model_fields
        if key in settings:
            return given
        if key in WITHOUT_EFFECT:
            reading.warnings.append(f"{name} has no effect: {WITHOUT_EFFECT[key]}")
            return None
        if key not in RENAMED:
            near = get_close_matches(key, [*settings, *RENAMED, *WITHOUT_EFFECT], n=1)
            way_out = f"the settings are {', '.join(settings)}"
            way_out = f"did you mean {near[0]!r}?" if near else way_out
            reading.problems.append((key, f"unknown setting {name}; {way_out}"))
            return None
        name = f"{name} (now '{RENAMED[key]}')"
        if key != SWITCH_OF_DISCOVERY:
            return Given(RENAMED[key], given.value, name)
        on = TRUTH.get(str(given.value).lower())
        if on is None:
            reading.problems.append((DISCOVERY, f"{name} should be true or false"))
        elif on and not server_url:
            reading.warnings.append(
                f"{name} has no effect by itself: discovery needs a server; "
                f"set {DISCOVERY}, or OPENAI_BASE_URL where ContextConfig.load reads the environment"
            )
        else:
            return Given(DISCOVERY, server_url if on else None, name)
        return None

    @classmethod
    def _reworded(cls, found: ErrorDetails, given: Mapping[str, Given]) -> tuple[str, str]:
        key, *within = found["loc"]
        field = cls.model_fields[str(key)]
        value, default = reprlib.repr(found["input"]), field.default
        value = "…" if field.exclude else value  # a secret
        place = "".join(f"{p!r} of " if isinstance(p, str) else f"item {p} of " for p in within[:1])
        name = given[str(key)].name
        return str(key), f"{place}{name} is {value}: {found['msg']}; the default is {default!r}"


def given_as_arguments(settings: Mapping[str, object]) -> list[Given]:
    """Return settings from a call."""
    return [Given(key, value, f"'{key}'") for key, value in settings.items()]


def given_in_environment(environ: Mapping[str, str]) -> list[Given]:
    """Return settings from variables with the prefix; empty variables count as not set."""
    return [
        Given(name.removeprefix(PREFIX).lower(), value, name)
        for name, value in environ.items()
        if name.startswith(PREFIX) and name != FILE_VARIABLE and value
    ]


def given_in_file(path: Path) -> list[Given]:
    """Return settings from a TOML, JSON or YAML file; errors name the file and the way out."""
    try:
        settings = table_of(parsed(path))
    except (OSError, ValueError) as error:
        why = f"{error.strerror}; check the path" if isinstance(error, OSError) else str(error)
        raise ValueError(f"cannot read settings from {path}: {why}") from error
    return [Given(str(key), value, f"'{key}' in {path}") for key, value in settings.items()]


def parsed(path: Path) -> object:
    """Parse a file by its suffix; errors name the line. Parsers are imported on demand."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"its name should end in {', '.join(SUFFIXES)}")
    text = path.read_text(encoding="utf-8-sig")
    if suffix == ".json":
        return cast("object", json.loads(text))
    if suffix == ".toml":
        import tomllib  # noqa: PLC0415 - as the docstring says

        return tomllib.loads(text)
    try:
        import yaml  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtra("yaml", needed_for="reading settings from YAML") from error
    try:
        return cast("object", yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def table_of(document: object) -> Mapping[object, object]:
    """Return the table ``autogen_context``, ``tool.autogen_context`` or ``agent`` of a document, else all of it.

    Files of the original have a table ``agent``; a string under this name is the setting ``agent``.
    """
    whole = mapping_in(document)
    holders = {TABLE: whole, f"tool.{TABLE}": mapping_in(whole.get("tool"))}
    tables = {name: holder[TABLE] for name, holder in holders.items() if TABLE in holder}
    originals = whole.get(TABLE_OF_THE_ORIGINAL)
    if isinstance(originals, Mapping):
        tables[TABLE_OF_THE_ORIGINAL] = cast("object", originals)
    if len(tables) > 1:
        raise ValueError(f"it has the tables {' and '.join(tables)}; keep one of them")
    return mapping_in(next(iter(tables.values()))) if tables else whole


def mapping_in(found: object) -> Mapping[object, object]:
    """Return a mapping as it is, ``None`` as an empty one; anything else is an error."""
    if found is None or isinstance(found, Mapping):
        # isinstance cannot check the key type; keys become strings, values are validated as settings.
        return cast("Mapping[object, object]", found or {})
    found_instead = f"{reprlib.repr(found)} stands where names and values should"
    raise ValueError(f"{found_instead}; write one line such as window_tokens = 8000")
