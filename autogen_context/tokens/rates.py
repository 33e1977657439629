"""What input tokens cost where a provider caches prefixes.

Promise: numbers only, in uncached input tokens, so that they compare where money is not known.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What a provider asks for cached tokens, and what it caches for how long.

    Attributes:
        cached_fraction: what a cached token costs of an uncached one; 1 where nothing is cached.
        write_fraction: what a token costs of that when it is written to the cache.
        minimum_prefix_tokens: the shortest prefix that is cached, in tokens.
        block_tokens: prefixes are cached in whole blocks of so many tokens.
        cache_ttl_s: how long an unused prefix stays cached at least, in seconds.

    Raises:
        ValueError: a cached token costs less than nothing or more than a written one, or a size is below 1.
    """

    cached_fraction: float
    write_fraction: float = 1.0
    minimum_prefix_tokens: int = 1
    block_tokens: int = 1
    cache_ttl_s: float = 300.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 0 <= self.cached_fraction <= self.write_fraction:
            raise ValueError(
                f"cached_fraction={self.cached_fraction}, write_fraction={self.write_fraction}: "
                "give 0 <= cached_fraction <= write_fraction"
            )
        sizes = (self.minimum_prefix_tokens, self.block_tokens, self.cache_ttl_s)
        if min(sizes) < 1:
            raise ValueError(
                f"minimum_prefix_tokens, block_tokens, cache_ttl_s = {sizes}: give 1 or more"
            )

    def cached_tokens(self, shared_tokens: int) -> int:
        """Tokens that are cached of a prefix shared with the request before."""
        if shared_tokens < self.minimum_prefix_tokens or self.cached_fraction >= 1:
            return 0
        return shared_tokens // self.block_tokens * self.block_tokens

    def cost_tokens(self, tokens: int, cached_tokens: int) -> float:
        """What a request costs of which so many tokens are cached."""
        is_written = tokens >= self.minimum_prefix_tokens
        new = (tokens - cached_tokens) * (self.write_fraction if is_written else 1)
        return cached_tokens * self.cached_fraction + new

    def standing_tokens(self, tokens: int) -> float:
        """What it costs to send the same tokens once more.

        What the last block leaves over is taken for cached: with the next message it moves, and is not the same twice.
        """
        is_cached = tokens >= self.minimum_prefix_tokens and self.cached_fraction < 1
        return self.cost_tokens(tokens, tokens if is_cached else 0)

    def is_cold(self, *, idle_s: float) -> bool:
        """Whether nothing may be cached any more, so many seconds after the last request."""
        return idle_s > self.cache_ttl_s
