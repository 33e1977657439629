"""Certificates: checks on a prepared message list.

Promise: a certificate is computed from the messages that are sent, not from the plan that chose them.
"""

from dataclasses import dataclass

from autogen_context.tokens.measure import Count


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
        broken: names of the invariants (``autogen_context.view.invariants``) that the list does not satisfy; empty as a rule.
        orphans: positions in the host's list of units that arrived with a call or a result missing.
        partly_read: positions in the host's list of messages that are longer than a stage reads (``text.work``): they are kept,
            counted and recalled as any other, but statements, names and blocks are looked for at their ends.
    """

    limit_tokens: int
    bound: Count
    counted_tokens: int
    broken: tuple[str, ...] = ()
    orphans: tuple[int, ...] = ()
    partly_read: tuple[int, ...] = ()
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
