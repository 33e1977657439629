"""Look up how many tokens a model accepts, from the first source that knows it.

Promise: a look-up always returns limits with their source and never waits for the network. No source raises; each logs
a problem once, and an invalid row does not affect the others. A name never matches a model of another version.
"""

import json
import logging
import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol, Self, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from autogen_context.argument import require_several, require_whole, wrong_argument
from autogen_context.messages.message import Text
from autogen_context.messages.saved import faults

_LOGGER = logging.getLogger(__name__)
_VARIABLE = "MODEL_LIMIT_"
_RETRY_S = 60.0  # wait before asking an endpoint again that failed or does not know the model

# More than any model name needs; the rest is ignored, so that a hostile name costs little time.
_LONGEST_NAME, _MOST_STARTS, _LONGEST_KNOWN = 200, 16, 64
# Where a model's name may start: after a route ("azure/"), a label ("ft:"), a vendor ("us.anthropic."), or the
# prefix of a hosting service.
_STARTS = re.compile(r"[/:]|(?<=[a-z])\.(?=[a-z])|\b(?:databricks|openai|snowflake)-")
# Where a known name may end: before a date, a tag, a revision or the name of a tuned variant.
_BORDERS = re.compile(r"[-_.:@/ ]")
# A suffix of one or two digits is another version, not a variant: "-4", ".1", but not "-08-2024".
_ANOTHER_VERSION = re.compile(r"[-_.]\d{1,2}(?![\da-z])(?!-\d\d)")
# A context window in the name, in thousands: "-32k", "_8k".
_THOUSANDS = re.compile(r"(?:^|[-_.:])(\d{1,4})k(?![a-z\d])")
_SPELLINGS = (
    (re.compile(r"(?<=\d)p(?=\d)"), "."),  # Fireworks writes 3p1 for 3.1
    (re.compile(r"(?:meta-)?llama-?v?(?=\d)"), "llama-"),  # llama3.1, Meta-Llama-3.1, llama-v3.1
)
Positive = Annotated[int, Field(strict=True, gt=0)]


