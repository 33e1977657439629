"""Split a text into JSON documents: one, or one on each line.

Promise: every document says where it stands; what is no JSON is an error that names line and column.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A JSON value and where it stands: ``"line 3"``, or nothing where it is the whole text."""

    value: object
    place: str = ""


def documents_in(text: str) -> list[Document]:
    """The documents of a text, JSON or JSON Lines; which of them, the content tells.

    Raises:
        ValueError: it is empty or no JSON.
    """
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise ValueError("it is empty; record a conversation into it first")
    if is_by_line([line for _, line in lines]):
        return [Document(value=parsed(line, n), place=f"line {n}") for n, line in lines]
    return [Document(value=parsed(text, 1))]


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether a JSON value is an object; its keys are strings then."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether a JSON value is a list."""
    return isinstance(value, list)


def is_by_line(lines: Sequence[str]) -> bool:
    """Whether each line is a document: the first is closed in itself, or, where it is damaged, the second is one."""
    if len(lines) == 1:
        return False
    first = lines[0].strip()
    is_closed = (first[0], first[-1]) in (("{", "}"), ("[", "]"))
    return is_closed or (len(first) > 1 and is_json_object(lines[1]))


def is_json_object(line: str) -> bool:
    """Whether a line alone is a JSON object."""
    try:
        return is_object(json.loads(line))
    except (ValueError, RecursionError):
        return False


def parsed(text: str, first_line: int) -> object:
    """The JSON value of a text that begins on this line.

    Raises:
        ValueError: it is no JSON; says where and why.
    """
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise ValueError(f"line {line}, column {error.colno}: {complaint(error)}") from error
    except RecursionError as error:
        raise ValueError(f"line {first_line}: it is nested too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise ValueError(f"line {first_line}: {error}") from error
    return value


def complaint(error: json.JSONDecodeError) -> str:
    """What is wrong with a text, and the way out."""
    is_cut_off = error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip()
    if is_cut_off:
        return "the text ends too early, it was cut off; record or copy it again"
    return f"this is no JSON ({error.msg}); correct it or leave it out"
