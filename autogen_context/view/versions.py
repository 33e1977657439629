"""What a conversation's view was after each change and each compaction, to look at, to compare and to go back to.

Promise: a version is an old view, which shares what it has with those before and behind it. As many as are set are kept, the
oldest go first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from autogen_context.errors import NoSuchVersion
from autogen_context.messages.message import Text
from autogen_context.view.view import ContextView


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What is known of a version.

    Attributes:
        number: counts up from 0, the start.
        kind: ``start``, ``compaction``, ``roll back``, or the type of the change; ``changes`` where several came at once.
        summary: what made it, in words.
        tokens: what the messages that are sent cost, as we count.
        timestamp: when, in seconds since 1970, by the manager's clock.
    """

    number: int
    kind: Text
    summary: Text
    tokens: int
    timestamp: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The versions of one conversation.

    Attributes:
        most: how many are kept; one at least.
        kept: they with what their views had of decisions, pins and notices, oldest first.
    """

    most: int
    kept: tuple[tuple[Version, ContextView], ...] = ()

    def __iter__(self) -> Iterator[Version]:
        """Those that are kept, oldest first."""
        return (version for version, _ in self.kept)

    @property
    def newest(self) -> Version:
        """The newest one."""
        return self.kept[-1][0]

    def view(self, number: int) -> ContextView:
        """The view of a version.

        Raises:
            NoSuchVersion: there is none, or it is not kept any more.
        """
        for version, view in self.kept:
            if version.number == number:
                return view
        raise NoSuchVersion(number, known=tuple(version.number for version, _ in self.kept))

    def recorded(self, kind: str, summary: str, view: ContextView, *, at_s: float) -> "Versions":
        """These and a version of how it is now."""
        number = self.kept[-1][0].number + 1 if self.kept else 0
        version = Version(
            number=number, kind=kind, summary=summary, tokens=view.tokens, timestamp=at_s
        )
        past = ContextView(
            decisions=view.decisions,
            pins=view.pins,
            notices=view.notices,
            must_replan=view.must_replan,
        )
        return replace(self, kept=(*self.kept, (version, past))[-max(1, self.most) :])

    def cut_back(self, messages: int) -> "Versions":
        """These where the host has another past from a message on."""
        kept: list[tuple[Version, ContextView]] = []
        for version, view in self.kept:
            if view.decisions.stop > messages:
                past = replace(
                    view,
                    decisions=view.decisions.until(messages),
                    notices=view.notices.cut_back(messages),
                    must_replan=True,
                )
                kept.append((version, past))
            else:
                kept.append((version, view))
        return replace(self, kept=tuple(kept))
