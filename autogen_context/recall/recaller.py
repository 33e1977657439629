"""Look back in a conversation for what its newest message asks for.

Promise: nothing is read twice, nothing is read before somebody asks, and what comes back is whole or marked. An answer
stands near what it answers, so messages are judged with their neighbours; who is asked about is heard first. What somebody
said otherwise since does not come back alone. Vectors are embedded ahead of the turn that needs them, where there is a model.
"""

import asyncio
import logging
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

from autogen_context.compressor.shorten import CountText
from autogen_context.errors import EmbeddingFailed
from autogen_context.ledger import Ledger
from autogen_context.messages.message import Message, joined_text
from autogen_context.messages.piece import same_at_front
from autogen_context.models.embedder import WarmVectors
from autogen_context.models.similarity import similarities
from autogen_context.prioritizer.attention import LexicalIndex, fused, means_around, relatedness
from autogen_context.recall.exchanges import (
    FLOOR,
    TOP_K,
    Exchange,
    begins,
    best_first,
    exchange,
    is_of_a_person,
    rendered,
    retrieve,
)
from autogen_context.recall.gate import (
    LEAST_OPENINGS,
    Known,
    RecallDecision,
    author_of,
    authors_of,
    decided,
    stands_in,
)

logger = logging.getLogger(__name__)

Cosines = Callable[[str, Sequence[str]], Sequence[float | None]]
"""The cosine of each text's vector with that of a query; None where there is none (yet), nothing where there are none."""
OTHERS_FRACTION = 0.5  # of its score, for what somebody else said than who is asked about
MOST_LATER = 8  # messages that are looked at for what replaces a statement
LATEST_MESSAGES = 100  # all who take part are expected to speak among them


