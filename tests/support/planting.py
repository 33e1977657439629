"""Requests of one agent as they are sent, and what breaks their prefix, planted. Our own examples: they say what is named, not how well."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from autogen_context.cli.requests import requests_in
from autogen_context.testing.conversation import conversation
from autogen_context.tokens.prefix import PrefixBreak, diagnose

Request = dict[str, Any]
Plant = Callable[[int, Request], None]
"""Changes the request with this number, from 0."""

FROM = 5  # the number of the first request that is changed
REQUESTS = 10
SAID = conversation(turns=REQUESTS, tokens_per_turn=200, seed=1)


def tool(name: str) -> Request:
    """A tool of OpenAI's API."""
    path = {"type": "string", "description": "Where it is."}
    parameters = {"type": "object", "properties": {"path": path}, "required": ["path"]}
    function = {"name": name, "description": f"Does {name}.", "parameters": parameters}
    return {"type": "function", "function": function}


TOOLS = [tool(name) for name in ("read_file", "run_tests", "list_files")]


def requests(plant: Plant | None = None) -> list[Request]:
    """Requests that each add a call and its result to the one before, changed by a plant."""
    sent: list[Request] = [
        {"model": "gpt-4o", "messages": deepcopy(SAID[: 4 + 2 * n]), "tools": deepcopy(TOOLS)}
        for n in range(REQUESTS)
    ]
    for number, request in enumerate(sent):
        if plant:
            plant(number, request)
    return sent


def diagnosed(sent: Iterable[object]) -> list[PrefixBreak]:
    """What the doctor says of requests in a file."""
    return diagnose(requests_in("\n".join(map(json.dumps, sent))))


def later(change: Callable[[Request], object]) -> Plant:
    """The same change in each request from ``FROM`` on."""

    def plant(number: int, request: Request) -> None:
        if number >= FROM:
            change(request)

    return plant


def prompted(text: Callable[[int], str]) -> Plant:
    """A line in the system prompt of each request."""

    def plant(number: int, request: Request) -> None:
        request["messages"][0]["content"] += f"\n{text(number)}"

    return plant


def swapped(request: Request) -> None:
    """Two calls with their results in another order."""
    said = request["messages"]
    said[2:4], said[4:6] = said[4:6], said[2:4]


def renamed(request: Request) -> None:
    """A call and its result with another id."""
    request["messages"][2]["tool_calls"][0]["id"] = "other"
    request["messages"][3]["tool_call_id"] = "other"


def respaced(request: Request) -> None:
    """The arguments of a call written without spaces."""
    function = request["messages"][2]["tool_calls"][0]["function"]
    function["arguments"] = function["arguments"].replace(": ", ":")


def rekeyed(request: Request) -> None:
    """The keys of a schema in another order."""
    function = request["tools"][1]["function"]
    function["parameters"] = dict(reversed(function["parameters"].items()))


def slid(number: int, request: Request) -> None:
    """A window of the system prompt and the newest calls."""
    if number >= FROM:
        del request["messages"][1 : 2 + 2 * (number - FROM)]


def cut_in_the_middle(request: Request) -> None:
    """A call and its result that are left out."""
    del request["messages"][4:6]


def summarised(request: Request) -> None:
    """A summary for calls and results."""
    request["messages"][2:6] = [{"role": "user", "content": "Two files were read."}]


def timed(number: int, request: Request) -> None:
    """A pause before one of the requests."""
    request["created"] = 1_764_412_345 + 20 * number + (900 if number >= FROM else 0)


def billed(number: int, request: Request) -> None:
    """A bill that has cached nothing of one of the requests."""
    cached = 0 if number in (0, FROM) else 128 * (number + 2)
    details = {"cached_tokens": cached}
    request["usage"] = {"prompt_tokens": 250 * (number + 2), "prompt_tokens_details": details}


