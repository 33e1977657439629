"""Fingerprints of files, folders and patterns: what a value was built from.

Promise: while a fingerprint holds, what it was taken of is what it was. It holds if the times are those of then, or the
content is. A file that comes or goes under a pattern changes the pattern's fingerprint, and so does a file that is
created where there was none.

Times prove this where changes are stamped (docs/decisions/0016-cache.md says where they are not); ``compare="content"``
reads every file each time instead.
"""

import logging
import math
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from autogen_context.cache.dependency import Look, is_pattern, look_at
from autogen_context.cache.file_state import NEVER_NS, FileState, content_of, state_of
from autogen_context.messages.message import content_digest

Compare = Literal["times", "content"]

_LOGGER = logging.getLogger(__name__)
_FEW = 64  # of some microseconds each: less than a thread costs to ask for them


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What one dependency was.

    Attributes:
        name: an absolute path or pattern.
        times: what the system said of it.
        content: a digest of what was in it; empty where it was not read.
    """

    name: str
    times: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What all dependencies of a value were at one moment.

    Attributes:
        fingerprints: n of them, in the order of the names.
        mark: equal for two readings only if nothing changed between them, not even there and back.
        settles_in_s: in how many seconds that is true; not positive if it is, infinite if it never will be.
    """

    fingerprints: tuple[Fingerprint, ...]
    mark: str
    settles_in_s: float


class FingerprintReader:
    """Takes fingerprints, and says whether they hold. It may be used by several threads.

    Args:
        compare: what a fingerprint holds by; ``content`` for files that are written through a memory map, and for
            network folders whose times arrive late.
        pattern_contents: read what matches a pattern, too, so that its fingerprint holds on other machines.
        limit_bytes: of a file above this the times are all that is known.
        now_ns: the time by the clock that stamps files, in nanoseconds since the epoch.
    """

    def __init__(
        self,
        *,
        compare: Compare = "times",
        pattern_contents: bool = False,
        limit_bytes: int = 64 * 1024 * 1024,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        if compare not in get_args(Compare):
            raise ValueError(f"compare={compare!r}: give one of {', '.join(get_args(Compare))}")
        self._by_content = compare == "content"
        self._pattern_contents = pattern_contents or self._by_content
        self._limit_bytes = limit_bytes
        self._now_ns = now_ns
        self._said: set[str] = set()

    def read(self, names: Iterable[str]) -> Reading:
        """Take the fingerprints of everything that a value depends on."""
        now_ns = self._now_ns()  # before looking: what is written from here on is stamped later
        looks = [look_at(name) for name in names]
        contents = [self._content(look) for look in looks]
        settled_ns = max((look.settled_ns for look in looks), default=0)
        never = None in contents or settled_ns >= NEVER_NS
        return Reading(
            fingerprints=tuple(
                Fingerprint(name=look.name, times=look.times, content=content or "")
                for look, content in zip(looks, contents, strict=True)
            ),
            mark=_mark(looks, contents if self._by_content else ()),
            settles_in_s=math.inf if never else (settled_ns - now_ns) / 1e9,
        )

    def mark(self, names: Iterable[str]) -> str:
        """The mark that a reading would have now; nothing is opened for it, unless contents are what counts."""
        looks = [look_at(name) for name in names]
        return _mark(looks, [self._content(look) for look in looks] if self._by_content else ())

    def hold_at_a_glance(self, fingerprints: Collection[Fingerprint]) -> bool:
        """Whether a few files have the times they had, which takes microseconds; ``False`` says nothing, as for patterns."""
        if self._by_content or len(fingerprints) > _FEW:
            return False
        return all(state_of(old.name).times == old.times for old in fingerprints)

    def renewed(self, fingerprints: Iterable[Fingerprint]) -> tuple[Fingerprint, ...] | None:
        """Compare with what is there now.

        Returns:
            ``None`` if a dependency is another than it was, or may be; otherwise the fingerprints, with the times of
            now where only these changed and prove something already.
        """
        renewed: list[Fingerprint] = []
        for fingerprint in fingerprints:
            now = self._compared(fingerprint)
            if now is None:
                return None
            renewed.append(now)
        return tuple(renewed)

    def _compared(self, old: Fingerprint) -> Fingerprint | None:
        now_ns = self._now_ns()
        look = look_at(old.name)
        if old.times and look.times == old.times and not (self._by_content and old.content):
            return old
        if not old.content or self._content(look) != old.content:
            return None
        settled = look.settled_ns <= now_ns
        return Fingerprint(name=old.name, times=look.times, content=old.content) if settled else old

    def _content(self, look: Look) -> str | None:
        """A digest of all contents; empty if one is not read, ``None`` if one of them can be anything by now."""
        if is_pattern(look.name) and not self._pattern_contents:
            return ""
        digests = [look.listing]
        for path, state in look.states:
            content = content_of(path, state, limit_bytes=self._limit_bytes)
            if not content:
                self._say_once(state, content)
                return content
            digests.append(content)
        return content_digest(*digests).hex()

    def _say_once(self, state: FileState, content: str | None) -> None:
        """Say of each kind once that its times are all there is, or that not even these prove anything."""
        if state.kind in self._said or (content is None and state.kind == "file"):
            return
        self._said.add(state.kind)
        if content is None:
            _LOGGER.warning("what depends on a pipe, a socket or a device is not cached")
        else:
            numbers = {"size_bytes": state.size, "limit_bytes": self._limit_bytes}
            _LOGGER.warning("too large or unreadable: followed by its times alone", extra=numbers)


def _mark(looks: Iterable[Look], contents: Iterable[str | None]) -> str:
    times = (part for look in looks for part in (look.times, look.beside))
    return content_digest(*times, *(content or "" for content in contents)).hex()
