"""What the host, a pin, an error or another process changes between two turns."""

import copy
import json

import pytest
from typing_extensions import override

from autogen_context.errors import ContextWindowExceeded, InvalidTranscript, NotInHistory
from autogen_context.tokens.measure import Count, EstimateCounter
from support.counting import Characters
from support.keeping import manager
from support.saying import says


class Counted(Characters):
    """It remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @override
    def count(self, text: str, /) -> Count:
        self.asked.append(text)
        return super().count(text)


def test_nothing_old_is_counted_again() -> None:
    """A turn counts what is new in it, whether the host hands over its objects or copies, and edits their text."""
    counter = Counted()
    keeper = manager(2_000, counter=counter)
    messages = [says(f"message {i} " + "x" * 90) for i in range(60)]
    keeper.prepare_nowait(messages)
    changed = {
        "appended": [*copy.deepcopy(messages), says("appended")],
        "edited": [*messages[:20], says("edited"), *messages[21:]],
        "prepended": [says("prepended"), *messages],
        "nothing new": messages[:9],
        "all new": [says("all new")],
    }
    for text, payloads in changed.items():
        counter.asked.clear()
        keeper.prepare_nowait(payloads)
        assert counter.asked.count(text) == (text != "nothing new")
        assert not {str(message["content"]) for message in messages} & set(counter.asked)


def test_a_pin_that_cannot_be_kept_is_not_forgotten() -> None:
    """Each turn says so until it is unpinned or there is room."""
    keeper = manager(300)
    messages = [says("the task", "user"), *(says(f"{i} " + "x" * 200) for i in range(20))]
    messages.insert(3, says("y" * 1_400))
    keeper.prepare_nowait(messages)
    keeper.pin(messages[3])
    for _ in range(2):
        with pytest.raises(ContextWindowExceeded, match="pinned 359"):
            keeper.prepare_nowait(messages)
    keeper.unpin(messages[3])
    assert keeper.prepare_nowait(messages).certificate.fits


@pytest.mark.parametrize("saved", [False, True], ids=["here", "in another process"])
def test_a_pin_brings_a_message_back(*, saved: bool) -> None:
    """At the next turn, and only once is the list cut for it."""
    keeper = manager(300)
    messages = [says("the task", "user"), *(says(f"{i} " + "x" * 200) for i in range(20))]
    assert messages[2] not in keeper.prepare_nowait(messages).messages
    keeper.pin(messages[2])
    if saved:
        state = json.loads(json.dumps(keeper.save_state()))
        keeper = manager(300)
        keeper.load_state(state)
    turn = keeper.prepare_nowait(messages)
    assert messages[2] in turn.messages
    assert turn.certificate.pins_present
    again = keeper.prepare_nowait(messages)
    assert (again.messages, again.compacted) == (turn.messages, False)


def test_a_refused_list_leaves_no_stale_counts() -> None:
    """What it changed is counted when a list with the same past is accepted."""
    stray = {"role": "tool", "tool_call_id": "1", "content": "stray"}
    keeper = manager(300, orphans="refuse")
    keeper.prepare_nowait([says("a", "user"), says("b"), says("c")])
    with pytest.raises(InvalidTranscript):
        keeper.prepare_nowait([says("a", "user"), says("x" * 4_000), says("c"), stray])
    with pytest.raises(NotInHistory):
        keeper.explain(stray)
    turn = keeper.prepare_nowait([says("a", "user"), says("x" * 4_000), says("new")])
    assert turn.compacted
    assert sum(decision.tokens_before for decision in turn.decisions) > 1_000


class Failing(Counted):
    """A counter that breaks down at one text, once."""

    @override
    def count(self, text: str, /) -> Count:
        if text == "trouble" and text not in self.asked:
            self.asked.append(text)
            raise TimeoutError(text)
        return super().count(text)


def test_a_counter_that_breaks_down_leaves_no_stale_counts() -> None:
    """The turn fails, and the next one is as if it had never been."""
    keeper = manager(300, counter=Failing())
    keeper.prepare_nowait([says("a", "user"), says("b"), says("c")])
    messages = [says("a", "user"), says("x" * 4_000), says("trouble"), says("c")]
    with pytest.raises(TimeoutError):
        keeper.prepare_nowait(messages)
    assert (
        keeper.prepare_nowait(messages).messages == manager(300).prepare_nowait(messages).messages
    )


def test_a_state_that_another_tokenizer_counted_still_fits() -> None:
    """Its counts are not trusted where what is sent exceeds the limit by our own."""
    messages = [says(f"{i} " + "検索結果" * 30) for i in range(8)]
    keeper = manager(300)
    turn = keeper.prepare_nowait(messages)
    keeper.record_usage(turn, prompt_tokens=turn.certificate.counted_tokens)
    other = manager(300, counter=EstimateCounter())
    other.load_state(keeper.save_state())
    after = other.prepare_nowait(messages)
    assert after.certificate.fits
    assert after.certificate.bound.source == "estimate"
