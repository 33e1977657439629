"""What a request says of evicted units: which messages of people stay, and the notice in place of the rest.

Promise: the notice fits its limit and contains only text of the conversation or verified summaries by a model, each line of it
marked as a quotation; statements are dropped last. It is built from the units themselves, never from an earlier notice, so it does not degrade. A statement
that is still visible in its own words is not repeated, nor one replaced by a statement that is shown in a notice.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from autogen_context.compressor.left_out import Action, ActionLog, LeftOut, actions_in
from autogen_context.compressor.protocol import Extracting
from autogen_context.compressor.shorten import fit_pieces
from autogen_context.compressor.steps import reopened, without_outdated
from autogen_context.compressor.summaries import Span
from autogen_context.ledger import Entry, Ledger
from autogen_context.ledger.ledger import replaces, statements_in
from autogen_context.ledger.reader import tells
from autogen_context.ledger.rendering import RANKS
from autogen_context.messages.message import SYSTEM_ROLES, Message, without_images
from autogen_context.messages.origin import is_strong, may_be_a_persons, outside_frames
from autogen_context.messages.piece import Written, index_of, messages_of
from autogen_context.messages.tool_call import BY_NAME, ToolKinds
from autogen_context.prioritizer.references import unit_at
from autogen_context.text.fit import marked
from autogen_context.text.work import STATEMENT_CHARS, ends_of
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate, Decision, Why, kept, replaced
from autogen_context.view.index import ConversationIndex, Overview
from autogen_context.view.notice import Name

# What people said

REPEATED = 0.5  # of a message; above it, the message only repeats newer ones
MOST_DOUBTFUL = 32  # doubtful messages before what is within reach that are looked at, the newest
MOST_STATED = 64  # long messages whose statements are kept
TELLS = 7  # rank of a message that tells something without a statement
END_CHARS = 300  # at the beginning and the end of a long message, where people say what they want of what they pasted
GAP = "[…] "  # for output that is left out of a doubtful message, or around a remark
REMARK_WORDS = 5
REMARK_LINES = 5  # of what it stands in, at least
REMARK_LETTERS = 0.6  # of what a remark consists of, at least
OWN_WORDS = 0.5  # of a remark, that no other line has
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{2}|[^\W\d_]+")
STATES_NOTHING = 9  # rank of a message that states nothing


class Said(NamedTuple):
    """A message by its unit: the decision to keep it whole or only its statements; higher ranks are dropped first.

    Those that only may be a person's come behind people's.
    """

    unit: int
    rank: int
    decision: Decision
    is_person: bool = True
    shorter: Decision | None = None  # where ``decision`` has no room

    @property
    def states(self) -> bool:
        """True if it states something that is still valid."""
        return self.rank < STATES_NOTHING

    @property
    def is_rule(self) -> bool:
        """True if it states a rule or a limit."""
        return self.rank <= RANKS["constraint"]


def is_replaced(entry: Entry, statements: Iterable[Entry]) -> bool:
    """Return True if a later statement repeats or replaces an entry."""
    later = (own for own in statements if own.position > entry.position)
    return any(own.text == entry.text or replaces(own, entry, changes=True) for own in later)


def overruled(statements: Mapping[Name, Entry], entries: Collection[Entry]) -> frozenset[Name]:
    """Return the names of statements that a later entry with enough authority replaced."""
    return frozenset(
        name
        for name, own in statements.items()
        if any(e.position >= own.position and replaces(e, own, changes=False) for e in entries)
    )


NO_STATEMENTS: Mapping[Name, Entry] = {}


class EvictionNotice:
    """The part of a conversation's index that tells of units evicted from it."""

    def __init__(
        self, counter: MessageCounter, *, compressor: Extracting, kinds: ToolKinds = BY_NAME
    ) -> None:
        self._recorded: tuple[Entry, ...] = ()
        self._compressor, self._counter, self._kinds = compressor, counter, kinds
        self.truncate(0)

    def truncate(self, _units: int) -> int:
        """Begin anew: a ledger and a log take nothing back."""
        self._read = lru_cache(MOST_STATED)(self._compressor.stated)  # a large paste takes a while
        self._ledger, self._prompts = Ledger(), 0  # leading system messages
        self._ledger.add(self._recorded)
        self._strong, self._informative, self._doubtful = list[int](), list[int](), list[int]()
        self._done: list[list[Action]] = []  # by each unit
        self._earlier, self._noted = ActionLog(), 0
        return 0

    def add(self, at: int, candidate: Candidate) -> None:
        """Learn what people and the model stated in the next unit, and what was done; of a system prompt, which stays, nothing."""
        if at < len(self._done):
            return
        self._done.append(actions_in(candidate.unit, self._kinds))
        for position, message in enumerate(candidate.unit.messages, candidate.unit.start):
            if message.role in SYSTEM_ROLES and position == self._prompts:
                self._prompts += 1
            elif not message.own:
                self._ledger.learn([message], start=position)
            if is_strong(message):
                self._strong.append(position)
            if may_be_a_persons(message) and says_something(message):
                self._informative.append(position)
            if message.origin == "doubtful":
                self._doubtful.append(position)

    def stated(self, index: ConversationIndex, recorded: Iterable[Entry]) -> list[Entry]:
        """Return all statements that are still valid, by whom ever.

        Those recorded of a list whose front was cut count as said before the first message; they stand elsewhere.
        """
        before, self._recorded = self._recorded, tuple(recorded)
        if self._recorded != before:
            index.truncate(0, [self])
            self.truncate(0)
        index.follow(self)
        return list(self._ledger)

    def _log(self, *, until: int) -> ActionLog:
        """Return the log of the actions of the units before ``until``, which are out of reach.

        It depends only on the units and the position, so a restored state produces the same one.
        """
        if self._noted > until:
            self._earlier, self._noted = ActionLog(), 0
        for actions in self._done[self._noted : until]:
            self._earlier.add(actions)
        self._noted = until
        return self._earlier

    def overruled(self, statements: Mapping[Name, Entry]) -> frozenset[Name]:
        """Return the names of the statements that later messages replaced."""
        return overruled(statements, list(self._ledger))

    def said(
        self,
        candidates: Sequence[Candidate],
        overview: Overview,
        messages: Sequence[Message],
        *,
        long_tokens: int,
        horizon: int = 0,
        is_used: Callable[[int], bool],
    ) -> list[Said]:
        """Return the messages of people worth keeping, by rank and then newest first; those that state nothing come last.

        Behind them, in the same order, stand those that may be a person's, and what somebody else said last, behind the
        latest instruction: the agent may be at work on it. A message beyond ``long_tokens`` is reduced to its statements.
        Before ``horizon`` only units that state something or are doubtful are read. ``is_used(unit)`` tells if the model has since used the
        names in it; then only rules and strong wording keep it.
        """
        last = overview.others[-1] if overview.others else -1
        last = last if last > max(overview.instructions, default=-1) else -1
        units = sorted({*overview.possible_people, last}) if last >= 0 else overview.possible_people
        found: list[Said] = []
        lines: set[str] = set()
        ranks: dict[int, int] = dict.fromkeys(self._informative, TELLS)
        for entry in self._ledger:
            if not entry.reported and entry.position >= 0:
                known = ranks.get(entry.position, STATES_NOTHING)
                ranks[entry.position] = min(RANKS[entry.kind], known)
        doubtful = self._doubtful[-MOST_DOUBTFUL:]
        stating = (unit_at(candidates, at) for at in {*ranks, *self._strong, *doubtful})
        older = {
            i for i in stating if i < horizon and bisect_left(units, i) < bisect_right(units, i)
        }
        older |= {last} if 0 <= last < horizon else set()
        for i in reversed([*sorted(older), *units[bisect_left(units, horizon) :]]):
            candidate = candidates[i]
            message = candidate.unit.messages[0]
            is_person, is_doubtful = message.origin == "person", message.origin == "doubtful"
            is_long, is_again = candidate.tokens > long_tokens, is_repeated(message.text, lines)
            if is_again and not is_doubtful:  # what is said of a thing that is pasted twice differs
                continue
            strong = is_strong(message)
            rank = ranks.get(candidate.unit.start, STATES_NOTHING)
            rank = min(rank, RANKS["preference"]) if strong else rank
            rank = min(rank, TELLS) if i == last else rank
            behind = (each.unit.messages for each in candidates[i + 1 : i + 3])
            said = next((those for those in behind if those[0].role not in SYSTEM_ROLES), ())
            is_plain = not (is_doubtful or (is_long and is_person) or strong or i == last)
            if is_plain and rank == STATES_NOTHING and any(each.calls for each in said):
                continue  # the model calls tools right after it: in progress, or done
            if is_plain and rank > RANKS["constraint"] and is_used(i):
                continue
            decided = [kept(candidate, Why.PERSON if is_person else Why.MAYBE_PERSON)]
            if is_long or is_again:
                decided = self._brief(candidate, messages, long_tokens=long_tokens)
            if decided:
                found.append(Said(i, rank, decided[0], is_person, *decided[1:]))
        return sorted(found, key=lambda said: (not said.is_person, said.rank, -said.unit))

    def _brief(
        self, candidate: Candidate, messages: Sequence[Message], *, long_tokens: int
    ) -> list[Decision]:
        """Reduce a message, in up to two ways, the longer one first; none if there is nothing to keep or nothing to save.

        Of a person's message stay its ends, where people say what they want of what they pasted, and what they say between;
        in less room, and of a few long lines, the sentences that state something. Of a doubtful one stays what is outside its frames, or in less room
        its end. What another agent said is shortened to ``long_tokens``.
        """
        [message, *others] = messages_of(candidate.pieces, messages)
        if others:
            return []
        if message.origin == "doubtful":
            around = self._reworded(
                candidate, message, words_around(message.text), Why.MAYBE_PERSON
            )
            end = self._reworded(candidate, message, end_of(message.text), Why.MAYBE_PERSON)
            is_shorter = around and end and end.tokens_after < around.tokens_after
            return [
                around or kept(candidate, Why.MAYBE_PERSON),
                *([end] if end and is_shorter else []),
            ]
        if message.origin == "person":
            stated = self._reworded(
                candidate, message, self._read(message.text), Why.PERSON, own=True
            )
            both = ends_around(message.text, said=self._read)
            around = self._reworded(candidate, message, both, Why.PERSON) or kept(
                candidate, Why.PERSON
            )
            is_shorter = stated and stated.tokens_after < around.tokens_after
            if stated and message.text.count("\n") < REMARK_LINES:  # its author's, all of it
                return [stated, *([] if is_shorter else [around])]
            return [around, *([stated] if stated and is_shorter else [])]
        fitted = fit_pieces(
            candidate.pieces,
            [message],
            room_tokens=long_tokens,
            counter=self._counter,
            shorten=self._compressor.shorten,
        )
        return (
            [replaced(candidate, "shorten", Why.MAYBE_PERSON, *fitted, detail="its ends")]
            if fitted
            else []
        )

    def _reworded(
        self, candidate: Candidate, message: Message, text: str, why: Why, *, own: bool = False
    ) -> Decision | None:
        """Return the decision to send a message with another text; ``None`` if that is empty or saves nothing.

        The compressor cuts the message to the size of that text, unless the text is its ``own``.
        """
        if text and not own and len(text) < len(message.text):
            text = self._compressor.extract(message.text, text, count=self._counter.text)
        short = without_images(replace(message, text=text))
        tokens = self._counter.message(short)
        if not text or tokens >= candidate.tokens:
            return None
        piece = Written(message=short, index=index_of(candidate.pieces[0]))
        return replaced(candidate, "shorten", why, (piece,), tokens, detail="what it states")

    def content(
        self,
        units: Sequence[Candidate],
        decided: Mapping[int, Decision],
        *,
        in_force: Mapping[Name, Entry] = NO_STATEMENTS,
        summaries: Mapping[Span, str],
        room_tokens: int,
        horizon: int = 0,
    ) -> str:
        """Return the notice about units left out or shortened; actions before ``horizon`` come from a log.

        Statements ``in_force`` in the notices are shown anyway.
        """
        current: dict[Span, str] = {}
        for span in sorted(summaries, key=lambda span: span.start):
            if any(i not in decided for i in range(span.start, span.stop)):
                _, said = reopened(summaries[span])  # its statements stand with all others
                stop = units[span.stop - 1].unit.stop
                stated = chain(self._ledger, in_force.values())
                newer = [entry for entry in stated if entry.position >= stop]
                current[span] = without_outdated(said, newer)
        earlier = self._log(until=horizon) if horizon else None
        gone = (i for i in range(horizon, len(units)) if i not in decided)
        left_out = LeftOut(
            statements=self._stated(units, decided, in_force.values()),
            summaries=current,
            units={i: self._done[i] for i in gone},
            earlier=earlier if horizon and not any(current.values()) else None,
        )
        return self._compressor.notice(
            left_out, room_tokens=max(0, room_tokens), count=self._counter.text
        )

    def _stated(
        self,
        units: Sequence[Candidate],
        decided: Mapping[int, Decision],
        in_force: Collection[Entry],
    ) -> list[Entry]:
        """Return the statements that are still valid but no longer visible."""
        shortened = [
            piece.message.text
            for decision in decided.values()
            if decision.action == "shorten"
            for piece in decision.pieces
            if isinstance(piece, Written)
        ]
        in_sight = " ".join(" ".join(shortened).split())

        def is_hidden(entry: Entry) -> bool:
            decision = decided.get(unit_at(units, entry.position))
            return (decision is None or decision.hides) and entry.text not in in_sight

        own = (entry for entry in self._ledger if entry.position >= 0)
        return [e for e in own if is_hidden(e) and not is_replaced(e, in_force)]


