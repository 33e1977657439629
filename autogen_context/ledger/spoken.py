"""Who says what of a message, and which part of a text is a ledger of ours.

Promise: pure. Who has no authority has no ledger. What we wrote ourselves may be the words of anybody: only the ledger that it
opens with is believed.
"""

from collections.abc import Iterator

from autogen_context.ledger.entry import AUTHORITIES, Author
from autogen_context.ledger.quoting import is_quoted
from autogen_context.ledger.rendering import BLOCK
from autogen_context.messages.message import SYSTEM_ROLES, Message


def spoken(message: Message) -> Iterator[tuple[str, Author]]:
    """What a message says, and who says it; the results of tools are said by tools, wherever they stand."""
    if message.own:
        yield from written(message.text)
    elif message.role in SYSTEM_ROLES:
        yield message.text, "system"
    elif message.role == "user" and not message.results:
        yield message.text, "person"
    elif message.text:
        yield message.text, "assistant" if message.role == "assistant" else "tool"
    for result in message.results:
        yield result.text, "tool"


def written(text: str) -> Iterator[tuple[str, Author]]:
    """What we wrote: the ledger that it opens with, and all else, which has no more say than an assistant's words."""
    ledger = BLOCK.match(text)
    if ledger:
        yield ledger.group(), "system"
    yield text[ledger.end() if ledger else 0 :], "assistant"


def parts_by_ledger(text: str, speaker: Author) -> Iterator[tuple[str, int, bool]]:
    """The parts of a text, where they begin, and whether they are a ledger; who has no authority has none."""
    at = 0
    for block in BLOCK.finditer(text) if speaker in AUTHORITIES else ():
        if speaker == "person" and is_quoted(text, block.start()):
            continue
        yield text[at : block.start()], at, False
        yield block["lines"], block.start("lines"), True
        at = block.end()
    yield text[at:], at, False
