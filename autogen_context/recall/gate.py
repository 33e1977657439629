"""Decide whether a query needs earlier parts of the conversation: by its wording, and by what of it is known out of sight.

Promise: no model is called. Wording is read by ``language/query.py``; where there is an index of the conversation, what this
holds out of sight and not in sight is weighed with it (``evidence.py``). A known name matches a text only as whole words.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from autogen_context.argument import require_kind, require_several, require_text, wrong_argument
from autogen_context.language.query import END_CHARS, QueryKind, wording_of
from autogen_context.messages.message import Message, joined_text
from autogen_context.messages.openai_chat import messages_in
from autogen_context.recall.evidence import Evidence, looks_back
from autogen_context.text.sentence import sentences_of
from autogen_context.text.work import ends_of

NAMED = 5  # hidden words in a reason
NAME_WORDS = 3  # maximum words in a name
SCANNED_WORDS = 400  # words of a query scanned for names
LEAST_OPENINGS = 0.5  # minimum share of messages that open with a name, to take these as authors
JOINT = r"[./:@#'-]"  # within a word
WORD = re.compile(rf"\w+(?:{JOINT}\w+)*")
AUTHOR = re.compile(
    r"(?:\[[^\]\n]{1,60}\][ \t]*)?([^\W\d_][\w.'-]{0,30}(?: [\w.'-]{1,30}){0,2}):\s"
)
ADDRESS = re.compile(r"\b(?:you|your|yours|yourself|please)\b", re.IGNORECASE)
QUESTION_MARKS = ("?", "？")  # noqa: RUF001 - Chinese punctuation


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallDecision:
    """The decision whether to retrieve, with its reason.

    Attributes:
        retrieve: search earlier exchanges.
        reason: the reason in words.
        kind: the kind of query.
        names: known names and words of the query that only messages out of sight have.
    """

    retrieve: bool
    reason: str
    kind: QueryKind
    names: tuple[str, ...] = ()


class RecallGate:
    """Gate for retrieval: opens for queries about the past, summaries, and known names that are not visible.

    A manager weighs the wording of a query with what its index holds out of sight as well.

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
    query: str,
    hidden: Sequence[str] = (),
    people: Callable[[], Iterable[str]] = tuple,
    evidence: Evidence | None = None,
) -> RecallDecision:
    """Return the decision on a query that names what is ``hidden``.

    Args:
        query: the text of a user.
        hidden: known names that are not in sight.
        people: who speaks in the conversation; asked only if nothing else opens the gate.
        evidence: what an index holds of the query; without it the wording decides.
    """
    wording, names = wording_of(query), tuple(hidden)
    kind, reason = wording.kind, wording.reason
    is_open = kind != "casual" or bool(names)
    if evidence is not None and kind != "summary":
        is_open = bool(evidence.identifiers) or looks_back(wording, evidence)
        names = evidence.hidden[:NAMED] if is_open else ()
    if is_open and (kind == "casual" or hidden):
        reason = "asks for what was said before"
        reason = f"names what is known and not in sight: {', '.join(names)}" if names else reason
    elif not is_open and (about := asked_about(query, people)):
        is_open, reason = True, f"asks about somebody who speaks here: {', '.join(about)}"
    elif not is_open and kind != "casual":
        reason = f"{reason}, but what it names is in sight or unknown"
    return RecallDecision(retrieve=is_open, reason=reason, kind=kind, names=names)


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
