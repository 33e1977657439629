"""Decide whether a query needs earlier parts of the conversation, by its wording and the names in it.

Promise: no model is called; each message is read once. A name matches a text only as whole words. Known terms are
*identifiers* (with a digit, a dot or an inner capital), *names* (never written in lower case in the conversation), and *rare*
words mentioned as something known ("the cheese project").
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from autogen_context.argument import require_kind, require_several, require_text, wrong_argument
from autogen_context.language.phrases import phrases
from autogen_context.language.query import END_CHARS, QueryKind, is_question, kind_of
from autogen_context.language.terms import stop_words
from autogen_context.messages.identifiers import is_distinctive, values_of
from autogen_context.messages.message import Message, joined_text
from autogen_context.messages.openai_chat import messages_in
from autogen_context.text.sentence import sentences_of
from autogen_context.text.work import NAME_CHARS, ends_of

RARE = 2  # a word is rare if at most so many messages contain it
SHORT_WORDS = 3  # a query of at most so many words is about what it names
NAME_WORDS = 3  # maximum words in a name
SCANNED_WORDS = 400  # words of a query scanned for names
LEAST_OPENINGS = 0.5  # minimum share of messages that open with a name, to take these as authors
JOINT = r"[./:@#'-]"  # within a word
WORD = re.compile(rf"\w+(?:{JOINT}\w+)*")
POSSESSIVE = ("'s", "\u2019s")
SPOKEN = re.compile(
    r"(?P<opens>(?:\A|(?<!\b[A-Z][a-z])\.|[\n!?:;\"\u201c(\[*#>|\u2022-])[ \t]{0,8})?(?P<word>[^\W\d_]\w{2,60}(?:['\u2019]\w{1,9})?)"
)
AUTHOR = re.compile(
    r"(?:\[[^\]\n]{1,60}\][ \t]*)?([^\W\d_][\w.'-]{0,30}(?: [\w.'-]{1,30}){0,2}):\s"
)
ADDRESS = re.compile(r"\b(?:you|your|yours|yourself|please)\b", re.IGNORECASE)
QUESTION_MARKS = ("?", "？")  # noqa: RUF001 - Chinese punctuation


Form = Literal["name", "said", "small", "capital"]
"""An identifier; a spoken word; one in lower case; one that is capitalized within a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallDecision:
    """The decision whether to retrieve, with its reason.

    Attributes:
        retrieve: search earlier exchanges.
        reason: the reason in words.
        kind: the kind of query.
        names: known names in the query that the visible messages do not contain.
    """

    retrieve: bool
    reason: str
    kind: QueryKind
    names: tuple[str, ...] = ()


class RecallGate:
    """Gate for retrieval: opens for queries about the past, summaries, and known names that are not visible.

    Args:
        known: names and identifiers of the whole conversation, which may grow. By default only the wording counts.

    Raises:
        ValueError: ``known`` is not a collection of names; a string is rejected since any part of it would match.
    """

    def __init__(self, known: Collection[str] = ()) -> None:
        require_kind("known", known, Collection, give="a set of names")
        if isinstance(known, str):
            raise wrong_argument("known", known, "a set of names")
        self._known = known

    def decide(self, query: str, in_sight: Iterable[object] = ()) -> RecallDecision:
        """Decide whether a query needs hidden messages.

        Args:
            query: the text of a user.
            in_sight: the messages visible to the model: in OpenAI's format, strings, or ``Message``.

        Raises:
            ValueError: ``query`` is not a string, or ``in_sight`` not a list.
            InvalidTranscript: an element of ``in_sight`` is not a message.
        """
        require_text("query", query)
        require_several("in_sight", in_sight, give="a list of messages")
        known = frozenset(map(str.lower, self._known))
        words = words_asked(query)
        runs = ((a, b) for a in range(len(words)) for b in range(a + 1, a + NAME_WORDS + 1))
        names = dict.fromkeys(" ".join(words[start:stop]) for start, stop in runs)
        named = [name for name in names if name in known]
        if named:
            seen = [Message(role="", text=m) if isinstance(m, str) else m for m in in_sight]
            named = out_of_sight(named, [*messages_in(seen)])
        return decided(query, named)


def out_of_sight(names: Iterable[str], in_sight: Sequence[Message]) -> list[str]:
    """Return the names in lower case that do not stand in these messages."""
    text = joined_text(in_sight).lower()
    words = {word.removesuffix("'s") for word in WORD.findall(text)}
    return [
        name
        for name in names
        if name not in words and (WORD.fullmatch(name) or not stands_in(text, name))
    ]


def decided(
    query: str, hidden: Sequence[str], people: Callable[[], Iterable[str]] = tuple
) -> RecallDecision:
    """Return the decision on a query that names what is ``hidden``; who speaks is asked only if needed."""
    kind, reason = kind_of(query)
    names = tuple(hidden)
    if kind != "casual":
        return RecallDecision(retrieve=True, reason=reason, kind=kind, names=names)
    if names:
        reason = f"names what is known and not in sight: {', '.join(names)}"
        return RecallDecision(retrieve=True, reason=reason, kind=kind, names=names)
    if about := asked_about(query, people):
        reason = f"asks about somebody who speaks here: {', '.join(about)}"
    return RecallDecision(retrieve=bool(about), reason=reason, kind=kind)


