"""Cut a shell's command line into its commands, and these into words.

Promise: any text goes, in time proportional to its length; of a long one the beginning is read. What stands in a
here-document is no command.

This is no shell: variables and substitutions stay as they are written.
"""

import re
from dataclasses import dataclass, field, replace
from posixpath import basename

from autogen_context.messages.tools.command_words import LEADING, LEADING_PAIRS, SHELLS, VALUE_FLAGS

Words = tuple[str, ...]

READ_CHARS = 20_000
MOST_COMMANDS = 100

_TOKEN = re.compile(
    r"""
     (?P<space>[ \t\r]++|\\\n)
    |(?P<comment>\#[^\n]*+)
    |(?P<redirect>\d*+(?:&>>?|>&|>>|>\||>|<<<|<<-?|<&|<))
    |(?P<pipe>\|&?(?!\|))
    |(?P<end>&&|\|\||[;&|()\n])
    |(?P<word>(?:[^\s|&;<>()'"\\]++|'[^']*+'|"(?:[^"\\]++|\\.)*+"|\\.|['"\\])++)
    |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT = re.compile(r"\w+\+?=")
_SHELL_FLAG = re.compile(r"-\w*c")
_QUOTED = re.compile(r"""'([^']*+)'|"((?:[^"\\]++|\\.)*+)"|\\(.)""", re.DOTALL)
_ESCAPED = re.compile(r"\\([\"\\$`\n])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command with its words.

    Attributes:
        words: the program and its arguments, without quotes.
        writes: the files that its output goes to, anew.
        appends: the files to whose end its output goes.
        reads: the files that its input comes from.
        document: the here-document that is its input.
        piped: whether its input is what the command before wrote.
    """

    words: Words
    writes: Words = ()
    appends: Words = ()
    reads: Words = ()
    document: str = ""
    piped: bool = False


def commands_of(line: str) -> list[Command]:
    """The commands of a command line, in order; a hundred at most."""
    reading = _Reading(text=line[:READ_CHARS])
    while reading.at < len(reading.text) and len(reading.commands) < MOST_COMMANDS:
        reading.read_token()
    reading.end_line()
    return reading.commands


def bare(words: Words) -> Words:
    """The words of a command without what only leads to it: assignments, ``sudo``, ``timeout 60``, ``poetry run``."""
    while words:
        if words[:2] in LEADING_PAIRS:
            words = words[2:]
        elif words[0] in LEADING:
            words = after_flags(words)[LEADING[words[0]] :]
        elif _ASSIGNMENT.match(words[0]):
            words = words[1:]
        else:
            break
    return words


def after_flags(words: Words) -> Words:
    """What stands behind a program and its flags."""
    takes = VALUE_FLAGS.get(words[0], frozenset())
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 1 + (words[at] in takes)
    return words[at:]


def shell_line(words: Words) -> str:
    """The line that a shell is given to run, as in ``bash -c "..."``; empty where there is none."""
    if len(words) > 2 and basename(words[0]) in SHELLS and _SHELL_FLAG.fullmatch(words[1]):  # noqa: PLR2004 - bash -c "..."
        return words[2]
    return ""


def arguments_of(program: str, words: Words) -> Words:
    """The arguments that are no flags and belong to none."""
    takes = VALUE_FLAGS.get(program, frozenset())
    found: list[str] = []
    before = ""
    for word in words:
        if before not in takes and (word[:1] != "-" or word == "-"):
            found.append(word)
        before = word
    return tuple(found)


def unquoted(word: str) -> str:
    """A word as the program gets it."""
    return _QUOTED.sub(_content, word) if "'" in word or '"' in word or "\\" in word else word


def _content(quoted: re.Match[str]) -> str:
    single, double, escaped = quoted.groups()
    if double is not None:
        return _ESCAPED.sub(r"\1", double)
    return single if single is not None else escaped


@dataclass(slots=True, kw_only=True)
class _Reading:
    """How far a line is read, and what the command at hand has so far."""

    text: str
    at: int = 0
    commands: list[Command] = field(default_factory=list[Command])
    words: list[str] = field(default_factory=list[str])
    targets: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    redirect: str = ""
    piped: bool = False
    awaiting: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def read_token(self) -> None:
        """Read on by one token."""
        token = _TOKEN.match(self.text, self.at)
        assert token is not None, "any character is a token"  # noqa: S101 - for the type checkers
        self.at = token.end()
        kind, text = token.lastgroup, token.group()
        if kind == "word":
            self._take(unquoted(text))
        elif kind == "redirect":
            self.redirect = text.lstrip("0123456789")
        elif text == "\n":
            self.end_line()
        elif kind in ("pipe", "end"):
            self._end_command(piped=kind == "pipe")

    def end_line(self) -> None:
        """End the command, and read the here-documents that were announced."""
        self._end_command(piped=False)
        for place, border in self.awaiting:
            document = self._document(border)
            if place < len(self.commands):
                self.commands[place] = replace(self.commands[place], document=document)
        self.awaiting.clear()

    def _take(self, word: str) -> None:
        """A word: an argument, or what was redirected to."""
        if self.redirect.startswith("<<") and self.redirect != "<<<":
            self.awaiting.append((len(self.commands), word))
        elif self.redirect:
            self.targets.append((self.redirect, word))
        elif word:
            self.words.append(word)
        self.redirect = ""

    def _end_command(self, *, piped: bool) -> None:
        if self.words or self.targets:
            found = self.targets
            self.commands.append(
                Command(
                    words=tuple(self.words),
                    writes=tuple(to for how, to in found if _is_file(to) and how in _ANEW),
                    appends=tuple(to for how, to in found if _is_file(to) and how in _ADDED),
                    reads=tuple(to for how, to in found if how == "<"),
                    piped=self.piped,
                )
            )
        self.words, self.targets, self.redirect, self.piped = [], [], "", piped

    def _document(self, border: str) -> str:
        """The text up to the line that is the border; all that is left where there is none."""
        start = self.at
        while self.at < len(self.text):
            line_start, line_end = self.at, self.text.find("\n", self.at)
            self.at = len(self.text) if line_end < 0 else line_end + 1
            if self.text[line_start : self.at].strip() == border:
                return self.text[start:line_start]
        return self.text[start:]


_ANEW = frozenset({">", ">|", "&>", ">&"})
_ADDED = frozenset({">>", "&>>"})


def _is_file(target: str) -> bool:
    """Whether what output goes to is a file, and not another stream or nowhere."""
    return not (target.isdigit() or target == "-" or target.startswith("/dev/"))