def says_something(message: Message) -> bool:
    """Whether words tell or state something; of those that may be a program's, the ends, where people write."""
    if message.origin != "doubtful":
        return tells(message.text)
    text = ends_of(message.text, END_CHARS)
    return tells(text) or any(True for _ in statements_in(text, "person"))


def words_around(text: str) -> str:
    """Return what stands outside the output that a text frames, or its ends if that is much, with marks for the rest."""
    outside = [part for part in outside_frames(text) if part.strip()]
    if 0 < sum(map(len, outside)) <= 2 * END_CHARS:
        return f"{GAP}{GAP.join(outside)}"
    return ends_around(text)


def end_of(text: str) -> str:
    """Return the last lines of a text, with a mark for the rest."""
    end = last_lines(text)
    return marked(text.removesuffix(end)) + end


def ends_around(text: str, *, said: Callable[[str], str] = lambda _: "") -> str:
    """Return the first and the last lines of a text and what is said between them, with marks for the rest.

    Remarks between other lines are kept by their words; where there are none, ``said`` returns what a text says.
    """
    start, middle, end = ends_and_middle(text)
    remarks = remarks_in(middle)
    if not remarks:
        return start + (said(middle) or marked(middle)) + end
    return start + marked(middle) + "".join(f"{GAP}{each}\n" for each in remarks) + GAP + end


