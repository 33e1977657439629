"""A model's limits as a value, and the JSON table that holds them: one format, shipped and user's own.

Promise: a broken table or row becomes a problem with its line; it raises nothing and costs no other row.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, TypeGuard

from autogen_context.tokens.limit_names import squash


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One model of a table: its numbers, in tokens, and what the table says about their origin."""

    name: str
    input_tokens: int
    output_tokens: int | None
    window_tokens: int
    provider: str = ""
    source: str = ""
    checked: str = ""

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


def read_table(text: str) -> Table:
    """Read a table of limits: one JSON object, a row for each model.

    Args:
        text: ``{"name": 16384, "other": {"input_tokens": …, "output_tokens": …, "window_tokens": …}}``.

    Returns:
        The rows that are sound, and a problem for each that is not.
    """
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        return Table(rows={}, problems=((line, f"this is no JSON ({error})"),))
    if not _is_object(document):
        return Table(rows={}, problems=((1, "a table is a JSON object, a row for each model"),))
    return _read_rows(document, text)


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether a JSON value is an object; its keys are strings then."""
    return isinstance(value, dict)


def _read_rows(document: Mapping[str, object], text: str) -> Table:
    rows: dict[str, Row] = {}
    problems: list[tuple[int, str]] = []
    for name, value in document.items():
        try:
            rows[squash(name)] = _row(name, value)
        except ValueError as error:
            problems.append((_line_of(name, text), f"row {name!r}: {error}"))
    return Table(rows=rows, problems=tuple(problems))


def _line_of(name: str, text: str) -> int:
    """The line of a row's key, from 1; 1 where the key is written in another spelling of JSON."""
    spellings = {json.dumps(name), json.dumps(name, ensure_ascii=False)}
    key = re.search("(?:" + "|".join(map(re.escape, spellings)) + r")\s*:", text)
    return text.count("\n", 0, key.start()) + 1 if key else 1


def _row(name: str, value: object) -> Row:
    if not squash(name):
        raise ValueError("a name needs a letter or a digit")
    if not _is_object(value):
        tokens = _tokens(value, "the row")
        return Row(name=name, input_tokens=tokens, output_tokens=None, window_tokens=tokens)
    fields = ("input_tokens", "output_tokens", "window_tokens")
    given = {
        field: _tokens(value[field], field) for field in fields if value.get(field) is not None
    }
    sizes = _complete(given)
    if max(sizes) > sizes[2]:
        raise ValueError(
            "window_tokens is the whole, so neither input_tokens nor output_tokens exceeds it"
        )
    texts = {field: str(value.get(field, "")) for field in ("provider", "source", "checked")}
    input_tokens, output_tokens, window_tokens = sizes
    return Row(
        name=name,
        input_tokens=input_tokens,
        output_tokens=output_tokens or None,
        window_tokens=window_tokens,
        **texts,
    )


def _tokens(value: object, field: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(
            f"{field} must be a positive integer of tokens or an object, not {value!r:.60}"
        )
    return value


def _complete(given: Mapping[str, int]) -> tuple[int, int, int]:
    """Input, output (0: not said) and window from what a row gives of them.

    A window alone is one whole that input and output share, so an answer may be as long as it. An input
    alone is what a request may have, as it is, and the window is at least that and the output.
    """
    window, output = given.get("window_tokens"), given.get("output_tokens", 0)
    if window is None and "input_tokens" not in given:
        raise ValueError("it needs input_tokens or window_tokens")
    if window is None:
        return given["input_tokens"], output, given["input_tokens"] + output
    if "input_tokens" not in given:
        return window, output or window, window
    return given["input_tokens"], output, window
