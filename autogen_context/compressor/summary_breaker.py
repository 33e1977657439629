"""Leave a model alone that fails again and again.

Promise: after so many failures in a row no call is made until the pause is over; then one call tries, and decides. The
clock is handed in.
"""

import time
from collections.abc import Callable


class Breaker:
    """Counts failures in a row.

    Args:
        failures: after so many the pause begins.
        pause_s: how long it is, in seconds.
        clock: seconds that only grow.

    Raises:
        ValueError: ``failures`` or ``pause_s`` is not positive.
    """

    def __init__(
        self,
        *,
        failures: int = 3,
        pause_s: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if failures < 1:
            raise ValueError(f"failures={failures}: give 1 or more")
        if not pause_s > 0:
            raise ValueError(f"pause_s={pause_s}: give a positive number of seconds")
        self._failures = failures
        self._pause_s = pause_s
        self._clock = clock
        self._failed = 0
        self._until = 0.0

    def admits(self) -> bool:
        """Whether a call may be made now; the one that is let through after a pause holds the others off."""
        if self._failed < self._failures:
            return True
        if self._clock() < self._until:
            return False
        self._until = self._clock() + self._pause_s
        return True

    def succeeded(self) -> None:
        """A call was answered."""
        self._failed = 0

    def failed(self) -> None:
        """A call was not."""
        self._failed += 1
        self._until = self._clock() + self._pause_s
