"""How many tokens a model accepts: the first source that knows.

Promise: a look-up always answers, says where the answer is from, and never waits for the network. The order is cache,
environment, the user's files, discovery if on, the known table, inference from the name, default. No source raises,
whatever it reads, and each reports a fault once; a broken row costs no other row.
"""

import asyncio
import json
import logging
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self, cast
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from autogen_context.tokens.model_name import ancestor, squash, stated_tokens, unrouted

if TYPE_CHECKING:  # only who asks an endpoint pays for what talks to it
    from autogen_context.tokens.discovery import Discovery

_LOGGER = logging.getLogger(__name__)
_VARIABLE = "MODEL_LIMIT_"
_RETRY_S = 60.0  # an endpoint that failed, or does not know the model, is not asked again before

Positive = Annotated[int, Field(strict=True, gt=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimit:
    """What a model accepts and gives, and who says so.

    Attributes:
        model: the name that was asked for.
        input_tokens: the most a request may have as input, in tokens.
        output_tokens: the most an answer may have, in tokens; None where the source does not say.
        window_tokens: input and output together, in tokens.
        source: where the numbers come from: ``"environment MODEL_LIMIT_GPT4"``,
            ``"file ./model_limits.json"``, ``"discovery http://127.0.0.1:8000"``, ``"known"``,
            ``"inferred from gpt-4o"``, ``"default"``.
    """

    model: str
    input_tokens: int
    output_tokens: int | None
    window_tokens: int
    source: str

    @classmethod
    def of_input(cls, model: str, tokens: int, *, source: str) -> Self:
        """A single number that is meant as the input limit: it is taken as it is."""
        return cls(
            model=model,
            input_tokens=tokens,
            output_tokens=None,
            window_tokens=tokens,
            source=source,
        )

    @classmethod
    def of_window(
        cls, model: str, tokens: int, *, source: str, output_tokens: int | None = None
    ) -> Self:
        """A window that input and output share; an answer may fill it unless ``output_tokens`` is less."""
        output = min(output_tokens or tokens, tokens)
        return cls(
            model=model,
            input_tokens=tokens,
            output_tokens=output,
            window_tokens=tokens,
            source=source,
        )

    @property
    def prompt_tokens(self) -> int:
        """What a request should have at most, so that an answer still fits, in tokens.

        Where input and output share one window: the window less the room for the answer, which is
        ``output_tokens``, but a quarter of the window at most. Otherwise ``input_tokens`` as it is: the
        limits are apart, or somebody named the input on purpose.
        """
        if self.output_tokens is None or self.input_tokens < self.window_tokens:
            return self.input_tokens
        return self.window_tokens - min(self.output_tokens, self.window_tokens // 4)


class Row(BaseModel):
    """One model of a table: its numbers, in tokens, and what the table says about their origin.

    A window alone is one whole that input and output share, so an answer may be as long as it. An input alone is what a
    request may have, as it is, and the window is at least that and the output.
    """

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    name: str = Field(pattern=r"[^\W_]")
    input_tokens: Positive
    output_tokens: Positive | None = None
    window_tokens: Positive
    provider: str = ""
    source: str = ""
    checked: str = ""

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: dict[str, object]) -> dict[str, object]:
        row = {key: value for key, value in given.items() if value is not None}
        if "window_tokens" not in row and isinstance(row.get("input_tokens"), int):
            output = row.get("output_tokens", 0)
            more = output if isinstance(output, int) else 0
            row["window_tokens"] = cast("int", row["input_tokens"]) + more
        elif "input_tokens" not in row and "window_tokens" in row:
            row["input_tokens"] = row["window_tokens"]
            row.setdefault("output_tokens", row["window_tokens"])
        return row

    @model_validator(mode="after")
    def _within_the_window(self) -> Self:
        if max(self.input_tokens, self.output_tokens or 0) > self.window_tokens:
            raise ValueError(
                "window_tokens is the whole, so neither input_tokens nor output_tokens exceeds it"
            )
        return self

    def limit(self, model: str, *, source: str) -> ModelLimit:
        """These numbers as the answer for ``model``."""
        return ModelLimit(
            model=model,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            window_tokens=self.window_tokens,
            source=source,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What a text holds: n rows by squashed name, in the text's order, and what is wrong by line (from 1)."""

    rows: Mapping[str, Row]
    problems: tuple[tuple[int, str], ...]


_EMPTY = Table(rows={}, problems=())


def read_table(text: str) -> Table:
    """Read a table of limits: one JSON object, a row for each model.

    Args:
        text: ``{"name": 16384, "other": {"input_tokens": …, "output_tokens": …, "window_tokens": …}}``.

    Returns:
        The rows that are sound, and a problem for each that is not.
    """
    try:
        document = TypeAdapter(dict[str, object]).validate_python(json.loads(text))
    except ValidationError:
        return Table(rows={}, problems=((1, "a table is a JSON object, a row for each model"),))
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        return Table(rows={}, problems=((line, f"this is no JSON ({error})"),))
    rows: dict[str, Row] = {}
    problems: list[tuple[int, str]] = []
    for name, value in document.items():
        fields = (
            cast("dict[str, object]", value) if isinstance(value, dict) else {"input_tokens": value}
        )
        try:
            rows[squash(name)] = Row.model_validate({**fields, "name": name})
        except ValidationError as error:
            faults = {
                f"{'.'.join(map(str, e['loc']))}: {e['msg']}".lstrip(": "): 0
                for e in error.errors()
            }
            problems.append((_line_of(name, text), f"row {name!r}: {'; '.join(faults)}"))
    return Table(rows=rows, problems=tuple(problems))


def _line_of(name: str, text: str) -> int:
    """The line of a row's key, from 1; 1 where the key is written in another spelling of JSON."""
    spellings = {json.dumps(name), json.dumps(name, ensure_ascii=False)}
    key = re.search("(?:" + "|".join(map(re.escape, spellings)) + r")\s*:", text)
    return text.count("\n", 0, key.start()) + 1 if key else 1


def known_rows() -> Mapping[str, Row]:
    """The table that ships with this package: its rows by squashed name."""
    return _known_table().rows


@cache
def _known_table() -> Table:
    return read_table(shipped_text())


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


Ask = Callable[[str], Step]
"""What a source knows of a model, without waiting for anything."""


def variable_for(model: str) -> str:
    """The environment variable to set for a model: ``MODEL_LIMIT_GPT_4O`` for ``gpt-4o``."""
    words = "".join(c if c.isalnum() else " " for c in unrouted(model).upper()).split()
    return _VARIABLE + "_".join(words)


class _Environment:
    """``MODEL_LIMIT_<NAME>=<tokens>``, the name in any spelling, with or without its route."""

    def __init__(self, environ: Mapping[str, str] | None) -> None:
        self._environ = environ
        self._reported: set[tuple[str, str]] = set()

    def ask(self, model: str) -> Step:
        """The variable whose name is the model's: the full name first, then the one without its route."""
        environ = os.environ if self._environ is None else self._environ
        by_name = {squash(v.removeprefix(_VARIABLE)): v for v in environ if v.startswith(_VARIABLE)}
        for name in (squash(model), squash(unrouted(model))):
            variable = by_name.get(name, "")
            tokens = self._tokens(variable, environ[variable]) if variable else 0
            if tokens:
                limit = ModelLimit.of_input(model, tokens, source=f"environment {variable}")
                return Step(source="environment", limit=limit, note=variable)
        return Step(source="environment", note=f"no {variable_for(model)}")

    def _tokens(self, variable: str, value: str) -> int:
        """A positive integer as Python writes it (``8192``, ``1_048_576``); anything else is reported, and 0."""
        try:
            tokens = max(0, int(value))
        except ValueError:
            tokens = 0
        if not tokens and (variable, value) not in self._reported:
            self._reported.add((variable, value))
            _LOGGER.warning(
                "environment variable %s=%.60r is no positive integer and is ignored; "
                "write the input limit in tokens, as in %s=8192",
                variable,
                value,
                variable,
            )
        return tokens


class _UserFile:
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
            # In a clone of this project ./model_limits.json is no user's file. As one it would hide discovery.
            is_ours = text == shipped_text()
            self._seen, self._trouble = text, "the known table itself" if is_ours else ""
            self._table = _EMPTY if is_ours else read_table(text)
            for line, problem in self._table.problems:
                _LOGGER.warning("%s line %d: %s; it is ignored", self._name, line, problem)
        return self._table

    def _without_file(self, trouble: str, *, report: bool) -> Table:
        if report and trouble != self._trouble:
            _LOGGER.warning("%s: %s; the next source of model limits is used", self._name, trouble)
        self._seen, self._trouble = None, trouble
        return _EMPTY


class _Discovered:
    """What discovery found so far; a finding answers until a newer one takes its place."""

    def __init__(
        self, discovery: "Discovery | None", *, ttl_s: float, clock: Callable[[], float]
    ) -> None:
        self._discovery = discovery
        self._ttl_s = ttl_s
        self._clock = clock
        self._found: dict[str, ModelLimit] = {}
        self._due_at: dict[str, float] = {}
        self._locks: WeakKeyDictionary[
            asyncio.AbstractEventLoop, defaultdict[str, asyncio.Lock]
        ] = WeakKeyDictionary()

    def ask(self, model: str) -> Step:
        """What was found of ``model``."""
        if self._discovery is None:
            return Step(source="discovery", note="off")
        limit = self._found.get(model)
        if limit is None:
            asked = model in self._due_at
            return Step(source="discovery", note="no number" if asked else "not asked yet")
        return Step(source="discovery", limit=limit, note=self._discovery.address)

    def is_due(self, model: str) -> bool:
        """Whether the endpoint should be asked about ``model`` now."""
        return self._discovery is not None and self._clock() >= self._due_at.get(model, 0.0)

    async def refresh(self, model: str) -> bool:
        """Ask the endpoint about ``model``, once for all who wait; whether it told something."""
        locks = self._locks.setdefault(asyncio.get_running_loop(), defaultdict(asyncio.Lock))
        async with locks[model]:
            if self._discovery is None or not self.is_due(model):
                return False
            limit = await self._discovery.ask(model)
            wait_s = self._ttl_s if limit else min(self._ttl_s, _RETRY_S)
            self._due_at[model] = self._clock() + wait_s
            if limit:
                self._found[model] = limit
            return limit is not None


def _known(model: str) -> Step:
    """The table that ships with this package: exact names in any spelling."""
    row = known_rows().get(squash(model))
    if row is None:
        return Step(source="known", note="no row for it")
    note = f"{row.source.partition(':')[0]}, checked {row.checked}"
    return Step(source="known", limit=row.limit(model, source="known"), note=note)


def _inferred(model: str) -> Step:
    """A guess from the name: the known model that it is a variant of, or the window that it states."""
    found = ancestor(model, known_rows())
    stated = stated_tokens(found[1] if found else model)
    if stated is not None:
        note = f"from the {stated // 1000}k in its name"
        limit = ModelLimit.of_window(model, stated, source=f"inferred {note}")
        return Step(source="inference", limit=limit, note=note)
    if found is None:
        return Step(source="inference", note="no pattern fits")
    row = known_rows()[found[0]]
    note = f"from {row.name}"
    return Step(source="inference", limit=row.limit(model, source=f"inferred {note}"), note=note)


def standard_files() -> tuple[Path, ...]:
    """Where a user's own limits are looked for, the nearest first."""
    name = "model_limits.json"
    try:
        home = [Path.home() / ".autogen" / name]
    except RuntimeError:  # a user without a home, as in some containers
        home = []
    return (Path(name), *home, Path("/etc/autogen") / name)


class ModelLimits:
    """The limits of models, from whoever knows them first.

    Args:
        files: tables of limits; the first that knows a model wins. Left out: ``standard_files()``. Where a
            file is none of those, that it does not exist is worth a warning.
        environ: variables to look in. Left out: the process's, as they are at the time.
        discovery: an endpoint to ask. Only ``alookup`` asks it; ``lookup`` uses what it found.
        default_tokens: what is assumed where nobody knows.
        ttl_s: how long an answer is kept, in seconds.
        clock: seconds that only go up.

    Raises:
        ValueError: ``default_tokens`` or ``ttl_s`` is out of range, or ``files`` a single path.
    """

    def __init__(
        self,
        *,
        files: Sequence[str | PathLike[str]] | None = None,
        environ: Mapping[str, str] | None = None,
        discovery: "Discovery | None" = None,
        default_tokens: int = 8192,
        ttl_s: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if default_tokens < 1:
            raise ValueError(f"default_tokens={default_tokens}: give a positive number of tokens")
        if not ttl_s >= 0:
            raise ValueError(f"ttl_s={ttl_s}: give the seconds to keep an answer, or 0")
        if isinstance(files, str | PathLike):
            raise ValueError(f"files={str(files)!r}: give several, such as [{str(files)!r}]")  # noqa: TRY004 - a wrong argument is a ValueError here
        standard = standard_files()
        paths = standard if files is None else tuple(map(Path, files))
        own_files = [_UserFile(path, required=path not in standard).ask for path in paths]
        self._ttl_s = ttl_s
        self._clock = clock
        self._kept: dict[str, tuple[ModelLimit, float]] = {}
        self._default_tokens = default_tokens
        self._discovered = _Discovered(discovery, ttl_s=ttl_s, clock=clock)
        self._own: tuple[Ask, ...] = (_Environment(environ).ask, *own_files)
        rest = (self._discovered.ask, _known, _inferred, self._default)
        self._sources: tuple[Ask, ...] = (*self._own, *rest)

    def lookup(self, model: str) -> ModelLimit:
        """The limits of a model, at once and without the network.

        Raises:
            ValueError: ``model`` is no name.
        """
        _check(model)
        kept = self._kept.get(model)
        if kept is not None and self._clock() < kept[1]:
            return kept[0]
        limit = next(_answers(self._sources, model))
        self._kept[model] = (limit, self._clock() + self._ttl_s)
        return limit

    async def alookup(self, model: str) -> ModelLimit:
        """The limits of a model; where discovery is on and comes next, its endpoint is asked first.

        It waits for as long as the discovery's time limit at most, and not at all while an answer of the
        endpoint is fresh, or when the environment or a file of the user knows the model.

        Raises:
            ValueError: ``model`` is no name.
        """
        _check(model)
        is_due = self._discovered.is_due(model) and not any(_answers(self._own, model))
        if is_due and await self._discovered.refresh(model):
            self._kept.clear()
        return self.lookup(model)

    def trace(self, model: str) -> list[Step]:
        """What each source says of a model, in the order in which they are asked; the first answer wins.

        Raises:
            ValueError: ``model`` is no name.
        """
        _check(model)
        limit, until = self._kept.get(model, (None, 0.0))
        left_s = until - self._clock()
        cached = Step(source="cache", note="empty")
        if limit is not None and left_s > 0:
            note = f"{limit.source}, for another {left_s:.0f} s"
            cached = Step(source="cache", limit=limit, note=note)
        return [cached, *(ask(model) for ask in self._sources)]

    def _default(self, model: str) -> Step:
        """What is assumed of a model that nobody knows."""
        limit = ModelLimit.of_input(model, self._default_tokens, source="default")
        return Step(source="default", limit=limit)


def _answers(sources: Sequence[Ask], model: str) -> Iterator[ModelLimit]:
    return (step.limit for ask in sources if (step := ask(model)).limit)


def _check(model: object) -> None:
    if not isinstance(model, str):
        raise ValueError(f"model={model!r:.80}: give the model's name, a string")  # noqa: TRY004 - a wrong argument is a ValueError here
    if not squash(model):
        raise ValueError(f"model={model!r:.80}: give the model's name, such as 'gpt-4o'")
