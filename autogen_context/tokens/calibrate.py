"""Tighten the bound of a count with what the provider billed.

Promise: the bound of a request that continues the last billed one is never below that bill, it grows with the count,
and it does not move for a bill that cannot be true.

A bill is ``offset + ratio * counted``: what each request has beside messages, and how the provider's tokenizer differs from ours. One
above its bound counts at once, but what was known before is kept until the next one confirms it (docs/decisions/0005-calibration.md).
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf

MEASURED_TEXT = 200  # counted tokens between two bills, below which their ratio is mostly rounding
ABOVE_STEEPEST = 1.1  # new text may be as much steeper than the steepest so far
STEEPEST = 4.0  # no known tokenizer needs more for the same text
LARGEST_REQUEST = 20_000_000  # tokens; twice the largest window of any model (2026-11)
EXACT_UP_TO = 1.02  # a tokenizer whose ratio never exceeded this is the provider's own
MARGIN_FRACTION = 0.02  # on a bound that rests on the bills of another tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What was counted in a request, and what the provider billed for it, in tokens."""

    counted: int
    billed: int
    assumed: int = 0  # of those counted: no text, but assumed of the chat format and of tools
    rewrites: int = 0  # of the history so far; a request of the same number continues it
    fixed: int = 0  # of those counted: beside messages, which the next request has as well


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The bound of a count, from a tokenizer's known error and the bills so far."""

    ratio: float = 1.0  # billed tokens per counted token at most, before any bill; 1 where exact
    lowest_ratio: float = 1.0  # and at least, of text; a bill below it is not believed
    first: Bill | None = None  # near the offset
    last: Bill | None = None
    steepest: float = 0.0  # the highest ratio that new text had so far
    before: "Calibration | None" = None  # the last bill, where that is above its bound

    def bound(self, counted: int, *, rewrites: int = 0) -> int:
        """What a request of so many counted tokens is billed at most, in tokens."""
        if self.last is None:
            return whole(self.ratio * counted)
        more = counted - self.last.counted
        billed = self._rewritten(self.last, counted)
        if rewrites == self.last.rewrites and more >= 0:
            billed = self.last.billed + self._highest_ratio * more
        elif rewrites == self.last.rewrites:
            billed = min(billed, self.last.billed)
        margin_fraction = MARGIN_FRACTION if self._highest_ratio > EXACT_UP_TO else 0.0
        return whole(billed * (1 + margin_fraction))

    def room(self, limit_tokens: int, *, rewrites: int = 0) -> int:
        """The greatest count whose bound is within the limit; 0 where even the offset exceeds it."""
        billed_before = self.last.counted if self.last else 0  # a part of it may have cost nothing
        most = billed_before + int(limit_tokens / self.lowest_ratio) + 2
        bound = partial(self.bound, rewrites=rewrites)
        return max(0, bisect_right(range(most), limit_tokens, key=bound) - 1)

    @property
    def _highest_ratio(self) -> float:
        """Billed tokens per counted token at most, as far as is known now."""
        highest = max(self.ratio, self.steepest)
        return (
            highest if highest <= EXACT_UP_TO else max(self.ratio, self.steepest * ABOVE_STEEPEST)
        )

    def _rewritten(self, last: Bill, counted: int) -> float:
        """With other messages: these at the highest ratio, and what is beside them as it was billed.

        That is known by the first bill, which has the fewest messages, unless the last one shows that it grew since.
        """
        bill, highest = self.first or last, self._highest_ratio
        if self._beside(bill) < last.billed - highest * (last.counted - last.fixed):
            bill = last
        return max(0, self._beside(bill)) + highest * max(0, counted - bill.fixed)

    def _beside(self, bill: Bill) -> int:
        """What was billed beside messages, at most."""
        text = max(0, bill.counted - bill.fixed - bill.assumed)
        return bill.billed - whole(self.lowest_ratio * text)

    def with_fixed(self, tokens: int) -> "Calibration":
        """Itself while requests have so much beside messages; what something else there costs, no bill has told."""
        bills = [bill for bill in (self.first, self.last) if bill and bill.fixed not in (0, tokens)]
        before = self.before and self.before.with_fixed(tokens)
        if not bills and before is self.before:
            return self
        first, last = (bill and replace(bill, fixed=0) for bill in (self.first, self.last))
        return replace(self, first=first, last=last, before=before)

    def _least_offset(self, bill: Bill) -> float:
        return bill.billed - self._highest_ratio * bill.counted

    def least(self, bill: Bill) -> int:
        """What a request is billed at least, by the tokenizer's error on its text."""
        return whole(self.lowest_ratio * max(0, bill.counted - bill.assumed))

    @property
    def is_sound(self) -> bool:
        """Whether its numbers can come from bills."""
        ratios = 0 < self.lowest_ratio <= self.ratio < inf and 0 <= self.steepest <= STEEPEST
        bills = [bill for bill in (self.first, self.last) if bill is not None]
        before = self.before is None or self.before.is_sound
        counts = all(0 <= bill.fixed <= bill.counted for bill in bills)
        return ratios and before and counts and all(map(self.believes, bills))

    def believes(self, bill: Bill) -> bool:
        """Whether a bill can be true."""
        return 0 < bill.billed <= LARGEST_REQUEST and bill.billed >= self.least(bill)

    def resumed(self, saved: "Calibration") -> "Calibration":
        """A saved calibration, if the same tokenizer counted its bills; otherwise itself."""
        same = (self.ratio, self.lowest_ratio) == (saved.ratio, saved.lowest_ratio)
        return saved if same else self

    def after(self, bill: Bill) -> "Calibration":
        """The calibration with one more bill; itself where the bill cannot be true."""
        if not self.believes(bill):
            return self
        if self.before and self.last and bill.billed < self.before.least_beside(bill, self.last):
            return self.before.after(bill)
        settled, steepest, last = replace(self, before=None), self.steepest, self.last
        if last is not None and last.rewrites == bill.rewrites:
            more = bill.counted - last.counted
            if more >= MEASURED_TEXT:
                steepest = max(steepest, min((bill.billed - last.billed) / more, STEEPEST))
        above = bill.billed > settled.bound(bill.counted, rewrites=bill.rewrites)
        before = settled if above else None
        return replace(self, first=self.first or bill, last=bill, steepest=steepest, before=before)

    def least_beside(self, bill: Bill, other: Bill) -> int:
        """What a request is billed at least, if what another bill has above the highest ratio is an offset."""
        text = max(0, bill.counted - bill.assumed)
        return int(self._least_offset(other) + self.lowest_ratio * text)


def whole(tokens: float) -> int:
    """Rounded up; what the rounding errors of floats add is not a token."""
    return ceil(round(tokens, 6))
