"""What is found among deferred tools."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.find_tools import (
    ALL_THERE,
    FIND_DESCRIPTION,
    answer_find,
    find_tools_schema,
    found_in,
    is_find_tool,
    name_of,
)
from autogen_context.recall.tool_catalogue import ToolCatalogue, listing
from support.tools import Schema, name_in, names, tool, toolsets

OFFICE = [
    tool("jira_create_issue", "Open a ticket for a bug", project="Key of the project"),
    tool("jira_list_issues", "List all tickets of a project"),
    tool("slack_send_message", "Post a text to a channel", channel="Where to"),
    tool("weather", "Forecast for a city"),
    tool("search", "Look up pages of the wiki", terms="Words to look for"),
]


def catalogue(tools: Sequence[Schema], room_tokens: int = 10_000) -> ToolCatalogue:
    """One in which each tool has 100 tokens and a text one for four characters."""
    return ToolCatalogue(
        tools, [100] * len(tools), count=lambda text: len(text) // 4, room_tokens=room_tokens
    )


@given(toolsets(), st.data())
def test_its_exact_name_finds_a_tool(tools: list[Schema], data: st.DataObject) -> None:
    """Whatever the others are called, and in quotes as well."""
    each = catalogue(tools)
    name = name_in(data.draw(st.sampled_from(tools or [tool("f")])))
    if tools:
        assert found_in(each.answer(name, ())) == [name]
        assert name in each.answer(name, (name,))
        assert found_in(each.answer(name, (name,))) == []


@given(toolsets(least=2), st.text(max_size=60))
def test_the_same_query_has_the_same_answer(tools: list[Schema], query: str) -> None:
    """What is found can be read out of it, is a tool, and is none that is there already."""
    answer = catalogue(tools).answer(query, ())
    found = found_in(answer)
    assert answer == catalogue(tools).answer(query, ())
    assert {*found} <= {*map(name_in, tools)}
    assert len(found) == len({*found})
    again = catalogue(tools).answer(query, found)
    assert not {*found_in(again)} & {*found}
    assert found_in(json.dumps(answer)) == found  # a host may write it as JSON


@given(toolsets(least=2), st.integers(0, 1_000))
def test_what_is_found_has_its_room(tools: list[Schema], room: int) -> None:
    """All names asked for at once give the first, and what fits with it; the rest is named."""
    asked = [*map(name_in, tools)]
    answer = catalogue(tools, room).answer(", ".join(asked), ())
    assert len(found_in(answer)) <= max(1, room // 100)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("open a bug", ["jira_create_issue"]),
        ("send_message to a channel", ["slack_send_message"]),
        ("the key of a project", ["jira_create_issue"]),
        ("forecast, post a text", ["weather", "slack_send_message"]),
        ("post a text, weather", ["weather", "slack_send_message"]),
        ("search", ["search"]),
        ("search the forecast in Rome", ["weather"]),
        ("jira_list_issues and jira_create_issue", ["jira_list_issues", "jira_create_issue"]),
        ("JIRA_LIST_ISSUES", ["jira_list_issues"]),
        ("`weather`", ["weather"]),
    ],
)
def test_tools_are_found_by_name_description_and_parameters(query: str, found: list[str]) -> None:
    """Each part of a query by itself; a plain word among others is no name."""
    assert found_in(catalogue(OFFICE).answer(query, ())) == found


def test_what_finds_nothing_is_told_what_there_is() -> None:
    """By name, or how many begin alike where there is no room."""
    assert "jira_list_issues, slack_send_message" in catalogue(OFFICE).answer("nonsense", ())
    assert "jira_list_issues" in catalogue(OFFICE).answer("", ())
    many = [tool(f"jira_action_{n}") for n in range(300)]
    assert "jira… (300)" in catalogue(many).answer("nonsense", ())
    assert catalogue(OFFICE).answer("nonsense", [*map(name_in, OFFICE)]) == ALL_THERE
    assert "No tool" not in catalogue(many).answer("jira", ())


@given(st.lists(names, max_size=40, unique=True), st.integers(0, 400))
def test_a_listing_fits(given: list[str], room: int) -> None:
    """It is empty where nothing does."""
    text = listing(given, lambda text: len(text) <= room)
    assert len(text) <= room
    if len(", ".join(given)) <= room:
        assert text == ", ".join(given)


def test_only_what_was_found_is_read_out_of_an_answer() -> None:
    """A list in any other text is none."""
    assert found_in("- jira_create_issue: it does not exist") == []
    assert found_in(catalogue(OFFICE).answer("nonsense", ())) == []


def test_the_description_names_what_there_is() -> None:
    """As far as there is room, and never another text for the same tools."""
    each = catalogue(OFFICE)
    assert each.described(100).startswith(FIND_DESCRIPTION)
    assert each.described(100).endswith("weather, search")
    assert each.described(0) == FIND_DESCRIPTION
    assert is_find_tool({**find_tools_schema(), "strict": True})
    assert not is_find_tool(tool("find_tools", "Find a hammer"))


@pytest.mark.parametrize(
    "arguments", ["{", "[]", "{}", {}, {"query": None}, {"query": ["a", 1]}, {"else": 1}, "", "1"]
)
def test_any_arguments_have_an_answer(arguments: str) -> None:
    """Nothing that a model writes raises."""

    class Finder:
        def find_tools(self, query: str = "") -> str:
            return f"asked for {query}"

    assert answer_find(Finder(), arguments)
    assert answer_find(None, arguments) == ALL_THERE


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "web_search_20250305", "name": "web_search"},
        {"type": "json_schema", "json_schema": {"name": "Answer"}},
        {"type": "function", "name": "f", "defer_loading": True},
        {"type": "function", "function": {"name": "with a blank"}},
        {"type": "function", "function": None},
        {"title": "Answer", "properties": {}},
    ],
)
def test_what_is_no_function_of_the_host_is_not_deferred(schema: Schema) -> None:
    """A provider's own tools, those that it defers itself, schemas of answers."""
    assert name_of(schema) == ""
