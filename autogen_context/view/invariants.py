"""What must hold of a request, as a list of small objects (promises 1 to 4 and 8 of docs/promises.md), and its certificate.

Promise: who plans a request and who certifies it read the same list. ``PROTECTED`` are the units that a plan keeps, weakest
first; ``INVARIANTS`` is what a certificate states, each computed from what is sent and not from the plan.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from autogen_context.messages.message import Message, ToolCall
from autogen_context.messages.piece import Piece, Verbatim, index_of, messages_of
from autogen_context.messages.segment import OpenCalls
from autogen_context.tokens.measure import Count
from autogen_context.view.decision import Candidate, Decision
from autogen_context.view.index import Overview
from autogen_context.view.protected import VERBATIM, Protection
from autogen_context.view.statement import PersonStatement


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Running totals of a list that is sent, which ``after`` continues."""

    tokens: int = 0
    calls: int = 0
    results: int = 0
    orphans: int = 0
    open_calls: tuple[ToolCall, ...] = ()
    stop: int = 0  # position behind the last of the host's messages
    misplaced: int = 0  # host's messages that are sent twice, or before an earlier one
    unmarked: int = 0  # messages that are neither the host's nor marked as ours

    def after(
        self, pieces: Iterable[Piece], messages: Sequence[Message], count: Callable[[Message], int]
    ) -> "Checked":
        """Return the totals with pieces added; ``messages`` are the host's."""
        tokens, calls, results = self.tokens, self.calls, self.results
        orphans, waiting = self.orphans, OpenCalls(self.open_calls)
        stop, misplaced, unmarked = self.stop, self.misplaced, self.unmarked
        for piece in pieces:
            said = messages_of([piece], messages)
            first = index_of(piece)
            if first is not None:
                misplaced += first < stop
                stop = piece.stop if isinstance(piece, Verbatim) else first + 1
            elif not said[0].own:
                unmarked += 1
            for message in said:
                tokens += count(message)
                calls += len(message.calls)
                results += len(message.results)
                for result in message.results:
                    call = waiting.answered(result)
                    orphans += call is None or call.id != result.call_id
                if not message.results and (message.calls or waiting.left):
                    orphans += len(waiting.left)
                    waiting = OpenCalls(message.calls)
        return Checked(
            tokens=tokens,
            calls=calls,
            results=results,
            orphans=orphans,
            open_calls=tuple(waiting.left.values()),
            stop=stop,
            misplaced=misplaced,
            unmarked=unmarked,
        )


class Sent(NamedTuple):
    """A request as it is sent, and what of the host's list it has to have."""

    bound_tokens: int
    limit_tokens: int
    checked: Checked  # all that is sent
    pieces: Sequence[Piece]  # of the units
    messages: int  # in the host's list
    pinned: frozenset[int] = frozenset()  # positions
    instruction: range = range(0)  # positions of the latest one

    def has_some(self, positions: range) -> bool:
        """Return True if a message at these positions is sent, whole or shortened, or if there are no positions."""
        if not positions:
            return True
        for piece in reversed(self.pieces):
            if isinstance(piece, Verbatim):
                if piece.start < positions.stop and positions.start < piece.stop:
                    return True
            elif piece.index is not None and piece.index in positions:
                return True
        return False

    def has_verbatim(self, positions: Iterable[int]) -> bool:
        """Return True if the messages at these positions are all sent unchanged."""
        stretches = [range(p.start, p.stop) for p in self.pieces if isinstance(p, Verbatim)]
        return all(any(position in stretch for stretch in stretches) for position in positions)


class Invariant(Protocol):
    """What must hold of every request."""

    name: str  # under which a certificate has it

    def holds(self, sent: Sent, /) -> bool:
        """Return whether it holds."""
        ...


class Conversed(NamedTuple):
    """A conversation, as far as it decides what is protected."""

    candidates: Sequence[Candidate]
    overview: Overview
    pinned: frozenset[int]

    @property
    def prompts(self) -> int:
        """Number of system messages in front."""
        systems = self.overview.systems
        return next((n for n, i in enumerate(systems) if n != i), len(systems))


