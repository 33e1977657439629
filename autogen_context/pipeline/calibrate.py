"""Tighten the bound of a count with what the provider billed.

Promise: the bound of a request is never below the last bill for a request of that count or a smaller one, grows with
the count, and does not move for a bill that cannot be true.

A bill is ``offset + ratio * counted``: the offset is what the host adds unseen (system prompt, tools), the ratio is the
difference between the provider's tokenizer and ours, and it varies with the text. Each bill holds the offset exactly,
so it anchors the bound: from there more text costs at most the highest ratio, and less text saves at least the lowest.
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from math import ceil, inf

MEASURED_TEXT = 200  # counted tokens between two bills, below which their ratio is mostly rounding
ABOVE_STEEPEST = 1.1  # new text may be as much steeper than the steepest so far
STEEPEST = (
    4.0  # no known tokenizer needs more for the same text; a steeper bill tells of something else
)
LARGEST_REQUEST = 20_000_000  # tokens; twice the largest window of any model (2026-11)
EXACT_UP_TO = 1.02  # a tokenizer whose ratio never exceeded this is the provider's own
MARGIN_SHARE = 0.02  # on a bound that rests on the bills of another tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What was counted in a request, and what the provider billed for it, in tokens."""

    counted: int
    billed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The bound of a count, from a tokenizer's known error and the bills so far.

    Attributes:
        ratio: billed tokens per counted token at most, as known before any bill; 1 where the tokenizer is exact.
        lowest_ratio: billed tokens per counted token at least; a bill below it is not believed.
        first: the first bill, near the offset.
        last: the newest bill.
        steepest: the highest ratio that new text had so far.
    """

    ratio: float = 1.0
    lowest_ratio: float = 1.0
    first: Bill | None = None
    last: Bill | None = None
    steepest: float = 0.0

    def bound(self, counted: int) -> int:
        """What a request of so many counted tokens is billed at most, in tokens."""
        ratio, margin = max(self.ratio, self.steepest), 0.0
        if ratio > EXACT_UP_TO:
            ratio, margin = max(self.ratio, self.steepest * ABOVE_STEEPEST), MARGIN_SHARE
        if self.first is None or self.last is None:
            return whole(self.ratio * counted)
        more = counted - self.last.counted
        if more >= 0:
            return whole((self.last.billed + ratio * more) * (1 + margin))
        from_last = self.last.billed + self.lowest_ratio * more
        from_first = self.first.billed + ratio * counted - self.lowest_ratio * self.first.counted
        return whole(min(from_last, from_first) * (1 + margin))

    def room(self, limit_tokens: int) -> int:
        """The greatest count whose bound is within the limit; 0 where even the offset exceeds it."""
        most = int(limit_tokens / self.lowest_ratio) + 2
        return max(0, bisect_right(range(most), limit_tokens, key=self.bound) - 1)

    def least(self, counted: int) -> int:
        """What a request of so many counted tokens is billed at least, by the tokenizer's error."""
        return whole(self.lowest_ratio * counted)

    @property
    def is_sound(self) -> bool:
        """Whether its numbers can come from bills."""
        ratios = 0 < self.lowest_ratio <= self.ratio < inf and 0 <= self.steepest <= STEEPEST
        bills = [bill for bill in (self.first, self.last) if bill is not None]
        return ratios and all(bill.counted >= 0 and self.believes(bill) for bill in bills)

    def believes(self, bill: Bill) -> bool:
        """Whether a bill can be true."""
        return 0 < bill.billed <= LARGEST_REQUEST and bill.billed >= self.least(bill.counted)

    def resumed(self, saved: "Calibration") -> "Calibration":
        """A saved calibration, if the same tokenizer counted its bills; otherwise itself."""
        same = (self.ratio, self.lowest_ratio) == (saved.ratio, saved.lowest_ratio)
        return saved if same else self

    def after(self, bill: Bill) -> "Calibration":
        """The calibration with one more bill; itself where the bill cannot be true."""
        if not self.believes(bill):
            return self
        steepest = self.steepest
        if self.last is not None and bill.counted - self.last.counted >= MEASURED_TEXT:
            grown = (bill.billed - self.last.billed) / (bill.counted - self.last.counted)
            steepest = max(steepest, min(grown, STEEPEST))
        return replace(self, first=self.first or bill, last=bill, steepest=steepest)


def whole(tokens: float) -> int:
    """Rounded up; what the rounding errors of floats add is not a token."""
    return ceil(round(tokens, 6))
