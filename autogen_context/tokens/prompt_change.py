"""What was changed between two prompts of one conversation, part by part, in the order in which a provider caches them.

Promise: of two prompts the second of which only adds messages at its end there is no change, whatever is in them; each change names
the part and quotes what stands there now and what stood there before.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from autogen_context.text.difference import SHOWN_CHARS, Nature, excerpt, loosest, nature_of, shown

Cause = Literal[
    "clock",
    "identifier",
    "counter",
    "system prompt",
    "tool changed",
    "tool added",
    "tool removed",
    "tools reordered",
    "setting",
    "rewritten",
    "call ids",
    "message edited",
    "message removed",
    "message inserted",
    "messages reordered",
    "front cut",
    "history replaced",
    "model",
    "expired",
    "not cached",
    "compaction",
]
SHORT: Mapping[Cause, str] = {
    "clock": "a date or time changed",
    "identifier": "an identifier changed",
    "counter": "a number changed",
    "system prompt": "the system prompt changed",
    "tool changed": "a tool changed",
    "tool added": "a tool was added",
    "tool removed": "a tool was removed",
    "tools reordered": "the tools are in another order",
    "setting": "a setting in front of the messages changed",
    "rewritten": "the same content was written in another way",
    "call ids": "calls have other ids",
    "message edited": "an earlier message was edited",
    "message removed": "an earlier message was removed",
    "message inserted": "a message was inserted",
    "messages reordered": "messages are in another order",
    "front cut": "the oldest messages were cut",
    "history replaced": "earlier messages were replaced",
    "model": "another model was asked",
    "expired": "the provider's cache had run out",
    "not cached": "the provider had not cached it",
    "compaction": "the history was compacted",
}
Place = Literal["tool", "setting", "system", "message"]

OF_A_MODEL = frozenset(
    {"assistant", "model", "tool", "function"}
)  # roles that answers and results have
CUTS = frozenset[Cause]({"front cut", "message removed", "history replaced"})
RESULTS = frozenset({"tool", "function"})
LEAST_ALIKE = 0.5  # fraction of the words that two versions of one message share
MOST_WORDS = 400  # looked at of each


class PromptPart(NamedTuple):
    """A part of a prompt: a tool, a setting, or a message; its name is the tool's, the setting's, or the message's role."""

    place: Place
    name: str
    text: str  # all that is sent of it
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptChange:
    """A change of a prompt, by cause, with the place and the evidence in words."""

    cause: Cause
    place: str  # in words
    evidence: str  # in words


