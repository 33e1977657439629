"""Generates a long, deterministic coding-agent conversation.

Promise: the same arguments give the same messages on every machine; each turn is one tool call and its result, with
about the requested number of tokens.
"""

import json
from collections.abc import Callable
from random import Random

from autogen_context.testing.usage import approximate_tokens
from autogen_context.testing.wire import ChatMessage

_SYSTEM = (
    "You are a careful software engineer. Use the tools to read, search, change and test the project. "
    "Never edit files under vendor/. Answer when the tests pass."
)
_TASK = (
    "Orders with more than 100 items are billed twice since release 4.2. Find the cause, fix it with a regression "
    "test, and keep the public interface of shop/billing.py as it is. The ticket is SHOP-3318."
)
_ROOMS = ("shop", "shop/billing", "shop/stock", "shop/mail", "tests", "scripts")
_NOUNS = ("order", "invoice", "ledger", "basket", "refund", "coupon", "shipment", "customer")
_VERBS = ("load", "merge", "split", "charge", "settle", "round", "validate", "publish")


def conversation(*, turns: int, tokens_per_turn: int = 300, seed: int = 0) -> list[ChatMessage]:
    """Return a conversation whose next message is the model's."""
    if turns < 0:
        raise ValueError(f"turns: 0 or more, not {turns}")
    if tokens_per_turn < 1:
        raise ValueError(f"tokens_per_turn: 1 or more, not {tokens_per_turn}")
    random = Random(seed)  # noqa: S311  for sample text, not security
    messages: list[ChatMessage] = [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _TASK},
    ]
    for turn in range(turns):
        messages += _turn(random, f"call_{turn:05d}", tokens_per_turn)
    return messages


def _turn(random: Random, call_id: str, tokens: int) -> list[ChatMessage]:
    """Return a tool call and its result, filled with lines (at least one) up to the number of tokens."""
    name, thought, argument, line_of = random.choice(_TOOLS)
    subject = _path(random) if argument == "path" else _function(random)
    thought, arguments = thought.format(subject), json.dumps({argument: subject})
    left = tokens - approximate_tokens(thought) - approximate_tokens(arguments)
    lines: list[str] = []
    while not lines or left > 0:
        lines.append(line_of(random, len(lines) + 1))
        left -= approximate_tokens(lines[-1])
    function = {"name": name, "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": thought, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": "\n".join(lines)},
    ]


def _code_line(random: Random, number: int) -> str:
    noun = random.choice(_NOUNS)
    lines = (
        f"def {_function(random)}({noun}: {noun.title()}, *, limit: int = {random.randrange(500)}) -> None:",
        f'    """{random.choice(_VERBS).title()} one {noun} and keep the others as they are."""',
        f"    if {noun}.items > {random.randrange(200)}:",
        f"        total += {noun}.price_cents * {random.randrange(9)}",
        f"        {_function(random)}({noun}, currency={noun}.currency)",
        f'    log.info("{noun} done", extra={{"id": {noun}.id}})',
        f"    return {_function(random)}({noun})",
        "",
    )
    return f"{number:>5} | {lines[(number - 1) % len(lines)]}"


def _log_line(random: Random, number: int) -> str:
    level = random.choice(("INFO", "INFO", "INFO", "DEBUG", "WARNING", "ERROR"))
    clock = f"{9 + number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}"
    noun = random.choice(_NOUNS)
    return f"2026-03-14 {clock} {level} shop.{noun} {_function(random)} id={random.randrange(10**6)} took={random.randrange(900)}ms"


def _listing_line(random: Random, _number: int) -> str:
    return f"-rw-r--r-- 1 dev dev {random.randrange(90_000):>6} Mar 14 09:{random.randrange(60):02d} {_path(random)}"


def _search_line(random: Random, _number: int) -> str:
    return f"{_path(random)}:{random.randrange(1, 900)}:    {_function(random)}({random.choice(_NOUNS)})"


def _test_line(random: Random, number: int) -> str:
    failed = random.random() < 0.05  # noqa: PLR2004  share of failing tests in a troubled project
    outcome = "FAILED" if failed else "PASSED"
    return f"tests/test_{random.choice(_NOUNS)}.py::test_{_function(random)} {outcome} [{number % 100:>3}%]"


def _path(random: Random) -> str:
    return f"{random.choice(_ROOMS)}/{random.choice(_NOUNS)}_{random.choice(_VERBS)}.py"


def _function(random: Random) -> str:
    return f"{random.choice(_VERBS)}_{random.choice(_NOUNS)}"


_TOOLS: tuple[tuple[str, str, str, Callable[[Random, int], str]], ...] = (
    ("read_file", "I read {}.", "path", _code_line),
    ("search", "Where is {} used?", "query", _search_line),
    ("run_tests", "I run the tests of {}.", "path", _test_line),
    ("list_files", "What lies next to {}?", "path", _listing_line),
    ("read_log", "What did {} write to the log?", "query", _log_line),
)
