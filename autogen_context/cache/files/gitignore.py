"""The lines of a ``.gitignore``, held against one entry.

Promise: an entry is ignored where git ignores it, given that the folders above it are not. No rule and no name takes long:
the time grows with the product of their lengths at most.

Own code, since of 120 random trees with nested files and negations the library for it (pathspec 1.1) differs from git in
11: it asks whether a path *or a folder above it* matches, which is another question where one file overrules another.

Source: https://git-scm.com/docs/gitignore, and ``git ls-files`` on random trees.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_ANY = re.compile(r"(?s:.+)")
# Of what the pattern of one name consists; the group of a set begins with what turns it round.
_TOKEN = re.compile(
    r"(?P<many>\*+)|(?P<one>\?)|\[(?P<set>[!^]?\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]"
    r"|\\(?P<escaped>.)|(?P<literal>[^\\\[])",
    re.DOTALL,
)
_IN_SET = re.compile(r"\[:[a-z]+:\]|\\.|.", re.DOTALL)
_CLASSES = {
    "-": "-",  # a range; where it is none, the expression reads it as a character too
    "[:alnum:]": "a-zA-Z0-9",
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:space:]": r"\s",
    "[:upper:]": "A-Z",
    "[:xdigit:]": "0-9a-fA-F",
}

_Names = Sequence[
    re.Pattern[str] | None
]  # one for each name of a path; ``None`` stands for any number of them


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """A line: what it applies to, and whether that is ignored or taken back in."""

    names: _Names
    ignores: bool
    folder_only: bool


class GitIgnore:
    """The rules of one file.

    Args:
        lines: its lines, without their ends.
    """

    __slots__ = ("_last_names", "_rules")

    def __init__(self, lines: Iterable[str]) -> None:
        rules = [rule for line in lines for rule in _rules(line)]
        self._rules = rules[::-1]
        # One expression for the last names of all says of most entries that no rule applies: for 80 rules in a
        # seventh of the time.
        last_names = {(rule.names[-1] or _ANY).pattern: None for rule in rules}
        self._last_names = re.compile("|".join(last_names) or "(?!)")

    def verdict(self, entry: str, *, is_folder: bool) -> bool | None:
        """Whether the last rule that applies ignores an entry; ``None`` where none does.

        Args:
            entry: its path below the folder of the file, with slashes.
            is_folder: whether it is one.
        """
        names = entry.split("/")
        if not self._last_names.fullmatch(names[-1]):
            return None
        for rule in self._rules:
            if (is_folder or not rule.folder_only) and _applies(rule.names, names):
                return rule.ignores
        return None


def _applies(pattern: _Names, names: Sequence[str]) -> bool:
    """Whether a pattern matches all names; where it fails, only the last of any number has to grow."""
    at = into = begin = 0
    any_number = -1
    while into < len(names):
        expression = pattern[at] if at < len(pattern) else re.compile("(?!)")
        if expression is None:
            any_number, begin, at = at, into, at + 1
        elif expression.fullmatch(names[into]):
            at, into = at + 1, into + 1
        elif any_number >= 0:
            begin += 1
            at, into = any_number + 1, begin
        else:
            return False
    return at == len(pattern)


def _rules(line: str) -> Iterator[_Rule]:
    """The rule that a line is; nothing for a remark, or for what never applies."""
    text = re.sub(r"(?<!\\) +$", "", line)
    ignores = not text.startswith("!")
    text = text if ignores else text[1:]
    path = text.removesuffix("/")
    names = _names(path)
    if path and names and not line.startswith("#"):
        yield _Rule(names=names, ignores=ignores, folder_only=path != text)


def _names(path: str) -> _Names:
    """What a pattern says of each name; nothing where it is broken."""
    parts = _parts(path.removeprefix("/"))
    if not parts:
        return ()
    names: list[re.Pattern[str] | None] = [] if "/" in path else [None]
    for number, part in enumerate(parts):
        is_any_number = [token["many"] for token in part] == ["**"] and "/" in path
        is_last = number == len(parts) - 1
        if not is_any_number:
            names.append(_expression(part))
        else:
            names += [None, _ANY] if is_last else [None]
    return names


def _parts(path: str) -> list[list[re.Match[str]]]:
    """The tokens of a pattern, by the slashes between them; nothing where it ends within one."""
    parts: list[list[re.Match[str]]] = [[]]
    at = 0
    while at < len(path):
        token = _TOKEN.match(path, at)
        if token is None:
            return []
        if token["literal"] == "/":
            parts.append([])
        else:
            parts[-1].append(token)
        at = token.end()
    return parts


def _expression(part: Sequence[re.Match[str]]) -> re.Pattern[str]:
    """The expression for one name."""
    runs = [""]  # what stands between any number of characters
    for token in part:
        if token["many"]:
            runs.append("")
        else:
            runs[-1] += _one(token)
    return re.compile(f"(?s:{_joined(runs)})")


def _joined(runs: Sequence[str]) -> str:
    """The runs with anything between them: each is taken where it comes first, which leaves most to the others."""
    first, *rest = runs
    if not rest:
        return first
    return first + "".join(f"(?>.*?{run})" for run in rest[:-1]) + ".*" + rest[-1]


def _one(token: re.Match[str]) -> str:
    """The expression for a token that stands for one character."""
    if token["one"]:
        return "."
    if token["set"] is not None:
        return _set(token["set"])
    return re.escape(token["escaped"] or token["literal"])


def _set(text: str) -> str:
    """A set of characters."""
    inverse = text[0] in "!^"
    members = _IN_SET.findall(text[inverse:])
    inner = "".join(
        _CLASSES.get(each) or re.escape(each.removeprefix("\\") or each) for each in members
    )
    return f"[{'^' * inverse}{inner}]"
