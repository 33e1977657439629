"""Turn after turn: hold or compact, whatever the host does to its list."""

import copy

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager, Prepared
from autogen_context.errors import ContextWindowExceeded, InvalidTranscript
from autogen_context.testing import ChatMessage
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.transcripts import histories
from support.counting import Characters
from support.saying import asks, says, tells


def manager(window: int, **settings: object) -> IncrementalContextManager:
    """One with these settings, which counts characters."""
    config = ContextConfig.model_validate({"window_tokens": window, **settings})
    return IncrementalContextManager(config=config, counter=Characters())


KINDS = st.sampled_from(
    [
        says("s" * 40, "system"),
        says("u" * 200, "user"),
        says("v" * 2_000, "user"),
        says("short"),
        says("a" * 300),
        asks("a"),
        tells("a", "r" * 400),
        tells("b", "r" * 4_000),
    ]
)
EDITS = st.lists(
    st.tuples(st.integers(0, 12), st.lists(KINDS, max_size=6), st.booleans()),
    min_size=1,
    max_size=8,
)
MODES = st.sampled_from(["repair", "report", "refuse"])


@settings(max_examples=100)
@given(EDITS, st.integers(60, 1_200), MODES, st.booleans())
def test_the_promises_hold_whatever_the_host_does(
    edits: list[tuple[int, list[ChatMessage], bool]], window: int, orphans: str, strict: object
) -> None:
    """Appending, truncating, replacing, copying: each list sent fits, is as certified, and ends as it should."""
    keeper = manager(window, orphans=orphans, alternate_roles=strict, single_system=strict)
    payloads: list[ChatMessage] = []
    for length, new, copied in edits:
        payloads = [*payloads[:length], *new]
        turn = turn_or_error(keeper, copy.deepcopy(payloads) if copied else payloads)
        if isinstance(turn, ContextWindowExceeded):
            assert turn.floor_tokens > window
            continue
        if isinstance(turn, InvalidTranscript):
            assert orphans == "refuse"
            continue
        certificate = turn.certificate
        assert certificate.fits
        assert certificate.newest_present
        assert certificate.pairs_closed or orphans == "report"
        sent_alone = manager(10**6, orphans="report").prepare_nowait(turn.messages)
        assert certificate.counted_tokens == sent_alone.certificate.counted_tokens
        assert certificate.assumed_tokens == sent_alone.certificate.assumed_tokens


@settings(max_examples=60)
@given(EDITS, st.integers(100, 1_200), st.integers(0, 40))
def test_what_was_sent_is_continued_or_counted_as_a_rewrite(
    edits: list[tuple[int, list[ChatMessage], bool]], window: int, unused: int
) -> None:
    """Lists of the same number of rewrites begin alike, whatever was edited, pinned or billed between them."""
    keeper = manager(window)
    payloads: list[ChatMessage] = []
    before: Prepared[ChatMessage] | None = None
    for length, new, pins in edits:
        payloads = [*payloads[:length], *new]
        if payloads and pins:
            keeper.pin(payloads[length % len(payloads)])
        turn = turn_or_error(keeper, payloads)
        if isinstance(turn, Prepared):
            if before and before.certificate.rewrites == turn.certificate.rewrites:
                assert turn.messages[: len(before.messages)] == before.messages
            before = turn
            billed = turn.certificate.counted_tokens - unused
            keeper.record_usage(turn, prompt_tokens=max(1, billed))


def turn_or_error(
    keeper: IncrementalContextManager, messages: list[ChatMessage]
) -> Prepared[ChatMessage] | ContextWindowExceeded | InvalidTranscript:
    """A turn, or why there can be none."""
    try:
        return keeper.prepare_nowait(messages)
    except (ContextWindowExceeded, InvalidTranscript) as error:
        return error


@settings(max_examples=25)
@given(histories(max_messages=30), st.integers(60, 2_000))
def test_strict_models_are_obeyed_within_the_window(
    history: list[list[ChatMessage]], window: int
) -> None:
    """The fillers that alternation needs are counted before the limit is reached, not after."""
    keeper = manager(window, alternate_roles=True, single_system=True)
    for messages in history:
        try:
            turn = keeper.prepare_nowait(messages)
        except ContextWindowExceeded:
            assume(condition=False)
            raise
        assert turn.certificate.fits
        check_chat([*turn.messages], strict_roles=True)
