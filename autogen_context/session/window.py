"""What a request may have, in the tokens that we count.

Promise: what fits the room fits the limit by the bound, bills included.
"""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from autogen_context.argument import require_number
from autogen_context.session.assemble import Certificate
from autogen_context.tokens.calibrate import Bill, Calibration
from autogen_context.tokens.measure import Count, Source

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the provider billed so far.

    Attributes:
        requests: bills recorded.
        prompt_tokens: input tokens of all requests.
        cached_tokens: of these, what the provider had cached.
    """

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0

    def after(self, *, prompt_tokens: int, cached_tokens: int) -> "Usage":
        """The usage with one more bill."""
        return Usage(
            requests=self.requests + 1,
            prompt_tokens=self.prompt_tokens + prompt_tokens,
            cached_tokens=self.cached_tokens + cached_tokens,
        )


class Window:
    """A limit, and the calibration that translates it into what we count.

    Args:
        window_tokens: what a request may have as input, as the provider counts.
        reserve_tokens: of these, what the host adds unseen.
        source: where counts come from before the first bill.
        calibration: what is known of the difference between counts and bills.

    Attributes:
        usage: what the provider billed in all.
    """

    def __init__(
        self, *, window_tokens: int, reserve_tokens: int, source: Source, calibration: Calibration
    ) -> None:
        self._reserve = reserve_tokens
        self._source: Source = source
        self.calibration = calibration
        self.usage = Usage()
        self._doubts_told = False  # a provider that always bills so would fill the log
        self.resize(window_tokens)

    def resize(self, window_tokens: int) -> None:
        """Use another window from now on."""
        self.limit_tokens = window_tokens - self._reserve
        self.calibrate(self.calibration)

    def calibrate(self, calibration: Calibration) -> None:
        """Use another calibration from now on."""
        self.calibration = calibration
        self._rooms: dict[int, int] = {}

    @contextmanager
    def before_last_bill(self) -> Generator[None]:
        """Use, for a while, what was known before a bill that no other has confirmed."""
        believed = self.calibration
        self.calibrate(believed.before or believed)
        try:
            yield
        finally:
            self.calibrate(believed)

    def room(self, rewrites: int) -> int:
        """What a request may have, as we count, after so many rewrites of the history."""
        if rewrites not in self._rooms:
            self._rooms = {rewrites: self.calibration.room(self.limit_tokens, rewrites=rewrites)}
        return self._rooms[rewrites]

    def bound(self, counted: int, rewrites: int) -> Count:
        """What a request of so many counted tokens has at most, the reserve apart."""
        source = "provider" if self.calibration.last else self._source
        return Count(tokens=self.calibration.bound(counted, rewrites=rewrites), source=source)

    def bill(self, certificate: Certificate, *, prompt_tokens: int, cached_tokens: int) -> None:
        """Take in what the provider billed for a list that was prepared; one that cannot be true is told, the first in a row.

        Args:
            certificate: that of the list.
            prompt_tokens: all input tokens.
            cached_tokens: of these, what the provider had cached.

        Raises:
            ValueError: a number is none.
        """
        require_number("prompt_tokens", prompt_tokens, give="the input tokens of the bill")
        require_number("cached_tokens", cached_tokens, give="how many of these were cached, or 0")
        bill = Bill(
            counted=certificate.counted_tokens,
            billed=prompt_tokens,
            assumed=certificate.assumed_tokens,
            rewrites=certificate.rewrites,
        )
        if self.record(bill):
            self.usage = self.usage.after(prompt_tokens=prompt_tokens, cached_tokens=cached_tokens)
            self._doubts_told = False
        elif not self._doubts_told:
            self._doubts_told = True
            numbers = {"counted_tokens": bill.counted, "billed_tokens": bill.billed}
            logger.warning("a bill that cannot be true was ignored", extra=numbers)

    def record(self, bill: Bill) -> bool:
        """Take a bill in; says whether it can be true.

        The reserve is paid from the bill first: what the host adds beyond it shows as an offset, and what it does not
        use stays reserved.
        """
        if not self.calibration.believes(bill):
            return False
        billed = max(bill.billed - self._reserve, self.calibration.least(bill), 1)
        self.calibrate(self.calibration.after(replace(bill, billed=billed)))
        return True
