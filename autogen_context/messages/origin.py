"""Whose words a message is: the one answer for all rooms.

Promise: who wrote a message follows from where it came from: its role, its name, what the host says of it (``Message.author``),
and the settings ``people`` and ``program_output``. A text is never asked who wrote it. It is looked at for one thing only: a
message in the user role that begins as a program's output does speaks with no person's authority. If its frame holds all of it
and follows words of the model that ask for something to be run, it is that output; else it is doubtful, which no words inside
it can change: it states no rule, and is kept as a person's words are. So is what answers such words and has output anywhere
on lines of its own: a person who pastes it and a harness that introduces it write the same. Pure, and linear in the text.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import cast

from autogen_context.messages.message import MODEL_ROLES, SYSTEM_ROLES, Message, Origin

STRONG_EMOTION = 0.7  # intensity above which an emotion is strong
POSSIBLE_PEOPLE: frozenset[Origin] = frozenset({"person", "unknown", "doubtful"})
"""Origins that may be a person's: their words are kept before anything that is scored."""

LOOK_BACK = 32  # messages between a call and its output in the user role
_NAME = re.compile(r"[\w-]{1,64}")  # a setting that names an author; others begin a text
_USER = re.compile(r"user[ _.-]*\d*", re.IGNORECASE)
_PROXY = re.compile(r"user[ _.-]*proxy(?:[ _.-]*agent)?[ _.-]*\d*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a program says of the messages that it hands over.

    Attributes:
        people: names under which people write.
        program_output: names under which programs write in the user role, and beginnings of texts that are a program's; a
            beginning has a character that no name has, such as ``<`` or ``:``.
    """

    people: frozenset[str] = frozenset()
    program_output: tuple[str, ...] = ()

    @classmethod
    def of(cls, people: Collection[str] = (), program_output: Iterable[str] = ()) -> "Declared":
        """Return what these settings say; empty entries say nothing."""
        return cls(
            people=frozenset(filter(None, people)),
            program_output=tuple(filter(None, map(str.strip, program_output))),
        )

    def is_output(self, message: Message) -> bool:
        """Whether a message in the user role is declared to be a program's output."""
        if not self.program_output:
            return False
        text = message.text.lstrip()
        return any(
            entry == message.name or (text.startswith(entry) and not _NAME.fullmatch(entry))
            for entry in self.program_output
        )


NOTHING_DECLARED = Declared()


def resolved(
    messages: Sequence[Message], declared: Declared = NOTHING_DECLARED
) -> Iterator[Message]:
    """Yield the messages of a conversation, those in the user role with their origin."""
    for at, message in enumerate(messages):
        is_user = message.role == "user"
        yield with_origin(message, asked_before(messages, at), declared) if is_user else message


def asked_before(messages: Sequence[Message], at: int) -> Message | None:
    """Return the newest of the messages before a position that the model or a tool wrote, ``LOOK_BACK`` messages back at most."""
    before = (messages[i] for i in range(at - 1, max(-1, at - 1 - LOOK_BACK), -1))
    return next((each for each in before if each.role in MODEL_ROLES or each.results), None)


def with_origin(
    message: Message, asked: Message | None, declared: Declared = NOTHING_DECLARED
) -> Message:
    """Return a message with its origin; ``asked`` is the newest message before it that the model or a tool wrote."""
    origin = origin_of(message, asked, declared)
    return message if message.origin == origin else replace(message, origin=origin)


def origin_of(message: Message, asked: Message | None, declared: Declared) -> Origin:
    """Return whose words the text of a message is; arguments as of ``with_origin``."""
    if message.own or message.role in MODEL_ROLES:
        return "agent"
    if message.role in SYSTEM_ROLES:
        return "system"
    if message.role != "user" or message.results or declared.is_output(message):
        return "program"
    is_listed = message.name in declared.people
    if message.author and not is_listed:
        return message.author
    named: Origin = "person" if is_listed or is_users_own(message.name) else "unknown"
    return frame_of(message.text, asked) or named


def is_users_own(name: str) -> bool:
    """Whether a name is none, or ``user``, with a number or without."""
    return not name or _USER.fullmatch(name) is not None


def is_proxys(name: str) -> bool:
    """Whether a name is one that AutoGen's hosts give to ``UserProxyAgent``. In a list without a host, anybody may have it."""
    return _PROXY.fullmatch(name) is not None


def may_be_a_persons(message: Message) -> bool:
    """Whether a message is a person's, or may be one's, as far as its origin is known."""
    return is_users(message) and message.origin != "agent"


def is_users(message: Message) -> bool:
    """Whether a message in the user role has words that are no program's, as far as its origin is known."""
    is_other = message.own or message.results or message.origin == "program"
    return message.role == "user" and not is_other


def instructions_in(messages: Sequence[Message]) -> list[Message]:
    """Return the instructions among messages with origins, oldest first.

    They are a person's. An agent that hears no person follows who spoke to it first, as a member of a team does.
    """
    spoken = [message for message in messages if is_users(message)]
    by_people = [message for message in spoken if message.origin == "person"]
    others = [message for message in spoken if message.origin != "doubtful"]
    return by_people or [message for message in others if message.name == others[0].name] or spoken


def is_strong(message: Message) -> bool:
    """Whether the host reports a strong emotion for the message."""
    return message.intensity > STRONG_EMOTION


# ---- frames: what a text that a program wrote begins with

_GIVEN = frozenset(  # what a program gives, in the words that name a tag, a key or a label
    (
        *("output", "stdout", "stderr", "console", "terminal", "log", "logs", "observation"),
        *("result", "results", "response", "returncode", "exitcode", "exitstatus"),
        *("error", "errors", "exception", "traceback", "warning", "elided", "truncated"),
    )
)
_SHOWN = frozenset(("example", "examples", "format", "template"))  # shows how to answer
_RAW = frozenset(("output", "stdout", "stderr", "observation", "traceback"))
_OF_A_TOOL = frozenset(  # with one of these on a line of its own, only a program heads a text so
    (
        *("observation", "stdout", "stderr", "tool", "function", "command", "execution"),
        *("shell", "bash"),
    )
)
_OF_WHAT = frozenset(  # further words that such a label may have
    (
        *("the", "of", "from", "last", "previous", "full", "tool", "function", "call", "code"),
        *("command", "execution", "format", "script", "shell", "bash", "program", "test", "tests"),
    )
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TAG = re.compile(r"<(?P<close>/?)(?P<tag>[A-Za-z][\w.:-]{0,63})(?:\s[^<>]{0,300})?>")
_KEY = re.compile(r"""\s*\{\s*['"](?P<key>[\w .-]{1,64})['"]\s*:""")
_LABEL = re.compile(r"\s*+(?P<label>[^\n:]{1,160}):(?P<rest>[^\n]*)")
_APART = re.compile(r"\[[^\]\n]*\]|\([^)\n]*\)")
_STATUS = re.compile(  # a status with its number, and the report of AutoGen's executors, which no label announces
    r"\s*(?:(?:exit|return)[ _]?(?:code|status): ?-?\d+\b"
    r"|The script ran(?:, then exited with| but produced no output)\b[^\n]{0,60}\bexit code\b)",
    re.IGNORECASE,
)
_PROMPT = re.compile(  # of a shell, behind what it printed
    r"\n[ \t]*(?:(?:ba|z|da)?sh(?:-[\d.]*)?|(?:\(\w{1,40}\) ?)?[\w.-]{1,40}@[\w.-]{1,80}:\S{0,200}) ?[$#%]\s*\Z"
)
_PROMPT_CHARS = 400
_RUN = re.compile(  # a call in a text: a block of code, a tag, an action, JSON, a line for a shell
    r"^[ \t]*(?:```|~~~)|^Action(?: Input)?:|\A\s*\{|^[ \t]*\$ \S"
    r"|['\"]type['\"]: ?['\"]function['\"]"
    r"|<\w{0,40}(?:function|tool|invoke|execute|command|bash|run|call|action)\w{0,40}[ =>]",
    re.MULTILINE | re.IGNORECASE,
)
_LEADING = re.compile(r"\s*")
_TAG_ON_A_LINE = re.compile(rf"^[ \t]*{_TAG.pattern}", re.MULTILINE)
_FENCE_ON_A_LINE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?P<tag>[A-Za-z]\w{0,63})", re.MULTILINE)
_LABEL_ON_A_LINE = re.compile(r"^(?P<label>[^\s:][^\n:]{0,99}):[ \t]*$", re.MULTILINE)


def frame_of(text: str, asked: Message | None) -> Origin | None:
    """Return what the beginning of a text says of it: ``program`` or ``doubtful``; ``None`` if it begins as no output does."""
    runs = asked is not None and not asked.calls and _RUN.search(asked.text) is not None
    if (is_whole := framed_whole(text)) is not None:
        return "program" if is_whole and runs else "doubtful"
    # A label or a prompt does not say where the output stops and words begin, nor whose the words in front of it are.
    if _STATUS.match(text) or is_labelled(text, runs=runs):
        return "doubtful"
    return "doubtful" if runs and has_output(text) else None


def has_output(text: str) -> bool:
    """Whether a text has, on lines of its own, a tag, a label or a fence of output, or ends in the prompt of a shell."""
    tags = (found["tag"] for found in _TAG_ON_A_LINE.finditer(text) if not found["close"])
    labels = (found["label"] for found in _LABEL_ON_A_LINE.finditer(text))
    fences = (found["tag"].lower() for found in _FENCE_ON_A_LINE.finditer(text))
    is_prompted = _PROMPT.search(text[-_PROMPT_CHARS:]) is not None
    is_fenced = not _RAW.isdisjoint(fences)
    return is_prompted or is_fenced or any(map(names_output, chain(tags, labels)))


def framed_whole(text: str) -> bool | None:
    """Return whether the frame in which a text begins, tags or JSON, holds all of it; ``None`` if it begins in none."""
    opened = _TAG.match(text, after_blanks(text))
    if opened and not opened["close"]:
        return is_enclosed(text) if names_output(opened["tag"]) else None
    key = _KEY.match(text)
    if key is None:
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    keys = list(cast("Mapping[str, object]", value)) if isinstance(value, dict) else []
    of_output = sum(map(names_output, keys))
    if of_output:  # with keys of another kind among them, it may be anybody's data
        return of_output == len(keys)
    return False if names_output(key["key"]) else None


def is_enclosed(text: str) -> bool:
    """Whether a text is elements of output side by side and nothing else, each of their tags opened once and closed once."""
    marks, ends = Counter[tuple[str, bool]](), dict[str, int]()
    for mark in _TAG.finditer(text):
        tag, closes = mark["tag"].lower(), bool(mark["close"])
        marks[tag, closes] += 1
        if closes:
            ends[tag] = mark.end()
    at = after_blanks(text)
    while at < len(text):
        opened = _TAG.match(text, at)
        if opened is None or opened["close"] or not names_output(opened["tag"]):
            return False
        tag = opened["tag"].lower()
        if marks[tag, False] != 1 or marks[tag, True] != 1 or ends[tag] <= opened.end():
            return False
        at = after_blanks(text, ends[tag])
    return True


def outside_frames(text: str) -> Iterator[str]:
    """Yield the parts of a text that stand in none of its tags of output, each closed at the first end that it has."""
    at, inside, start = 0, "", 0
    for mark in _TAG.finditer(text):
        tag = mark["tag"].lower()
        if not inside and not mark["close"] and names_output(tag):
            inside, start = tag, mark.start()
        elif inside == tag and mark["close"]:
            yield text[at:start]
            inside, at = "", mark.end()
    yield text[at:]


def is_labelled(text: str, *, runs: bool) -> bool:
    """Whether a text begins with a label of output; ``runs`` says that it follows a call, where plainer labels count."""
    found = _LABEL.match(text)
    if found is None:
        return False
    words = {word.lower() for word in _WORD.findall(_APART.sub(" ", found["label"]))}
    on_its_line = not found["rest"].strip()
    if words.isdisjoint(_GIVEN if on_its_line else _RAW) or not words <= _GIVEN | _OF_WHAT:
        return False
    is_plain = words.isdisjoint(_OF_A_TOOL) and "[" not in found["label"]
    return runs or (on_its_line and not is_plain)


def names_output(tag: str) -> bool:
    """Whether a tag or a key is named for what a program gives, such as ``stdout`` or ``tool_result``."""
    words = [word.lower() for word in _WORD.findall(tag)]
    if not _SHOWN.isdisjoint(words):
        return False
    return not _GIVEN.isdisjoint((*words, *map("".join, pairwise(words))))


def after_blanks(text: str, start: int = 0) -> int:
    """Return where the first character that is no blank stands, from ``start`` on."""
    found = _LEADING.match(text, start)
    return found.end() if found else start
