"""Pass a list through as it came, and say what it has.

Promise: no message is changed, left out or refused; what cannot be read counts nothing.
"""

from collections.abc import Iterable, Sequence

from autogen_context.manager.prepared import Payload, Prepared
from autogen_context.manager.rules import Fixed
from autogen_context.manager.window import Window
from autogen_context.messages.message import HostFormat, Message
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.certificate import Certificate, Checked


def untouched(
    payloads: Sequence[Payload],
    *,
    host: HostFormat,
    counter: MessageCounter,
    window: Window,
    fixed: Fixed,
) -> Prepared[Payload]:
    """The list as it came, measured as far as it can be read."""
    checked = Checked().after(readable(payloads, host), counter.message)
    tokens = checked.tokens + fixed.tokens
    certificate = Certificate(
        limit_tokens=window.limit_tokens,
        bound=window.bound(counter.calibration, tokens, 0),
        counted_tokens=tokens,
        pairs_closed=not checked.orphans,
        pins_present=True,
        newest_present=True,
    )
    return Prepared(messages=list(payloads), certificate=certificate, decisions=(), compacted=False)


def readable(payloads: Iterable[object], host: HostFormat) -> Iterable[Message]:
    """The messages that can be read."""
    for payload in payloads:
        try:
            yield host.read(payload)
        except (ValueError, RecursionError):
            continue
