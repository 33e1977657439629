"""Tighten the upper bound of a token count with the tokens that the provider billed.

Promise: the bound of a request that continues the last billed one is never below that bill, it grows with the count,
and implausible bills do not change it.

A bill is modelled as ``offset + ratio * counted``: a constant part outside messages, and the ratio of the provider's tokenizer to
ours. A bill above its bound applies at once, but the previous calibration is kept until the next bill confirms it
(docs/decisions/0005-calibration.md).
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf

MEASURED_TEXT = 200  # minimum counted tokens between bills; below it the ratio is mostly rounding
ABOVE_STEEPEST = 1.1  # factor by which new text may exceed the highest ratio so far
STEEPEST = 4.0  # no known tokenizer has a higher ratio
LARGEST_REQUEST = 20_000_000  # tokens; twice the largest window of any model (2026-11)
EXACT_UP_TO = 1.02  # up to this ratio the tokenizer is taken to be the provider's own
MARGIN_FRACTION = 0.02  # safety margin where the provider uses another tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """The tokens that were counted in a request and the tokens that the provider billed for it."""

    counted: int
    billed: int
    assumed: int = 0  # part of ``counted``: assumed overhead of the chat format and tools, not text
    rewrites: int = 0  # of the history so far; requests with the same number continue each other
    fixed: int = 0  # part of ``counted``: outside messages, repeated in the next request


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """An upper bound on billed tokens, from the tokenizer's known error and the bills so far."""

    ratio: float = 1.0  # billed tokens per counted token at most, before any bill; 1 where exact
    lowest_ratio: float = 1.0  # at least, for text; a lower bill is implausible
    first: Bill | None = None  # closest to the offset
    last: Bill | None = None
    steepest: float = 0.0  # highest ratio of new text so far
    before: "Calibration | None" = None  # previous calibration, if the last bill exceeded its bound

    def bound(self, counted: int, *, rewrites: int = 0) -> int:
        """Return the most tokens that a request with ``counted`` tokens is billed."""
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
        """Return the largest count whose bound is within the limit; 0 if the offset alone exceeds it."""
        billed_before = self.last.counted if self.last else 0  # some of these may have cost nothing
        most = billed_before + int(limit_tokens / self.lowest_ratio) + 2
        bound = partial(self.bound, rewrites=rewrites)
        return max(0, bisect_right(range(most), limit_tokens, key=bound) - 1)

    @property
    def _highest_ratio(self) -> float:
        """The highest plausible number of billed tokens per counted token so far."""
        if max(self.ratio, self.steepest) <= EXACT_UP_TO:
            return max(self.ratio, self.steepest)
        return max(self.ratio, self.steepest * ABOVE_STEEPEST)

    def _rewritten(self, last: Bill, counted: int) -> float:
        """Return the bound for rewritten messages: these at the highest ratio, plus the rest as it was billed.

        The rest comes from the first bill, which has the fewest messages, unless the last one shows that it has grown.
        """
        bill, highest = self.first or last, self._highest_ratio
        if self._outside(bill) < last.billed - highest * (last.counted - last.fixed):
            bill = last
        return max(0, self._outside(bill)) + highest * max(0, counted - bill.fixed)

    def _outside(self, bill: Bill) -> int:
        """Return the most that was billed for the part outside messages."""
        text = max(0, bill.counted - bill.fixed - bill.assumed)
        return bill.billed - whole(self.lowest_ratio * text)

    def with_fixed(self, tokens: int) -> "Calibration":
        """Return the calibration for requests with ``tokens`` outside messages; if the bills had another number, it is reset."""
        bills = [bill for bill in (self.first, self.last) if bill and bill.fixed not in (0, tokens)]
        before = self.before and self.before.with_fixed(tokens)
        if not bills and before is self.before:
            return self
        first, last = (bill and replace(bill, fixed=0) for bill in (self.first, self.last))
        return replace(self, first=first, last=last, before=before)

    def least(self, bill: Bill) -> int:
        """Return the least that a request can be billed, given the tokenizer's error on its text."""
        return whole(self.lowest_ratio * max(0, bill.counted - bill.assumed))

    @property
    def is_sound(self) -> bool:
        """Return True if these numbers can result from plausible bills."""
        ratios = 0 < self.lowest_ratio <= self.ratio < inf and 0 <= self.steepest <= STEEPEST
        bills = [bill for bill in (self.first, self.last) if bill is not None]
        before = self.before is None or self.before.is_sound
        counts = all(0 <= bill.fixed <= bill.counted for bill in bills)
        return ratios and before and counts and all(map(self.believes, bills))

    def believes(self, bill: Bill) -> bool:
        """Return True if a bill is plausible."""
        return 0 < bill.billed <= LARGEST_REQUEST and bill.billed >= self.least(bill)

    def resumed(self, saved: "Calibration") -> "Calibration":
        """Return the saved calibration if the same tokenizer counted its bills, else this one."""
        return saved if self.is_comparable(saved) else self

    def is_comparable(self, other: "Calibration") -> bool:
        """Return True if the same tokenizer counted for both."""
        return (self.ratio, self.lowest_ratio) == (other.ratio, other.lowest_ratio)

    def after(self, bill: Bill) -> "Calibration":
        """Return the calibration updated with a bill, or this one if the bill is implausible."""
        if not self.believes(bill):
            return self
        if self.before and self.last and bill.billed < self.before.least_if_offset(bill, self.last):
            return self.before.after(bill)
        final, steepest, last = replace(self, before=None), self.steepest, self.last
        if last is not None and last.rewrites == bill.rewrites:
            more = bill.counted - last.counted
            if more >= MEASURED_TEXT:
                steepest = max(steepest, min((bill.billed - last.billed) / more, STEEPEST))
        above = bill.billed > final.bound(bill.counted, rewrites=bill.rewrites)
        before = final if above else None
        return replace(self, first=self.first or bill, last=bill, steepest=steepest, before=before)

    def least_if_offset(self, bill: Bill, other: Bill) -> int:
        """Return the least that a request is billed if the excess of ``other`` over the highest ratio is a constant offset."""
        text = max(0, bill.counted - bill.assumed)
        offset = other.billed - self._highest_ratio * other.counted
        return int(offset + self.lowest_ratio * text)


def whole(tokens: float) -> int:
    """Round up to whole tokens, ignoring floating-point errors."""
    return ceil(round(tokens, 6))
