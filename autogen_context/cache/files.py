"""Listing and reading the files of an untrusted folder: ``.gitignore`` rules and size limits.

Promise: ignored are the files that git ignores, the ``TOOL_FOLDERS`` unless a ``.gitignore`` re-includes them, and ``.git``
always. No rule or file name makes matching slow. Rules above the root and the user's global git rules are not read.

Source: https://git-scm.com/docs/gitignore, and ``git ls-files`` on random trees. Why not pathspec: docs/decisions/0019-files.md.
"""

import errno
import os
import re
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import reduce
from itertools import groupby
from typing import NamedTuple

TOOL_FOLDERS = frozenset(
    {
        *("node_modules", "bower_components", ".next", ".nuxt", ".parcel-cache"),
        *("__pycache__", ".venv", "venv", ".tox", ".nox", ".eggs", ".hypothesis"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints"),
        *(".hg", ".svn", ".gradle", ".terraform"),
    }
)
RULES_FILE = ".gitignore"
OWN_RULES_FILE = ".git/info/exclude"  # rules of this clone alone; any .gitignore goes before them

_MOST_RULES_BYTES = 256 * 1024  # per .gitignore; a larger file is skipped
_CHUNK_BYTES = 1024 * 1024


def open_flags(*names: str) -> int:
    """Return those of these flags of ``os.open`` that this system has; without one, it has no such files either."""
    return reduce(int.__or__, (getattr(os, name, 0) for name in names), os.O_RDONLY)


_READ_FLAGS = open_flags("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY")
# The tokens of a pattern; a set may contain a slash, and an unclosed bracket makes the line invalid.
_TOKEN = re.compile(
    r"(?P<many>\*+)|(?P<one>\?)|\[(?P<inverse>[!^]?)(?P<set>\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]"
    r"|\\(?P<escaped>.)|(?P<literal>[^\\\[])",
    re.DOTALL,
)
_IN_SET = re.compile(r"\[:[a-z]+:\]|\\.|.", re.DOTALL)
_CLASSES = {
    "-": "-",  # a range; elsewhere the regular expression reads it as a character, too
    "[:alnum:]": "a-zA-Z0-9",
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:space:]": r"\s",
    "[:upper:]": "A-Z",
    "[:xdigit:]": "0-9a-fA-F",
}
_ANY_FOLDERS = "(?:[^/]+/)*"


class Listing(NamedTuple):
    """The entries of a folder that are not ignored, sorted by name; symbolic links count as files."""

    files: tuple[os.DirEntry[str], ...] = ()
    folders: tuple[os.DirEntry[str], ...] = ()


def levels(root: str) -> Iterator[Listing]:
    """Yield the listing of a folder and of each folder below it that is not ignored, breadth first, sorted by name."""
    waiting: deque[tuple[str, _Rules]] = deque([(root, _rules_in(root, OWN_RULES_FILE))])
    while waiting:
        folder, above = waiting.popleft()
        rules = _rules_in(folder) + above
        files: list[os.DirEntry[str]] = []
        folders: list[os.DirEntry[str]] = []
        with suppress(OSError), os.scandir(folder) as entries:  # deleted or unreadable
            for entry in sorted(entries, key=lambda each: os.fsencode(each.name)):
                is_folder = entry.is_dir(follow_symlinks=False)
                if not _is_ignored(entry, rules, is_folder=is_folder):
                    (folders if is_folder else files).append(entry)
        waiting.extend((entry.path, rules) for entry in folders)
        yield Listing(tuple(files), tuple(folders))


def _rules_in(folder: str, name: str = RULES_FILE) -> "_Rules":
    path = os.path.join(folder, name)  # noqa: PTH118 - names may have any bytes, and speed matters
    try:
        content = read_regular(path, most_bytes=_MOST_RULES_BYTES)
    except OSError:
        return []
    own = GitIgnore(line.removesuffix("\r") for line in os.fsdecode(content).split("\n"))
    return [(own, len(path) - len(name))]


def _is_ignored(entry: os.DirEntry[str], rules: "_Rules", *, is_folder: bool) -> bool:
    if entry.name == ".git":
        return True
    for each, above in rules:
        verdict = each.verdict(entry.path[above:], is_folder=is_folder)
        if verdict is not None:
            return verdict
    return is_folder and entry.name in TOOL_FOLDERS


