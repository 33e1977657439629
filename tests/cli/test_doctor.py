"""The doctor on files: of which formats it reads requests and bills, what it prints, and how it ends."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletion

from autogen_context import IncrementalContextManager
from autogen_context.cli.requests import requests_in
from autogen_context.testing import ChatMessage, LoopbackServer, Say, ScriptedModel
from autogen_context.testing.conversation import conversation
from autogen_context.testing.usage import CACHE_STEP
from autogen_context.tokens.message_counter import MessageCounter
from support.planting import FROM, PLANTS, Request, diagnosed, interleaved, requests

Run = Callable[..., str]
pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Iterable[object]], Path]:
    """A file with a JSON value on each line."""

    def write(lines: Iterable[object]) -> Path:
        path = tmp_path / "requests.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
        return path

    return write


def test_a_table_says_what_where_and_what_to_do(
    written: Callable[[Iterable[object]], Path], shown: Run
) -> None:
    """It ends with 1; as JSON the same."""
    path = written(requests(PLANTS["a clock"][0]))
    out = shown("doctor", path, code=1)
    assert "requests.jsonl: 10 requests, of which 9 broke the prefix of an earlier one" in out
    words = " ".join(out.split())
    assert words.count("a date or time changes") == 1  # nine times the same is one row
    assert "2 to 10 clock" in words
    assert "2026-11-29" in words
    assert "- clock: put it into the newest message" in words
    found = json.loads(shown("doctor", path, "--json", code=1))
    assert [each["turn"] for each in found["findings"]] == list(range(2, 11))
    assert found["lost_tokens"] == sum(each["lost_tokens"] for each in found["findings"]) > 0
    assert found["findings"][0]["evidence"].startswith(
        "system prompt, line 2: a date or time changes: "
    )


def test_a_check_passes_where_nothing_is_broken_or_it_is_allowed(
    written: Callable[[Iterable[object]], Path], shown: Run, refused: Run
) -> None:
    """What costs too little, or has an ignored cause, is left out."""
    assert "nothing broke the prefix" in shown("doctor", written(requests()))
    path = written(requests(PLANTS["a tool less"][0]))
    shown("doctor", path, code=1)
    shown("doctor", path, "--ignore", "tool removed")
    shown("doctor", path, "--min-tokens", "100000")
    shown("doctor", path, "--min-cost", "1")
    assert "give one of clock, " in refused("doctor", path, "--ignore", "clocks")


def test_a_compaction_is_a_cost_and_no_fault(
    written: Callable[[Iterable[object]], Path], shown: Run
) -> None:
    """It is told with what it cost, and the command ends with 0; a fault beside it ends with 1."""
    said = conversation(turns=40, seed=3)
    manager = IncrementalContextManager("gpt-4o", window_tokens=6_000)
    sent, cut = list[Request](), list[int]()
    for stop in range(2, len(said), 2):
        prepared = manager.prepare_nowait(said[:stop])
        sent.append({"model": "gpt-4o", "messages": prepared.messages})
        cut += [len(sent)] * prepared.compacted
    assert cut
    found = json.loads(shown("doctor", written(sent), "--json"))["findings"]
    assert [each["number"] for each in found] == cut
    assert {each["cause"] for each in found} == {"compaction"}
    assert not any(each["is_avoidable"] for each in found)
    other = requests(PLANTS["a tool less"][0])
    shown("doctor", written(interleaved(sent[: len(other)], other)), code=1)


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1}', "[]", '{"messages": []}', "[1, 2]"], ids=repr
)
def test_what_is_no_list_of_requests_is_refused(tmp_path: Path, refused: Run, text: str) -> None:
    """With the file's name and the way out."""
    path = tmp_path / "some.json"
    path.write_text(text, "utf-8")
    assert "some.json: " in refused("doctor", path)


def test_it_reads_standard_input_and_recordings(tmp_path: Path, shown: Run, refused: Run) -> None:
    """A recording is one request, with which nothing can be compared."""
    path = tmp_path / "said.json"
    path.write_text(json.dumps(conversation(turns=4)), "utf-8")
    assert "said.json: 1 request; nothing" in shown("doctor", path)
    assert "check the path" in refused("doctor", tmp_path / "none.json")


# Formats

SYSTEM = "You plan journeys. " * 80


def chats() -> list[tuple[str, list[ChatMessage]]]:
    """A growing chat, with a system prompt that has a clock from its third request on."""
    said: list[ChatMessage] = []
    found: list[tuple[str, list[ChatMessage]]] = []
    for n in range(4):
        said = [*said, {"role": "user", "content": f"Where to on day {n}? " * 20}]
        found.append((SYSTEM + (f"\nIt is 10:3{n}." if n else ""), said))
        said = [*said, {"role": "assistant", "content": f"To city {n}. " * 20}]
    return found


def as_chat(system: str, said: list[ChatMessage]) -> Request:
    """A chat of OpenAI."""
    return {"model": "gpt-4o", "messages": [{"role": "system", "content": system}, *said]}


def as_responses(system: str, said: list[ChatMessage]) -> Request:
    """A request of OpenAI's Responses."""
    items = [
        {
            "type": "message",
            "role": each["role"],
            "content": [{"type": f"{'out' if each['role'] == 'assistant' else 'in'}put_text", "text": each["content"]}],
        }
        for each in said
    ]  # fmt: skip
    return {"model": "gpt-4o", "instructions": system, "input": items}


