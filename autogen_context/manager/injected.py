"""Injected content: notices before the newest unit, and a preamble.

Promise: the sent prefix is not changed: a notice is placed before a unit that was not sent yet, or waits for one. The
notices of one request use at most their fraction of the room, leave as much again for later turns, and never make a request
exceed it. A preamble stands after the system prompt; one that comes later stands before the newest unit until the prefix is
not continued anyway.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from autogen_context.budget.policy import TurnBudget
from autogen_context.compressor.shorten import Shorten
from autogen_context.messages.message import SYSTEM_ROLES, Message, as_message
from autogen_context.messages.piece import Written
from autogen_context.prioritizer.superseded import Superseded
from autogen_context.text.fit import CountText
from autogen_context.text.quote import named
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Candidate
from autogen_context.view.notice import FURTHER, RANKS, Name, Notice, PreambleOffer
from autogen_context.view.view import ContextView

OPENING, CLOSING = "[Added to the conversation:", "]"
BETWEEN = "\n\n"  # separates the parts of a preamble
FREE_FRACTION = 0.5  # of the free room, for a preamble; with less left, the next turn would compact because of it
AGAIN = "{name} is again as the project's context says"


# Notices


def has_place(view: ContextView, candidates: Sequence[Candidate]) -> bool:
    """Return True if the newest unit was not sent yet and is not a system message, so that pieces may precede it."""
    last = view.decisions.last
    if last is None or not candidates or last.start < view.sent:
        return False
    return candidates[-1].unit.messages[0].role not in SYSTEM_ROLES


@dataclass(frozen=True, slots=True)
class NoticeWriter:
    """Writes due notices as one message within their budget; ``shorten`` is asked for one that has no room."""

    counter: MessageCounter
    shorten: Shorten

    def placed(self, view: ContextView, budget: TurnBudget, *, free_tokens: int) -> ContextView:
        """Return the view with the due notices that have room before the newest unit."""
        message, names = self._written(view.notices.due, budget)
        tokens = self.counter.message(message)
        if not names or budget.notice_rooms * tokens > free_tokens:
            return view
        view = view.with_before_last(Written(message=message), tokens)
        return replace(view, notices=view.notices.after_sending(names))

    def needed_tokens(self, notices: Collection[Notice], budget: TurnBudget) -> int:
        """Return the tokens that must be free for notices; 0 if there are none."""
        message, names = self._written(notices, budget)
        return budget.notice_rooms * self.counter.message(message) if names else 0

    def _written(
        self, notices: Iterable[Notice], budget: TurnBudget
    ) -> tuple[Message, frozenset[Name]]:
        """Return the message with notices within their budget, most important first, and the names of those in it."""
        room, count = budget.notice_tokens - self.counter.own(""), self.counter.text
        parts: list[str] = []
        names: set[Name] = set()
        for notice in in_order(notices):
            text = notice.rendered
            if not parts and count(framed([text])) > room:  # too long for any message
                text = self._shortened(notice, room - count(framed([])) - 2)
            if text and count(framed([*parts, text])) <= room:
                parts.append(text)
                names.add(notice.name)
        return as_message(framed(parts) if parts else ""), frozenset(names)

    def _shortened(self, notice: Notice, room_tokens: int) -> str:
        """Return a notice with its detail, else its text, shortened, and quoted after that; empty if hardly anything of it fits."""

        def with_text(text: str) -> str:
            if notice.detail:
                return replace(notice, detail=text).rendered
            new = replace(notice, news=text) if notice.news else replace(notice, text=text)
            return new.rendered

        content, count = notice.detail or notice.news or notice.text, self.counter.text
        short = self.shorten(content, room_tokens=room_tokens, count=lambda t: count(with_text(t)))
        return "" if not short or short.startswith(("[…", "…")) else with_text(short)


def messages_due(view: ContextView) -> tuple[Message, ...]:
    """Return all due notices as one message, or an empty tuple."""
    parts = in_order(view.notices.due)
    return (as_message(framed(each.rendered for each in parts)),) if parts else ()


def in_order(notices: Iterable[Notice]) -> list[Notice]:
    """Return notices with the most important ones first."""
    return sorted(notices, key=lambda notice: RANKS[notice.topic])


def framed(parts: Iterable[str]) -> str:
    """Return the lines between the opening and closing markers."""
    return "\n".join([OPENING, *parts, CLOSING])


# Notices about files


class FilesShown:
    """Says which units of a conversation show a file, by what the index knows of them."""

    def __init__(self, conversation: Conversation, superseded: Superseded) -> None:
        self._conversation, self._superseded = conversation, superseded

    def units(self, path: str, *, position: int) -> frozenset[int]:
        """Return the indices of the units before a position that show or look for a file, unless superseded."""
        self._conversation.index.follow(self._superseded)
        return self._superseded.showing(path, position=position)

    def stale(self, view: ContextView) -> frozenset[int]:
        """Return the indices of the units that show a file as it was before it changed on disk."""
        files = view.notices.files
        units = (self.units(notice.key, position=notice.position) for notice in files)
        return frozenset[int]().union(*units)

    def is_shown(self, view: ContextView, path: str) -> bool:
        """Return True if the view shows a file, or may show it in messages that were not read yet."""
        stop = view.decisions.stop
        if len(self._conversation.messages) < stop:
            return True
        shown = self.units(path, position=stop) if stop else ()
        return any(view.decisions[unit].action != "drop" for unit in shown)

    def without_unseen(self, view: ContextView) -> ContextView:
        """Return the view without notices about files that it no longer shows in an old form."""
        notices = view.notices
        for notice in notices.files:
            shown = self.units(notice.key, position=notice.position)
            if all(view.decisions[unit].action == "drop" for unit in shown):
                notices = notices.withdraw(notice.name)
        return view if notices is view.notices else replace(view, notices=notices)


# The preamble


def offered(view: ContextView, offer: PreambleOffer) -> ContextView:
    """Return the view with a new preamble offer, and its ``newer`` notices due if a preamble is sent."""
    known, before = view.preamble, view.preamble.offer
    if offer == before:
        return view
    is_same = replace(offer, newer=before.newer) == before
    preamble = replace(known, offer=offer, is_placed=known.is_placed and is_same)
    view = replace(view, preamble=preamble)
    return corrected(view, {notice.name for notice in before.newer} if is_same else ())


def with_preamble(
    view: ContextView, free_tokens: int, count: CountText, *, at: int = 0
) -> ContextView:
    """Return the view with the offered preamble, as far as it fits; ``at`` is its position if that is not the front."""
    room = int(FREE_FRACTION * free_tokens)
    preamble = replace(
        view.preamble, text=fitted(view.preamble.offer, room, count), at=at, is_placed=True
    )
    view = replace(view, preamble=preamble)
    return corrected(view, {("project", key) for key in view.notices.of("project")})


def fitted(offer: PreambleOffer, room_tokens: int, count: CountText) -> str:
    """Return the first part of a preamble and the others that fit; empty if no other fits."""
    room, taken = min(room_tokens, offer.most_tokens), list(offer.parts[:1])
    for part in offer.parts[1:]:
        if count(BETWEEN.join([*taken, part])) <= room:
            taken.append(part)
    return BETWEEN.join(taken) if len(taken) > 1 else ""


def corrected(view: ContextView, names: Collection[Name]) -> ContextView:
    """Return the view with the offer's ``newer`` notices, if a preamble is sent, and without obsolete ones of these names.

    An older preamble than the offered one may be wrong on these, and a notice says so.
    """
    preamble, notices = view.preamble, view.notices
    newer = preamble.offer.newer
    for name in sorted(set(names) - {notice.name for notice in newer}):
        key = name[1]
        if preamble.text and not preamble.is_placed:
            notices = notices.put(
                Notice(topic="project", key=key, text=FURTHER.format(name=named(key)))
            )
        else:
            notices = notices.withdraw(name, AGAIN.format(name=named(key)))
    for notice in newer if preamble.text else ():
        notices = notices.put(notice)
    return replace(view, notices=notices)
