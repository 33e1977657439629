"""A user's own tier of a cache, as small as one can be."""

from collections.abc import Callable, Iterable, Mapping


class OwnTier:
    """A user's own tier, which several caches of a process share.

    Attributes:
        heard: who is told of what was deleted.
    """

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.heard: list[Callable[[str], None]] = []

    def read_all(self, names: Iterable[str], /) -> dict[str, bytes]:
        """What there is of these."""
        return {name: self.values[name] for name in names if name in self.values}

    def write(self, values: Mapping[str, bytes], /, *, ttl_s: float | None = None) -> list[str]:
        """Keep them; without a clock, what has a time is not kept."""
        self.values |= values if ttl_s is None else {}
        return []

    def names(self) -> list[str]:
        """All there are."""
        return list(self.values)

    def forget(self, names: Iterable[str], /) -> None:
        """Delete them, and tell."""
        for name in names:
            self.values.pop(name, None)
            for heard in self.heard:
                heard(name)

    def clear(self) -> None:
        """Delete all."""
        self.values.clear()

    def close(self) -> None:
        """Nothing is open."""

    def listen(self, heard: Callable[[str], None], /) -> Callable[[], None]:
        """Tell of what is deleted."""
        self.heard.append(heard)
        return lambda: self.heard.remove(heard)
