"""What the calls of a unit gave: each call with its result, and whether that tells of a failure."""

import re

from autogen_context.messages.message import ToolCall
from autogen_context.messages.segment import Unit, pair

FAILURE_CHARS = 1_000  # at most, of a result that tells of a failure and of nothing else

_FAILURE = re.compile(
    r"\W*(?:(?:error|exception|traceback|failed|failure|fatal|usage:|cannot|can't|could not|unable to|invalid|unknown)\b"
    r"|(?:no|file not|not) (?:such|replacement|match|found))",
)
_PHRASES = (  # anywhere; looked for one by one, which is far quicker than all at once
    "no such file or directory",
    "command not found",
    "permission denied",
    "does not exist",
    "did not appear verbatim",
)


def answers_of(unit: Unit) -> list[tuple[ToolCall, str | None]]:
    """The calls of a unit in their order, each with the text of its result; ``None`` where there is none yet."""
    calls = unit.messages[0].calls
    results = [result for message in unit.messages for result in message.results]
    pairs, _ = pair(calls, results)
    texts = {id(call): result.text for call, result in pairs if call is not None}
    return [(call, texts.get(id(call))) for call in calls]


def is_failure(answer: str) -> bool:
    """Whether a result tells of nothing but that the call did not do what it should."""
    if len(answer) > FAILURE_CHARS:
        return False
    text = answer.lower()
    return any(phrase in text for phrase in _PHRASES) or any(map(_FAILURE.match, text.split("\n")))
