"""What a session is told: what holds for every turn of it, and what a request has beside messages.

Promise: values only.
"""

from dataclasses import dataclass

from autogen_context.pipeline.roles import RoleRules
from autogen_context.session.conversation import Orphans


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What holds for every turn of a conversation.

    Attributes:
        compact_at_share: share of the room above which the history is cut.
        compact_to_share: share of the room beside what must stay that a compaction fills.
        orphans: what becomes of calls without result and results without call.
        roles: what the model insists on.
        stash_bytes: what the stash may hold.
    """

    compact_at_share: float
    compact_to_share: float
    orphans: Orphans
    roles: RoleRules
    stash_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """What a request has beside messages: tools, the start of the answer.

    Attributes:
        tokens: all of it, an upper bound.
        assumed: of these, what no provider documents.
    """

    tokens: int
    assumed: int
