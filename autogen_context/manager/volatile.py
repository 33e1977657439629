"""Sends what changes of the system prompt behind what is stable, with ``volatile="behind"``.

Promise: in front the same bytes are sent from turn to turn while only such parts change that changed before. What is sent behind
is a system message, as what it was taken from: no other role has its authority. It stands before the newest unit of the turn
in which it changed, and stays there until it changes again or the list is compacted. Where a model or a client
takes a single system message, it has it at the end of that. The newest alone is sent.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from operator import is_

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Written
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Candidate, Decision, Why, kept
from autogen_context.view.prompt import SplitPrompt
from autogen_context.view.view import ContextView

OFTEN = 3  # turns in a row with another system prompt

logger = logging.getLogger(__name__)


class PromptChanges:
    """Counts the turns in a row in which the text in front of a request was another one, and warns of it once."""

    def __init__(self) -> None:
        self._turn, self._times, self._is_said = 0, 0, False

    def noted(self, turn: int) -> bool:
        """Note a change in a turn; return whether it changes from turn to turn."""
        self._times = self._times + 1 if turn - self._turn <= 1 else 1
        self._turn = turn
        if self._times == OFTEN and not self._is_said:
            self._is_said = True
            logger.warning(
                "the system prompt changes from turn to turn, so that the provider's cache has nothing of the request; put what "
                'changes into the newest message, or set volatile="behind"'
            )
        return self._times >= OFTEN


class VolatilePrompt:
    """Splits the system prompt of one conversation; ``in_front`` where a later system message has no place."""

    def __init__(
        self, conversation: Conversation, counter: MessageCounter, *, in_front: bool
    ) -> None:
        self._conversation, self._counter, self._in_front = conversation, counter, in_front
        self._seen: tuple[Sequence[Message], SplitPrompt] = (), SplitPrompt()
        self._changes, self._is_said = PromptChanges(), False

    def split(self, view: ContextView, pinned: Collection[int]) -> ContextView:
        """Return the view with the newest system prompt; pinned messages are sent as they are."""
        conversation = self._conversation
        heads = conversation.messages[: conversation.system_messages]
        before, seen = view.prompt, self._seen
        is_same = before is seen[1] and len(heads) == len(seen[0])
        if is_same and all(map(is_, heads, seen[0])):
            return self.as_split(view)
        texts = [None if i in pinned else text_of(head) for i, head in enumerate(heads)]
        prompt = before.after(texts, turn=view.pace.turns)
        is_elsewhere = not before.at or (before.at < 0) != self._in_front
        if prompt.moved != before.moved or is_elsewhere:
            prompt = replace(prompt, at=self.place(view))
            self._say(prompt)
        if before.stable and prompt.stable != before.stable:
            self._changes.noted(view.pace.turns)
        self._seen = heads, prompt
        for i in range(len(heads)):
            conversation.put(i, self._in_two(conversation.candidates[i], prompt.front(i)))
        return self.as_split(replace(view, prompt=prompt))

    def place(self, view: ContextView) -> int:
        """Return the number of messages before what is sent behind, if it is placed anew; -1 for the end of the prompt."""
        front, last = self._conversation.system_messages, view.decisions.last
        if self._in_front:
            return -1
        return front if last is None else max(front, last.start)

    def placed(self, view: ContextView) -> ContextView:
        """Return a view that is compacted, with what is sent behind before its newest unit."""
        prompt = view.prompt
        return replace(view, prompt=replace(prompt, at=self.place(view))) if prompt.moved else view

    def with_reasons(self, changes: Mapping[int, Decision]) -> dict[int, Decision]:
        """Return changed decisions that say of the system prompt that it is split."""
        split = (i for i in range(len(self._seen[0])) if i in changes)
        return {
            **changes,
            **{i: replace(changes[i], why=self.reason(i, changes[i].why)) for i in split},
        }

    def as_split(self, view: ContextView) -> ContextView:
        """Return the view whose decisions send of the prompt what is to be sent in front."""
        decisions, changes = view.decisions, dict[int, Decision]()
        is_other = False
        for i in range(min(len(view.prompt.stable), len(decisions))):
            known, candidate = decisions[i], self._conversation.candidates[i]
            why = self.reason(i, known.why)
            is_sent_so = known.pieces == candidate.pieces
            if not is_sent_so or why is not known.why:
                changes[i] = known.then(kept(candidate, why))
                is_other |= not is_sent_so
        if not changes:
            return view
        rewrites = view.rewrites + bool(is_other and view.sent)
        absent = view.absent.after_heads(view.rewrites, rewrites)
        decisions = decisions.changed(changes)
        return replace(view, decisions=decisions, rewrites=rewrites, absent=absent)

    def reason(self, unit: int, why: Why) -> Why:
        """Return why a unit is sent as it is, if these are the words for one that is sent whole."""
        if self._conversation.candidates[unit].stable is not None:
            return Why.SPLIT
        return Why.SYSTEM if why is Why.SPLIT else why

    def _in_two(self, candidate: Candidate, text: str | None) -> Candidate:
        """Return a system message in whose place this text is sent."""
        head, at = candidate.unit.messages[0], candidate.unit.start
        if text is None or text == head.text:
            return replace(candidate, stable=None, tokens=self._counter.message(head))
        if not text:
            return replace(candidate, stable=(), tokens=0)
        front = replace(head, text=text)
        tokens = self._counter.message(front)
        return replace(candidate, stable=(Written(message=front, index=at),), tokens=tokens)

    def _say(self, prompt: SplitPrompt) -> None:
        """Say once that something is sent behind."""
        if self._is_said or not prompt.moved:
            return
        self._is_said, numbers = True, {"parts": len(prompt.moved)}
        if self._in_front:
            logger.warning(
                "parts of the system prompt change from turn to turn; a later system message would lose its role, so they stand at "
                "the end of the prompt, and the provider's cache has nothing behind them",
                extra=numbers,
            )
        else:
            logger.info("parts of the system prompt change; they are sent behind", extra=numbers)


def text_of(head: Message) -> str | None:
    """Return the text of a system message that can be split; ``None`` if it has anything else, or several texts."""
    is_plain = not (head.images or head.extra or head.calls or head.results)
    return head.text if is_plain and head.text_parts <= 1 else None