PLANTS: Mapping[str, tuple[Plant, str]] = {
    "a clock": (prompted(lambda n: f"It is 2026-11-29 10:{30 + n}."), "clock"),
    "a date in words": (prompted(lambda n: f"Today is {'Monday' if n < FROM else 'Tuesday'}."), "clock"),
    "a UUID": (
        prompted(lambda n: f"Session 4b2f0c1e-8a6d-4f7e-9b3a-2d1c0e9f8a{n + 10}."),
        "identifier",
    ),
    "a counter": (prompted(lambda n: f"This is step {n}."), "counter"),
    "a memory": (
        later(lambda r: r["messages"][0].update(content="Tea.\n" + r["messages"][0]["content"])),
        "system prompt",
    ),
    "tools in another order": (later(lambda r: r["tools"].reverse()), "tools reordered"),
    "another description": (
        later(lambda r: r["tools"][1]["function"].update(description="Runs them.")),
        "tool changed",
    ),
    "a new tool": (later(lambda r: r["tools"].insert(1, tool("write_file"))), "tool added"),
    "a tool less": (later(lambda r: r["tools"].pop(1)), "tool removed"),
    "keys in another order": (later(rekeyed), "rewritten"),
    "an edited result": (later(lambda r: r["messages"][3].update(content="[cut]")), "message edited"),
    "a message less": (later(cut_in_the_middle), "message removed"),
    "a message more": (
        later(lambda r: r["messages"].insert(4, {"role": "user", "content": "Be kind."})),
        "message inserted",
    ),
    "another order": (later(swapped), "messages reordered"),
    "a sliding window": (slid, "front cut"),
    "a summary": (later(summarised), "history replaced"),
    "other spaces": (later(respaced), "rewritten"),
    "other ids": (later(renamed), "call ids"),
    "another model": (later(lambda r: r.update(model="gpt-4o-mini")), "model"),
    "a format": (later(lambda r: r.update(response_format={"type": "json_object"})), "setting"),
    "a pause": (timed, "expired"),
    "an eviction": (billed, "not cached"),
}  # fmt: skip


def behind(number: int, request: Request) -> None:
    """What changes, behind all else and in one request only."""
    request["messages"].append({"role": "user", "content": f"It is 10:{30 + number}."})


def looked_up(_number: int, request: Request) -> None:
    """What was looked up for one request, in front of the newest unit."""
    found = {"role": "user", "content": f"Found: {len(request['messages'])} lines."}
    request["messages"].insert(-2, found)


def reminded(_number: int, request: Request) -> None:
    """The same words at the end of each request."""
    request["messages"].append({"role": "user", "content": "Answer in French."})


def prefilled(_number: int, request: Request) -> None:
    """The start of the answer at the end of each request."""
    request["messages"].append({"role": "assistant", "content": "{"})


def reflecting(number: int, request: Request) -> None:
    """No tools in each third request."""
    if number % 3 == 2:
        del request["tools"]


def formatted_at_last(number: int, request: Request) -> None:
    """A format of the last answer."""
    if number == REQUESTS - 1:
        request["response_format"] = {"type": "json_object"}


def marked(_number: int, request: Request) -> None:
    """A mark of where to cache, which moves with the newest message, whose content it makes a list."""
    last = request["messages"][-1]
    block = {"type": "text", "text": last["content"], "cache_control": {"type": "ephemeral"}}
    last["content"] = [block]


def dumped(number: int, request: Request) -> None:
    """Empty fields, as a client's model writes them, and fields in another order; these are not sent."""
    if number % 2:
        said = request["messages"]
        said[2] = {"refusal": None, "annotations": [], **dict(reversed(said[2].items()))}


CLEAN: Mapping[str, Plant | None] = {
    "as it is": None,
    "a clock behind": behind,
    "a reminder behind": reminded,
    "what was looked up": looked_up,
    "the start of an answer": prefilled,
    "reflections": reflecting,
    "a format at last": formatted_at_last,
    "marks that move": marked,
    "empty fields": dumped,
}


def interleaved(*runs: Sequence[Request]) -> list[Request]:
    """Requests of several agents in turn."""
    return [request for step in zip(*runs, strict=True) for request in step]