class Protects(Protocol):
    """What a plan must keep."""

    protection: Protection  # why it stays

    def units(self, conversed: Conversed, /) -> Iterable[int]:
        """Return the indices of the units that stay; there is one unit at least."""
        ...


class Fits:
    """1. The upper bound of the provider's count is within window minus reserve."""

    name = "fits"

    def holds(self, sent: Sent) -> bool:
        """By the bound, not by the count."""
        return sent.bound_tokens <= sent.limit_tokens


class PairsClosed:
    """3. Each result follows its call, and each call has its result but the last, which may wait for it."""

    name = "pairs_closed"

    def holds(self, sent: Sent) -> bool:
        """As the list would be read by a provider."""
        return not sent.checked.orphans


class OrderKept:
    """8. The host's messages stand in their order, each once at most."""

    name = "order_kept"

    def holds(self, sent: Sent) -> bool:
        """By their positions."""
        return not sent.checked.misplaced


class AdditionsMarked:
    """8. Whatever is not the host's is marked as ours."""

    name = "additions_marked"

    def holds(self, sent: Sent) -> bool:
        """By who wrote it."""
        return not sent.checked.unmarked


class TaskProtected:
    """4. The first instruction stays, whole or shortened, and is left out only where nothing else can be."""

    protection: Protection = "task"

    def units(self, conversed: Conversed) -> Iterable[int]:
        """The first instruction."""
        return conversed.overview.instructions[:1]


class MemoryProtected:
    """4. So does the newest later system message, such as a host's memory, unless the system prompt says the same."""

    protection: Protection = "memory"

    def units(self, conversed: Conversed) -> Iterable[int]:
        """The last system message that is not in front."""
        systems, prompts = conversed.overview.systems, conversed.prompts
        said = [conversed.candidates[i].unit.messages[0].text for i in systems]
        return [i for i in systems[prompts:][-1:] if said[-1] not in said[:prompts]]


class InstructionPresent:
    """4. The latest instruction is there, whole or shortened."""

    name = "instruction_present"
    protection: Protection = "instruction"

    def units(self, conversed: Conversed) -> Iterable[int]:
        """The last instruction."""
        return conversed.overview.instructions[-1:]

    def holds(self, sent: Sent) -> bool:
        """By position."""
        return sent.has_some(sent.instruction)


class NewestPresent:
    """2. The newest message is there, whole or shortened."""

    name = "newest_present"
    protection: Protection = "newest"

    def units(self, conversed: Conversed) -> Iterable[int]:
        """The last unit."""
        return [len(conversed.candidates) - 1]

    def holds(self, sent: Sent) -> bool:
        """By position."""
        return sent.has_some(range(max(0, sent.messages - 1), sent.messages))


class PendingUnchanged:
    """3. A call that still waits for results is not changed."""

    protection: Protection = "pending"

    def units(self, conversed: Conversed) -> Iterable[int]:
        """The last unit, while it waits."""
        candidates = conversed.candidates
        return [len(candidates) - 1] if candidates[-1].unit.unanswered else []


class PinsPresent:
    """4. Each pinned message of the history is there, unchanged; its whole unit stays."""

    name = "pins_present"
    protection: Protection = "pinned"

    def units(self, conversed: Conversed) -> Iterable[int]:
        """The units of pinned messages."""
        known = conversed.candidates
        for message in conversed.pinned:
            if message < known[-1].unit.stop:
                yield bisect_right(known, message, key=lambda c: c.unit.start) - 1

    def holds(self, sent: Sent) -> bool:
        """By position; nothing of them was rewritten."""
        return not sent.pinned or sent.has_verbatim(sent.pinned)


class PromptUnchanged:
    """4. The system messages in front are there, unchanged."""

    protection: Protection = "system"

    def units(self, conversed: Conversed) -> Iterable[int]:
        """The units in front."""
        return range(conversed.prompts)


INSTRUCTION, NEWEST, PINS = InstructionPresent(), NewestPresent(), PinsPresent()
INVARIANTS: Sequence[Invariant] = (
    Fits(),
    PairsClosed(),
    OrderKept(),
    AdditionsMarked(),
    PINS,
    NEWEST,
    INSTRUCTION,
)
PROTECTED: Sequence[Protects] = (
    MemoryProtected(),
    TaskProtected(),
    INSTRUCTION,
    NEWEST,
    PendingUnchanged(),
    PINS,
    PromptUnchanged(),
)


