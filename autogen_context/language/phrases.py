"""What people say, from one file a language.

Promise: each ``*.toml`` of this package is a language; its tables are topics, their keys labels, their values phrases
(``matcher`` has the syntax). The table ``[words]`` names what phrases of the same file share: ``{person}`` stands for
``(...)`` of it. A language is added by adding a file.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

from pydantic import TypeAdapter

from autogen_context.language.matcher import PhraseMatcher

__all__ = ["Phrases", "phrases"]

WORDS = "words"
SHARED: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])
TOPICS: TypeAdapter[dict[str, dict[str, list[str]]]] = TypeAdapter(dict[str, dict[str, list[str]]])
NAME = re.compile(r"\{([^{}]*)\}")


class Phrases:
    """The phrases of some languages by topic.

    Args:
        folders: where the files of the languages are; left out, the package's own.
    """

    def __init__(self, folders: Sequence[Traversable] = ()) -> None:
        self._folders = tuple(folders) or (files("autogen_context.language"),)
        self._matchers: dict[str, PhraseMatcher] = {}

    def matcher(self, topic: str) -> PhraseMatcher:
        """What finds the phrases of a topic, in all languages at once.

        Raises:
            ValueError: no file has the topic, or a phrase cannot be read.
        """
        if topic not in self._matchers:
            if topic not in self.topics:
                known = ", ".join(sorted(self.topics))
                raise ValueError(f"no language has the topic {topic!r}; there is {known}")
            self._matchers[topic] = PhraseMatcher(self.listed(topic))
        return self._matchers[topic]

    @cached_property
    def topics(self) -> frozenset[str]:
        """The topics that some language has."""
        return frozenset(topic for tables in self._files.values() for topic in tables) - {WORDS}

    def listed(self, topic: str) -> Iterator[tuple[str, str]]:
        """The phrases of a topic, each behind its label."""
        for tables in self._files.values():
            for label, listed in tables.get(topic, {}).items():
                for phrase in listed:
                    yield label, phrase

    @cached_property
    def _files(self) -> dict[str, dict[str, dict[str, list[str]]]]:
        found: dict[str, dict[str, dict[str, list[str]]]] = {}
        for folder in self._folders:
            for file in sorted(folder.iterdir(), key=lambda each: each.name):
                if file.name.endswith(".toml"):
                    found[str(file)] = tables_of(file)
        return found


@cache
def package_phrases() -> Phrases:
    """The languages of the package, read at first use."""
    return Phrases()


def phrases(topic: str) -> PhraseMatcher:
    """What finds the phrases of a topic in the languages of the package; made once.

    Raises:
        ValueError: there is no such topic.
    """
    return package_phrases().matcher(topic)


def tables_of(file: Traversable) -> dict[str, dict[str, list[str]]]:
    """The tables of a file, with what ``[words]`` names in place.

    Raises:
        ValueError: the file is no TOML, or not of such tables; the message has its name.
    """
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
        words: dict[str, str] = {}
        for name, listed in SHARED.validate_python(read.pop(WORDS, {})).items():
            words[name] = with_words(listed, words)
        return {
            topic: {
                label: [with_words(each, words) for each in listed]
                for label, listed in table.items()
            }
            for topic, table in TOPICS.validate_python(read).items()
        }
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}") from error


def with_words(phrase: str, words: dict[str, str]) -> str:
    """A phrase with what its names stand for."""

    def named(found: re.Match[str]) -> str:
        if found[1] not in words:
            raise ValueError(
                f"phrase {phrase!r} names {found[0]}, which [{WORDS}] does not have above"
            )
        return f"({words[found[1]]})"

    return NAME.sub(named, phrase)
