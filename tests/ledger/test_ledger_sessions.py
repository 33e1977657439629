"""How much of short sessions that nobody labelled still stands in a ledger of a tenth of them."""

import json
from pathlib import Path
from typing import TypedDict

import pytest

from autogen_context.ledger import Ledger
from autogen_context.messages.message import Message


class Talk(TypedDict):
    """A session of the file: its messages, and what must still stand, all words of each."""

    messages: list[dict[str, str]]
    survive: list[list[str]]


TALKS: list[Talk] = json.loads(Path(__file__).with_name("ledger_sessions.json").read_text("utf-8"))[
    "sessions"
]
LEAST = {0.1: 0.6, 0.2: 0.85, 0.3: 0.9}  # share of what must stand, by share of the session


def ledger_of(talk: Talk) -> Ledger:
    """What is learnt from a session."""
    ledger = Ledger()
    ledger.learn([Message(role=said["role"], text=said["text"]) for said in talk["messages"]])
    return ledger


def standing(talk: Talk, text: str) -> list[bool]:
    """For each that must stand, whether it does."""
    lower = text.lower()
    return [all(word.lower() in lower for word in words) for words in talk["survive"]]


@pytest.mark.parametrize("share", LEAST)
def test_what_survives(share: float) -> None:
    """Nearly all at a fifth, more than half at a tenth, over three rounds, never above the room; all that is read in full."""
    found: list[bool] = []
    whole: list[bool] = []
    for talk in TALKS:
        chars = sum(len(f"[{said['role']}] {said['text']}\n") for said in talk["messages"])
        ledger, room = ledger_of(talk), int(chars * share)
        text = ledger.rendered(room_tokens=room, count=len).text
        for _ in range(2):
            assert len(text) <= room
            text = Ledger.read(text).rendered(room_tokens=room, count=len).text
        found += standing(talk, text)
        whole += standing(talk, ledger.rendered(room_tokens=1_000_000, count=len).text)
    assert sum(found) / len(found) >= LEAST[share]
    assert sum(whole) / len(whole) >= LEAST[0.3]
