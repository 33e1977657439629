"""Which tools a request has, where their schemas would take too much of the window.

Promise: beyond ``tools_fraction`` of the window schemas are deferred behind ``find_tools``, and without that tool none is. Tools
that were called, found or demanded are appended in this order and stay, until they exceed the fraction or a compaction has no room
for them: then what was used last stays. What is sent and what is deferred are together what the host gave. The names of what is sent are of the view; everything here can be made again from the host's tools.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from autogen_context.messages.find_tools import (
    ALL_THERE,
    FIND_TOOLS_NAME,
    described,
    found_in,
    is_find_tool,
    name_of,
)
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.messages.segment import Unit, pair
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.recall.tool_catalogue import Schema, ToolCatalogue
from autogen_context.tokens.message_counter import MessageCounter, schema_texts
from autogen_context.view.decision import Candidate

LEAST_DEFERRED = 10  # tools; of fewer an agent uses most, so that a search would only cost
NAMED_FRACTION = 0.5  # of the room for tools, for those that prompt and first request name
NAMES_FRACTION = 0.25  # of the room for tools, for the description of ``find_tools``
LOOK_BACK_UNITS = 400  # in which the last use of a tool is looked for
OURS = frozenset({RECALL_TOOL_NAME, FIND_TOOLS_NAME})

Loaded = tuple[str, ...]


class GivenTools(NamedTuple):
    """The tools of a host's request, and the names of those that it must have, such as that of a tool choice."""

    schemas: Sequence[Schema] = ()
    required: tuple[str, ...] = ()


