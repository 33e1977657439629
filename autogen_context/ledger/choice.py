"""Choose which statements stay where not all of them have room.

Promise: safety rules first, and where one of them has no room, nothing else; what an assistant or a tool said last. Between
them each kind has its share of the room, and leaves to the others what it does not need. Of a kind the shortest stay, so that
most do; one without a value counts double, since it is missed less.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from autogen_context.ledger.entry import Entry, Kind
from autogen_context.ledger.values import is_strong, values

RANKS: dict[Kind, int] = {
    "safety rule": 0,
    "constraint": 1,
    "decision": 2,
    "goal state": 2,
    "preference": 3,
    "identity": 4,
    "fact": 5,
}
REPORTED_RANK = 6
SHARES = {1: 4, 2: 3, 3: 3, 4: 2, 5: 4}  # of the ranks between safety rules and what was reported
WITHOUT_VALUE = 2  # times its size, for a statement without a number, a name or the like


def rank_of(entry: Entry) -> int:
    """How soon it is given up: 0 for last."""
    return REPORTED_RANK if entry.reported else RANKS[entry.kind]


def chosen(
    costs: Mapping[Entry, int], *, room_tokens: int, heading_tokens: Callable[[Entry], int]
) -> set[Entry]:
    """The entries that stay.

    Args:
        costs: n entries, and what each of them takes, in tokens.
        room_tokens: what they may take together, in tokens.
        heading_tokens: of the heading above an entry, which stands once for all of its kind and author.
    """
    room = Room(room_tokens, costs, heading_tokens)
    waiting = by_rank(costs)
    safety, reported = waiting.pop(0, []), waiting.pop(REPORTED_RANK, [])
    if room.fill(safety):
        room.share(waiting)
        room.fill(reported)
    return room.kept


def by_rank(costs: Mapping[Entry, int]) -> dict[int, list[Entry]]:
    """The entries of each rank, the one that is taken first at the end."""
    worth = {entry: cost * weight_of(entry) for entry, cost in costs.items()}
    ranks: dict[int, list[Entry]] = {}
    for entry in sorted(worth, key=worth.__getitem__, reverse=True):
        ranks.setdefault(rank_of(entry), []).append(entry)
    return ranks


def weight_of(entry: Entry) -> int:
    """How much its size counts."""
    return 1 if any(map(is_strong, values(entry.text))) else WITHOUT_VALUE


class Room:
    """A room that is filled.

    Args:
        left_tokens: that there are.
        costs: of each entry, in tokens.
        heading_tokens: of the heading above an entry.

    Attributes:
        kept: the entries that have a place.
    """

    def __init__(
        self, left_tokens: int, costs: Mapping[Entry, int], heading_tokens: Callable[[Entry], int]
    ) -> None:
        self.kept: set[Entry] = set()
        self._left = left_tokens
        self._costs = costs
        self._heading_tokens = heading_tokens
        self._spent: Counter[int] = Counter()
        self._opened: set[tuple[str, str]] = set()

    def fill(self, entries: Iterable[Entry]) -> bool:
        """Take entries, the last one first, until one has no room; whether all had."""
        return all(map(self._take, reversed([*entries])))

    def share(self, waiting: dict[int, list[Entry]]) -> None:
        """Take entries of several ranks; next is always the one whose rank has least of its share with it."""
        while waiting:
            rank = min(waiting, key=lambda rank: self._spent_with(waiting[rank][-1], rank))
            if not self._take(waiting[rank].pop()) or not waiting[rank]:
                del waiting[rank]

    def _spent_with(self, entry: Entry, rank: int) -> tuple[float, int]:
        return (self._spent[rank] + self._costs[entry]) / SHARES[rank], rank

    def _take(self, entry: Entry) -> bool:
        """Take an entry if it has room, with the heading of its kind where that is new."""
        heading = (entry.kind, entry.author)
        cost = self._costs[entry]
        cost += 0 if heading in self._opened else self._heading_tokens(entry)
        if cost > self._left:
            return False
        self._left -= cost
        self._spent[rank_of(entry)] += cost
        self.kept.add(entry)
        self._opened.add(heading)
        return True