# ---- what a conversation names


class Known:
    """The identifiers and words of messages, by how many messages have them in which form."""

    def __init__(self) -> None:
        self._messages: Counter[tuple[Form, str]] = Counter()

    def add(self, message: Message, times: int = 1) -> None:
        """Count the terms of a message; ``times=-1`` removes a message added before."""
        values = values_of(joined_text([message]))
        found: set[tuple[Form, str]] = {("name", v.lower()) for v in values if is_distinctive(v)}
        spoken = message.text if message.role in ("user", "assistant") else ""
        for match in SPOKEN.finditer(ends_of(spoken, NAME_CHARS)):
            found.add(("said", lower(match)))
            if match["word"][0].islower():
                found.add(("small", lower(match)))
            elif is_inside(match):
                found.add(("capital", lower(match)))
        for each in found:
            self._messages[each] += times
            if not self._messages[each]:
                del self._messages[each]

    def named(self, query: str) -> list[str]:
        """Return the known terms that a query names or asks about, each once, in lower case."""
        found = [word for word in words_asked(query) if ("name", word) in self._messages]
        for sentence in sentences_of(ends_of(query, END_CHARS)):
            found += self._spoken_of(sentence)
        return list(dict.fromkeys(found))

    def _spoken_of(self, sentence: str) -> list[str]:
        messages, words = self._messages, list(SPOKEN.finditer(sentence))
        known = [match for match in words if messages["said", lower(match)]]
        if not known:
            return []
        marks = phrases("gate").find(sentence)
        asks = is_question(sentence) or any(each.label == "about" for each in marks)
        size = len(sentence.split())
        strange = any(is_inside(match) for match in words if match not in known)
        found: list[str] = []
        for match in known:
            word, start = lower(match), match.start("word")
            common = (each for each in marks if each.label == "common")
            if word in stop_words() or any(each.start <= start < each.stop for each in common):
                continue
            is_rare, is_asked = messages["said", word] <= RARE, asks or size <= SHORT_WORDS
            is_name = is_inside(match) or messages["capital", word] > 0
            if is_name and not messages["small", word]:
                found += [word] if is_asked or is_rare else []
            elif is_asked and is_rare and not strange:
                # A rare word counts if it is alone, a possessive name, or follows "the" or "about".
                stops = [each.stop for each in marks if each.label in ("about", "definite")]
                before = max((stop for stop in stops if stop <= start), default=None)
                near = before is not None and len(sentence[before:start].split()) < NAME_WORDS
                owns = match["word"][0].isupper() and match["word"].endswith(POSSESSIVE)
                found += [word] if size == 1 or near or owns else []
        return found


def is_inside(spoken: re.Match[str]) -> bool:
    """Return True if a word is capitalized but does not begin a sentence."""
    return spoken["opens"] is None and spoken["word"][0].isupper()


def lower(spoken: re.Match[str]) -> str:
    """Return a word in lower case, without a possessive 's."""
    return spoken["word"].lower().replace("\u2019", "'").removesuffix("'s")


def words_asked(query: str) -> list[str]:
    """Return the first words of a query in lower case, in order, to match names."""
    found = islice(WORD.finditer(query), SCANNED_WORDS)
    return [match.group().lower().removesuffix("'s") for match in found]


def stands_in(text: str, name: str) -> bool:
    """Return True if a lower-case text contains a name as whole, adjacent words."""
    words = r"(?:'s)?\W+".join(map(re.escape, name.split()))
    return re.search(rf"(?<!\w)(?<!\w{JOINT}){words}(?:'s)?(?!\w|{JOINT}\w)", text) is not None


# ---- authors


def author_of(message: Message) -> str:
    """Return the name that a message opens with (``Ann: …`` or ``[3 May] Ann: …``); empty if there is none."""
    opening = AUTHOR.match(message.text)
    return opening.group(1) if opening else ""


def authors_of(messages: Sequence[Message]) -> list[str]:
    """Return the author of each message: its name, else its opening name if half of all messages have one, else empty."""
    openings = list(map(author_of, messages))
    is_usual = sum(map(bool, openings)) >= LEAST_OPENINGS * len(messages)
    return [
        m.name or (each if is_usual else "") for m, each in zip(messages, openings, strict=True)
    ]


def asked_about(query: str, authors: Callable[[], Iterable[str]]) -> list[str]:
    """Return the authors named in a question that addresses nobody ("you", "please"), sorted.

    Ignores lower-case names (``user``, ``coder``), which are roles; names beside a comma, which are addressed; and the name
    that opens the query (``Ann: …``), who is asking. ``authors`` is called only if there is such a question.
    """
    if not any(mark in query for mark in QUESTION_MARKS):
        return []
    own = AUTHOR.match(query)
    questions = [
        sentence
        for sentence in sentences_of(ends_of(query[own.end() :] if own else query, END_CHARS))
        if sentence.rstrip().endswith(QUESTION_MARKS) and not ADDRESS.search(sentence)
    ]
    if not questions:
        return []
    return [
        author
        for author in sorted({author for author in authors() if author and not author[0].islower()})
        if any(re.search(rf"(?<![\w@])(?<!, ){re.escape(author)}(?![\w,])", q) for q in questions)
    ]
