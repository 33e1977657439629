"""Each way of a text through the package is linear, whatever the text is; beyond its work limits it costs hardly more."""

import pytest
from text_paths import INPUTS, PATHS, STATING

from support.work import calls_of, is_linear

pytestmark = pytest.mark.one_python

WAYS_OF_STATEMENTS = [name for name in PATHS if name.startswith(("ledger: ", "recall: facts"))]
WAYS_OF_TURNS = [name for name in PATHS if name.startswith("turn: ")]
OTHERS = [name for name in PATHS if name not in {*WAYS_OF_STATEMENTS, *WAYS_OF_TURNS}]
TEXTS = ("newlines", "numbered words", "unique words on lines", "han")


@pytest.mark.parametrize("name", WAYS_OF_STATEMENTS)
def test_statements_cost_what_they_are_long(name: str) -> None:
    """One subject, one rule, withdrawals, corrections, in one text or a message each."""
    assert [text for text in STATING if not is_linear(PATHS[name], INPUTS[text])] == []


@pytest.mark.parametrize("name", OTHERS)
def test_a_text_costs_what_it_is_long(name: str) -> None:
    """Read, cut, searched, compressed."""
    assert [text for text in TEXTS if not is_linear(PATHS[name], INPUTS[text])] == []


@pytest.mark.parametrize("name", WAYS_OF_TURNS)
def test_a_turn_costs_what_is_new_in_it(name: str) -> None:
    """As one message of each author, as messages, as calls of one message, with ids and without."""
    assert is_linear(PATHS[name], INPUTS["own subjects"])


@pytest.mark.parametrize("role", ["a person", "a model", "a result", "a file"])
def test_beyond_the_work_limits_a_message_costs_hardly_more(role: str) -> None:
    """Three times the text costs less than twice the calls: what counts and cuts its lines."""
    way, text = PATHS[f"turn: {role}"], INPUTS["unique words in sentences"]
    way(text(300_000))
    assert calls_of(way, text(600_000)) < 2 * calls_of(way, text(200_000))