OF_NATURE: Mapping[Nature, Cause] = {
    "layout": "rewritten",
    "call ids": "call ids",
    "clock": "clock",
    "identifier": "identifier",
    "counter": "counter",
}
IN_WORDS: Mapping[Nature, str] = {
    "layout": "written in another way: white space, or the order of keys",
    "call ids": "other ids of the same calls",
    "clock": "a date or time changes",
    "identifier": "an identifier changes",
    "counter": "a number changes",
    "content": "other text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two prompts compared: the changes, in the order in which they break the prefix, and what of the new one was sent before.

    Attributes:
        changes: none if the new prompt only adds to the old one.
        known: positions in the new prompt of parts that the old one had too, in this or another version.
    """

    changes: Sequence[PromptChange]
    known: Sequence[int]


def compared(old: Sequence[PromptPart], new: Sequence[PromptPart]) -> Comparison:
    """Compare a prompt with an earlier one of its conversation; what is only at the end of either is no change."""
    old_front, new_front = fronts(old), fronts(new)
    tools = list(tool_changes(of_place(old, "tool"), of_place(new, "tool")))
    settings = list(setting_changes(of_place(old, "setting"), of_place(new, "setting")))
    begins = sum(part.place == "tool" for part in new)
    known = list(range(begins)) + [i for i, part in enumerate(new) if part.place == "setting"]
    changes, behind = message_changes(old_front, new_front)
    places = [i for i, part in enumerate(new) if part.place not in ("tool", "setting")]
    return Comparison(
        changes=[*tools, *settings, *changes],
        known=sorted({*known, *(places[i] for i in behind)}),
    )


def of_place(parts: Sequence[PromptPart], place: Place) -> list[PromptPart]:
    """Return the parts of one place."""
    return [part for part in parts if part.place == place]


def fronts(parts: Sequence[PromptPart]) -> list[PromptPart]:
    """Return the messages of a prompt, system messages included."""
    return [part for part in parts if part.place not in ("tool", "setting")]


# Tools and settings


def tool_changes(old: Sequence[PromptPart], new: Sequence[PromptPart]) -> Iterator[PromptChange]:
    """Yield what was changed in the list of tools."""
    if old == new:
        return
    before, now = {part.name: part for part in old}, {part.name: part for part in new}
    for name, part in now.items():
        if name in before and before[name].text != part.text:
            yield edited(before[name], part, f"tool {name}", "tool changed")
    if gone := [name for name in before if name not in now]:
        yield PromptChange(
            cause="tool removed",
            place=f"tool {gone[0]}",
            evidence=f"{listed('tool', gone)} removed",
        )
    if more := [name for name in now if name not in before]:
        at = list(now).index(more[0]) + 1
        said = f"{listed('tool', more)} added, at place {at} of {len(now)}"
        yield PromptChange(cause="tool added", place=f"tool {more[0]}", evidence=said)
    common = [name for name in before if name in now]
    order = [name for name in now if name in before]
    if common != order:
        first = next(pair for pair in zip(common, order, strict=True) if pair[0] != pair[1])
        said = f"the same tools in another order: at the first difference {first[0]!r} stood and {first[1]!r} stands"
        yield PromptChange(cause="tools reordered", place="tools", evidence=said)


def setting_changes(old: Sequence[PromptPart], new: Sequence[PromptPart]) -> Iterator[PromptChange]:
    """Yield what was changed in the settings that stand in front of the messages."""
    before, now = {part.name: part.text for part in old}, {part.name: part.text for part in new}
    for name in dict.fromkeys([*before, *now]):
        if before.get(name) != now.get(name):
            found = excerpt(before.get(name, ""), now.get(name, ""))
            said = f"{name} is another one: {shown(found.old) or 'none'!r} -> {shown(found.new) or 'none'!r}"
            yield PromptChange(cause="setting", place=name, evidence=said)


def listed(noun: str, names: Sequence[str]) -> str:
    """Return names as words, at most three of them."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""  # noqa: PLR2004 - as said
    return f"{noun}{'s' if len(names) > 1 else ''} {', '.join(map(repr, names[:3]))}{more}"


# Messages


class Edit(NamedTuple):
    """A change of messages, by the positions in the old and in the new list, of which one may be missing."""

    cause: Cause
    old: int | None
    new: int | None


class Block(NamedTuple):
    """Old messages and the new ones that stand in their place, as ranges; ``moved`` are messages that stand elsewhere now."""

    old: range
    new: range
    is_end: bool  # of the old list
    moved: frozenset[tuple[Place, str, str]]


def message_changes(
    old: Sequence[PromptPart], new: Sequence[PromptPart]
) -> tuple[list[PromptChange], list[int]]:
    """Return the changes of the messages, and the positions in the new list of those that the old one had."""
    before, now = ([(part.name, part.text) for part in parts] for parts in (old, new))
    codes = SequenceMatcher(None, before, now, autojunk=False).get_opcodes()
    if has_constant_end(codes, old, new):
        return [], [*range(codes[0][4])]
    other = [code for code in codes if code[0] != "equal"]
    is_order = Counter(before) == Counter(now[: len(before)])
    gone = {part[:3] for _, i, i_stop, _, _ in other for part in old[i:i_stop]}
    # What is new at the end may say the same as what left: it did not move there.
    middle = other if is_order else [code for code in other if code[2] < len(old)]
    come = {part[:3] for _, _, _, j, j_stop in middle for part in new[j:j_stop]}
    edits, known = list[Edit](), list[int]()
    for tag, i, i_stop, j, j_stop in codes:
        if tag == "equal":
            known += range(j, j_stop)
            continue
        moved = frozenset(gone & come)
        block = Block(range(i, i_stop), range(j, j_stop), i_stop == len(old), moved)
        made, again = block_edits(old, new, block)
        edits += made
        known += again
    return list(grouped(edits, old, new)), known


def has_constant_end(
    codes: Sequence[tuple[str, int, int, int, int]],
    old: Sequence[PromptPart],
    new: Sequence[PromptPart],
) -> bool:
    """Whether the only change is that messages came in front of a reminder, or of the start of an answer, with which each request ends."""
    if [code[0] for code in codes] != ["equal", "insert", "equal"]:
        return False
    (_, stop, _, come, come_stop), (_, i, i_stop, _, _) = codes[1], codes[2]
    end = [part.name for part in old[i:i_stop]]
    answers = {part.name for part in new[come:come_stop]} & OF_A_MODEL
    return stop > 0 and (end == ["assistant"] or not {*end} & OF_A_MODEL) and bool(answers)


def block_edits(
    old: Sequence[PromptPart], new: Sequence[PromptPart], block: Block
) -> tuple[list[Edit], list[int]]:
    """Return what became of a block of messages, and which of the new ones are versions of old ones."""
    edits, known = versions(old, new, block)
    gone = [n for n in block.old[len(known) :] if old[n][:3] not in block.moved]
    come = [n for n in block.new[len(known) :] if new[n][:3] not in block.moved]
    again = [n for n in block.new[len(known) :] if new[n][:3] in block.moved]
    if again:
        edits.append(Edit("messages reordered", None, again[0]))
    if block.is_end:  # else a branch, or what stood at the end for one request only
        return edits, [*known, *again]
    if gone and come:
        edits.append(Edit("history replaced", gone[0], come[0]))
    elif gone and not is_passing(old, gone):
        edits.append(Edit("front cut" if is_front(old, gone) else "message removed", gone[0], None))
    elif come and not gone:
        edits.append(Edit("message inserted", None, come[0]))
    return edits, [*known, *again]


def versions(
    old: Sequence[PromptPart], new: Sequence[PromptPart], block: Block
) -> tuple[list[Edit], list[int]]:
    """Return the edits of messages at the start of a block that stand there in another version, and where they stand now."""
    edits, known = list[Edit](), list[int]()
    alone = not block.is_end and len(block.old) == len(block.new)
    for i, j in zip(block.old, block.new, strict=False):
        x, y = old[i], new[j]
        if {x[:3], y[:3]} & block.moved or not (
            (alone and x.name == y.name) or x.place == y.place == "system" or is_version(x, y)
        ):
            break
        # What stood in the newest message for one request only costs nobody more than that message.
        is_passing = i == len(old) - 1 and (x.text in y.text or y.text in x.text)
        if x.place == "system" or not is_passing:
            edits.append(Edit(OF_NATURE.get(nature_of(x.text, y.text), content_cause(x)), i, j))
        known.append(j)
    goes_on = len(known) == len(block.old) < len(block.new)
    if (
        block.is_end and not goes_on
    ):  # a branch: another question in the place of one that was answered
        heads = sum(old[i].place == "system" for i in block.old[: len(known)])
        return edits[:heads], known[:heads]
    return edits, known


def content_cause(part: PromptPart) -> Cause:
    """Return the cause by which other content of a part is named."""
    return "system prompt" if part.place == "system" else "message edited"


def is_front(parts: Sequence[PromptPart], gone: Sequence[int]) -> bool:
    """Whether these messages are the oldest: behind the system prompt, or behind the task that follows it."""
    head = next((i for i, part in enumerate(parts) if part.place != "system"), 0)
    return gone[0] <= head or (gone[0] == head + 1 and len(gone) > 1)


def is_passing(parts: Sequence[PromptPart], gone: Sequence[int]) -> bool:
    """Whether these messages stood in front of the newest unit for one request: that unit alone is sent again."""
    is_written = not {parts[n].name for n in gone} & OF_A_MODEL
    newest = parts[gone[-1] + 1 :]
    return is_written and bool(newest) and all(part.name in RESULTS for part in newest[1:])


def is_version(one: PromptPart, other: PromptPart) -> bool:
    """Whether two messages at one place are versions of one: results of a tool, or of one author with most words in common."""
    if one.place != other.place:
        return False
    if one.name != other.name:
        return one.text == other.text
    if one.name in RESULTS or loosest(one.text) == loosest(other.text):
        return True
    before, now = (part.text.casefold().split()[:MOST_WORDS] for part in (one, other))
    return SequenceMatcher(None, before, now, autojunk=False).ratio() >= LEAST_ALIKE


def grouped(
    edits: Sequence[Edit], old: Sequence[PromptPart], new: Sequence[PromptPart]
) -> Iterator[PromptChange]:
    """Yield the changes in words, the first of each cause with how many more there are."""
    first = dict[Cause, list[Edit]]()
    for edit in with_cut_first(edits, old):
        first.setdefault(edit.cause, []).append(edit)
    for cause, same in first.items():
        change = in_words(same[0], old, new)
        more = f"; and {len(same) - 1} more such" if len(same) > 1 else ""
        yield PromptChange(cause=cause, place=change.place, evidence=change.evidence + more)


def with_cut_first(edits: Sequence[Edit], old: Sequence[PromptPart]) -> Sequence[Edit]:
    """Return the edits with a cut before what comes with it: another order, or a note in front of it of how much was cut."""
    cut = next((edit for edit in edits if edit.cause in CUTS), None)
    if cut and edits[0].cause == "messages reordered":  # around what was cut
        return [cut, *(edit for edit in edits if edit is not cut)]
    is_note = [edit.old is not None and old[edit.old].place != "system" for edit in edits[:1]]
    if len(edits) > 1 and all(is_note) and edits[1].cause in CUTS:
        after = (edits[1].old or 0) - (edits[0].old or 0)
        return [edits[1], edits[0], *edits[2:]] if after == 1 else edits
    return edits


def in_words(edit: Edit, old: Sequence[PromptPart], new: Sequence[PromptPart]) -> PromptChange:
    """Say what an edit did."""
    cause, i, j = edit
    if i is None:
        at = 0 if j is None else j
        said = "stands elsewhere than before" if cause == "messages reordered" else "is new there"
        place = place_of(new, at)
        evidence = f"{place} {said}: {shown(new[at].text)!r}"
        return PromptChange(cause=cause, place=place, evidence=evidence)
    if j is not None and cause != "history replaced":
        return edited(old[i], new[j], place_of(new, j), cause)
    place = place_of(old, i)
    said = f"{place} of the last request is gone: {shown(old[i].text)!r}"
    if j is not None:
        said += f", and another stands for it and what followed: {shown(new[j].text)!r}"
    return PromptChange(cause=cause, place=place, evidence=said)


def edited(old: PromptPart, new: PromptPart, place: str, other: Cause) -> PromptChange:
    """Return the change from one version of a part to another; ``other`` is its cause if the content is another one."""
    nature, found = nature_of(old.text, new.text), excerpt(old.text, new.text)
    where = f"{place}, line {found.line}" if old.place != "tool" else place
    if old.text == new.text:
        said = f"{where}: another role: {old.name!r} -> {new.name!r}"
    elif nature == "layout":  # white space may be all that differs
        said = f"{where}: {IN_WORDS[nature]}: {found.old[:SHOWN_CHARS]!r} -> {found.new[:SHOWN_CHARS]!r}"
    else:
        said = f"{where}: {IN_WORDS[nature]}: {shown(found.old)!r} -> {shown(found.new)!r}"
    return PromptChange(cause=OF_NATURE.get(nature, other), place=where, evidence=said)


def place_of(parts: Sequence[PromptPart], at: int) -> str:
    """Return where a message stands, in words."""
    if parts[at].place == "system" and not any(part.place == "system" for part in parts[:at]):
        return "system prompt"
    return f"message {at + 1} ({parts[at].name})"