def read_regular(path: str | os.PathLike[str], *, most_bytes: int) -> bytes:
    """Read a regular file; refuse a pipe, socket, device or symbolic link without blocking.

    Raises:
        OSError: the file cannot be read; ``errno.EINVAL``: not a regular file; ``errno.EFBIG``: over ``most_bytes``.
    """
    descriptor = os.open(path, _READ_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        content = bytearray()  # the reported size is not trusted
        while chunk := os.read(descriptor, min(_CHUNK_BYTES, most_bytes + 1 - len(content))):
            content += chunk
    finally:
        os.close(descriptor)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"larger than {most_bytes} bytes", os.fspath(path))
    return bytes(content)


class GitIgnore:
    """The rules of one ``.gitignore``. Matching takes time at most proportional to rule length times path length."""

    __slots__ = ("_entry", "_ignores", "_last_name")

    def __init__(self, lines: Iterable[str]) -> None:
        rules = [rule for line in lines if (rule := _rule(line))][::-1]
        self._ignores = [ignores for ignores, _, _ in rules]
        # The last matching rule decides, so rules are reversed. A first expression for last names alone rules out most
        # entries: with 80 rules, in a seventh of the time.
        self._entry = re.compile("|".join(f"({entry})" for _, entry, _ in rules) or "(?!)")
        last_names = dict.fromkeys(name for _, _, name in rules)
        self._last_name = re.compile("|".join(last_names) or "(?!)")

    def verdict(self, entry: str, *, is_folder: bool) -> bool | None:
        """Return True if the last matching rule ignores an entry (path relative to the file); ``None`` if none matches."""
        if not self._last_name.fullmatch(entry, entry.rfind("/") + 1):
            return None
        found = self._entry.fullmatch(f"{entry}/" if is_folder else entry)
        return self._ignores[found.lastindex - 1] if found and found.lastindex else None


# The rule files that apply in a folder, nearest first, each with the length of its own folder's path.
_Rules = list[tuple[GitIgnore, int]]


def _rule(line: str) -> tuple[bool, str, str] | None:
    """Parse a line: whether it ignores, and expressions for the path and its last name; ``None``: comment or invalid."""
    text = re.sub(r"(?<!\\) +$", "", line)
    path = text.removeprefix("!")
    names = _names(path.removesuffix("/").removeprefix("/"))
    if line.startswith("#") or not names:
        return None
    if "/" not in path.removesuffix("/"):
        names = [None, names[0] or "[^/]+"]
    elif names[-1] is None:
        names.append("[^/]+")
    entry = _path(names) + ("/" if path.endswith("/") else "/?")
    try:
        re.compile(entry)
    except re.error:  # a range whose end is before its start
        return None
    return path == text, entry, names[-1] or ""


def _names(path: str) -> list[str | None]:
    """Return an expression for each name of a pattern, ``None`` for ``**``; empty if it is empty or invalid."""
    tokens: list[re.Match[str]] = []
    while token := _TOKEN.match(path, tokens[-1].end() if tokens else 0):
        tokens.append(token)
    if not tokens or tokens[-1].end() < len(path):
        return []
    parts = [
        [*part] for is_slash, part in groupby(tokens, lambda each: each[0] == "/") if not is_slash
    ]
    return [None if [each["many"] for each in part] == ["**"] else _name(part) for part in parts]


def _path(names: list[str | None]) -> str:
    """Return the expression for a path; between two ``**``, the first match is final, which avoids backtracking."""
    runs: list[list[str]] = [[]]
    for name in names:
        if name is None:
            runs.append([])
        else:
            runs[-1].append(name)
    last = "/".join(runs[-1])
    if len(runs) == 1:
        return last
    first, *middle = ("".join(f"{name}/" for name in run) for run in runs[:-1])
    between = "".join(f"(?>{_ANY_FOLDERS}?{run})" for run in middle)
    return first + between + _ANY_FOLDERS + last


def _name(part: list[re.Match[str]]) -> str:
    """Return the expression for one name; between two ``*``, the first match is final, which avoids backtracking."""
    runs = [""]
    for token in part:
        if token["many"]:
            runs.append("")
        elif token["set"] is not None:
            members = (
                _CLASSES.get(each) or re.escape(each.removeprefix("\\") or each)
                for each in _IN_SET.findall(token["set"])
            )
            runs[-1] += f"(?!/)[{'^' * bool(token['inverse'])}{''.join(members)}]"
        else:
            runs[-1] += "[^/]" if token["one"] else re.escape(token["escaped"] or token["literal"])
    if len(runs) == 1:
        return runs[0]
    if not any(runs):
        return "[^/]+"  # stars alone: a name has a character
    between = "".join(f"(?>[^/]*?{run})" for run in runs[1:-1])
    return f"{runs[0]}{between}[^/]*{runs[-1]}"