def as_anthropic(system: str, said: list[ChatMessage]) -> Request:
    """A request of Anthropic's Messages, with a mark on the newest message."""
    last: dict[str, Any] = {
        "type": "text",
        "text": said[-1]["content"],
        "cache_control": {"type": "ephemeral"},
    }
    messages = [*said[:-1], {"role": "user", "content": [last]}]
    tools = [{"name": "map", "input_schema": {"type": "object"}}]
    return {"model": "claude-sonnet-4-5", "system": system, "messages": messages, "tools": tools}


LINES: Mapping[str, Callable[[Request, int], object]] = {
    "bare": lambda request, _: request,
    "with usage and time": lambda request, n: {
        "request": request,
        "usage": {"prompt_tokens": 500 + n},
        "time": f"2026-11-29T10:3{n}:00Z",
    },
    "a gateway's log": lambda request, n: {**request, "usage": {"prompt_tokens": 500}, "created": 1_764_000_000 + n},
    "with its response": lambda request, n: {
        "request": {"body": request},
        "response": {"created": 1_764_000_000 + n, "usage": {"input_tokens": 500}},
    },
    "a batch": lambda request, n: {"custom_id": str(n), "method": "POST", "body": request},
    "as a text": lambda request, _: {"kwargs": json.dumps(request)},
}  # fmt: skip


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("request_of", [as_chat, as_responses, as_anthropic])
def test_formats_of_requests_and_of_logs(
    request_of: Callable[[str, list[ChatMessage]], Request], line: Callable[[Request, int], object]
) -> None:
    """In each the clock is found, and nothing where there is none."""
    sent = [line(request_of(*each), n) for n, each in enumerate(chats())]
    found = diagnosed(sent)
    assert [(each.number, each.cause) for each in found] == [
        (2, "system prompt"),
        (3, "clock"),
        (4, "clock"),
    ]
    clean = [line(request_of(SYSTEM, said), n) for n, (_, said) in enumerate(chats())]
    assert diagnosed(clean) == []


@pytest.mark.parametrize(
    ("usage", "billed"),
    [
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}, (9, 4)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, (9, None)),
        ({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}}, (9, 4)),
        ({"input_tokens": 2, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3}, (9, 4)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 5}, (9, 4)),
        ({"promptTokenCount": 9, "cachedContentTokenCount": 4}, (9, 4)),
        ({"prompt_tokens": 9, "cached_tokens": 0}, (9, 0)),
        ({}, (None, None)),
    ],
    ids=str,
)  # fmt: skip
def test_bills_of_providers(
    usage: Mapping[str, object], billed: tuple[int | None, int | None]
) -> None:
    """Cached tokens are a part of the prompt's; what a bill does not say is unknown, not 0."""
    [prompt] = requests_in(
        json.dumps(
            {**as_chat("", []), "messages": [{"role": "user", "content": "Hi."}], "usage": usage}
        )
    )
    assert (prompt.prompt_tokens, prompt.cached_tokens) == billed


@pytest.mark.parametrize(
    ("asked", "cause"),
    [
        ({}, ["expired"]),
        ({"prompt_cache_retention": "24h"}, []),
        ({"prompt_cache_retention": "in_memory"}, ["expired"]),
    ],
    ids=str,
)
def test_a_pause_breaks_nothing_within_the_lifetime_that_was_asked_for(
    asked: Mapping[str, object], cause: list[str]
) -> None:
    """Which a provider keeps longer than by its rule."""
    sent = [{**request, **asked} for request in requests(PLANTS["a pause"][0])]
    assert [each.cause for each in diagnosed(sent)] == cause


# A provider's own count


def served(sent: Iterable[Request]) -> list[Request]:
    """Lines of a log: requests that a real client sent to a server with a prompt cache, and its bills."""
    counter = MessageCounter.for_model("gpt-4o")
    model = ScriptedModel(lambda _: Say("Yes."), count=lambda text: counter.count(text).tokens)
    lines: list[Request] = []
    with (
        LoopbackServer(model) as server,
        OpenAI(base_url=server.base_url, api_key="none") as client,
    ):
        for request in sent:
            asked = {name: request[name] for name in ("model", "messages", "tools")}
            answer = cast("ChatCompletion", client.chat.completions.create(**asked))
            assert answer.usage
            lines.append({"request": request, "usage": answer.usage.model_dump()})
    return lines


def cached(line: Request) -> int:
    """What the server had cached of a request."""
    return int(line["usage"]["prompt_tokens_details"]["cached_tokens"])


@pytest.mark.parametrize(
    "name",
    ["a clock", "tools in another order", "an edited result", "a message more", "a new tool"],
)
def test_what_was_lost_is_what_the_server_did_not_have(name: str) -> None:
    """As against the same run without the change, in blocks of its cache."""
    whole, broken = served(requests()), served(requests(PLANTS[name][0]))
    found = {each.number: each for each in diagnosed(broken)}
    assert found
    for number, (before, now) in enumerate(zip(whole, broken, strict=True), 1):
        lost = found[number].lost_tokens if number in found else 0
        added = now["usage"]["prompt_tokens"] - before["usage"]["prompt_tokens"]
        assert abs(lost - (cached(before) - cached(now))) <= CACHE_STEP + abs(added)
    # Counted here it is within what the format adds by the counter's rules.
    counted = diagnosed(line["request"] for line in broken)
    assert [each.number for each in counted] == [*found]
    for each in counted:
        assert each.lost_tokens == pytest.approx(found[each.number].lost_tokens, abs=512)
    assert diagnosed(whole) == []
    assert any(each.number > FROM for each in diagnosed(broken))