class ModelLimit(BaseModel):
    """Token limits of a model. In a table, a window alone is shared by input and output; an input limit alone is used as it is."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    model: Text  # the requested name, or the name of the row
    input_tokens: Positive
    output_tokens: Positive | None = None  # if the source states it
    window_tokens: Positive  # input and output together
    source: Text = ""  # such as ``"environment MODEL_LIMIT_GPT4"``, ``"known"``, ``"default"``
    provider: str = ""  # the model's vendor, or the self-hosted engine that serves it, if known
    checked: str = ""  # when the row was last verified, as an ISO date

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: dict[str, object]) -> dict[str, object]:
        row = {key: value for key, value in given.items() if value is not None}
        if not squash(str(row.get("model", ""))):
            raise ValueError("a model has a name")
        tokens, output = row.get("input_tokens"), row.get("output_tokens")
        if "window_tokens" not in row and isinstance(tokens, int):
            row["window_tokens"] = tokens + (output if isinstance(output, int) else 0)
        elif "input_tokens" not in row and "window_tokens" in row:
            row["input_tokens"] = row["window_tokens"]
            row.setdefault("output_tokens", row["window_tokens"])
        return row

    @model_validator(mode="after")
    def _within_the_window(self) -> Self:
        if max(self.input_tokens, self.output_tokens or 0) > self.window_tokens:
            parts = "neither input_tokens nor output_tokens"
            raise ValueError(f"window_tokens is the whole, so {parts} exceeds it")
        return self

    @property
    def prompt_tokens(self) -> int:
        """The largest recommended request, in tokens, that leaves room for the answer.

        A shared window reserves ``output_tokens``, at most a quarter of it; an explicit input limit is used as it is.
        """
        if self.output_tokens is None or self.input_tokens < self.window_tokens:
            return self.input_tokens
        return self.window_tokens - min(self.output_tokens, self.window_tokens // 4)


def limit_of(model: str, source: str, **tokens: int | None) -> ModelLimit:
    """Build the limits of a model, with missing numbers filled in as for a table row."""
    return ModelLimit.model_validate({**tokens, "model": model, "source": source})


def read_table(text: str) -> tuple[dict[str, ModelLimit], list[tuple[int, str]]]:
    """Parse ``{"name": 16384, "other": {"input_tokens": …, …}}``: the rows by squashed name, and problems by line (from 1)."""
    try:
        document = TypeAdapter(dict[str, object]).validate_python(json.loads(text))
    except ValidationError:
        return {}, [(1, "a table is a JSON object, a row for each model")]
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        return {}, [(line, f"this is no JSON ({error})")]
    rows: dict[str, ModelLimit] = {}
    problems: list[tuple[int, str]] = []
    for name, value in document.items():
        row = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        try:
            given = {**(row or {"input_tokens": value}), "model": name}
            rows[squash(name)] = ModelLimit.model_validate(given)
        except ValidationError as error:
            spellings = {json.dumps(name), json.dumps(name, ensure_ascii=False)}
            key = re.search("(?:" + "|".join(map(re.escape, spellings)) + r")\s*:", text)
            line = text.count("\n", 0, key.start()) + 1 if key else 1
            problems.append((line, f"row {name!r}: {faults(error)}"))
    return rows, problems


@cache
def known_rows() -> Mapping[str, ModelLimit]:
    """Return the rows of the bundled table by squashed name."""
    return read_table(shipped_text())[0]


@cache
def shipped_text(package: Path = Path(__file__).parent.parent) -> str:
    """Return the text of the bundled table: inside the package (wheel) or one folder up (editable install)."""
    places = [folder / "model_limits.json" for folder in (package, package.parent)]
    for place in filter(Path.is_file, places):
        return place.read_text(encoding="utf-8")
    raise FileNotFoundError(
        f"autogen-context is installed without its table: no {places[0]}, no {places[1]}"
    )


class LimitSource(Protocol):
    """Asks somebody for the limits of a model, as ``Discovery`` asks an endpoint; ``address`` names whom."""

    address: str

    async def ask(self, model: str, /) -> ModelLimit | None:
        """Return the limits of a model, or ``None`` if they are not known there; never raises."""
        ...


class LookupStep(NamedTuple):
    """One source in a look-up, its limit if it has one, and a note on its basis or why there is none."""

    source: str
    limit: ModelLimit | None = None
    note: str = ""


def squash(name: str) -> str:
    """Return a name without punctuation and case, so that all spellings of a model compare equal."""
    return "".join(filter(str.isalnum, name.casefold()))


def unrouted(name: str) -> str:
    """Return a name without its route: ``openai/gpt-4o`` becomes ``gpt-4o``."""
    return name.rpartition("/")[2] or name


def variable_for(model: str) -> str:
    """Return the environment variable for a model: ``MODEL_LIMIT_GPT_4O`` for ``gpt-4o``."""
    words = "".join(c if c.isalnum() else " " for c in unrouted(model).upper()).split()
    return _VARIABLE + "_".join(words)


def variant_of(name: str, known: Collection[str]) -> tuple[str, str] | None:
    """Return the longest squashed ``known`` name that starts a dated, prefixed, tagged or fine-tuned name, and the remainder."""
    spelled, starts = _spelled(name)
    for start in starts:
        borders = _BORDERS.finditer(spelled, start + 1, start + _LONGEST_KNOWN)
        for end in (len(spelled), *reversed([mark.start() for mark in borders])):
            if squash(spelled[start:end]) in known and not _ANOTHER_VERSION.match(spelled, end):
                return squash(spelled[start:end]), spelled[end:]
    return None


def ancestor(name: str, known: Collection[str]) -> tuple[str, str] | None:
    """Return the known model that a name is a variant of, else the model representing its family, and the rest of the name."""
    if found := variant_of(name, known):
        return found
    spelled, starts = _spelled(name)
    route_end = spelled.rfind("/") + 1  # the route does not determine the family: "mistral/x"
    for start in sorted({route_end, *starts}, reverse=True):
        for pattern, model in _families():
            if start >= route_end and (head := pattern.match(spelled, start)):
                return squash(model), spelled[head.end() :]
    return None


def _spelled(name: str) -> tuple[str, list[int]]:
    """Return the name in normalized spelling and the offsets where a model name may start."""
    spelled = name.casefold()[:_LONGEST_NAME]
    for pattern, replacement in _SPELLINGS:
        spelled = pattern.sub(replacement, spelled)
    return spelled, [0, *(mark.end() for mark in _STARTS.finditer(spelled))][:_MOST_STARTS]


@cache
def _families() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Load the families, most specific first, each with its smallest known model: a guess that is too large makes requests fail."""
    table = Path(__file__).with_name("ancestors.json").read_text("utf-8")
    rows = TypeAdapter(dict[str, str]).validate_json(table).items()
    return tuple((re.compile(rf"(?:{row})(?![a-z])(?!(?<=\d)\d)"), model) for row, model in rows)


