"""Read a shell command line: which programs run, on which files, and for what.

Any text is accepted, in linear time; only the beginning of a long one is read. An unknown program counts as a run.
"""

# ruff: noqa: SIM905 - words in a line

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from posixpath import basename
from typing import TypeVar

from autogen_context.messages.tool_action import (
    LAST_LINE,
    ToolAction,
    ToolKind,
    View,
    key_of,
    patched_files,
    path_of,
)

Words = tuple[str, ...]
Redirect = tuple[str, str]  # an operator and its file
RowT = TypeVar("RowT", bound=str)

READ_CHARS = 20_000
MOST_COMMANDS = 100  # of one line that are read
HEAD_LINES = 10  # default of head
STRENGTH: tuple[ToolKind, ...] = ("test", "run", "write", "search", "read", "other")

_TOKEN = re.compile(
    r"""
     (?P<skip>[ \t\r]++|\\\n|\#[^\n]*+)
    |(?P<redirect>\d*+(?:&>>?|>&|>>|>\||>|<<<|<<-?|<&|<))
    |(?P<end>&&|\|\||\|&?|[;&()\n])
    |(?P<word>(?:[^\s|&;<>()'"\\]++|'[^']*+'|"(?:[^"\\]++|\\.)*+"|\\.|['"\\])++)
    |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_LEADING = re.compile(  # prefixes of a command with their arguments, each word ended by NUL
    r"(?:(?:uv|poetry|pipenv|pdm|hatch)\0run|(?:bundle|npm|pnpm|yarn)\0exec|\w+\+?=[^\0]*"
    r"|(?:timeout|flock)(?:\0-[^\0]+)*\0[^\0]+|(?:sudo|xargs|nice)(?:\0-[ugInPdLs]\0[^\0]+|\0-[^\0]+)*"
    r"|(?:env|nohup|time|exec|command|stdbuf|npx|uvx|eval|builtin)(?:\0-[^\0]+)*"
    r"|do|then|else|if|elif|while|until|[{}!])\0"
)
_LINES = re.compile(r"(?<!\S)(\d{1,9})(?:,(\d{1,9}|\$))?p;?(?!\S)")
_COUNT = re.compile(r"(?<!\S)-(?:n ?|-lines[= ])?(\d{1,9})(?!\S)")
_FILE = re.compile(r"(?!\d+\Z|-\Z|/dev/).+", re.DOTALL)  # no stream number, no device
_TEST_FILE = re.compile(r"(?:test_.*|.*[_.-]tests?|tests?)\.\w+", re.IGNORECASE)


def rows_of(rows: Mapping[RowT, str]) -> dict[str, RowT]:
    """Map each word to the name of its row."""
    return {word: name for name, words in rows.items() for word in words.split()}


# What a program does with its arguments: read them (whole, in part, or after a filter as first argument), search (a pattern
# as first argument, or places), or write (all of them, the last one, or files it does not name).
PROGRAMS = rows_of(
    {
        "read": "cat bat less more nl tac open view type zcat Get-Content",
        "read part": "head tail strings xxd hexdump od file stat wc diff cmp cut sort uniq tr",
        "read filter": "sed awk gawk jq yq",
        "search pattern": "grep egrep fgrep zgrep rg ag ack fd fdfind Select-String",
        "search": "ls tree du locate which whereis dir find Get-ChildItem",
        "write all": "rm tee mv unlink shred truncate Set-Content",
        "write last": "cp ln install rsync",
        "write": "mkdir rmdir touch chmod chown patch apply_patch dd unzip tar zip gzip gunzip bzip2 xz",
    }
)
# No effect of their own.
IDLE = frozenset(
    "cd pushd popd export set source . echo printf sleep true false exit pwd clear alias unset wait : history "
    "[ [[ ulimit umask trap shift return local declare kill date test for done fi in case esac function select".split()
)
# Git subcommands that write nothing; of the others, GIT_WRITES name their files.
GIT: Mapping[str, ToolKind] = rows_of(
    {
        "read": "diff show log status blame reflog describe rev-parse shortlog",
        "search": "grep ls-files ls-tree branch tag remote",
        "other": "add init config",
    }
)
GIT_WRITES = frozenset({"checkout", "restore", "rm", "mv"})
# Test runners, and first arguments that make other programs test.
TESTERS = frozenset(
    "pytest py.test unittest nose nosetests tox nox ctest rspec phpunit jest vitest mocha playwright cypress "
    "runtests.py runtests test tests trial doctest".split()
)
TEST_WORDS = frozenset("test tests check nextest unittest pytest".split())
SHELLS = frozenset("bash sh zsh dash ksh fish".split())
INTERPRETERS = SHELLS | frozenset(
    "python python2 python3 pypy3 ipython node ts-node tsx deno ruby perl php lua julia Rscript".split()
)
# Flags for a test run's output, not for what it tests.
TEST_MANNERS = re.compile(r"-v+|-q+|-[xsl]|--(?:verbose|quiet|silent|tb=\w+|color=\w+|no-header)")
# Flags that usually take the next word as their value.
VALUE_FLAGS = frozenset("-e -C -F -d -g -X -W --glob --type".split())


@dataclass(slots=True)
class Command:
    """One command, filled in while the line is parsed."""

    piped: bool = False  # reads the output of the previous command
    words: list[str] = field(default_factory=list[str])  # without quotes
    files: list[Redirect] = field(default_factory=list[Redirect])
    document: str = ""  # the here-document that is its input


def commands_of(line: str) -> list[Command]:
    """Parse a command line into at most ``MOST_COMMANDS`` commands; here-documents are data."""
    text = line[: READ_CHARS - 2] + "\n\n"  # ends the last command, even after a backslash
    commands, command, operator, at = list[Command](), Command(), "", 0
    owner, border = command, ""  # of a here-document that begins on the next line
    while len(commands) < MOST_COMMANDS and (token := _TOKEN.match(text, at)):
        at, kind, said = token.end(), token.lastgroup, token.group()
        if kind == "word":
            word = unquoted(said)
            if operator in ("<<", "<<-"):
                owner, border = command, word
            elif operator:
                command.files += [(operator, word)] if _FILE.fullmatch(word) else []
            elif word:
                command.words.append(word)
            operator = ""
        elif kind == "redirect":
            operator = said.lstrip("0123456789")
        elif kind == "end":
            if command.words or command.files:
                commands.append(command)
            if said == "\n" and border:
                last = re.compile(rf"^[ \t]*{re.escape(border)}[ \t\r]*$", re.MULTILINE)
                end = last.search(text, at)
                owner.document = text[at : end.start() if end else len(text)]
                border, at = "", end.end() if end else len(text)
            command, operator = Command(said in ("|", "|&")), ""
    return commands


def unquoted(word: str) -> str:
    """Remove the quotes of a word; a word with an open quote is unchanged."""
    if not any(quote in word for quote in "'\"\\"):
        return word
    if word[0] == word[-1] == "'" and word.count("'") == len("''"):  # a script, which may be long
        return word[1:-1]
    try:
        return "".join(shlex.split(word))
    except ValueError:
        return word


def action_of_command(line: str, *, folder: str = "") -> ToolAction:
    """Return what a command line does in a folder: the strongest kind of its commands, all views and writes."""
    done: list[ToolAction] = []
    for command in commands_of(line):
        text = "\0".join((*command.words, ""))
        while lead := _LEADING.match(text):  # ``sudo``, ``timeout 60``, ``poetry run``
            text = text[lead.end() :]
        words = tuple(text.split("\0")[:-1])
        if words[:1] in (("cd",), ("pushd",)):
            folder = path_of(words[-1], folder=folder) or folder
            continue
        if basename((*words, "")[0]) in SHELLS and re.fullmatch(r"-\w*c", "".join(words[1:2])):
            action = action_of_command("".join(words[2:3]), folder=folder)
        else:
            action = action_of_words(words, command, folder)
        if any(">" in operator for operator, _ in command.files):
            action = redirected(action, command, folder)
        if command.piped and done:
            done[-1] = piped(done[-1], action, words)
        else:
            done.append(action)
    return merged(done, folder=folder)


def redirected(action: ToolAction, command: Command, folder: str) -> ToolAction:
    """Add the files of output redirections; a command that only fills a file is a write."""
    anew = paths_of([file for how, file in command.files if ">" in how and ">>" not in how], folder)
    files = (*anew, *paths_of([file for how, file in command.files if ">>" in how], folder))
    if action.kind in ("write", "run", "test"):
        return replace(action, writes=(*action.writes, *files))
    is_seen = command.document or action.kind == "other"  # the content is in the command line
    views = tuple(View(path=path) for path in anew) if is_seen else ()
    return ToolAction(kind="write", subjects=files, views=views, writes=files)


def piped(source: ToolAction, action: ToolAction, words: Words) -> ToolAction:
    """Combine two commands of a pipe."""
    if action.kind in ("write", "run", "test"):
        both = merged([source, action])
        asks_both = both.kind == action.kind and action.key and source.key
        return replace(both, key=f"{source.key} | {action.key}") if asks_both else both
    if source.kind in ("write", "run", "test", "other"):
        return source
    key = " | ".join((source.key or " ".join(source.subjects), " ".join(words)))
    if action.kind == "search":
        subjects = (*action.subjects, *source.subjects)
        return replace(source, kind="search", subjects=subjects, views=(), key=key)
    if source.views:
        return replace(source, views=tuple(narrowed(view, words) for view in source.views))
    return replace(source, key=key)


def merged(actions: Sequence[ToolAction], *, folder: str = "") -> ToolAction:
    """Combine several actions."""
    if len(actions) == 1 and not folder:
        return actions[0]
    kind = STRENGTH[min((STRENGTH.index(action.kind) for action in actions), default=-1)]
    chief = [action for action in actions if action.kind == kind]
    keys = [action.key for action in chief if action.key]
    place = f"{folder}$ " if folder and keys else ""
    return ToolAction(
        kind=kind,
        subjects=tuple(dict.fromkeys(s for action in chief for s in action.subjects)),
        views=tuple(dict.fromkeys(view for action in actions for view in action.views)),
        writes=tuple(dict.fromkeys(path for action in actions for path in action.writes)),
        key=place + "; ".join(keys),
    )


def action_of_words(words: Words, command: Command, folder: str) -> ToolAction:
    """Return what one command does, without its redirections."""
    if not words or words[0] in IDLE:
        return ToolAction(kind="other", key=key_of(" ".join(words), command.document))
    key = key_of(" ".join(words), command.document)
    plain = (*plain_arguments(words), *(file for how, file in command.files if how == "<"))
    program = basename(words[0])
    does, _, which = PROGRAMS.get(program, "run").partition(" ")
    if program in ("sed", "perl", "ruby") and any(re.match(r"-\w*i|--in-place", w) for w in words):
        does, which, plain = "write", "all", plain[program == "sed" :]
    executes = "-exec" in words and not {"rm", "sed"}.isdisjoint(words)
    if program == "find" and ("-delete" in words or executes):
        does, which = "write", ""
    if program == "git":
        subcommand, *rest = plain or ("",)
        kind = GIT.get(subcommand, "write")
        files = paths_of(rest, folder) if subcommand in GIT_WRITES else ()
        named = (f"git {subcommand}", *(rest if kind in ("read", "search") else ()))
        asked = "" if kind == "write" else key
        return ToolAction(kind=kind, subjects=files or named, writes=files, key=asked)
    if does == "write":
        files = patched_files(command.document or "\n".join(plain))
        if which:
            files = paths_of(plain[-1:] if which == "last" else plain, folder)
        return ToolAction(kind="write", subjects=files or plain, writes=files)
    if does == "read":  # without a file it filters a pipe
        has_script = which == "filter" and not {"-e", "-f"} & set(words)
        files = paths_of(plain[has_script:], folder)
        views = (View(path=path) for path in files)
        shown = tuple(narrowed(view, words) if which else view for view in views)
        return ToolAction(kind="read", subjects=files, views=shown, key="" if files else key)
    if does == "search":
        pattern = tuple(after for flag, after in pairwise(words) if flag == "-e")
        if which == "pattern" and not pattern:
            pattern, plain = plain[:1], plain[1:]
        return ToolAction(kind="search", subjects=(*pattern, *paths_of(plain, folder)), key=key)
    return running(words, key)


def plain_arguments(words: Words) -> Words:
    """Return the positional arguments."""
    return tuple(
        word
        for before, word in pairwise(("", *words[1:]))
        if before not in VALUE_FLAGS and not word.isdigit() and (word[:1] != "-" or word == "-")
    )


def paths_of(words: Iterable[str], folder: str) -> Words:
    """Return the normalised paths among words."""
    return tuple(path for word in words if (path := path_of(word, folder=folder)))


def narrowed(view: View, words: Words) -> View:
    """Restrict a view by a filter; ``sed -n`` and ``head`` give a range of lines."""
    program, said = basename((*words, "")[0]), " ".join(words)
    stretches = _LINES.findall(said) if program == "sed" and "-n" in words else []
    if view.whole and len(stretches) == 1:
        first, last = stretches[0]
        return replace(view, lines=(int(first), LAST_LINE if last == "$" else int(last or first)))
    if view.whole and program == "head" and "-c" not in words:
        count = _COUNT.search(said)
        return replace(view, lines=(1, int(count[1]) if count else HEAD_LINES))
    manner = " ".join(word for word in words if path_of(word) != view.path)
    return replace(view, part=" | ".join(filter(None, (view.part, key_of(manner)))))


def running(words: Words, key: str) -> ToolAction:
    """Return the run or test action of a program; for an interpreter the script counts, if it is a file."""
    plain = plain_arguments(words)
    target: Words = (words[0], *plain)
    if basename(words[0]) in INTERPRETERS:
        first = words.index(plain[0]) if plain else len(words)
        target = () if any(re.fullmatch(r"-\w*[ce]", word) for word in words[:first]) else plain
    program = basename(target[0]) if target else ""
    asked = any(word in TEST_WORDS or word.startswith("test:") for word in target[1:3])
    if not (program in TESTERS or _TEST_FILE.fullmatch(program) or asked):
        return ToolAction(kind="run", subjects=target[:1] or words[:1], key=key)
    tested = " ".join(word for word in words if not TEST_MANNERS.fullmatch(word))
    return ToolAction(kind="test", subjects=target[1:] or target[:1], key=key_of(tested))
