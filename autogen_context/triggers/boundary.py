"""Detects boundaries in the work: another file or module, first use of what was looked up, a test result.

Promise: a proposed scope ends at a boundary, has at least four turns, and names the turns to keep.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from posixpath import dirname
from typing import Literal, NamedTuple

from autogen_context.triggers.turn import NOTHING, Outcome, Outcomes, TriggerDecision, Turn

CONFIDENCE = 0.80  # from 0 to 1
WORKED_TURNS = 6  # reads of a place that weigh as much as one change there
LEAST_LOOKUPS = 3  # distinct look-ups before an "api" boundary
KEPT_LOOKUPS = 3  # the newest look-ups are kept, since the code is written from them


class SemanticBoundaryDetector:
    """Proposes the span of turns that ends at a boundary; a span shorter than four turns is merged into the next.

    Kinds of boundaries, in order of precedence:

    - ``test``: tests ran with a clear result. After a pass the span ends with them, after a failure before the last
      change, which is unfinished.
    - ``module``: two consecutive turns worked in a folder that is new to the span; the span ends before them.
    - ``api``: after several look-ups, the first turn that changes code or acts; the span ends before that turn.
    - ``file``: the same as ``module``, for files.
    """

    def __init__(self) -> None:
        self._outcomes = Outcomes()

    def observe(self, turn: Turn) -> TriggerDecision:
        """Return a proposal if a span ended with this turn or before it."""
        outcomes = self._outcomes
        outcomes.add(turn)
        for kind, stop, before, after, stay in boundaries(outcomes.open):
            scope = outcomes.scope(outcomes.start, stop, stay) if outcomes.start < stop else None
            if scope is not None and scope.is_enough:
                outcomes.start = stop
                details = {"boundary": kind, "from": before, "to": after}
                return TriggerDecision(
                    kind="boundary", scope=scope, confidence=CONFIDENCE, details=details
                )
        return NOTHING


class Boundary(NamedTuple):
    """A boundary: where the span ends (exclusive), what it parts, and further turns to keep."""

    kind: Literal["test", "module", "api", "file"]
    stop: int
    before: str
    after: str
    stay: Sequence[int] = ()


def boundaries(span: Sequence[Outcome]) -> Iterator[Boundary]:
    """Yield the boundaries at the newest turn of a span, in order of precedence."""
    *before, now = span
    if now.verdict:
        changes = [each.turn for each in span if each.written and now.verdict == "failed"]
        stop = changes[-1] if changes else now.turn + 1
        yield Boundary("test", stop, "work", f"tests {now.verdict}")
    visits: list[Visit] = [
        (each.turn, (each.written or each.seen)[-1], bool(each.written))
        for each in span
        if (each.written or each.seen) and (now.written or now.seen)
    ]
    folders = [(number, dirname(place) or ".", is_change) for number, place, is_change in visits]
    module, is_away = move_in(folders)
    if module:
        yield Boundary("module", *module)
    lookups = {lookup: each.turn for each in before for lookup in each.lookups}
    is_use = "code" in now.tried or (now.edited and not now.tried)
    has_acted = any(each.edited or each.tried or each.ran for each in before)
    if is_use and not has_acted and len(lookups) >= LEAST_LOOKUPS:
        newest = sorted(lookups.values())[-KEPT_LOOKUPS:]
        yield Boundary("api", now.turn, f"{len(lookups)} look-ups", "their use", newest)
    file, _ = move_in(visits)
    if file and not is_away:  # else wait: it may be a move to another module
        yield Boundary("file", *file)


# A turn, the file or folder that it was at, whether it changed something there.
Visit = tuple[int, str, bool]


def move_in(visits: Sequence[Visit]) -> tuple[tuple[int, str, str] | None, bool]:
    """Return the move that the newest visit completes (its first turn, place left, new place), and whether it may begin one.

    Two consecutive visits to new places are a move; a single one, or a return, is none. The place left must have been worked in.
    """
    weights, left, away = Counter[str](), "", list[Visit]()
    move = None
    for visit in visits:
        place = visit[1]
        is_new = bool(weights) and place not in weights
        move, away = None, [*away, visit] if is_new else [visit]
        if is_new and len(away) == 1:
            continue
        if is_new and weights[left] >= WORKED_TURNS:
            move = away[0][0], left, place
        for _, at, is_change in away:
            weights[at] += WORKED_TURNS if is_change else 1
        left, away = place, []
    return move, bool(away)
