"""AutoGen Studio: the gallery among the examples is what our component writes, and Studio, where it is, runs it."""

import json
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import Any, cast

import pytest
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import ComponentModel
from autogen_core.models import ChatCompletionClient

from autogen_context import ManagedChatCompletionContext
from autogen_context.testing import LoopbackServer, Say, ScriptedModel

EXAMPLES = Path(__file__).parents[2] / "examples"
WINDOW = 1_500
PROMPT = "You write one page at a time."


def team_of(server: LoopbackServer) -> dict[str, Any]:
    """The gallery's team, with a small window and the server's address."""
    gallery = json.loads((EXAMPLES / "studio_gallery.json").read_text(encoding="utf-8"))
    team: dict[str, Any] = gallery["components"]["teams"][0]
    for participant in team["config"]["participants"]:
        config = participant["config"]
        config["model_client"]["config"] |= {"api_key": "none", "base_url": server.base_url}
        config["model_context"]["config"]["settings"]["window_tokens"] = WINDOW
    return team


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # nobody closes a loaded team's clients
async def test_the_gallery_is_what_the_component_writes() -> None:
    """Its contexts are those of ``dump_component``, and its team keeps to the window."""
    context = ManagedChatCompletionContext(
        "gpt-4o-2024-08-06", window_tokens=16_000, system_message=PROMPT, tools=[]
    )
    gallery = json.loads((EXAMPLES / "studio_gallery.json").read_text(encoding="utf-8"))
    (writer, _) = gallery["components"]["teams"][0]["config"]["participants"]
    assert writer["config"]["model_context"] == context.dump_component().model_dump(
        exclude_none=True
    )
    async with LoopbackServer(
        ScriptedModel(cycle([Say("word " * 120)])), window_tokens=WINDOW
    ) as server:
        team = RoundRobinGroupChat.load_component(team_of(server))
        await team.run(task="Write a page.")
        for agent in vars(team)["_participants"]:  # nobody else closes the clients of a loaded team
            client = cast("ChatCompletionClient", vars(agent)["_model_client"])
            await client.close()
    assert [request.error for request in server.rejected] == []
    assert len(server.requests) > 20


@pytest.mark.older_hosts
async def test_studio_validates_and_runs_it() -> None:
    """Through Studio's own services."""
    types: Any = import_module("autogenstudio.datamodel.types")
    running: Any = import_module("autogenstudio.teammanager.teammanager")
    validation: Any = import_module("autogenstudio.validation.validation_service")
    gallery = (EXAMPLES / "studio_gallery.json").read_bytes()
    types.GalleryConfig.model_validate_json(gallery)
    async with LoopbackServer(
        ScriptedModel(cycle([Say("word " * 120)])), window_tokens=WINDOW
    ) as server:
        team = team_of(server)
        answer = validation.ValidationService.validate(ComponentModel.model_validate(team))
        result = await running.TeamManager().run("Write a page.", team)
    assert answer.is_valid, answer.errors
    assert [request.error for request in server.rejected] == []
    assert len(server.requests) == len(result.task_result.messages) - 1
