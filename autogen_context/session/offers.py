"""What a cut of each finished span would save, kept up proposal by proposal.

Promise: what looking at all spans and all decisions anew would give. A turn costs what is new: everything is looked at
again only where something was rewritten, or other units must stay.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autogen_context.session.finished import LEFT_SHARE, TOLD_SHARE, Finished
from autogen_context.triggers.price.cut import Cut
from autogen_context.view.decision import Decision

LEAST_TOKENS = 64  # that a cut saves; a notice and marks cost about as much

NO_DECISIONS: Sequence[Decision] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a span would give.

    Attributes:
        span: the span.
        inner: positions of the units in it that may be cut, and that no span before it has.
        cut: what that would save; ``None`` where it is not worth a notice.
    """

    span: Finished
    inner: tuple[int, ...]
    cut: Cut | None


class Offers:
    """What the spans of one conversation would give."""

    def __init__(self) -> None:
        self._begin(NO_DECISIONS, frozenset())

    def of(
        self, spans: Sequence[Finished], decisions: Sequence[Decision], stays: frozenset[int]
    ) -> list[tuple[Cut, Finished]]:
        """What may be cut, without overlaps, and what that saves.

        Args:
            spans: what was proposed, oldest first: the spans of the last time, of which the oldest may be missing, and new ones.
            decisions: what is held of n units; the same list, to which more was added, until something is rewritten.
            stays: positions of units that must stay; none of the spans has the last unit.
        """
        stays = stays - {len(decisions) - 1}
        if decisions is not self._decisions or stays != self._stays:
            self._begin(decisions, stays)
        while len(self._starts) < len(decisions):
            before = decisions[len(self._starts) - 1]
            self._starts.append(self._starts[-1] + before.tokens_after)
        while self._offers and not (spans and spans[0] is self._offers[0].span):
            self._forget_oldest()
        for span in spans[len(self._offers) :]:
            self._offers.append(self._offer(span, span.inner(decisions, stays)))
        return [(offer.cut, offer.span) for offer in self._offers if offer.cut is not None]

    def _begin(self, decisions: Sequence[Decision], stays: frozenset[int]) -> None:
        self._decisions, self._stays = decisions, stays
        self._starts = [0]  # what stands in front of each unit
        self._offers: list[Offer] = []
        self._taken: set[int] = set()

    def _forget_oldest(self) -> None:
        """Leave what it had to those behind it that overlap it."""
        gone = self._offers.pop(0)
        self._taken.difference_update(gone.inner)
        left = set(gone.inner)
        for n, offer in enumerate(self._offers):
            span = offer.span
            if left and span.start < gone.span.stop and span.stop > gone.span.start:
                more = [i for i in left if span.gives(i, self._decisions, self._stays)]
                left.difference_update(more)
                self._taken.difference_update(offer.inner)
                self._offers[n] = self._offer(span, sorted([*offer.inner, *more]))

    def _offer(self, span: Finished, inner: Iterable[int]) -> Offer:
        """What a span would give, without what another has."""
        free = tuple(i for i in inner if i not in self._taken)
        self._taken.update(free)
        return Offer(span=span, inner=free, cut=self._cut(free))

    def _cut(self, inner: Sequence[int]) -> Cut | None:
        tokens = sum(self._decisions[i].tokens_after for i in inner)
        saved = int(tokens * (1 - LEFT_SHARE - TOLD_SHARE))
        if saved < LEAST_TOKENS:
            return None
        start, stop = self._starts[inner[0]], self._starts[inner[-1] + 1]
        return Cut(start_tokens=start, tokens=stop - start, saved_tokens=saved)
