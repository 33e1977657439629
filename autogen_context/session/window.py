"""What a request may have, in the tokens that we count.

Promise: what fits the room fits the limit by the bound, bills included.
"""

from dataclasses import dataclass

from autogen_context.pipeline.calibrate import Bill, Calibration
from autogen_context.pipeline.measure import Count, Source


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
    """

    def __init__(
        self, *, window_tokens: int, reserve_tokens: int, source: Source, calibration: Calibration
    ) -> None:
        self._reserve = reserve_tokens
        self._source: Source = source
        self.calibration = calibration
        self.resize(window_tokens)

    def resize(self, window_tokens: int) -> None:
        """Use another window from now on."""
        self.limit_tokens = window_tokens - self._reserve
        self.calibrate(self.calibration)

    def calibrate(self, calibration: Calibration) -> None:
        """Use another calibration from now on."""
        self.calibration = calibration
        self.room_tokens = calibration.room(self.limit_tokens)

    def bound(self, counted: int) -> Count:
        """What a request of so many counted tokens has at most, the reserve apart."""
        source = "provider" if self.calibration.last else self._source
        return Count(tokens=self.calibration.bound(counted), source=source)

    def record(self, *, counted: int, billed: int) -> bool:
        """Take a bill in; says whether it can be true.

        The reserve is paid from the bill first: what the host adds beyond it shows as an offset, and what it does not
        use stays reserved.
        """
        if not self.calibration.believes(Bill(counted=counted, billed=billed)):
            return False
        least = self.calibration.least(counted)
        bill = Bill(counted=counted, billed=max(billed - self._reserve, least))
        self.calibrate(self.calibration.after(bill))
        return True
