"""The facts of a conversation, as a person sees and corrects them, on every host.

Promise: what is listed is what people stated and did not replace, withdraw, edit or delete since; with a memory of the person, of
all conversations. A correction is told to the model from the next turn on, and stays in the conversation's state.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from autogen_context.argument import require_text
from autogen_context.manager.record import recorded_in
from autogen_context.messages.message import Message
from autogen_context.recall.facts import Fact, Facts
from autogen_context.text.quote import quoted
from autogen_context.view.notice import Notice
from autogen_context.view.view import ContextView, Record

if TYPE_CHECKING:
    from autogen_context.memory.user_memory import UserMemory

FACTS = "facts"  # begins the keys of corrections
EDITED = "The person corrected {stated}; it holds now:"
DELETED = "The person takes back: {stated}"
Read = Callable[[], tuple[Sequence[Message], ContextView]]
Change = Callable[[Callable[[ContextView], ContextView]], None]


class ContextFacts:
    """The facts that hold, newest last: iterate over them, or call ``edit`` and ``delete`` with the id of one.

    Args:
        read: returns the messages of the conversation, and its view.
        change: changes the view.
        memory: of the person.
    """

    def __init__(self, read: Read, change: Change, memory: "UserMemory | None" = None) -> None:
        self._read, self._change, self._memory = read, change, memory

    def __iter__(self) -> Iterator[Fact]:
        """Iterate over the facts; those of a person's memory are read from its store."""
        if self._memory is None:
            return iter([fact for _, fact in self._corrected().values() if fact is not None])
        self._memory.refresh()
        return iter(self._memory.facts)

    def __len__(self) -> int:
        """Return the number of facts."""
        return sum(1 for _ in self)

    def edit(self, fact_id: str, text: str) -> Fact:
        """Replace the text of a fact, here and in the person's memory.

        Raises:
            KeyError: there is no such fact.
            ValueError: the text is empty or no text.
        """
        require_text("text", text)
        line = " ".join(text.split())
        if not line:
            raise ValueError("text must not be empty; to remove a fact, delete it")
        stated, fact = self._known(fact_id)
        if self._memory is not None:
            self._memory.edit(fact_id, line)
        self._correct(
            stated, Notice(key=stated, text=EDITED.format(stated=quoted(stated)), detail=line)
        )
        return replace(fact, text=line)

    def delete(self, fact_id: str) -> None:
        """Delete a fact, here and in the person's memory; it returns only if it is stated in other words.

        Its message stays in the conversation: to have all of it gone, call ``forget``.

        Raises:
            KeyError: there is no such fact.
            StoreUnavailable: the store of the person's memory cannot delete now; it is deleted later.
        """
        stated, _ = self._known(fact_id)
        self._correct(stated, Notice(key=stated, text=DELETED.format(stated=quoted(stated))))
        if self._memory is not None:
            self._memory.forget(id=fact_id)

    def _known(self, fact_id: str) -> tuple[str, Fact]:
        """Return how a fact was stated in this conversation, empty if it was not, and the fact."""
        stated, fact = self._corrected().get(fact_id, ("", None))
        if self._memory is not None:
            self._memory.refresh()
            fact = next((each for each in self._memory.facts if each.id == fact_id), None)
        if fact is None:
            raise KeyError(fact_id)
        return stated, fact

    def _corrected(self) -> dict[str, tuple[str, Fact | None]]:
        """Return how facts were stated in this conversation, by id, and as they are now; ``None`` if it was deleted."""
        messages, view = self._read()
        found: dict[str, tuple[str, Fact | None]] = {}
        for fact in stated_in(messages, view.record):
            correction = view.notices.get("provider", f"{FACTS}: {fact.text}")
            text = fact.text if correction is None else correction.detail
            found[fact.id] = fact.text, replace(fact, text=text) if text else None
        return found

    def _correct(self, stated: str, notice: Notice) -> None:
        """Have the model told, if it was told the fact in this conversation."""
        if stated:
            put = replace(notice, key=f"{FACTS}: {stated}")
            self._change(lambda view: replace(view, notices=view.notices.put(put)))


def stated_in(messages: Sequence[Message], record: Record) -> Facts:
    """Return the facts of messages, and of those that the host cut from their front."""
    facts = Facts()
    facts.follow(dict.fromkeys(recorded_in(record), ""))
    facts.learn(messages)
    return facts
