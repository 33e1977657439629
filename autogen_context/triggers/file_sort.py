"""What a file is for, by its path: code, tests, documentation, or a try.

Promise: whole words of the path decide, never parts of words.
"""

# ruff: noqa: SIM905 - words in a line

import re
from functools import lru_cache
from posixpath import basename
from typing import Literal

FileSort = Literal["code", "test", "document", "try"]

REMEMBERED = 1_000
PATCHES = (".patch", ".diff")  # of code, wherever they lie

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DOCUMENT = re.compile(
    r".*\.(?:md|mdx|rst|adoc|txt|tex|html?|po|docx?|ipynb)|(?:readme|changelog|changes|news|history|contributing|authors|todo)(?:\..*)?",
    re.IGNORECASE,
)
_TESTING = frozenset("test tests spec specs testing conftest".split())
_EDITING = frozenset("apply patch fix update replace modify edit insert rewrite refactor".split())
_TRYING_IN = frozenset("reproduce reproduction repro scratch tmp temp".split())
_TRYING = _TRYING_IN | frozenset(
    "reproducer reproducing debug demo try experiment inspect inspection verify check minimal poc edge".split()
)


@lru_cache(REMEMBERED)
def sort_of(path: str) -> FileSort:
    """What a file is for; a try is thrown away later."""
    name = basename(path)
    if name.endswith(PATCHES):
        return "code"
    words = words_of(name)
    folders = words_of(path.removesuffix(name))
    if words & _TRYING or folders & _TRYING_IN or path.startswith("/tmp/"):  # noqa: S108 - judged, not used
        return "try"
    if words & _TESTING or (folders & _TESTING and not _DOCUMENT.fullmatch(name)):
        return "test"
    return "document" if _DOCUMENT.fullmatch(name) else "code"


def words_of(text: str) -> set[str]:
    """The words of a name, in lower case."""
    return {word.lower() for word in _WORD.findall(text)}


@lru_cache(REMEMBERED)
def is_editing(path: str) -> bool:
    """Whether a script changes other files when it is run, by its name."""
    return sort_of(path) == "code" and bool(words_of(basename(path)) & _EDITING)
