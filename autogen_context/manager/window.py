"""What a request may have, in the tokens that we count.

Promise: pure. What fits the room fits the limit by the bound, bills included.
"""

from dataclasses import dataclass, replace

from autogen_context.tokens.calibrate import Bill, Calibration
from autogen_context.tokens.measure import Count, Source
from autogen_context.view.certificate import Certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A limit, which the calibration of a view translates into what we count.

    Attributes:
        window_tokens: what a request may have as input, as the provider counts.
        reserve_tokens: of these, what the host adds unseen.
        source: where counts come from before the first bill.
    """

    window_tokens: int
    reserve_tokens: int
    source: Source

    @property
    def limit_tokens(self) -> int:
        """What is left of the window for what is counted."""
        return self.window_tokens - self.reserve_tokens

    def room(self, calibration: Calibration, rewrites: int) -> int:
        """What a request may have, as we count, after so many rewrites of the history."""
        return calibration.room(self.limit_tokens, rewrites=rewrites)

    def bound(self, calibration: Calibration, counted: int, rewrites: int) -> Count:
        """What a request of so many counted tokens has at most, the reserve apart."""
        source = "provider" if calibration.last else self.source
        return Count(tokens=calibration.bound(counted, rewrites=rewrites), source=source)

    def billed(
        self, calibration: Calibration, certificate: Certificate, prompt_tokens: int
    ) -> Calibration | None:
        """The calibration with what the provider billed for a list that was prepared; ``None`` where that cannot be true.

        The reserve is paid from the bill first: what the host adds beyond it shows as an offset, and what it does not
        use stays reserved.

        Args:
            calibration: what was known before.
            certificate: that of the list.
            prompt_tokens: all input tokens.
        """
        bill = Bill(
            counted=certificate.counted_tokens,
            billed=prompt_tokens,
            assumed=certificate.assumed_tokens,
            rewrites=certificate.rewrites,
        )
        if not calibration.believes(bill):
            return None
        billed = max(bill.billed - self.reserve_tokens, calibration.least(bill), 1)
        return calibration.after(replace(bill, billed=billed))
