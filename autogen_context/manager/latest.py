"""What readers see of a conversation: values that nobody changes, as its last turn left them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autogen_context.errors import NotInHistory
from autogen_context.view.conversation import Recorded
from autogen_context.view.decision import Why
from autogen_context.view.explanation import Explanation, Reasoned, explained
from autogen_context.view.versions import Versions
from autogen_context.view.view import ContextView


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
    """A conversation after a turn."""

    view: ContextView  # how it is sent
    versions: Versions  # its past views
    recorded: Recorded  # the host's messages, of which it has the first ``messages``
    messages: int  # their number
    # Digests of another scheme, of a state whose messages were not handed in yet; empty if there
    # are none.
    earlier: tuple[bytes, ...]
    scheme: int  # of its digests and pins
    providers: Mapping[str, Mapping[str, object]]  # states of the context providers
    # Why units are kept or not that a compaction compared, by index.
    reasoned: Mapping[int, Reasoned]

    @property
    def digests(self) -> tuple[bytes, ...]:
        """One digest per message."""
        return self.earlier or self.recorded.digests_of(self.messages)

    def explain(self, message: object) -> Explanation:
        """Explain the decision on a message; raise ``NotInHistory`` if there is none, ``ValueError`` for what is no message."""
        decisions = self.view.decisions
        position = self.recorded.position(message, decisions.stop)
        if position is None:
            raise NotInHistory
        at = decisions.unit_at(position)
        decision = decisions[at]
        if decision.why is Why.SPLIT:
            decision = replace(decision, detail=" ".join(self.view.prompt.moved))
        return explained(decision, self.reasoned.get(at))
