"""The tools whose schemas are deferred, and the search among them: what ``find_tools`` answers from.

Promise: the same tools and the same query give the same answer. The exact name of a tool finds it; a query that finds nothing
names what there is, as far as there is room. What one answer finds has its room as well, but for the first tool.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import chain
from re import split

from autogen_context.messages.find_tools import (
    ALL_THERE,
    FIND_DESCRIPTION,
    FOUND_OPENING,
    NAME,
    found_line,
    name_of,
    words_of,
)
from autogen_context.prioritizer.attention import LexicalIndex
from autogen_context.text.fit import CountText
from autogen_context.text.quote import bracketed, quoted
from autogen_context.text.work import QUERY_CHARS, ends_of

MOST_FOUND = 5  # by words, in one answer; names find as many as there is room for
LEAST_FOUND = 2  # by the words of each part of a query
LEAST_SCORE_FRACTION = 0.7  # of the best score: what is much worse is named, not loaded
NAMES_TOKENS = 400  # the most for the names in an answer that finds nothing
MORE_TOKENS = 100  # the same beside tools that were found
SHOWN_CHARS = 60  # of a query

Schema = Mapping[str, object]


class ToolCatalogue:
    """Tools that can be deferred, by name.

    Args:
        schemas: of the tools, each with a name of its own, in the host's order.
        tokens: of each schema.
        count: tokens of a text.
        room_tokens: the most that the schemas found by one answer have, but for the first.
    """

    def __init__(
        self,
        schemas: Sequence[Schema],
        tokens: Sequence[int],
        *,
        count: CountText,
        room_tokens: int,
    ) -> None:
        self._schemas = {name_of(schema): schema for schema in schemas}
        self.tokens = dict(zip(self._schemas, tokens, strict=True))
        self._count, self._room = count, room_tokens

    @cached_property
    def _index(self) -> LexicalIndex:
        index = LexicalIndex()
        for schema in self._schemas.values():
            index.add("\n".join(words_of(schema)))
        return index

    @cached_property
    def _by_lower(self) -> Mapping[str, str]:
        return {name.casefold(): name for name in reversed(self._schemas)}

    def described(self, room_tokens: int) -> str:
        """Return the description of ``find_tools``, with the names of all tools as far as there is room."""
        room = room_tokens - self._count(FIND_DESCRIPTION)
        names = listing([*self._schemas], lambda text: self._count(text) <= room)
        return f"{FIND_DESCRIPTION} There are: {names}" if names else FIND_DESCRIPTION

    def named_in(self, text: str) -> list[str]:
        """Return the tools that a text names, in the order in which it does."""
        words = (word.strip(".:/-") for word in NAME.findall(text))
        return [*dict.fromkeys(word for word in words if word in self._schemas)]

    def answer(self, query: str, sent: Collection[str]) -> str:
        """Return the answer to a query; ``sent`` are the tools that are in the request already."""
        wanted, matching = self._wanted(query)
        found = self._fitting([name for name in wanted if name not in sent])
        there = [name for name in wanted if name in sent]
        more = [n for n in (*wanted, *matching) if n not in found and n not in sent]
        if not (found or there or more):
            return self._nothing(query, sent)
        lines = [FOUND_OPENING, *(found_line(self._schemas[name]) for name in found)]
        parts = ["\n".join(lines)] if found else []
        parts += [f"[Can be called already: {', '.join(there)}]"] if there else []
        room = MORE_TOKENS if found else NAMES_TOKENS
        names = listing([*dict.fromkeys(more)], lambda text: self._count(text) <= room)
        parts += [f"[More that match, to be asked for by name: {names}]"] if names else []
        return "\n".join(parts)

    def _wanted(self, query: str) -> tuple[list[str], list[str]]:
        """Return the tools that a query asks for, by name before by words, and all that match one of its parts."""
        parts = [part for part in split(r"[,;\n]+", ends_of(query, QUERY_CHARS)) if part.strip()]
        near, matching = list[str](), list[str]()
        asked = [self._asked(part) for part in parts]
        most = max(LEAST_FOUND, MOST_FOUND // max(1, asked.count([])))
        for part, names in zip(parts, asked, strict=True):
            scores = {} if names else self._scores(part)
            least = LEAST_SCORE_FRACTION * max(scores.values(), default=0.0)
            near += [name for name in scores if scores[name] >= least][:most]
            matching += scores
        return [*dict.fromkeys([*chain.from_iterable(asked), *near])], [*dict.fromkeys(matching)]

    def _asked(self, part: str) -> list[str]:
        """Return the tools that a part of a query asks for by name; of several words a plain one is no name."""
        words = part.split()
        if part.strip() in self._schemas:
            return [part.strip()]
        several = len(words) > 1
        found: list[str] = []
        for word in (word.strip("\"'`()[]{}.!?") for word in words):
            exact = word if word in self._schemas else self._by_lower.get(word.casefold(), "")
            found += [exact] if exact and not (several and exact.isalpha()) else []
        return [*dict.fromkeys(found)]

    def _scores(self, query: str) -> dict[str, float]:
        """Return the scores of the tools that have words of a query, best first."""
        names, scores = [*self._schemas], self._index.scores(query)
        return {names[at]: scores[at] for at in sorted(scores, key=lambda at: (-scores[at], at))}

    def _fitting(self, names: Sequence[str]) -> list[str]:
        """Return of these tools the first and what fits with it."""
        found, left = list[str](), self._room
        for name in names:
            if found and self.tokens[name] > left:
                continue
            found.append(name)
            left -= self.tokens[name]
        return found

    def _nothing(self, query: str, sent: Collection[str]) -> str:
        """Return the answer where nothing matches: what there is."""
        left = [name for name in self._schemas if name not in sent]
        if not left:
            return ALL_THERE
        asked = quoted(bracketed(query), most_chars=SHOWN_CHARS)
        start = f"No tool has words of {asked}." if query.strip() else "Say what you want to do."
        return f"{start} Ask by other words or by name; there are: {listing(left, self._is_short)}"

    def _is_short(self, text: str) -> bool:
        return self._count(text) <= NAMES_TOKENS


def listing(names: Sequence[str], fits: Callable[[str], bool]) -> str:
    """Return names as far as they fit: all, else how many begin alike; empty if nothing fits."""
    whole = ", ".join(names)
    if not names or fits(whole):
        return whole
    groups = Counter(split(r"(?<=[^_.:/-])[_.:/-]", name, maxsplit=1)[0] for name in names)
    parts = [f"{start}… ({many})" for start, many in groups.most_common()]
    low, high = 0, len(parts)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(cut(parts, middle)) else (low, middle - 1)
    return cut(parts, low) if low else ""


def cut(parts: Sequence[str], most: int) -> str:
    """Return the first of these parts, and how many more there are."""
    more = f", and {len(parts) - most} more" if len(parts) > most else ""
    return ", ".join(parts[:most]) + more
