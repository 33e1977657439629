"""Look back in a conversation for what its newest message asks for.

Promise: nothing is read twice, nothing is read before somebody asks, and what comes back is whole or marked. Vectors are
embedded ahead of the turn that needs them, where there is a model. What somebody said otherwise since does not come back alone.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache

from autogen_context.compressor.shorten import CountText
from autogen_context.errors import EmbeddingFailed
from autogen_context.ledger import Ledger
from autogen_context.messages.message import Message, joined_text
from autogen_context.messages.piece import same_at_front, still_there
from autogen_context.models.embedder import WarmVectors
from autogen_context.models.similarity import similarities
from autogen_context.prioritizer.recollection import authors_by, authors_of, opening_of, recollected
from autogen_context.prioritizer.relevance import LexicalIndex
from autogen_context.recall.exchanges import Exchange, Exchanges, is_of_a_person
from autogen_context.recall.gate import RecallDecision, decided
from autogen_context.recall.known import Known, Sight
from autogen_context.recall.search import rendered, retrieve, searched_in

logger = logging.getLogger(__name__)

Cosines = Callable[[str, Sequence[str]], Sequence[float | None]]
"""The cosine of each text's vector with that of a query; None where there is none (yet), nothing where there are none."""
Seen = Callable[[], list[Message]]
"""The messages in sight, for who needs them."""
MOST_LATER = 12  # messages that are looked at for what replaces a statement
LATEST_MESSAGES = 100  # all who take part are expected to speak among them


def no_cosines(_query: str, _texts: Sequence[str]) -> Sequence[float | None]:
    """Words alone count."""
    return ()


class Recaller:
    """What one conversation has to say on a question.

    Args:
        cosines: how near texts are to a query by meaning; left out, words alone count.
    """

    def __init__(self, cosines: Cosines = no_cosines) -> None:
        self._cosines = cosines
        self._index = LexicalIndex()
        self._exchanges = Exchanges()
        self._messages: list[Message] = []
        self._texts: list[str] = []
        self._openings: list[str] = []  # names that messages open with
        self._known = Known()
        self._sight = Sight()

    def follow(self, messages: Sequence[Message]) -> None:
        """Read what is new in a conversation, and forget what is no longer in it."""
        same = still_there(self._messages, messages)
        self._index.truncate(min(same, len(self._index)))
        self._exchanges.truncate(same)
        for message, text in zip(self._messages[same:], self._texts[same:], strict=True):
            self._known.remove(message, text)
        del self._messages[same:], self._texts[same:], self._openings[same:]
        for message in messages[same:]:
            self._read(message)

    def _read(self, message: Message) -> None:
        text = joined_text([message])
        self._messages.append(message)
        self._texts.append(text)
        self._openings.append(opening_of(message))
        self._known.add(message, text)

    def decide(self, query: str, in_sight: Iterable[Message]) -> RecallDecision:
        """Whether what a person says asks for what is out of sight, or about those who speak in it.

        Args:
            query: what a person says.
            in_sight: what the model sees anyway; looked at only where the query needs it.
        """
        seen = cache(lambda: list(in_sight))
        return decided(query, self._out_of_sight(query, seen), speakers(seen))

    def judge(self, query: str, spoken: Iterable[Message]) -> RecallDecision:
        """The same by wording and by who spoke, whatever was read and is in sight."""
        return decided(query, (), speakers(lambda: list(spoken)))

    def _out_of_sight(self, query: str, seen: Seen) -> list[str]:
        """What a query names that was told, and is not in sight."""
        named = self._known.named(query)
        if named:
            self._sight.follow(seen())
        return [name for name in named if name not in self._sight]

    def scores(self, query: str) -> list[float]:
        """What each message that was read has to do with a query, in 0..1."""
        for text in self._texts[len(self._index) :]:  # most questions do not come this far
            self._index.add(text)
        return recollected(
            self._index,
            query,
            authors=authors_by(self._messages, self._openings),
            cosines=self._cosines(query, self._texts),
        )

    def text(
        self, query: str, hidden: Collection[int], *, room_tokens: int, count: CountText
    ) -> str:
        """The exchanges out of sight that a query asks for, as one text; empty where there are none.

        Args:
            query: what a person asks.
            hidden: positions of messages that are not in sight as they were said.
            room_tokens: what the text may have, in tokens.
            count: tokens of a text.
        """
        unseen = frozenset(hidden)
        exchanges = self._exchanges.of(self._messages)
        out_of_sight = [
            exchange
            for exchange in exchanges
            if exchange.messages and not unseen.isdisjoint(range(exchange.start, exchange.stop))
        ]
        scores = self.scores(query)
        found = retrieve(out_of_sight, scores, room_tokens=room_tokens, count=count)
        chosen = {exchange.start for exchange in found}
        newer = {e.start: at for e in exchanges if e.start in chosen for at in self._newer(e)}
        if newer:  # what replaces it comes along, and has room first
            said = set(newer.values())
            scores = [1.0 if at in said else score for at, score in enumerate(scores)]
            wanted = [
                e for e in exchanges if e.start in chosen or said.intersection(searched_in(e))
            ]
            found = retrieve(
                wanted, scores, room_tokens=room_tokens, count=count, top_k=len(wanted), floor=0
            )
            there = {at for exchange in found for at in searched_in(exchange)}
            found = [e for e in found if newer.get(e.start, e.start) in there]
        return rendered(found)

    def _newer(self, exchange: Exchange) -> list[int]:
        """Positions of the messages in which a person later replaced or withdrew what was stated in an exchange."""
        ledger = Ledger()
        stated = ledger.learn(exchange.asked, start=exchange.start)
        if not stated:
            return []
        later = [
            at
            for at in range(exchange.stop, len(self._messages))
            if is_of_a_person(self._messages[at])
        ]
        alike = self._index.scores(joined_text(exchange.asked))
        found: list[int] = []
        for at in sorted(sorted(later, key=lambda at: -alike[at])[:MOST_LATER]):
            holding = set(ledger)
            ledger.learn([self._messages[at]], start=at)
            if not holding.intersection(stated).issubset(ledger):
                found.append(at)
                stated = [
                    each
                    for each in ledger
                    if each.position in (at, *range(exchange.start, exchange.stop))
                ]
        return found[-1:]


class Prefetch:
    """Has the vectors of one conversation at hand before a turn asks for them.

    What was said before is embedded in the background, each message once; a question is waited for within a time limit; and
    a model that fails or is slow changes nothing but that words alone count.

    Args:
        vectors: keeps them at hand.
    """

    def __init__(self, vectors: WarmVectors) -> None:
        self._vectors = vectors
        self._warmed: list[Message] = []

    async def embed(self, messages: Sequence[Message], *, timeout_s: float) -> None:
        """Embed the newest message if a person asks in it, and have the others embedded.

        Args:
            messages: the whole conversation.
            timeout_s: how long this may take, in seconds.
        """
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


def speakers(seen: Seen) -> Iterator[str]:
    """Who spoke last, where messages tell; they are looked at when the first name is asked for."""
    yield from authors_of(seen()[-LATEST_MESSAGES:])