class Recaller:
    """What one conversation has to say on a question; ``cosines`` says how near texts are to a query by meaning."""

    def __init__(self, cosines: Cosines | None = None) -> None:
        self._cosines = cosines
        self._index = LexicalIndex()
        self._messages: list[Message] = []
        self._starts: list[int] = []  # of exchanges
        self._names: Counter[str] = Counter()  # that messages have
        self._openings: Counter[str] = Counter()  # names that messages open with
        self._known = Known()

    def follow(self, messages: Sequence[Message]) -> None:
        """Read what is new in a conversation, and forget what is no longer in it."""
        known = self._messages  # most often all of it is there still
        same = len(known) if messages[: len(known)] == known else same_at_front(known, messages)
        self._index.truncate(min(same, len(self._index)))
        while self._starts and self._starts[-1] >= same:
            self._starts.pop()
        gone = self._messages[same:]
        del self._messages[same:]
        for message in messages[same:]:
            self._messages.append(message)
            if begins(self._messages, len(self._messages) - 1, self._starts):
                self._starts.append(len(self._messages) - 1)
        for times, changed in ((-1, gone), (1, messages[same:])):
            for message in changed:
                self._known.add(message, times)
                self._names[message.name] += times
                self._openings[author_of(message)] += times

    def decide(self, query: str, in_sight: Iterable[Message]) -> RecallDecision:
        """Whether what a person says asks for what is out of sight, or about who speaks; ``in_sight`` is read only if needed."""
        seen = cache(lambda: list(in_sight))
        named = self._known.named(query)
        if named:
            text = joined_text(seen()).lower()
            named = [name for name in named if not stands_in(text, name)]

        def speakers() -> Iterator[str]:
            yield from authors_of(seen()[-LATEST_MESSAGES:])

        return decided(query, named, speakers())

    def judge(self, query: str, spoken: Sequence[Message]) -> RecallDecision:
        """The same by wording and by who spoke, whatever was read and is in sight."""
        return decided(query, (), authors_of(spoken[-LATEST_MESSAGES:]))

    def scores(self, query: str) -> dict[int, float]:
        """What messages that were read have to do with a query, by position, 0..1; those that are not in it have nothing.

        Take messages whole, best first, until the room is full: docs/decisions/0007-relevance.md.
        """
        for message in self._messages[len(self._index) :]:  # most questions do not come this far
            self._index.add(joined_text([message]))
        scores, total = self._index.scores_nearby(query), len(self._messages)
        if self._cosines is not None:
            texts = [joined_text([message]) for message in self._messages]
            if cosines := self._cosines(query, texts):
                own = self._index.scores(query)
                meant = [
                    own.get(at, 0.0) if near is None else relatedness(near)
                    for at, near in enumerate(cosines)
                ]
                by_words = [scores.get(at, 0.0) for at in range(total)]
                scores = dict(enumerate(fused(by_words, means_around(meant))))
        told = total - self._openings[""] >= LEAST_OPENINGS * total
        authors = self._names | self._openings if told else self._names
        named = {
            author
            for author, times in authors.items()
            if author and times
            if re.search(rf"(?<!\w){re.escape(author)}(?!\w)", query, re.IGNORECASE)
        }
        for at in scores if named else ():
            message = self._messages[at]
            if (message.name or (author_of(message) if told else "")) not in named:
                scores[at] *= OTHERS_FRACTION
        return scores

    def text(
        self, query: str, hidden: Container[int], *, room_tokens: int, count: CountText
    ) -> str:
        """The exchanges with hidden messages that a query asks for, as one text that fits; empty where there are none."""
        scores = self.scores(query)
        matching = self._holding(at for at, score in scores.items() if score >= FLOOR)
        out_of_sight = (
            each
            for each in best_first(matching, scores)
            if each.messages and any(at in hidden for at in range(each.start, each.stop))
        )
        best = list(islice(out_of_sight, TOP_K))
        found = retrieve(best, scores, room_tokens=room_tokens, count=count)
        newer = self._newer(self._holding(each.start for each in found))
        if newer:  # what replaces it comes along, and has room first
            scores |= dict.fromkeys(newer.values(), 1.0)
            wanted = self._holding([*newer.values(), *(each.start for each in found)])
            found = retrieve(
                wanted, scores, room_tokens=room_tokens, count=count, top_k=len(wanted), floor=0
            )
            there = {at for each in found for at in each.searched}
            found = [each for each in found if newer.get(each.start, each.start) in there]
        return rendered(found)

    def _holding(self, positions: Iterable[int]) -> list[Exchange]:
        """The exchanges that hold these messages, oldest first."""
        starts, found = self._starts, list[Exchange]()
        for n in sorted({bisect_right(self._starts, at) for at in positions} - {0}):
            stop = starts[n] if n < len(starts) else len(self._messages)
            found.append(exchange(self._messages, starts[n - 1], stop))
        return found

    def _newer(self, found: Sequence[Exchange]) -> dict[int, int]:
        """Of exchanges, by their start, in which something was stated that changed since: where that was stated last."""
        stating: dict[
            int, set[int]
        ] = {}  # for a message, whose statements it states or states otherwise
        alike: dict[int, float] = {}
        for each in found:
            stating |= {at: {each.start} for at in each.searched if each.asked}
            for at, score in self._index.scores(joined_text(each.asked)).items():
                if at >= each.stop and is_of_a_person(self._messages[at]):
                    alike[at] = max(score, alike.get(at, 0.0))
        later = sorted(alike, key=lambda at: (-alike[at], -at))[:MOST_LATER]
        ledger, newer = Ledger(), dict[int, int]()
        for at in sorted({*stating, *later}):
            before = set(ledger)
            ledger.learn([self._messages[at]], start=at)
            for gone in before.difference(ledger):
                changed = stating.get(gone.position, set[int]())
                stating[at] = stating.get(at, set[int]()) | changed
                newer |= dict.fromkeys(changed, at)
        return newer


class Prefetch:
    """Has the vectors of one conversation at hand before a turn asks for them; without a vector words count."""

    def __init__(self, vectors: WarmVectors) -> None:
        self._vectors = vectors
        self._warmed: list[Message] = []

    async def embed(self, messages: Sequence[Message], *, timeout_s: float) -> None:
        """Embed the newest message if a person asks in it, within a time limit, and have the others embedded."""
        new = messages[same_at_front(self._warmed, messages) :]
        self._warmed = list(messages)
        self._vectors.warm(text for message in new if (text := joined_text([message])))
        newest = messages[-1] if messages else None
        if newest is None or not newest.text or not is_of_a_person(newest):
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self._vectors.vectors([newest.text])
        except (EmbeddingFailed, TimeoutError) as error:
            logger.warning("a question was not embedded", extra={"error": type(error).__name__})

    def cosines(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """The cosine of each text with a query, None where a text has no vector yet; nothing where the query has none."""
        wanted = self._vectors.ready(query)
        if wanted is None:
            return ()
        ready = {i: v for i, text in enumerate(texts) if (v := self._vectors.ready(text))}
        found = dict(zip(ready, similarities(wanted, list(ready.values())), strict=True))
        return [found.get(i) for i in range(len(texts))]
