"""The tool as OpenAI's API takes it, and whatever a model makes of its arguments."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.tool_schema import (
    RECALL_ARGUMENTS,
    RECALL_TOOL_NAME,
    USAGE,
    answer_recall,
    recall_tool_schema,
)

JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)


class Told:
    """Answers with what it was asked."""

    def recall_context(self, handle: str = "", query: str = "", lines: str = "") -> str:
        """The arguments, one behind the other."""
        return f"{handle}|{query}|{lines}"


def test_the_schema_names_what_the_dispatcher_takes() -> None:
    """It is JSON, each argument is a string with a description, none must be given; changing one changes no other."""
    schema = recall_tool_schema()
    function = json.loads(json.dumps(schema))["function"]
    assert (schema["type"], function["name"]) == ("function", RECALL_TOOL_NAME)
    properties = function["parameters"]["properties"]
    assert {name: value["description"] for name, value in properties.items()} == RECALL_ARGUMENTS
    assert {value["type"] for value in properties.values()} == {"string"}
    assert function["parameters"]["required"] == []
    schema.clear()
    assert recall_tool_schema()["type"] == "function"


UNDERSTOOD = {
    '{"handle": "abc", "lines": "1-2"}': "abc||1-2",
    '{"handle": "abc", "query": null, "lines": 150}': "abc||150",
    '{"handle": "abc", "lines": [120, 180]}': "abc||120-180",
    '{"handle": 12}': "12||",
    "{}": "||",
    "": "||",
}


@pytest.mark.parametrize("arguments", UNDERSTOOD, ids=repr)
def test_arguments_are_understood_where_they_can_be(arguments: str) -> None:
    """As JSON text, or parsed already."""
    assert answer_recall(Told(), arguments) == UNDERSTOOD[arguments]
    assert answer_recall(Told(), json.loads(arguments or "{}")) == UNDERSTOOD[arguments]


EXPLAINED = {
    '{"handle": ': "The arguments are no JSON. ",
    '["abc"]': "The arguments are no JSON object. ",
    '{"id": "abc", "query": "x"}': "There is no argument 'id'. ",
    "[" * 100_000: "The arguments are no JSON. ",
}


@settings(max_examples=50)
@given(st.one_of(st.text(), JSON_VALUES.map(json.dumps)))
def test_every_call_is_answered(arguments: str) -> None:
    """Nothing that a model writes raises; what makes no sense is told how to call it."""
    for other, why in EXPLAINED.items():
        assert answer_recall(Told(), other) == why + USAGE
    assert answer_recall(Told(), arguments)
