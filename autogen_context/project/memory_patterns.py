"""How one works on a project: what its tools are set to, and what its pages for contributors and agents say.

Promise: pure; any text goes; a settings file that cannot be read says nothing. What these files say is what they say: no
rule for anybody here.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

from autogen_context.project.extract import Document, Piece

PAGES = re.compile(
    r"(?:\.github/|docs?/)?(?:agents|claude|gemini|copilot-instructions|contributing|hacking|development|style\w*|conventions?)"
    r"\.(?:md|rst|txt)$|\.cursorrules$",
    re.IGNORECASE,
)
MOST_PAGES = 6
VALUE_CHARS = 80  # of one setting
MOST_TARGETS = 12
EDITOR_LINE = re.compile(
    r"^[ \t]*([\w-]+)[ \t]*=[ \t]*([^#;\n]+?)[ \t]*$|^[ \t]*\[(.+)\][ \t]*$", re.MULTILINE
)
TARGET = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:(?!=)", re.MULTILINE)
GO_VERSION = re.compile(r"^go[ \t]+([\d.]+)", re.MULTILINE)
RUFF = ("line-length", "target-version", "indent-width")
PYTEST = ("addopts", "testpaths", "asyncio_mode")


def convention_files(names: Iterable[str]) -> tuple[str, ...]:
    """Settings of tools, then pages for contributors, each by name."""
    known = set(names)
    settings = [name for name in SETTINGS if name in known]
    pages = sorted(name for name in known if PAGES.match(name))
    return (*settings, *pages[:MOST_PAGES])


def settings_of(name: str, text: str) -> Document:
    """What a settings file says, on a few lines."""
    try:
        said = [line for line in SETTINGS[name](text) if line]
    except (ValueError, TypeError, RecursionError):  # broken, as files are at times
        said = []
    return Document(name=name, pieces=tuple(Piece(text=line) for line in said))


def pyproject(text: str) -> Iterator[str]:
    """The settings of Python's tools."""
    data = tomllib.loads(text)
    project, tool = table(data, "project"), table(data, "tool")
    yield shown("python", project.get("requires-python"))
    yield told("ruff", table(tool, "ruff"), RUFF)
    yield told("black", table(tool, "black"), ("line-length",))
    yield told("pytest", table(tool, "pytest", "ini_options"), PYTEST)
    yield told("mypy", table(tool, "mypy"), ("strict", "python_version"))
    yield told("pyright", table(tool, "pyright"), ("typeCheckingMode",))
    yield shown("scripts", ", ".join(table(project, "scripts")))


def package_json(text: str) -> Iterator[str]:
    """The scripts of a package of Node."""
    data = table({"": json.loads(text)}, "")
    yield from (shown(f"script {name}", line) for name, line in table(data, "scripts").items())
    yield told("engines", table(data, "engines"), ("node",))


def cargo(text: str) -> Iterator[str]:
    """What a crate of Rust is written for."""
    yield told("package", table(tomllib.loads(text), "package"), ("edition", "rust-version"))


def go_mod(text: str) -> Iterator[str]:
    """The version of Go."""
    found = GO_VERSION.search(text)
    yield shown("go", found[1] if found else None)


def makefile(text: str) -> Iterator[str]:
    """The targets of a Makefile."""
    yield shown("make", " ".join(list(dict.fromkeys(TARGET.findall(text)))[:MOST_TARGETS]))


def editorconfig(text: str) -> Iterator[str]:
    """The settings of editors, a line for each kind of file."""
    found: dict[str, list[str]] = {}
    section = "*"
    for key, value, opened in EDITOR_LINE.findall(text):
        section = opened or section
        if key:
            found.setdefault(section, []).append(f"{key}={value}")
    yield from (shown(kind, " ".join(values)) for kind, values in found.items())


def table(data: Mapping[str, object], *keys: str) -> Mapping[str, object]:
    """A table within tables; an empty one where there is none."""
    for key in keys:
        inner = data.get(key)
        data = (
            cast("Mapping[str, object]", inner) if isinstance(inner, dict) else {}
        )  # TOML and JSON have no other keys
    return data


def told(name: str, settings: Mapping[str, object], keys: Iterable[str]) -> str:
    """Some settings of a tool on one line; empty where it has none of them."""
    parts = [f"{key}={value_of(settings[key])}" for key in keys if key in settings]
    return shown(name, ", ".join(parts))


def value_of(value: object) -> str:
    """A value of a setting in few characters."""
    return (
        " ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
    )


def shown(name: str, value: object) -> str:
    """A setting on one line; empty where it has no value."""
    text = " ".join(str(value or "").split())
    return f"{name}: {text[:VALUE_CHARS]}{'…' if len(text) > VALUE_CHARS else ''}" if text else ""


SETTINGS: Mapping[str, Callable[[str], Iterator[str]]] = {
    "pyproject.toml": pyproject,
    "package.json": package_json,
    "Cargo.toml": cargo,
    "go.mod": go_mod,
    "Makefile": makefile,
    ".editorconfig": editorconfig,
}
