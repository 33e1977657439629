"""A text beyond what a stage reads: kept, found again, told, and the same in one turn or in many."""

from typing_extensions import override

from autogen_context import IncrementalContextManager, SemanticCompressor
from autogen_context.ledger import Ledger
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.segment import pair
from autogen_context.recall.recall_tool import RecallContext
from autogen_context.testing import ChatMessage
from autogen_context.text.work import QUERY_CHARS, STATEMENT_CHARS
from support.counting import Characters
from support.keeping import manager
from support.saying import says
from support.work import MOST_RATIO, calls_of
from support.working import TASK, step

PASTE = "".join(f"value {n} of the export is {n * 7}\n" for n in range(30_000))
RULE = "Never restart the machine without asking me."


def long_history() -> list[ChatMessage]:
    """A long paste with a rule behind it, and work after that."""
    told: ChatMessage = {"role": "user", "content": f"{PASTE}\n{RULE}"}
    return [*TASK, told, says("I see."), *(m for n in range(40) for m in step(n))]


def test_a_rule_behind_a_megabyte_stays() -> None:
    """It is in the request after the paste has left, and the certificate names the message that was read in part."""
    history = long_history()
    prepared = manager().prepare_nowait(history)
    assert prepared.compacted
    assert RULE in str(prepared.messages)
    assert prepared.certificate.partly_read == (len(TASK),)


def test_one_by_one_or_all_at_once_the_same_is_read() -> None:
    """What is read depends on a text alone; a shorter one is read whole, and a message that is taken back is forgotten."""
    history = long_history()[: len(TASK) + 2]
    once, bit_by_bit = manager(), manager()
    for stop in range(len(TASK), len(history) + 1):
        bit_by_bit.observe(history[:stop])
    sent = bit_by_bit.prepare_nowait(history)
    assert sent.messages == once.prepare_nowait(history).messages
    assert sent.certificate.partly_read == (len(TASK),)
    whole = manager().prepare_nowait([{"role": "user", "content": PASTE[: 2 * STATEMENT_CHARS]}])
    assert whole.certificate.partly_read == ()
    assert bit_by_bit.prepare_nowait(history[: len(TASK)]).certificate.partly_read == ()


def test_each_sentence_of_a_long_message_is_looked_at_once() -> None:
    """Though its statements are asked for several times: four times the text costs no more than that, up to all that is read."""

    def sent(text: str) -> object:
        keeper = manager(window_tokens=1_500)
        return keeper.prepare_nowait([*TASK, says(text, "user"), says("I see."), *step(0)])

    least, most = (PASTE[:chars] for chars in (STATEMENT_CHARS // 2, 2 * STATEMENT_CHARS))
    sent(most)
    assert calls_of(sent, most) <= MOST_RATIO * calls_of(sent, least)


def test_a_result_that_was_read_in_part_can_be_asked_back() -> None:
    """What stands in its middle is found by a query, byte for byte."""
    keeper = IncrementalContextManager(window_tokens=2_000, counter=Characters())
    middle = "The lost number is 4711-b."
    result = f"{PASTE[:400_000]}\n{middle}\n{PASTE[400_000:]}"
    call, told = step(0)
    history = [*TASK, call, {**told, "content": result}, *(m for n in range(1, 9) for m in step(n))]
    keeper.prepare_nowait(history)
    assert middle in keeper.recall_context(query="lost number 4711-b")


def test_a_query_of_a_megabyte_is_searched_by_its_ends() -> None:
    """And the answer says so; a short one is searched whole."""

    class Kept:
        handles = ("0" * 12,)

        def get(self, _handle: str, /) -> tuple[Message, ...]:
            return (Message(role="tool", text="The port is 80.\nThe host is ann."),)

    tool = RecallContext(Kept(), count=len, room_tokens=1_000)
    told = f"by its first and last {QUERY_CHARS} characters"
    assert told in tool.recall_context(query=f"port {PASTE}")
    assert told not in tool.recall_context(query="port")
    assert "The port is 80." in tool.recall_context(query=f"port {PASTE}")


def test_what_a_compressor_does_not_read_counts_as_lost() -> None:
    """A megabyte of prose: the ends, its errors and the keywords are read; the result tells how much was not."""
    prose = "".join(f"The visitor number {n} liked the garden very much. " for n in range(20_000))
    middle = "\nERROR the pump failed\nAsk the gardener Zoltan for it.\n"
    text = f"{prose[:500_000]}{middle}{prose[500_000:]}"
    compressor = SemanticCompressor(counter=Characters())
    found = compressor.compress_nowait(text, target_tokens=2_000, keep=("Zoltan",))
    assert "Zoltan" in found.compressed
    assert found.unread_chars > len(text) / 2
    assert found.quality < 5
    short = compressor.compress_nowait(text[:20_000], target_tokens=500)
    assert short.unread_chars == 0


def test_a_withdrawal_among_hundreds_is_not_guessed() -> None:
    """Where it is not clear which of many is meant, all stay, and the words are kept."""
    ledger = Ledger()
    ledger.learn_text("\n".join(f"The report of room {n} is {n} pages." for n in range(500)))
    known = len(ledger)
    ledger.learn([Message(role="user", text="Forget the report.")], start=1)
    assert known >= 500
    assert len(ledger) == known + 1


class Watched(str):
    """A string that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    @override
    def __eq__(self, other: object) -> bool:
        """Count, then compare."""
        Watched.compared += 1
        return str(self) == str(other)

    @override
    def __hash__(self) -> int:
        """As a string."""
        return hash(str(self))


def test_results_find_their_calls_without_comparing_all() -> None:
    """In any order: as many comparisons of ids as there are results, nearly."""
    calls = [ToolCall(id=Watched(f"c{n}"), name="f", arguments="") for n in range(2_000)]
    results = [ToolResult(call_id=Watched(f"c{n}"), text="") for n in reversed(range(2_000))]
    Watched.compared = 0
    pairs, left = pair(calls, results)
    assert Watched.compared <= 4 * len(calls)
    assert left == ()
    assert all(call is not None and str(call.id) == str(result.call_id) for call, result in pairs)
