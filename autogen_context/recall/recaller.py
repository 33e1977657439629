"""Look back in a conversation for what its newest message asks for.

Promise: nothing is read twice, nothing is read before somebody asks, and what comes back is whole or marked.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from autogen_context.pipeline.blocks.values import is_telling, values_of
from autogen_context.pipeline.message import Message, joined_text
from autogen_context.pipeline.prefix import same_at_front
from autogen_context.pipeline.relevance.authors import authors_of
from autogen_context.pipeline.relevance.lexical import LexicalIndex
from autogen_context.pipeline.relevance.recollection import recollected
from autogen_context.pipeline.shorten import CountText
from autogen_context.recall.exchange import exchanges
from autogen_context.recall.gate import RecallDecision, RecallGate
from autogen_context.recall.search import rendered, retrieve

Cosines = Callable[[str, Sequence[str]], Sequence[float | None]]
"""The cosine of each text's vector with that of a query; None where there is none (yet), nothing where there are none."""
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
        self._messages: list[Message] = []
        self._texts: list[str] = []
        self._names: Counter[str] = Counter()  # in how many messages each stands
        self._seen: list[Message] = []
        self._seen_text = ""
        self._gate = RecallGate(self._names)

    def follow(self, messages: Sequence[Message]) -> None:
        """Read what is new in a conversation, and forget what is no longer in it."""
        same = same_at_front(self._messages, messages)
        self._index.truncate(same)
        for text in self._texts[same:]:
            self._names.subtract(names_of(text))
            for name in names_of(text):
                if not self._names[name]:
                    del self._names[name]
        del self._messages[same:], self._texts[same:]
        for message in messages[same:]:
            text = joined_text([message])
            self._messages.append(message)
            self._texts.append(text)
            self._index.add(text)
            self._names.update(names_of(text))

    def decide(self, query: str, in_sight: Sequence[Message]) -> RecallDecision:
        """Whether what a person says asks for what is out of sight, or about those who speak in it."""
        return self._gate.judge(query, map(self._read, [in_sight]), speakers(in_sight))

    def _read(self, in_sight: Sequence[Message]) -> str:
        """What stands in messages in sight, in lower case; what stood there before is not read again."""
        if same_at_front(self._seen, in_sight) < len(self._seen):
            self._seen, self._seen_text = [], ""
        new = in_sight[len(self._seen) :]
        self._seen += new
        self._seen_text += "\n" + joined_text(new).lower()
        return self._seen_text

    def scores(self, query: str) -> list[float]:
        """What each message that was read has to do with a query, in 0..1."""
        return recollected(
            self._index,
            query,
            authors=authors_of(self._messages),
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
        out_of_sight = [
            exchange
            for exchange in exchanges(self._messages)
            if any(position in hidden for position in range(exchange.start, exchange.stop))
        ]
        scores = self.scores(query)
        return rendered(retrieve(out_of_sight, scores, room_tokens=room_tokens, count=count))


def speakers(messages: Sequence[Message]) -> Iterator[str]:
    """Who spoke last, where messages tell; they are read when the first name is asked for."""
    yield from authors_of(messages[-LATEST_MESSAGES:])


def names_of(text: str) -> set[str]:
    """What a text names that one can ask for, in lower case."""
    return {value.lower() for value in values_of(text) if is_telling(value)}