def ends_and_middle(text: str) -> tuple[str, str, str]:
    """Return the first lines of a text, what is between, and its last lines."""
    end = last_lines(text)
    start = first_lines(text.removesuffix(end))
    return start, text[len(start) :].removesuffix(end), end


def remarks_in(text: str) -> list[str]:
    """Return the lines between others that say something in words of their own; none if they are more than remarks.

    A line of a log or a table shares its words with others; what somebody wrote between them does not.
    """
    lines = ends_of(text, STATEMENT_CHARS, STATEMENT_CHARS).split("\n")
    words = [WORD.findall(line.casefold()) for line in lines]
    times = Counter(chain.from_iterable(map(set, words)))
    found = [
        at
        for at, said in enumerate(words)
        if len(said) >= REMARK_WORDS
        and len(lines[at]) <= END_CHARS
        and sum(times[word] == 1 for word in said) >= OWN_WORDS * len(said)
        and sum(map(len, said)) >= REMARK_LETTERS * len("".join(lines[at].split()))
    ]
    blank = ["", *(line.strip() for line in lines), ""]
    apart = [at for at in found if not blank[at] and not blank[at + 2]]
    for some in (found, apart) if len(lines) >= REMARK_LINES else ():
        said = [lines[at].strip() for at in some]
        if sum(map(len, said)) <= 2 * END_CHARS:
            return said
    return []


def first_lines(text: str) -> str:
    """Return the first lines of a text, as far as they fit ``END_CHARS``, or that many characters of the first one."""
    start = text[:END_CHARS]
    return start if start == text or "\n" not in start else start[: start.rfind("\n") + 1]


def last_lines(text: str) -> str:
    """Return the last lines of a text, as far as they fit ``END_CHARS``, or that many characters of the last one."""
    end = text[len(text.rstrip()) - END_CHARS :] if len(text.rstrip()) > END_CHARS else text
    return end if end == text else end[end.find("\n") + 1 :] or end


def is_repeated(text: str, lines: set[str]) -> bool:
    """Return True if most of a text is in ``lines``, to which its own lines are added."""
    own = [line for line in map(str.strip, text.splitlines()) if line]
    again = sum(len(line) for line in own if line in lines)
    lines.update(own)
    return again > REPEATED * sum(map(len, own))
