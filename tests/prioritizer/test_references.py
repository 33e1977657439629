"""Which values stand where, and who named them again."""

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.identifiers import values_of
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.prioritizer.blocks import blocks_of, parsed, strings_in
from autogen_context.prioritizer.references import References, named_by_model
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.view.decision import Candidate
from support.units import candidates_of, read_all

MESSAGES = (transcripts() | broken_transcripts()).map(read_all)
NAMED = frozenset({"never", "path", "4711", "src"})


def followed(candidates: Sequence[Candidate], messages: Sequence[Message]) -> References:
    """All of it at once."""
    references = References()
    references.follow(candidates, messages)
    references.cut(range(len(candidates)))
    return references


def read_from(references: References) -> list[object]:
    """All that can be asked of it."""
    named = NAMED.union(*(unit.values | unit.told | unit.asked for unit in references.units))
    return [
        references.units,
        references.total_blocks,
        *map(dict, (references.blocks, references.asked)),  # no zeros in one alone
        set(references.used),
        {v: list(references.uses(v)) for v in named},
    ]


@given(MESSAGES, MESSAGES, st.data())
def test_following_in_steps_is_following_at_once(
    messages: list[Message], others: list[Message], data: st.DataObject
) -> None:
    """Unit by unit or many at a time; what is cut off or goes on in another way leaves nothing, and nothing is read twice."""
    candidates, same = candidates_of(messages), data.draw(st.integers(0, len(messages)))
    references = References()
    for stop in data.draw(st.lists(st.integers(0, len(candidates)))):
        before = list(references.units)
        references.follow(candidates[:stop], messages)
        assert [a is b for a, b in zip(before, references.units, strict=False)].count(False) == 0
        references.cut(data.draw(st.sets(st.integers(0, stop - 1))) if stop else ())
        references.cut(range(stop))
        assert read_from(references) == read_from(followed(candidates[:stop], messages))
    changed = [*messages[:same], *others]
    references.follow(candidates_of(changed), changed)
    references.cut(range(len(references.units)))
    assert read_from(references) == read_from(followed(candidates_of(changed), changed))


@given(transcripts().map(read_all))
def test_a_naive_count_finds_the_same(messages: list[Message]) -> None:
    """Blocks by what they say, persons by their role, uses by what the model said and called."""
    candidates = candidates_of(messages)
    references = followed(candidates, messages)
    blocks: Counter[str] = Counter()
    total = 0
    for text in (t for m in messages for t in texts_of(m)):
        total += len(blocks_of(text))
        for block in blocks_of(text):
            blocks.update(values_of(block.text))
    asked = Counter(v for m in messages if m.role == "user" for v in values_of(m.text))
    assert references.total_blocks == total
    assert (references.blocks, references.asked) == (blocks, asked)
    for value in {*blocks, *NAMED}:
        uses = [
            i
            for i, candidate in enumerate(candidates)
            if any(
                value in named_by_model(m) for m in candidate.unit.messages if m.role == "assistant"
            )
        ]
        assert list(references.uses(value)) == uses


def texts_of(message: Message) -> list[str]:
    """What of a message is cut into blocks."""
    leaves = [s for call in message.calls for s in strings_in(parsed(call.arguments))]
    return [message.text, *(r.text for r in message.results), *(s for s in leaves if len(s) > 120)]


def test_who_names_what() -> None:
    """What a model says or calls is used, what a person says is asked for, what a tool returns is neither."""
    call = ToolCall(id="1", name="read", arguments='{"file_path": "src/app.py", "line": 12}')
    messages = [
        Message(role="system", text="policy_x"),
        Message(role="user", text="find bug_7"),
        Message(role="assistant", text="looking at main.py", calls=(call,)),
        Message(role="tool", results=(ToolResult(call_id="1", text="found total_cents"),)),
        Message(role="user", text="[left_out]", own=True),
    ]
    system, person, step, ours = followed(candidates_of(messages), messages).units
    assert system.told == {"policy_x"}
    assert person.asked == {"find", "bug_7"}
    assert step.used == {"looking", "main.py", "main", "src/app.py", "src", "app"}
    assert step.values == step.used | {"found", "total_cents"}
    assert (step.asked, ours.asked, ours.used) == (frozenset(), frozenset(), frozenset())


def test_arguments_that_are_no_json_are_read_as_they_are() -> None:
    """A call that a model wrote badly names something too."""
    call = ToolCall(id="1", name="read", arguments='{"path": "src/app.py')
    assert "src/app.py" in named_by_model(Message(role="assistant", calls=(call,)))
