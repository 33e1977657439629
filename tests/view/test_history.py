"""What the host changed in its list is noticed, and nothing old is read again."""

import copy
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.errors import InvalidTranscript
from autogen_context.messages.message import Message
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import transcripts
from autogen_context.view.alignment import HostChange
from autogen_context.view.conversation import Conversation, History, Orphans, digest_of
from support.counting import COUNTER
from support.saying import asks, says, tells


@dataclass
class Watched(OpenAIChat):
    """OpenAI's format; it remembers what was read."""

    reads: list[object] = field(default_factory=list[object])

    @override
    def read(self, payload: object, /) -> Message:
        self.reads.append(payload)
        return super().read(payload)


FEW = settings(max_examples=50)
TEXTS = st.sampled_from(["a", "b", "c"])
LISTS = st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": TEXTS}), max_size=6)


def common(one: list[ChatMessage], other: list[ChatMessage]) -> int:
    """How many messages at the front are equal."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


@given(st.lists(LISTS, min_size=1, max_size=6), st.booleans())
def test_changes_are_noticed_by_content(lists: list[list[ChatMessage]], copied: object) -> None:
    """After any list the next may be any other: the common front is told, and the new list is known whole."""
    history = History(OpenAIChat())
    before: list[ChatMessage] = []
    for payloads in lists:
        handed = copy.deepcopy(payloads) if copied else payloads
        assert history.update(handed).same == common(before, payloads)
        assert history.messages == [OpenAIChat().read(payload) for payload in payloads]
        assert list(history.digests) == digests_of(payloads)
        before = payloads


def digests_of(payloads: list[ChatMessage]) -> list[bytes]:
    """By what each message is recognised."""
    return [digest_of(OpenAIChat(), payload) for payload in payloads]


@FEW
@given(transcripts(), st.data())
def test_what_stays_is_not_read_again(payloads: list[ChatMessage], data: st.DataObject) -> None:
    """The same objects and deep copies of them are recognised; of an edited list, what is edited is read."""
    host = Watched()
    history = History(host)
    history.update(payloads)
    for again in (payloads, copy.deepcopy(payloads), [*copy.deepcopy(payloads)[:3], *payloads[3:]]):
        host.reads.clear()
        assert history.update(again).same == len(payloads)
        assert not host.reads
    host.reads.clear()
    at = data.draw(st.integers(0, len(payloads) - 1))
    edited = [*payloads[:at], {"role": "user", "content": "edited"}, *payloads[at + 1 :]]
    is_other = edited[at] != payloads[at]
    assert history.update(edited).kept == len(payloads) - is_other
    assert [id(payload) for payload in host.reads] == [id(edited[at])] * is_other


class Objects(OpenAIChat):
    """A format whose payloads do not look like their snapshots; it counts these."""

    taken = 0

    @override
    def snapshot(self, payload: object, /) -> object:
        self.taken += 1
        return [super().snapshot(payload)]


def test_a_host_that_copies_once_is_followed_by_identity() -> None:
    """Agent Framework makes new objects of a session's messages with each run: these are compared once, not at each call."""
    host = Objects()
    history = History(host)
    payloads = [{"role": "user", "content": text} for text in "abc"]
    history.update(payloads)
    copies = copy.deepcopy(payloads)
    history.update(copies)
    taken = host.taken
    assert history.update([*copies, {"role": "user", "content": "d"}]).same == 3
    assert host.taken == taken + 1


@FEW
@given(LISTS, LISTS)
def test_a_saved_list_is_recognised(saved: list[ChatMessage], payloads: list[ChatMessage]) -> None:
    """By its digests, in another process; until then they are what is known."""
    first = History(OpenAIChat())
    first.update(saved)
    history = History(OpenAIChat(), first.digests)
    assert history.digests == first.digests
    assert history.update(copy.deepcopy(payloads)).same == common(saved, payloads)
    assert list(history.digests) == digests_of(payloads)


@given(LISTS, st.booleans())
def test_the_host_may_spoil_what_it_handed_over(payloads: list[ChatMessage], saved: object) -> None:
    """What is known, digests included, is what was read; copies of what was handed over are recognised."""
    history = History(OpenAIChat())
    if saved:
        history.update(payloads)
        history = History(OpenAIChat(), history.digests)
    handed = copy.deepcopy(payloads)
    history.update(handed)
    for payload in handed:
        payload.clear()
    handed.clear()
    assert list(history.digests) == digests_of(payloads)
    assert history.update(payloads).same == len(payloads)


class Shallow(OpenAIChat):
    """A format that reads what it cannot copy."""

    @override
    def snapshot(self, payload: object, /) -> object:
        if payload == {"role": "user", "uncopied": 1}:
            raise RecursionError("maximum recursion depth exceeded")
        return super().snapshot(payload)


@pytest.mark.parametrize("saved", [False, True], ids=["new", "saved"])
def test_what_cannot_be_copied_is_refused_whole(*, saved: bool) -> None:
    """The error has the position, and what was known before is known after."""
    good = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    history = History(Shallow())
    history.update(good)
    history = History(Shallow(), history.digests) if saved else history
    digests = history.digests
    with pytest.raises(InvalidTranscript, match="recursion") as caught:
        history.update([*good, good[1], {"role": "user", "uncopied": 1}])
    assert caught.value.index == 3
    assert history.digests == digests
    assert history.update(good).same == 2


# Few kinds of messages, so that lists share their fronts and steps are broken in all ways.
KINDS = st.sampled_from(
    [
        says("u", "user"),
        says("v", "user"),
        asks("a"),
        asks("a", "b"),
        tells("a"),
        tells("b"),
        tells(""),
    ]
)
EDITS = st.tuples(st.integers(0, 8), st.lists(KINDS, max_size=5), st.integers(0, 8))


def holds(change: HostChange, before: list[ChatMessage], after: list[ChatMessage]) -> None:
    """Every message that stays is equal where it was and where it is, in order, and none is missing in the count."""
    assert change.known == len(before)
    stays = [at for at in range(len(before)) if change.now_at(at) is not None]
    now = [to for at in stays if (to := change.now_at(at)) is not None]
    assert now == sorted(set(now))
    assert [before[at] for at in stays] == [after[to] for to in now]
    assert sorted([*stays, *change.gone()]) == list(range(len(before)))
    assert change.same == common(before, after)


@settings(max_examples=150)
@given(st.lists(EDITS, min_size=1, max_size=6), st.sampled_from(["repair", "report", "refuse"]))
def test_whatever_the_host_did_the_candidates_are_those_of_its_list(
    edits: list[tuple[int, list[ChatMessage], int]], orphans: Orphans
) -> None:
    """As if it had come at once: edited in front, in the middle or at the end; a refused list changes nothing."""
    kept, payloads, taken = (
        Conversation(OpenAIChat(), COUNTER, orphans=orphans),
        list[ChatMessage](),
        list[ChatMessage](),
    )
    for length, new, skipped in edits:
        payloads = [*payloads[:length], *new, *payloads[length + skipped :]]
        try:
            change = kept.update(payloads)
        except InvalidTranscript:
            assert orphans == "refuse"
            continue
        holds(change, taken, payloads)
        taken, fresh = payloads, Conversation(OpenAIChat(), COUNTER, orphans=orphans)
        fresh.update(payloads)
        assert kept.candidates == fresh.candidates
        assert kept.overview.orphans == fresh.overview.orphans
        assert kept.tokens == fresh.tokens == sum(c.tokens for c in kept.candidates)