def standard_files() -> tuple[Path, ...]:
    """Return the default paths of user tables, the nearest first."""
    own = os.path.expanduser("~/.autogen/model_limits.json")  # noqa: PTH111 - does not raise for users without a home
    return (Path("model_limits.json"), Path(own), Path("/etc/autogen/model_limits.json"))


class ModelLimits:
    """Looks up the token limits of models, from the first source that knows them.

    Args:
        files: tables of limits, the first that has a model wins; default ``standard_files()``. Any other missing
            file logs a warning.
        environ: environment variables to read; default the process's.
        discovery: whom to ask, such as a ``Discovery``. Only ``alookup`` sends requests; ``lookup`` uses what they returned.
        default_tokens: input limit of unknown models.
        ttl_s: how long an answer is cached, in seconds.
        clock: a monotonic clock, in seconds.

    Raises:
        ValueError: ``default_tokens`` or ``ttl_s`` is out of range, or ``files`` is a single path.
    """

    def __init__(
        self,
        *,
        files: Sequence[str | PathLike[str]] | None = None,
        environ: Mapping[str, str] | None = None,
        discovery: LimitSource | None = None,
        default_tokens: int = 8192,
        ttl_s: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        require_whole("default_tokens", default_tokens, least=1, give="a number of tokens above 0")
        if not ttl_s >= 0:
            raise wrong_argument("ttl_s", ttl_s, "the seconds to keep an answer, or 0")
        if files is not None:
            require_several("files", files, give=f"several, such as [{str(files)!r}]")
        self._files = standard_files() if files is None else tuple(map(Path, files))
        self._environ = environ
        self._warned: set[tuple[object, ...]] = set()
        self._default_tokens = default_tokens
        self._ttl_s = ttl_s
        self._clock = clock
        self._kept: dict[str, tuple[ModelLimit, float]] = {}
        self._discovery = discovery
        self._found: dict[str, ModelLimit] = {}
        self._due_at: dict[str, float] = {}

    def lookup(self, model: str) -> ModelLimit:
        """Return the limits of a model without network access.

        Raises:
            ValueError: ``model`` is not a valid name.
        """
        _check(model)
        kept = self._kept.get(model)
        if kept is not None and self._clock() < kept[1]:
            return kept[0]
        limit = next(step.limit for step in self._steps(model) if step.limit)
        self._kept[model] = (limit, self._clock() + self._ttl_s)
        return limit

    async def alookup(self, model: str) -> ModelLimit:
        """Return the limits of a model, asking the discovery endpoint if needed.

        The endpoint is not asked while its last answer is fresh, or if the environment or a user file has the model.

        Raises:
            ValueError: ``model`` is not a valid name.
        """
        _check(model)
        due = self._discovery is not None and self._clock() >= self._due_at.get(model, 0.0)
        if self._discovery and due and not any(step.limit for step in self._own_steps(model)):
            limit = await self._discovery.ask(model)
            wait_s = self._ttl_s if limit else min(self._ttl_s, _RETRY_S)
            self._due_at[model] = self._clock() + wait_s
            if limit:
                self._found[model] = limit
                self._kept.clear()
        return self.lookup(model)

    def trace(self, model: str) -> list[LookupStep]:
        """Return what each source knows of a model, in look-up order; the first limit wins."""
        _check(model)
        limit, until = self._kept.get(model, (None, 0.0))
        left_s = until - self._clock()
        cached = LookupStep("cache", note="empty")
        if limit is not None and left_s > 0:
            cached = LookupStep("cache", limit, f"{limit.source}, for another {left_s:.0f} s")
        return [cached, *self._steps(model)]

    def _steps(self, model: str) -> Iterator[LookupStep]:
        """Yield the steps of all sources except the cache, each evaluated lazily."""
        yield from self._own_steps(model)
        found, note = self._found.get(model), "off"
        if self._discovery:
            unknown = "no number" if model in self._due_at else "not asked yet"
            note = self._discovery.address if found else unknown
        yield LookupStep("discovery", found, note)
        rows = known_rows()
        if row := rows.get(squash(model)):
            note = f"{row.source.partition(':')[0]}, checked {row.checked}"
            yield LookupStep("known", answer(row, model, "known"), note)
        else:
            yield LookupStep("known", note="no row for it")
        variant = ancestor(model, rows)
        stated = _THOUSANDS.search((variant[1] if variant else model).casefold()[:_LONGEST_NAME])
        if stated and int(stated[1]):
            note = f"from the {int(stated[1])}k in its name"
            tokens = int(stated[1]) * 1000
            limit = limit_of(model, f"inferred {note}", window_tokens=tokens)
            yield LookupStep("inference", limit, note)
        elif variant:
            note = f"from {rows[variant[0]].model}"
            yield LookupStep("inference", answer(rows[variant[0]], model, f"inferred {note}"), note)
        else:
            yield LookupStep("inference", note="no pattern fits")
        yield LookupStep("default", limit_of(model, "default", input_tokens=self._default_tokens))

    def _own_steps(self, model: str) -> Iterator[LookupStep]:
        """Yield the user's sources: ``MODEL_LIMIT_<NAME>`` in any spelling, with or without route, then the files."""
        environ = os.environ if self._environ is None else self._environ
        by_name = {squash(v.removeprefix(_VARIABLE)): v for v in environ if v.startswith(_VARIABLE)}
        for name in (squash(model), squash(unrouted(model))):
            variable = by_name.get(name, "")
            if variable and (tokens := self._tokens(variable, environ[variable])):
                limit = limit_of(model, f"environment {variable}", input_tokens=tokens)
                yield LookupStep("environment", limit, variable)
                break
        else:
            yield LookupStep("environment", note=f"no {variable_for(model)}")
        yield from (self._file_step(path, model) for path in self._files)

    def _file_step(self, path: Path, model: str) -> LookupStep:
        """Return the model's row in a user's table: by its full name, else by its name without the route."""
        name = str(path) if path.is_absolute() else f"./{path}"
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:  # ValueError: not UTF-8
            is_missing = isinstance(error, FileNotFoundError)
            note = "no such file" if is_missing else f"unreadable ({type(error).__name__})"
            if not is_missing or path not in standard_files():
                self._warn("%s: %s; the next source of limits is used", name, note)
            return LookupStep(name, note=note)
        if text == shipped_text():
            # In a clone of this project, ./model_limits.json is the bundled table; as a user's file it would override discovery.
            return LookupStep(name, note="the known table itself")
        rows, problems = read_table(text)
        for line, problem in problems:
            self._warn("%s line %d: %s; it is ignored", name, line, problem)
        if row := rows.get(squash(model)) or rows.get(squash(unrouted(model))):
            return LookupStep(name, answer(row, model, f"file {name}"))
        ignored = f"; ignored: {len(problems)}, see the log" if problems else ""
        return LookupStep(name, note=f"no row for it{ignored}")

    def _tokens(self, variable: str, value: str) -> int:
        """Parse a positive integer in Python notation (``8192``, ``1_048_576``); warn of others and return 0."""
        with suppress(ValueError):
            if (tokens := int(value)) > 0:
                return tokens
        warning = (
            "environment variable %s=%.60r is not a positive integer and is ignored; "
            "write the input limit in tokens, as in %s=8192"
        )
        self._warn(warning, variable, value, variable)
        return 0

    def _warn(self, warning: str, *values: object) -> None:
        """Log a warning, once."""
        if (warning, *values) not in self._warned:
            self._warned.add((warning, *values))
            _LOGGER.warning(warning, *values)


def answer(row: ModelLimit, model: str, source: str) -> ModelLimit:
    """Return a copy of the row with this model name and source."""
    return row.model_copy(update={"model": model, "source": source})


def _check(model: object) -> None:
    if not isinstance(model, str) or not squash(model):
        raise ValueError(f"model={model!r:.80}: give the model's name, such as 'gpt-4o'")
