"""Whose something is, in a store that several share.

Promise: two scopes have the same key only if tenant and agent are the same.
"""

from dataclasses import dataclass

from autogen_context.messages.message import content_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """An agent of a tenant.

    Attributes:
        tenant: the customer, the user, the project: whoever must not see what others have.
        agent: the agent's name.
    """

    tenant: str = ""
    agent: str = ""

    @property
    def key(self) -> str:
        """Stands for the scope where it is written down; tells nobody the names."""
        return content_digest(self.tenant, self.agent).hex()
