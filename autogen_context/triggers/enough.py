"""When a scope is worth its summary.

Promise: four turns or more unless another number is asked for, of which some do not stay.
"""

from autogen_context.triggers.decision import Scope

LEAST_TURNS = 4


def is_enough(scope: Scope, least_turns: int = LEAST_TURNS) -> bool:
    """Whether a scope has so many turns, and not all of them stay."""
    return length(scope) >= least_turns and len(scope.outcomes) < length(scope)


def length(scope: Scope) -> int:
    """How many turns a scope has."""
    return scope.stop - scope.start
