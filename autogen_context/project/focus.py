"""What a task and a conversation are about, as far as names tell.

Promise: pure; a path that does not lead to a file of the tree is no file in play, wherever it leads.
"""

import re
from collections.abc import Container, Iterable
from pathlib import Path, PurePath

from autogen_context.language.terms import STOP_WORDS
from autogen_context.project.rank import Focus

READ_CHARS = 8_000  # of a task, from its beginning
LEAST_TOPIC = 4  # letters of a plain word
QUOTED = re.compile(r"`([^`\n]{1,80})`")
NAME = re.compile(r"[A-Za-z_$][\w$]*(?:[./][\w$]+)*")
COMPOUND = re.compile(r"_|\d|[./]|[a-z][A-Z]|[A-Z]{2,}[a-z]")


def focus_of(
    task: str, in_play: Iterable[str | PurePath], *, root: Path, files: Container[str]
) -> Focus:
    """What to look at first.

    Args:
        task: what is to be done, in plain words.
        in_play: files, from the root or absolute, and names of definitions.
        root: the folder.
        files: the names of all files.
    """
    played: set[str] = set()
    words: set[str] = set()
    for each in in_play:
        name = name_below(root, each)
        if name in files:
            played.add(name)
        elif isinstance(each, str):
            words.add(each)
    found = NAME.findall(task[:READ_CHARS])
    played |= {name for name in found if name in files}
    marked = [name for quoted in QUOTED.findall(task[:READ_CHARS]) for name in NAME.findall(quoted)]
    for name in [*found, *marked]:
        if COMPOUND.search(name) or name in marked:
            words |= {name, *re.split(r"[./]", name)}
    return Focus(files=frozenset(played), words=frozenset(words), topics=topics_of(found))


def topics_of(names: Iterable[str]) -> frozenset[str]:
    """The plain words among names, in lower case, without those that say nothing."""
    plain = (name.lower() for name in names if name.isalpha() and len(name) >= LEAST_TOPIC)
    return frozenset(name for name in plain if name not in STOP_WORDS)


def name_below(root: Path, path: str | PurePath) -> str:
    """The name of a file from the root; empty where it does not lie there."""
    pure = PurePath(path)
    if pure.is_absolute():
        return pure.relative_to(root).as_posix() if pure.is_relative_to(root) else ""
    return pure.as_posix()
