"""What a notice says of units that are left out: statements still in force, summaries, the actions taken.

Promise: the notice fits its limit and contains only text of the conversation or verified summaries by a model, each line of
it marked as a quotation; statements are dropped last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autogen_context.compressor.action_log import Action, ActionLog
from autogen_context.compressor.summaries import Span
from autogen_context.ledger import Entry
from autogen_context.ledger.ledger import statements_in
from autogen_context.ledger.rendering import render
from autogen_context.text.fit import CountText, fit
from autogen_context.text.pieces import marked
from autogen_context.text.quote import block

STATED_FRACTION = 0.5  # of the limit, for statements
SUMMED = "A model's summary of what happened:"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """The content for a notice about evicted units.

    Attributes:
        statements: valid statements that are no longer visible.
        summaries: a model's summaries of spans of units, oldest first.
        units: the actions of each unit, by its number, oldest first; the notice has those that no summary covers.
        earlier: log of the actions before all these.
    """

    statements: Sequence[Entry]
    summaries: Mapping[Span, str]
    units: Mapping[int, Sequence[Action]]
    earlier: ActionLog | None


def notice_of(left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
    """Return the notice within a limit: statements, the newest summaries that fit, an action log."""
    room = int(room_tokens * STATED_FRACTION)
    stated = render(left_out.statements, room_tokens=room, count=count, is_quoted=True).text
    room_tokens -= count(stated) + 1
    texts = {span: block(summary) for span, summary in left_out.summaries.items()}
    found = fit(
        [span for span in [*texts][::-1] if texts[span]],
        room_tokens - count(SUMMED) - 1,
        cost=lambda span: count(texts[span]) + 1,
    )
    covered = {unit for span in found.kept for unit in range(span.start, span.stop)}
    summed = [texts[span] for span in texts if span in found.kept]
    room_tokens = found.left + (0 if summed else count(SUMMED) + 1)
    log = ActionLog(left_out.earlier)
    for unit, actions in left_out.units.items():
        log.add(() if unit in covered else actions)
    done = log.text(room_tokens=room_tokens, count=count)
    summed = [f"{SUMMED}\n{summed[0]}", *summed[1:]] if summed else []
    return "\n\n".join(part for part in (stated, *summed, done) if part)


def stated_in(text: str, /) -> str:
    """Return the sentences of a person's text that state something, with marks for the others; empty if none does."""
    parts: list[str] = []
    at = 0
    for _, statement in statements_in(text, "person"):
        stop = statement.stop + text[statement.stop : statement.stop + 1].isspace()
        parts += [marked(text[at : statement.start]), text[statement.start : stop]]
        at = stop
    return "".join([*parts, marked(text[at:])]) if parts else ""
