"""What one command of a shell does, by its program: tables first, arguments second.

Promise: any words go; a program that nobody knows runs something. Which files are meant is said only where it is known.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from posixpath import basename

from autogen_context.messages.message import content_digest
from autogen_context.messages.tools.action import (
    LAST_LINE,
    ToolAction,
    View,
    patched_files,
    path_of,
)
from autogen_context.messages.tools.command_line import Command, Words, arguments_of, bare
from autogen_context.messages.tools.command_words import (
    GIT,
    IDLE,
    INTERPRETERS,
    READERS,
    RUNNERS,
    SEARCHERS,
    TEST_MANNERS,
    TEST_WORDS,
    TESTERS,
    WRITERS,
)

KEY_CHARS = 200  # a longer key is known by its digest
DEFAULT_LINES = 10  # that head and tail show

_IN_PLACE = re.compile(r"-\w*i|--in-place")
_LINES = re.compile(r"(\d{1,9})(?:,(\d{1,9}|\$))?p;?")
_INLINE = re.compile(r"-\w*[ce]")
_COUNT = re.compile(r"-(?:n|-lines=)?(\d{1,9})")
_TEST_FILE = re.compile(r"(?:test_.*|.*[_.-]tests?|tests?)\.\w+", re.IGNORECASE)


def action_of_words(words: Words, command: Command, *, folder: str = "") -> ToolAction:
    """What one command does, but for where its output goes.

    Args:
        words: of the command, ``bare``.
        command: the command.
        folder: where it is run.
    """
    program = basename(words[0]) if words else ""
    key = key_of(" ".join(words), command.document)
    plain = (*arguments_of(program, words[1:]), *command.reads)
    if program == "git":
        return of_git(plain, key, folder)
    if program in WRITERS or is_in_place(program, words):
        return writing(program, plain, command.document, folder)
    if program in READERS:
        return reading(words, plain, key, folder)
    if program in SEARCHERS:
        return searching(words, plain, key, folder)
    if not program or words[0] in IDLE:
        return ToolAction(kind="other", key=key)
    return running(words, key)


def key_of(asked: str, document: str = "") -> str:
    """What stands for what was asked, however long that is."""
    if document:
        asked = f"{asked} << {content_digest(document).hex()}"
    return asked if len(asked) <= KEY_CHARS else f"{asked[:40]}… {content_digest(asked).hex()}"


def is_in_place(program: str, words: Words) -> bool:
    """Whether a filter changes its files."""
    return program in ("sed", "perl", "ruby") and any(_IN_PLACE.match(word) for word in words[1:])


def paths_of(words: Sequence[str], folder: str) -> Words:
    """Those that are paths, as they are written here."""
    found = (path_of(word, folder=folder) for word in words)
    return tuple(path for path in found if path)


def of_git(plain: Words, key: str, folder: str) -> ToolAction:
    """What git does, by its subcommand."""
    subcommand, *rest = plain or ("",)
    match GIT.get(subcommand, "write"):
        case "read":
            return ToolAction(kind="read", subjects=(f"git {subcommand}", *rest), key=key)
        case "search":
            return ToolAction(kind="search", subjects=(f"git {subcommand}", *rest), key=key)
        case "write_files":
            files = paths_of(rest, folder)
            return ToolAction(kind="write", subjects=files, writes=files)
        case "none":
            return ToolAction(kind="other", key=key)
        case _:
            return ToolAction(kind="write", subjects=(f"git {subcommand}",))


def reading(words: Words, plain: Words, key: str, folder: str) -> ToolAction:
    """What a program reads; without a file it is the filter of a pipe."""
    program = basename(words[0])
    has_script = READERS[program] == "filter" and not {"-e", "-f"} & set(words)
    files = paths_of([w for w in plain[has_script:] if not _COUNT.fullmatch(w)], folder)
    if not files:
        return ToolAction(kind="read", key=key)
    whole = READERS[program] == "whole"
    views = (View(path=path) for path in files)
    shown = tuple(view if whole else narrowed(view, words) for view in views)
    return ToolAction(kind="read", subjects=files, views=shown)


def narrowed(view: View, words: Words) -> View:
    """What of a view is left behind a filter."""
    lines = lines_of(words) if view.whole else None
    if lines:
        return View(path=view.path, lines=lines)
    manner = " ".join(word for word in words if path_of(word) != view.path)
    part = " | ".join(part for part in (view.part, key_of(manner)) if part)
    return View(path=view.path, lines=view.lines, part=part)


def lines_of(words: Words) -> tuple[int, int] | None:
    """The lines that ``sed -n`` or ``head`` let through; ``None`` where it is not a stretch of them."""
    program = basename(words[0])
    if program == "sed" and "-n" in words:
        ranges = [match for word in words[1:] if (match := _LINES.fullmatch(word))]
        if len(ranges) == 1:
            first, last = ranges[0].groups()
            return int(first), LAST_LINE if last == "$" else int(last or first)
    if program == "head" and "-c" not in words:
        flags = zip(words[1:], (*words[2:], ""), strict=True)
        counts = (f"-{after}" if flag in ("-n", "--lines") else flag for flag, after in flags)
        found = next((int(m[1]) for each in counts if (m := _COUNT.fullmatch(each))), DEFAULT_LINES)
        return 1, found
    return None


def searching(words: Words, plain: Words, key: str, folder: str) -> ToolAction:
    """What a program looks for, and where."""
    program = basename(words[0])
    if program == "find":
        return finding(words, key, folder)
    pattern: Words = ()
    if SEARCHERS[program] == "pattern":
        given = [after for flag, after in pairwise(words) if flag == "-e"]
        pattern, plain = (tuple(given), plain) if given else (plain[:1], plain[1:])
    return ToolAction(kind="search", subjects=(*pattern, *paths_of(plain, folder)), key=key)


def finding(words: Words, key: str, folder: str) -> ToolAction:
    """What ``find`` looks for; what it does to what it found, where that is more than to show it."""
    flags = next((i for i, word in enumerate(words) if word[:1] in ("-", "(", "!")), len(words))
    pairs = pairwise(words)
    names = [name for flag, name in pairs if flag in ("-name", "-iname", "-path", "-regex")]
    done = next((i for i, word in enumerate(words) if word in ("-exec", "-execdir")), len(words))
    then = action_of_words(bare(words[done + 1 :]), Command(words=()), folder=folder)
    if "-delete" in words or then.kind == "write":
        return ToolAction(kind="write", subjects=tuple(names))
    patterns = then.subjects[:1] if then.kind == "search" else ()
    subjects = (*names, *patterns, *paths_of(words[1:flags], folder))
    return ToolAction(kind="search", subjects=subjects, key=key)


def writing(program: str, plain: Words, document: str, folder: str) -> ToolAction:
    """Which files a program changes."""
    place = WRITERS.get(program, "in place")
    if place == "none":
        files = patched_files(document or "\n".join(plain))
        return ToolAction(kind="write", subjects=files or plain, writes=files)
    given = {"last": plain[-1:], "in place": plain[program == "sed" :]}.get(place, plain)
    files = paths_of(given, folder)
    return ToolAction(kind="write", subjects=files, writes=files)


def running(words: Words, key: str) -> ToolAction:
    """What a program runs, or tests."""
    target = script_of(words)
    if not is_test(target):
        return ToolAction(kind="run", subjects=target[:1] or words[:1], key=key)
    tested = tuple(word for word in words if word not in TEST_MANNERS)
    return ToolAction(kind="test", subjects=target[1:] or target[:1], key=key_of(" ".join(tested)))


def script_of(words: Words) -> Words:
    """The program with its arguments, without flags; of an interpreter the script, none where that is written inline."""
    program = basename(words[0])
    if program not in INTERPRETERS:
        return (words[0], *arguments_of(program, words[1:]))
    inline = next((i for i, word in enumerate(words) if _INLINE.fullmatch(word)), len(words))
    plain = arguments_of(program, words[1:])
    first = words.index(plain[0]) if plain else len(words)
    return plain if first < inline else ()


def is_test(plain: Words) -> bool:
    """Whether these words, a program first, test something."""
    if not plain:
        return False
    program = basename(plain[0])
    asked = plain[1:4] if program in RUNNERS else ()
    return (
        program in TESTERS
        or _TEST_FILE.fullmatch(program) is not None
        or any(word in TEST_WORDS or word.startswith("test:") for word in asked)
    )
