"""A conversation as the plan sees it: units with their cost, kept up message by message.

Promise: a turn reads, segments and measures only what is new in it, and the candidates are those that the whole list
would give at once.
"""

from collections.abc import Sequence
from typing import Literal

from autogen_context.errors import InvalidTranscript
from autogen_context.messages.message import SYSTEM_ROLES, HostFormat
from autogen_context.messages.people import words_and_output
from autogen_context.messages.piece import Written, messages_of
from autogen_context.messages.segment import Unit, as_it_came, extend, repaired
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate
from autogen_context.view.history import History
from autogen_context.view.protected import (
    Protection,
    Voices,
    is_instruction,
    protected_of,
)

Orphans = Literal["repair", "report", "refuse"]


class Conversation:
    """The units of a host's list."""

    def __init__(
        self,
        host: HostFormat,
        counter: MessageCounter,
        *,
        orphans: Orphans = "repair",
        digests: Sequence[bytes] = (),
    ) -> None:
        self.history = History(host, digests)
        self.messages = self.history.messages  # all of the host's list
        self.candidates: list[Candidate] = []
        self.tokens = 0
        self._counter = counter
        self._mode: Orphans = orphans
        self.orphans: list[int] = []  # positions of units that came in broken
