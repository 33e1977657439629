"""The lines of a ``.gitignore``, held against one entry.

Promise: an entry is ignored where git ignores it, given that the folders above it are not. No rule and no name takes long:
the time grows with the product of their lengths at most.

Source: https://git-scm.com/docs/gitignore, and ``git ls-files`` on random trees. Why not pathspec: docs/decisions/0019-files.md.
"""

import re
from collections.abc import Iterable
from itertools import groupby

# Of what a pattern consists; a set may hold a slash, and a bracket without its other one breaks the line.
_TOKEN = re.compile(
    r"(?P<many>\*+)|(?P<one>\?)|\[(?P<inverse>[!^]?)(?P<set>\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]"
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
_ANY_FOLDERS = "(?:[^/]+/)*"


class GitIgnore:
    """The rules of one file.

    Args:
        lines: its lines, without their ends.
    """

    __slots__ = ("_entry", "_ignores", "_last_name")

    def __init__(self, lines: Iterable[str]) -> None:
        rules = [rule for line in lines if (rule := _rule(line))][::-1]
        self._ignores = [ignores for ignores, _, _ in rules]
        # The last rule that applies decides, so it stands first. One expression for the last names alone says of most
        # entries that none applies: for 80 rules in a seventh of the time.
        self._entry = re.compile("|".join(f"({entry})" for _, entry, _ in rules) or "(?!)")
        last_names = dict.fromkeys(name for _, _, name in rules)
        self._last_name = re.compile("|".join(last_names) or "(?!)")

    def verdict(self, entry: str, *, is_folder: bool) -> bool | None:
        """Whether the last rule that applies ignores an entry; ``None`` where none does.

        Args:
            entry: its path below the folder of the file, with slashes.
            is_folder: whether it is one.
        """
        if not self._last_name.fullmatch(entry, entry.rfind("/") + 1):
            return None
        found = self._entry.fullmatch(f"{entry}/" if is_folder else entry)
        return self._ignores[found.lastindex - 1] if found and found.lastindex else None


def _rule(line: str) -> tuple[bool, str, str] | None:
    """Whether a line ignores, and expressions for the entry and its last name; ``None`` for a remark and what is broken."""
    text = re.sub(r"(?<!\\) +$", "", line)
    path = text.removeprefix("!")
    names = _names(path.removesuffix("/").removeprefix("/"))
    if line.startswith("#") or not names:
        return None
    if "/" not in path.removesuffix("/"):
        names = [None, names[0] or "[^/]*"]
    elif names[-1] is None:
        names.append("[^/]+")
    entry = _path(names) + ("/" if path.endswith("/") else "/?")
    try:
        re.compile(entry)
    except re.error:  # a range whose end comes before its beginning
        return None
    return path == text, entry, names[-1] or ""


def _names(path: str) -> list[str | None]:
    """An expression for each name of a pattern, ``None`` for ``**``; nothing where it is empty or broken."""
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
    """The expression for a path: what follows any number of folders is taken where it comes first, but for the last."""
    runs: list[list[str]] = [[]]
    for name in names:
        if name is None:
            runs.append([])
        else:
            runs[-1].append(name)
    first, *middle = (
        ("".join(f"{name}/" for name in run) for run in runs[:-1]) if len(runs) > 1 else ("",)
    )
    between = "".join(f"(?>{_ANY_FOLDERS}?{run})" for run in middle)
    return first + between + (_ANY_FOLDERS if len(runs) > 1 else "") + "/".join(runs[-1])


def _name(part: list[re.Match[str]]) -> str:
    """The expression for one name: what stands between any number of characters is taken where it comes first."""
    runs = [""]
    for token in part:
        if token["many"]:
            runs.append("")
        else:
            runs[-1] += _character(token)
    if len(runs) == 1:
        return runs[0]
    between = "".join(f"(?>[^/]*?{run})" for run in runs[1:-1])
    return f"{runs[0]}{between}[^/]*{runs[-1]}"


def _character(token: re.Match[str]) -> str:
    """The expression for a token that stands for one character."""
    if token["set"] is None:
        return "[^/]" if token["one"] else re.escape(token["escaped"] or token["literal"])
    members = (
        _CLASSES.get(each) or re.escape(each.removeprefix("\\") or each)
        for each in _IN_SET.findall(token["set"])
    )
    return f"(?!/)[{'^' * bool(token['inverse'])}{''.join(members)}]"
