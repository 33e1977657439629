"""Where settings are given: arguments, variables of the environment, files.

Promise: each entry says by name where it comes from; a file that cannot be read is a ``ValueError`` that names the file,
what is wrong and the way out.
"""

import reprlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from autogen_context.config.keys import Given
from autogen_context.errors import MissingExtra

PREFIX = "AUTOGEN_CONTEXT_"
TABLE = "autogen_context"


def given_as_arguments(settings: Mapping[str, object]) -> list[Given]:
    """Settings from a call."""
    return [Given(key=key, value=value, name=f"'{key}'") for key, value in settings.items()]


def given_in_environment(environ: Mapping[str, str]) -> list[Given]:
    """Settings from variables with the prefix; an empty variable counts as not set."""
    return [
        Given(key=name.removeprefix(PREFIX).lower(), value=value, name=name)
        for name, value in environ.items()
        if name.startswith(PREFIX) and value
    ]


def given_in_file(path: Path) -> list[Given]:
    """Settings from a TOML, JSON or YAML file.

    Raises:
        ValueError: the file is missing, is of another kind, is broken, or holds settings at several places.
        MissingExtra: the file is YAML and PyYAML is not installed.
    """
    settings = table_of(document_in(path), path)
    return [
        Given(key=str(key), value=value, name=f"'{key}' in {path}")
        for key, value in settings.items()
    ]


def document_in(path: Path) -> object:
    """The whole file, parsed by what its suffix says."""
    parse = PARSERS.get(path.suffix.lower())
    if parse is None:
        raise unreadable(path, f"its name should end in {', '.join(PARSERS)}")
    try:
        return parse(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise unreadable(path, f"{error.strerror}; check the path") from error
    except ValueError as error:
        raise unreadable(path, f"its text needs a correction: {error}") from error


def from_toml(text: str) -> object:
    """TOML; the error tells line and column."""
    import tomllib  # noqa: PLC0415  # most programs never read a settings file

    return tomllib.loads(text)


def from_json(text: str) -> object:
    """JSON; the error tells line and column."""
    import json  # noqa: PLC0415  # as above

    found: object = json.loads(text)
    return found


def from_yaml(text: str) -> object:
    """YAML without objects; the error tells line and column."""
    try:
        import yaml  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtra("yaml", needed_for="reading settings from YAML") from error
    try:
        found: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    return found


PARSERS: Mapping[str, Callable[[str], object]] = {
    ".toml": from_toml,
    ".json": from_json,
    ".yaml": from_yaml,
    ".yml": from_yaml,
}


def table_of(document: object, path: Path) -> Mapping[object, object]:
    """The settings in a document: its table ``autogen_context`` or ``tool.autogen_context``, else all of it."""
    whole = mapping_in(document, path)
    tool = mapping_in(whole.get("tool"), path)
    holders = {TABLE: whole, f"tool.{TABLE}": tool}
    tables = {name: holder[TABLE] for name, holder in holders.items() if TABLE in holder}
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