class OfferedTools:
    """The tools of one conversation's requests.

    Args:
        counter: counts schemas.
        fraction: of the window, above which they are deferred; ``None`` to defer none.
    """

    def __init__(self, counter: MessageCounter, *, fraction: float | None) -> None:
        self._counter, self._fraction = counter, fraction
        self.given = GivenTools()
        self._known: tuple[tuple[str, ...], int] = (), 0
        self._tokens: list[int] = []
        self._make(0)

    def give(self, given: GivenTools, limit_tokens: int) -> None:
        """Take the tools of the next request."""
        known = tuple(schema_texts(given.schemas)), limit_tokens
        self.given = given
        if known != self._known:
            self._tokens = [self._counter.tool(text) for text in known[0]]
            self._make(limit_tokens)
            self._known = known

    def _make(self, limit_tokens: int) -> None:
        schemas = self.given.schemas
        find = [at for at, schema in enumerate(schemas) if is_find_tool(schema)][:1]
        self._names = [name_of(schema) for schema in schemas]
        by_name: dict[str, int] = {}
        for at, name in enumerate(self._names):
            by_name.setdefault(name, at)
        self._places = {n: at for n, at in by_name.items() if n and n not in OURS}
        self._room = int((self._fraction or 0) * limit_tokens)
        total = sum(self._tokens) - sum(self._tokens[at] for at in find)
        can_defer = self._fraction is not None and find and len(self._places) > LEAST_DEFERRED
        self.is_deferring = bool(can_defer) and total > self._room
        deferrable = {*self._places.values(), *find}
        self._always = [at for at in range(len(schemas)) if at not in deferrable]
        self._find, self._description, self._find_tokens = find, "", 0
        self.catalogue: ToolCatalogue | None = None
        if self.is_deferring:
            self.catalogue = ToolCatalogue(
                [schemas[at] for at in self._places.values()],
                [self._tokens[at] for at in self._places.values()],
                count=lambda text: self._counter.count(text).tokens,
                room_tokens=self._room,
            )
            self._description = self.catalogue.described(int(NAMES_FRACTION * self._room))
            [text] = schema_texts([described(schemas[find[0]], self._description)])
            self._find_tokens = self._counter.tool(text)

    def order(self, known: Loaded) -> Loaded:
        """Return the names of all tools so far in the order in which they first came."""
        there = set(known)
        new = dict.fromkeys([name for name in self._names if name and name not in there])
        return (*known, *new) if new else known

    # What is sent

    def sent(self, loaded: Loaded | None) -> list[Schema]:
        """Return the schemas to send: the host's own objects, but for ``find_tools``, whose description names what there is."""
        schemas = self.given.schemas
        if not self.is_deferring:
            return [each for at, each in enumerate(schemas) if at not in self._find]
        always = [schemas[at] for at in self._always]
        find = described(schemas[self._find[0]], self._description)
        return [*always, find, *(schemas[self._places[name]] for name in self._present(loaded))]

    def deferred(self, loaded: Loaded | None) -> tuple[str, ...]:
        """Return the names of the tools that are not sent."""
        there = set(self._present(loaded))
        return tuple(n for n in self._places if n not in there) if self.is_deferring else ()

    def tokens(self, loaded: Loaded | None) -> int:
        """Return the tokens of what is sent."""
        per_list = self._counter.overheads.per_tool_list
        if not self.is_deferring:
            tokens = [each for at, each in enumerate(self._tokens) if at not in self._find]
            return sum(tokens) + (per_list if tokens else 0)
        always = sum(self._tokens[at] for at in self._always)
        return always + self._find_tokens + per_list + self._tokens_of(self._present(loaded))

    def answer(self, query: str, loaded: Loaded | None) -> str:
        """Return the answer of ``find_tools``."""
        if self.catalogue is None:
            return ALL_THERE
        return self.catalogue.answer(query, self._present(loaded))

    def _present(self, loaded: Loaded | None) -> list[str]:
        return [name for name in loaded or () if name in self._places]

    def _tokens_of(self, names: Iterable[str]) -> int:
        return sum(self._tokens[self._places[name]] for name in names if name in self._places)

    # What is loaded

    def loaded(
        self, known: Loaded | None, candidates: Sequence[Candidate], since: int
    ) -> Loaded | None:
        """Return the names of what is loaded after the messages from position ``since`` on were read.

        ``None`` until something is deferred; then all messages are read, and what the first ones name is loaded. Where another tool
        exceeds the fraction, so that the provider's cache has nothing behind the tools in any case, half of it is deferred again.
        """
        if not self.is_deferring:
            return known
        if known is None:
            known, since = tuple(self._named(candidates)), 0
        new = list(self.given.required)
        for at in range(first_from(candidates, since), len(candidates)):
            new += [*called(candidates[at].unit), *found(candidates[at].unit)]
        added = [n for n in dict.fromkeys(new) if n in self._places and n not in known]
        loaded = (*known, *added)
        if not added or self._tokens_of(loaded) <= self._room:
            return loaded
        return self._kept(loaded, candidates, self._room // 2)

    def _named(self, candidates: Sequence[Candidate]) -> Iterator[str]:
        """Yield the tools that the system prompt and the first request name, as far as there is room."""
        left = int(NAMED_FRACTION * self._room)
        said = "\n".join(opening(candidates))
        for name in self.catalogue.named_in(said) if self.catalogue else ():
            left -= self._tokens[self._places[name]]
            if left < 0:
                return
            yield name

    def fewer(self, loaded: Loaded | None, candidates: Sequence[Candidate]) -> Iterator[Loaded]:
        """Yield ever less to load, where a request would not fit: half of the fraction, what the newest unit has, what must be."""
        if not (loaded and self.is_deferring):
            return
        smaller = [
            self._kept(loaded, candidates, self._room // 2),
            self._kept(loaded, candidates[-1:], 0),
            tuple(name for name in loaded if name in self.given.required),
        ]
        for each in smaller:
            if self._tokens_of(each) < self._tokens_of(loaded):
                yield each
                loaded = each

    def _kept(self, loaded: Loaded, candidates: Sequence[Candidate], room: int) -> Loaded:
        """Return of what is loaded what must be sent, what the newest unit has, and what fits of the rest; in its order.

        Of the rest what was called comes before what was only found, and what was so later before what was earlier.
        """
        newest = candidates[-1].unit if candidates else None
        must = {*self.given.required, *(called(newest) + found(newest) if newest else ())}
        kept = must.intersection(loaded)
        room -= self._tokens_of(kept)
        for name in [*by_use(candidates, set(loaded)), *loaded]:
            tokens = self._tokens_of([name])
            if name not in kept and tokens <= room:
                kept.add(name)
                room -= tokens
        return tuple(name for name in loaded if name in kept)


def in_order(schemas: Sequence[Schema], order: Sequence[str]) -> list[Schema]:
    """Return schemas with the tools in the order in which they first came, others behind; what has no name keeps its place.

    A host that lists the same tools in another order, as a server of tools may, changes nothing of what is sent.
    """
    known = {name: place for place, name in enumerate(order)}
    places = [at for at, schema in enumerate(schemas) if name_of(schema)]
    ordered = sorted(places, key=lambda at: known.get(name_of(schemas[at]), len(known)))
    if ordered == places:
        return list(schemas)
    sent = list(schemas)
    for at, source in zip(places, ordered, strict=True):
        sent[at] = schemas[source]
    return sent


def opening(candidates: Sequence[Candidate]) -> Iterator[str]:
    """Yield the leading system messages and the first other one."""
    for candidate in candidates:
        yield candidate.unit.messages[0].text
        if candidate.unit.messages[0].role not in SYSTEM_ROLES:
            return


def first_from(candidates: Sequence[Candidate], position: int) -> int:
    """Return the index of the first unit that has a message at or behind a position."""
    at = len(candidates)
    while at and candidates[at - 1].unit.stop > position:
        at -= 1
    return at


def called(unit: Unit) -> list[str]:
    """Return the names of the tools that a unit calls."""
    return [call.name for call in unit.messages[0].calls if call.name and call.name not in OURS]


def found(unit: Unit) -> list[str]:
    """Return the names of the tools that a unit finds."""
    calls = unit.messages[0].calls
    if not any(call.name == FIND_TOOLS_NAME for call in calls):
        return []
    results = [result for message in unit.messages[1:] for result in message.results]
    names: list[str] = []
    for call, result in pair(calls, results)[0]:
        if call is not None and call.name == FIND_TOOLS_NAME:
            names += found_in(result.text)
    return names


def by_use(candidates: Sequence[Candidate], wanted: set[str]) -> Iterator[str]:
    """Yield these names: those that were called, the latest first, then those that were found."""
    units = [candidate.unit for candidate in reversed(candidates[-LOOK_BACK_UNITS:])]
    for names_of in (called, found):
        for unit in units:
            for name in reversed(names_of(unit)):
                if name in wanted:
                    wanted.discard(name)
                    yield name
            if not wanted:
                return
