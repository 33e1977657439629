"""What of a conversation is new to a person's memory: its exchanges, and the facts that they state.

Promise: what the person said, with its answer, and what it states is remembered once, whether its messages come one by one or at
once, and again after a restart. A conversation that is taken up again takes nothing back that was stated since in another one.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from autogen_context.memory.rows import RememberedExchange, RememberedFact, Row
from autogen_context.memory.user_memory import UserMemory
from autogen_context.messages.message import Message
from autogen_context.messages.segment import Unit
from autogen_context.project.secrets import HIDDEN, without_secrets
from autogen_context.recall.exchanges import exchanges
from autogen_context.recall.facts import Facts
from autogen_context.text.work import ends_of

TEXT_CHARS = 50_000  # of a message that is remembered, at each end


class Spoken(NamedTuple):
    """An exchange of a conversation, as it is remembered."""

    said: tuple[str, ...]
    answer: str  # empty while the exchange goes on
    unit: int  # at which it begins


class Learner:
    """Learns one conversation into a person's memory.

    Attributes:
        own: ids of the exchanges that are this conversation's.
        own_stated: statements that are this conversation's.
        newest: the newest exchange.
    """

    def __init__(self, memory: UserMemory) -> None:
        self._memory, self._facts = memory, Facts()
        self.own: set[str] = set()
        self._left: set[str] = set()  # own ones of the list as it was
        self._learnt_from: set[str] = set()  # ids of exchanges whose statements were learnt
        self.restart()

    def restart(self) -> None:
        """Read the conversation from its beginning."""
        self._left |= self.own
        self.own = set()
        self.own_stated: set[str] = set()
        self.newest: Spoken | None = None
        self._read = -1  # units
        self._newest_row: RememberedExchange | None = None
        self._before: RememberedExchange | None = None  # the exchange in front of the newest one

    def learn(self, units: Sequence[Unit], *, known: int) -> bool:
        """Learn what is new in a conversation, the first ``known`` units of which are as they were; return whether its newest exchange is."""
        start = self.newest.unit if self.newest else 0
        if known < start:
            self.restart()
            start = 0
        elif self._read >= 0 and known >= self._read and not has_news(units, self._read):
            self._read = len(units)  # steps of an agent, which are read when its exchange is over
            return False
        spoken, before = [*spoken_in(units, start)], self.newest
        newest = spoken[-1] if spoken else None
        is_new = self._read < 0 or before is None or newest is None or is_other(newest, before)
        self._read = len(units)
        if is_new:
            self._memory.refresh()
        if spoken:
            self._learn(spoken)
        return is_new

    def _learn(self, spoken: Sequence[Spoken]) -> None:
        """Learn exchanges, the first of which may be the newest one so far."""
        memory, places, rows = self._memory, Places(self._memory), list[Row]()
        again = self._newest_row if self.newest and spoken[0].unit == self.newest.unit else None
        before = {row.id: row for row in memory.stated}
        self._facts.follow({row.entry: row.edited for row in before.values()})
        stated = dict(before)
        for at, each in enumerate(spoken):
            self._before = self._newest_row if at else self._before
            row, is_known = places.row_of(each, self._before)
            is_learnt = row.id in self._learnt_from or memory.is_forgotten(row)
            is_going_on = at == len(spoken) - 1 and not each.answer
            if not is_learnt and (not is_known or is_going_on):
                self._learn_facts(each.said, stated)
            self._note_own(each.said, stated)
            self._learnt_from.add(row.id)
            self.own.add(row.id)
            rows.append(row)
            self.newest, self._newest_row = each, row
        ids = {row.id for row in rows}
        replaced = [again] if again and again.id not in ids else []
        known = {fact.id for fact in self._facts}
        facts = [row for key, row in stated.items() if key in known]
        left = self._left - self.own  # what went on otherwise
        replaced += [row for row in memory.exchanges if row.id in left and not row.answer]
        self._left = set()
        memory.remember([*rows, *facts], instead=[*replaced, *places.needless])
        memory.drop(row for key, row in before.items() if key not in known)

    def _learn_facts(self, said: Sequence[str], stated: dict[str, RememberedFact]) -> None:
        """Learn what was said, and put what it states into ``stated``."""
        for text in said:
            for fact in self._facts.learn([Message(role="user", text=text, origin="person")]):
                row = RememberedFact(
                    id=fact.id, at_s=self._memory.now_s(), kind=fact.kind, stated=fact.text
                )
                if HIDDEN in fact.text or self._memory.is_forgotten(row):
                    self._facts.delete(fact.id)
                else:
                    stated[fact.id] = row
                    self.own_stated.add(row.stated)

    def _note_own(self, said: Sequence[str], stated: dict[str, RememberedFact]) -> None:
        """Note which statements this conversation has, whoever stated them first."""
        for text in said:
            line = " ".join(text.split()).casefold()
            self.own_stated |= {
                row.stated for row in stated.values() if row.stated.casefold() in line
            }


def is_other(newest: Spoken, before: Spoken) -> bool:
    """Return True if a person said something new: in another exchange, or further messages in the same one."""
    return (newest.said, newest.unit) != (before.said, before.unit)


class Places:
    """Finds the rows that a memory has of exchanges.

    Attributes:
        needless: rows without an answer, of exchanges that turned out to be known with it.
    """

    def __init__(self, memory: UserMemory) -> None:
        self._memory = memory
        self.needless: list[RememberedExchange] = []
        self._by_place = defaultdict[str, list[RememberedExchange]](list)
        self._by_said = defaultdict[tuple[str, ...], list[RememberedExchange]](list)
        for row in memory.exchanges:
            self._note(row)

    def _note(self, row: RememberedExchange) -> None:
        self._by_place[row.place].append(row)
        self._by_said[row.said].append(row)

    def row_of(
        self, spoken: Spoken, before: RememberedExchange | None
    ) -> tuple[RememberedExchange, bool]:
        """Return the row of an exchange behind another one, and whether the memory has it, from this process or another one."""
        memory, said, answer = self._memory, spoken.said, spoken.answer
        behind = (*before.said, before.answer) if before else ()
        place = memory.digest("place", str(len(behind)), *behind, *said)
        same = self._by_place[place]
        # In front of the first exchange there may have been others, which the host cut off.
        alike = same if before or not answer else self._by_said[said]
        blank = next((row for row in same if not row.answer), None) if answer else None
        if found := next((row for row in alike if row.answer == answer), None):
            self.needless += [blank] if blank else []
            return found, True
        if blank is not None:
            same.remove(blank)
            found = replace(blank, answer=answer)
            self._note(found)
            return found, True
        new = RememberedExchange(
            id=memory.digest(place, str(len(same))),
            at_s=memory.now_s(),
            said=said,
            answer=answer,
            place=place,
            after=before.id if before else "",
        )
        self._note(new)
        return new, False


def spoken_in(units: Sequence[Unit], start: int) -> Iterator[Spoken]:
    """Yield the exchanges of a person from a unit on, without secrets; the last one may go on."""
    positions = [at for at in range(start, len(units)) for _ in units[at].messages]
    messages = [message for unit in units[start:] for message in unit.messages]
    found = exchanges(messages)
    for each in found:
        by_person = [*filter(is_said, each.asked)]
        if by_person:
            is_over = each is not found[-1] or is_answer(messages[each.stop - 1])
            answer = each.answered.text if is_over and each.answered else ""
            said = tuple(kept(message.text) for message in by_person)
            yield Spoken(said, kept(answer), positions[each.start])


def has_news(units: Sequence[Unit], start: int) -> bool:
    """Return True if the person says something in the units from one on, or the last one is an answer."""
    new = [message for unit in units[start:] for message in unit.messages]
    return any(map(is_said, new)) or (bool(new) and is_answer(new[-1]))


def is_said(message: Message) -> bool:
    """Return True if a person says something."""
    return message.role == "user" and message.origin == "person" and bool(message.text.strip())


def is_answer(message: Message) -> bool:
    """Return True if the model says something and asks for nothing to be run."""
    return message.role == "assistant" and not message.calls and bool(message.text.strip())


def kept(text: str) -> str:
    """Return a text as it is remembered."""
    return without_secrets(ends_of(text, TEXT_CHARS)) if text else ""
