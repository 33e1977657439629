"""The scripted model of a chat without an API key: it answers with the sentences of its request that best match the question.

Promise: an answer only quotes the request and cites its entries; the same request gets the same answer.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autogen_context.chat.knowledge import CITED, FACTS
from autogen_context.documents.index import shown_ends
from autogen_context.documents.provider import ENTRY
from autogen_context.manager.injected import CLOSING, OPENING
from autogen_context.prioritizer.attention import relevances
from autogen_context.testing.script import Request, Say
from autogen_context.testing.usage import approximate_tokens
from autogen_context.text.sentence import sentences_of
from autogen_context.tokens.measure import Count

SCRIPTED = "scripted"
NOTHING_KNOWN = "No entry that I was given answers that."
LEAST_RELEVANCE = 0.1  # score of an entry that answers
ALIKE = 0.95  # of the best score; other entries above it are quoted too
INJECTED = re.compile(
    rf"^{re.escape(OPENING)}\n(.*?)^{re.escape(CLOSING)}$\n*", re.MULTILINE | re.DOTALL
)
HEAD = re.compile(re.escape(ENTRY).replace(r"\{source\}", "(.*?)"))


class SourceSentence(NamedTuple):
    """A sentence of a request, with the source (empty for a fact) and title of its entry."""

    source: str
    title: str
    text: str


class ApproximateCounter:
    """A token counter that matches what the scripted model bills."""

    def count(self, text: str, /) -> Count:
        """Return the billed tokens of a text."""
        return Count(tokens=approximate_tokens(text), source="provider")


def answer(request: Request) -> Say:
    """Return the answer to a request."""
    texts = [str(each.get("content") or "") for each in request.messages if each["role"] == "user"]
    question = shown_ends(INJECTED.sub("", texts[-1])) if texts else ""
    newest: dict[str, list[SourceSentence]] = {}  # a changed entry appears again after its old text
    for text in texts:
        found = list(passages_in(text))
        newest |= {source: [p for p in found if p.source == source] for source, *_ in found}
    passages = [each for several in newest.values() for each in several]
    scores = relevances(question, [f"{each.title} {each.text}" for each in passages])
    best = max(scores, default=0.0)
    if best < LEAST_RELEVANCE:
        return Say(NOTHING_KNOWN)
    chosen: dict[str, SourceSentence] = {}  # one sentence per entry, and each matching fact
    for at in sorted(range(len(passages)), key=lambda at: -scores[at]):
        if scores[at] >= ALIKE * best:
            chosen.setdefault(passages[at].source or passages[at].text, passages[at])
    named: list[str] = []  # sources in the newest citing answer, for follow-up questions
    for each in request.messages:
        if each["role"] == "assistant":
            named = CITED.findall(str(each.get("content"))) or named
    meant = [each for source, each in chosen.items() if source in named]
    return Say("\n".join(spoken(each) for each in meant or chosen.values()))


def spoken(passage: SourceSentence) -> str:
    """Return a passage as a line of the answer, with its source."""
    return f"{passage.text} [{passage.source}]" if passage.source else f"You said: {passage.text}"


def passages_in(text: str) -> Iterator[SourceSentence]:
    """Yield the passages of the injected blocks in a message."""
    for block in INJECTED.findall(text):
        head, quoted = "", list[str]()
        for line in [*block.splitlines(), ""]:
            if line.startswith("> ") or line == ">":
                quoted.append(line[2:])
            else:
                yield from passages_of(head, quoted)
                head, quoted = line, []


def passages_of(head: str, quoted: Sequence[str]) -> Iterator[SourceSentence]:
    """Yield the sentences of an entry, or the user's facts."""
    entry = HEAD.fullmatch(head)
    if entry and quoted:
        body = [each.strip() for each in sentences_of("\n".join(quoted[1:])) if each.strip()]
        yield from (SourceSentence(entry[1], quoted[0], each) for each in body or quoted[:1])
    elif head == FACTS:
        yield from (SourceSentence("", "", each) for each in quoted)
