"""Who may know a model's limits: one class for each source, and each says what it found or why not.

Promise: no source raises, whatever it reads, and each reports a fault once, not on every look-up.
"""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from autogen_context.tokens.limit_names import ancestor, squash, stated_tokens, unrouted
from autogen_context.tokens.limit_table import ModelLimit, Row, Table, read_table

_LOGGER = logging.getLogger(__name__)
_VARIABLE = "MODEL_LIMIT_"
_EMPTY = Table(rows={}, problems=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One source and its answer.

    Attributes:
        source: the name of the source.
        limit: what it knows of the model, None if nothing.
        note: why nothing, or what the answer rests on; may be empty.
    """

    source: str
    limit: ModelLimit | None = None
    note: str = ""


class LimitSource(Protocol):
    """Something that may know a model's limits, without waiting for anything."""

    def ask(self, model: str) -> Step:
        """What this source knows of ``model``."""
        ...


def variable_for(model: str) -> str:
    """The environment variable to set for a model: ``MODEL_LIMIT_GPT_4O`` for ``gpt-4o``."""
    words = "".join(c if c.isalnum() else " " for c in unrouted(model).upper()).split()
    return _VARIABLE + "_".join(words)


class Environment:
    """``MODEL_LIMIT_<NAME>=<tokens>``, the name in any spelling, with or without its route."""

    def __init__(self, environ: Mapping[str, str] | None) -> None:
        self._environ = environ
        self._reported: set[tuple[str, str]] = set()

    def ask(self, model: str) -> Step:
        """The variable whose name is the model's: the full name first, then the one without its route."""
        environ = os.environ if self._environ is None else self._environ
        variables = {
            squash(v.removeprefix(_VARIABLE)): v for v in environ if v.startswith(_VARIABLE)
        }
        for name in (squash(model), squash(unrouted(model))):
            if (variable := variables.get(name)) and (
                tokens := self._tokens(variable, environ[variable])
            ):
                limit = ModelLimit.of_input(model, tokens, source=f"environment {variable}")
                return Step(source="environment", limit=limit, note=variable)
        return Step(source="environment", note=f"no {variable_for(model)}")

    def _tokens(self, variable: str, value: str) -> int | None:
        """A positive integer as Python writes it (``8192``, ``1_048_576``); anything else is reported."""
        try:
            tokens = int(value)
        except ValueError:
            tokens = 0
        if tokens < 1 and (variable, value) not in self._reported:
            self._reported.add((variable, value))
            _LOGGER.warning(
                "environment variable %s=%.60r is no positive integer and is ignored; "
                "write the input limit in tokens, as in %s=8192",
                variable,
                value,
                variable,
            )
        return tokens if tokens > 0 else None


class UserFile:
    """A table that the user wrote. It is read again whenever it is asked, and parsed when it changed."""

    def __init__(self, path: Path, *, required: bool) -> None:
        self._path = path
        self._required = required
        self._name = str(path) if path.is_absolute() else f"./{path}"
        self._seen: str | None = None
        self._table = _EMPTY
        self._trouble = ""

    def ask(self, model: str) -> Step:
        """The row whose name is the model's: the full name first, then the one without its route."""
        rows = self._read().rows
        row = rows.get(squash(model)) or rows.get(squash(unrouted(model)))
        if row is None:
            return Step(source=self._name, note=self._trouble or "no row for it")
        return Step(source=self._name, limit=row.limit(model, source=f"file {self._name}"))

    def _read(self) -> Table:
        try:
            text = self._path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return self._without_file("no such file", report=self._required)
        except (OSError, ValueError) as error:  # ValueError: it is no UTF-8
            return self._without_file(f"unreadable ({type(error).__name__})", report=True)
        if text != self._seen:
            self._seen, self._trouble = text, ""
            self._table = self._parse(text)
        return self._table

    def _without_file(self, trouble: str, *, report: bool) -> Table:
        if report and trouble != self._trouble:
            _LOGGER.warning("%s: %s; the next source of model limits is used", self._name, trouble)
        self._seen, self._trouble = None, trouble
        return _EMPTY

    def _parse(self, text: str) -> Table:
        if text == shipped_text():
            # In a clone of this project ./model_limits.json is no user's file. As one it would hide discovery.
            self._trouble = "the known table itself"
            return _EMPTY
        table = read_table(text)
        for line, problem in table.problems:
            _LOGGER.warning("%s line %d: %s; it is ignored", self._name, line, problem)
        return table


class Known:
    """The table that ships with this package: exact names in any spelling."""

    def ask(self, model: str) -> Step:
        """The row of that name, and where the row is from."""
        row = known_rows().get(squash(model))
        if row is None:
            return Step(source="known", note="no row for it")
        note = f"{row.source.partition(':')[0]}, checked {row.checked}"
        return Step(source="known", limit=row.limit(model, source="known"), note=note)


class Inferred:
    """A guess from the name: the known model that it is a variant of, or the window that it states."""

    def ask(self, model: str) -> Step:
        """The limits of the model's ancestor, cut to the window in the name if it states one."""
        rows = known_rows()
        found = ancestor(model, rows)
        stated = stated_tokens(found[1] if found else model)
        if stated is not None:
            note = f"from the {stated // 1000}k in its name"
            limit = ModelLimit.of_window(model, stated, source=f"inferred {note}")
            return Step(source="inference", limit=limit, note=note)
        if found is None:
            return Step(source="inference", note="no pattern fits")
        row = rows[found[0]]
        note = f"from {row.name}"
        return Step(
            source="inference", limit=row.limit(model, source=f"inferred {note}"), note=note
        )


class Default:
    """What is assumed of a model that nobody knows."""

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens

    def ask(self, model: str) -> Step:
        """The default, for any model."""
        limit = ModelLimit.of_input(model, self._tokens, source="default")
        return Step(source="default", limit=limit)


def known_rows() -> Mapping[str, Row]:
    """The table that ships with this package: its rows by squashed name."""
    return _known_table().rows


@cache
def shipped_text(package: Path = Path(__file__).parent.parent) -> str:
    """The text of the table that ships with this package.

    Args:
        package: the folder of the package. A wheel has the table in it; an editable install runs from
            the project's folder, and there the table is one folder up.

    Raises:
        FileNotFoundError: it is in neither place; the installation is incomplete.
    """
    places = [folder / "model_limits.json" for folder in (package, package.parent)]
    for place in places:
        if place.is_file():
            return place.read_text(encoding="utf-8")
    raise FileNotFoundError(
        f"autogen-context is installed without its table: no {places[0]}, no {places[1]}"
    )


@cache
def _known_table() -> Table:
    return read_table(shipped_text())
