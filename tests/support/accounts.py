"""A task that reads an account, then more than the window holds: what one conversation must not tell another."""

from itertools import pairwise

from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.testing import Call, LoopbackServer, Say, Step
from support.logs import read_log

ASKS = Call(RECALL_TOOL_NAME, {"query": "account iban"})


def iban_of(customer: str) -> str:
    """The number that nobody else may see."""
    return f"DE{sum(map(ord, customer)):06d}"


def read_account(customer: str) -> str:
    """Read the account of a customer."""
    return f"account of {customer}: iban {iban_of(customer)}\n" + read_log(len(customer))


def reading(customer: str) -> list[Step]:
    """Calls that read the account, then eight logs."""
    logs = (Call("read_log", {"number": n}) for n in range(8))
    return [Call("read_account", {"customer": customer}), *logs]


def a_task(customer: str = "smith") -> list[Step]:
    """These calls, and the word that ends a chat."""
    return [*reading(customer), Say("Done. TERMINATE")]


def recalled(server: LoopbackServer) -> list[str]:
    """What the tool answered, in all requests, in their order."""
    pairs = (pair for request in server.requests for pair in pairwise(request.messages))
    return [
        str(message["content"])
        for before, message in pairs
        if RECALL_TOOL_NAME in str(before.get("tool_calls"))
    ]
