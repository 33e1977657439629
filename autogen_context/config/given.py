"""What was given for the settings: in arguments, variables and files, by today's keys and by those of the original.

Promise: each key that was given becomes a setting, a warning or a problem that names where it was given; none is passed
over in silence. A file that cannot be read is a ``ValueError`` that names the file, what is wrong and the way out.
"""

import json
import reprlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from autogen_context.errors import MissingExtra

PREFIX = "AUTOGEN_CONTEXT_"
FILE_VARIABLE = f"{PREFIX}CONFIG"
TABLE = "autogen_context"
TABLE_OF_THE_ORIGINAL = "agent"
SUFFIXES = (".toml", ".json", ".yaml", ".yml")

DISCOVERY = "discovery_url"
SWITCH_OF_DISCOVERY = "enable_api_discovery"  # was a yes or no; what is needed is a URL
# Keys of the original: the setting that each became, or what does its work without one.
RENAMED = {
    "compression_threshold": "compact_at_fraction",
    "compression_ratio": "compact_to_fraction",  # both: what is left
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
TRUTH = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value that was given for a key, and where.

    Attributes:
        key: the setting that it is for.
        value: as it was given, not yet checked.
        name: the key as the user wrote it and where that was, for messages.
    """

    key: str
    value: object
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why something given cannot be used, and the way out."""

    key: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that was given, understood; values are not checked.

    Attributes:
        given: by setting, each from the last layer that gives it.
        problems: what cannot be used.
        warnings: one text for each key that has no effect.
    """

    given: Mapping[str, Given]
    problems: Sequence[Problem]
    warnings: Sequence[str]


def read(
    layers: Sequence[Sequence[Given]], *, settings: Collection[str], server_url: str | None
) -> Reading:
    """Understand what was given in several places.

    Args:
        layers: what each place gives; a later one has precedence. Two keys of one layer for one setting must agree.
        settings: the names of the settings of today.
        server_url: the server to ask where discovery is switched on without naming one.
    """
    found: dict[str, Given] = {}
    problems: list[Problem] = []
    warnings: list[str] = []
    for layer in layers:
        named = (given.value for given in layer if given.key == DISCOVERY and given.value)
        to_ask = next(named, server_url)
        seen: dict[str, Given] = {}
        for given in layer:
            meaning = meaning_of(given, settings, to_ask)
            if isinstance(meaning, Problem):
                problems.append(meaning)
            elif isinstance(meaning, str):
                warnings.append(meaning)
            else:
                first = seen.setdefault(meaning.key, meaning)
                if first is not meaning and first.value != meaning.value:
                    said = (
                        f"{first.name} is {first.value!r} and {meaning.name} is {meaning.value!r}"
                    )
                    problems.append(Problem(key=first.key, message=f"{said}; keep one"))
        found |= seen
    return Reading(given=found, problems=problems, warnings=warnings)


def meaning_of(
    given: Given, settings: Collection[str], server_url: object
) -> Given | Problem | str:
    """What one key says; a text where it has no effect."""
    if given.key in settings:
        return given
    if given.key in WITHOUT_EFFECT:
        return f"{given.name} has no effect: {WITHOUT_EFFECT[given.key]}"
    if given.key not in RENAMED:
        near = get_close_matches(given.key, [*settings, *RENAMED, *WITHOUT_EFFECT], n=1)
        way_out = (
            f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(settings)}"
        )
        return Problem(key=given.key, message=f"unknown setting {given.name}; {way_out}")
    becomes = RENAMED[given.key]
    renamed = replace(given, key=becomes, name=f"{given.name} (now '{becomes}')")
    return switched(renamed, server_url) if given.key == SWITCH_OF_DISCOVERY else renamed


def switched(switch: Given, server_url: object) -> Given | Problem | str:
    """Discovery switched off, or on with the server there is to ask."""
    on = TRUTH.get(str(switch.value).lower())
    if on is None:
        return Problem(key=switch.key, message=f"{switch.name} should be true or false")
    if on and not server_url:
        return (
            f"{switch.name} has no effect by itself: discovery needs a server; "
            f"set {DISCOVERY}, or OPENAI_BASE_URL where ContextConfig.load reads the environment"
        )
    return replace(switch, value=server_url if on else None)


def given_as_arguments(settings: Mapping[str, object]) -> list[Given]:
    """Settings from a call."""
    return [Given(key=key, value=value, name=f"'{key}'") for key, value in settings.items()]


def of_other_programs(variables: Sequence[Given], settings: Collection[str]) -> list[Given]:
    """Of the variables with the prefix those that are not even near a setting: some program's, which nobody meant for us."""
    known = [*settings, *RENAMED, *WITHOUT_EFFECT]
    return [given for given in variables if not get_close_matches(given.key, known, n=1)]


def given_in_environment(environ: Mapping[str, str]) -> list[Given]:
    """Settings from variables with the prefix; an empty variable counts as not set."""
    return [
        Given(key=name.removeprefix(PREFIX).lower(), value=value, name=name)
        for name, value in environ.items()
        if name.startswith(PREFIX) and name != FILE_VARIABLE and value
    ]


def given_in_file(path: Path) -> list[Given]:
    """Settings from a TOML, JSON or YAML file.

    Raises:
        ValueError: the file is missing, is of another kind, is broken, or holds settings at several places.
        MissingExtra: the file is YAML and PyYAML is not installed.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise unreadable(path, f"its name should end in {', '.join(SUFFIXES)}")
    try:
        document = parsed(path.read_text(encoding="utf-8-sig"), suffix)
    except OSError as error:
        raise unreadable(path, f"{error.strerror}; check the path") from error
    except ValueError as error:
        raise unreadable(path, f"its text needs a correction: {error}") from error
    settings = table_of(document, path).items()
    return [Given(key=str(key), value=value, name=f"'{key}' in {path}") for key, value in settings]


def parsed(text: str, suffix: str) -> object:
    """A document; the error of a broken one tells the line. Parsers are imported by those who read such a file."""
    if suffix == ".json":
        found: object = json.loads(text)
        return found
    if suffix == ".toml":
        import tomllib  # noqa: PLC0415 - as the docstring says

        return tomllib.loads(text)
    try:
        import yaml  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtra("yaml", needed_for="reading settings from YAML") from error
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    return found


def table_of(document: object, path: Path) -> Mapping[object, object]:
    """The settings in a document: a table ``autogen_context``, ``tool.autogen_context`` or ``agent``, else all of it.

    The original's files have a table ``agent``; a text under this name is the setting ``agent``.
    """
    whole = mapping_in(document, path)
    tool = mapping_in(whole.get("tool"), path)
    holders = {TABLE: whole, f"tool.{TABLE}": tool}
    tables = {name: holder[TABLE] for name, holder in holders.items() if TABLE in holder}
    originals = whole.get(TABLE_OF_THE_ORIGINAL)
    if isinstance(originals, Mapping):
        tables[TABLE_OF_THE_ORIGINAL] = cast("object", originals)
    if len(tables) > 1:
        raise unreadable(path, f"it has the tables {' and '.join(tables)}; keep one of them")
    if tool and not tables:
        raise unreadable(path, f"it has no table tool.{TABLE}; add one")
    return mapping_in(next(iter(tables.values())), path) if tables else whole


def mapping_in(found: object, path: Path) -> Mapping[object, object]:
    """What was found, if it maps names to values; nothing where it is empty."""
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        found_instead = f"{reprlib.repr(found)} stands where names and values should"
        raise unreadable(path, f"{found_instead}; write one line such as window_tokens = 8000")
    # isinstance cannot tell what a mapping holds; its keys become text, its values are checked as settings.
    return cast("Mapping[object, object]", found)


def unreadable(path: Path, why: str) -> ValueError:
    """The error of a file that cannot be used; why, and the way out."""
    return ValueError(f"cannot read settings from {path}: {why}")