def protected_of(
    candidates: Sequence[Candidate], pinned: frozenset[int], overview: Overview
) -> dict[int, Protection]:
    """Return the protected units by index, each with its strongest reason."""
    conversed = Conversed(candidates, overview, pinned)
    return {i: p.protection for p in PROTECTED for i in p.units(conversed)} if candidates else {}


def satisfied(decisions: Sequence[Decision], protected: Mapping[int, Protection]) -> bool:
    """Return True if the decisions keep every protected unit."""
    for i, why in protected.items():
        action = decisions[i].action
        if action == "drop" or (action == "shorten" and why in VERBATIM):
            return False
    return True


def broken_in(sent: Sent) -> tuple[str, ...]:
    """Return the names of the invariants that do not hold."""
    return tuple([each.name for each in INVARIANTS if not each.holds(sent)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Checked properties of a prepared message list.

    Attributes:
        limit_tokens: maximum input tokens of the request: the window minus the reserve.
        bound: upper bound on the input tokens, with the source of that number.
        counted_tokens: input tokens before calibration: messages, tool schemas and the format's overhead.
        assumed_tokens: part of ``counted_tokens`` that is not text but assumed for the format and for tools.
        fixed_tokens: part of ``counted_tokens`` outside messages: tool schemas and overhead per request.
        tools: digest of the tool schemas, where events are recorded; empty without tools.
        rewrites: number of times the sent prefix was not continued: compactions, and changes of the host's past.
        broken: names of the invariants that the list does not satisfy; empty as a rule.
        orphans: positions in the host's list of units that arrived with a call or a result missing.
        partly_read: positions in the host's list of messages that are longer than a stage reads (``text.work``): they are kept,
            counted and recalled as any other, but statements, names and blocks are looked for at their ends.
        rules_absent: the rules, limits and preferences of people that are in force and that the list has not word for word; its model
            does not know them, or knows them by a summary only.
    """

    limit_tokens: int
    bound: Count
    counted_tokens: int
    broken: tuple[str, ...] = ()
    orphans: tuple[int, ...] = ()
    partly_read: tuple[int, ...] = ()
    rules_absent: tuple[PersonStatement, ...] = ()
    assumed_tokens: int = 0
    fixed_tokens: int = 0
    tools: str = ""
    rewrites: int = 0

    @property
    def fits(self) -> bool:
        """True if the bound is within the limit and the latest instruction is included."""
        return self.bound.tokens <= self.limit_tokens and self.instruction_present

    @property
    def pairs_closed(self) -> bool:
        """True if every result has its call, and every call has its result, except pending calls at the end."""
        return "pairs_closed" not in self.broken

    @property
    def pins_present(self) -> bool:
        """True if every pinned message of the history is included unchanged."""
        return "pins_present" not in self.broken

    @property
    def newest_present(self) -> bool:
        """True if the newest message is included, whole or shortened."""
        return "newest_present" not in self.broken

    @property
    def instruction_present(self) -> bool:
        """True if the latest instruction is included, whole or shortened."""
        return "instruction_present" not in self.broken


def faults_of_decisions(decisions: Iterable[Decision], *, known: int) -> Iterator[str]:
    """Yield faults: gaps, units out of order or beyond ``known`` messages, messages sent twice or of another unit."""
    stop = 0
    for decision in decisions:
        if decision.start != stop or decision.stop <= stop:
            yield f"the unit at {decision.start} to {decision.stop} stands behind {stop}"
        next_position = decision.start
        for piece in decision.pieces:
            if isinstance(piece, Verbatim):
                first, behind = piece.start, piece.stop
            elif piece.index is not None:
                first, behind = piece.index, piece.index + 1
            else:
                continue
            if not next_position <= first < behind <= decision.stop:
                yield f"the unit at {decision.start} sends a message of others, twice, or out of order"
            next_position = behind
        stop = decision.stop
    if stop > known:
        yield f"{stop} messages are decided, and there are {known}"
