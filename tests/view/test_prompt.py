"""A system prompt in two: nothing of it is lost or doubled, and what is in front changes once for each place that changes."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.view.prompt import CLOSING, OPENING, SplitPrompt, parts_of

LINES = [
    "You are a careful clerk.",
    "You speak for the owner. Be brief.",
    "",
    "## Rules",
    "- Never delete an order.",
    "- Always name the file.",
    "    indented: yes",
    "<memory>",
    "</memory>",
    "```",
    "Current time: 10:31:07.",
    "User: Ada Grün",
    "1. Dr. Grün is the owner.",
]
lines = st.lists(st.sampled_from(LINES) | st.text(max_size=12), max_size=14)
texts = lines.map("\n".join)
prompts = st.lists(texts, min_size=1, max_size=3)


def lines_of(parts: Sequence[str]) -> Counter[str]:
    """The words of parts, blanks aside."""
    return Counter(word for part in parts for word in part.split())


def in_front(prompt: SplitPrompt) -> list[str]:
    """The text in front of each message."""
    return ["".join(parts or ()) for parts in prompt.stable]


@given(texts)
def test_the_parts_of_a_prompt_are_the_prompt(text: str) -> None:
    """Joined, whatever is in it; and none is blank but of a prompt that is."""
    parts = list(parts_of(text))
    assert "".join(parts) == text
    assert all(not part.isspace() for part in parts) or text.isspace()


@given(st.lists(prompts, min_size=1, max_size=6))
def test_nothing_of_the_newest_prompt_is_lost_or_doubled(several: list[list[str]]) -> None:
    """In front and behind are together its words, each as often as it has them; marks aside."""
    prompt = SplitPrompt()
    for turn, texts_now in enumerate(several):
        prompt = prompt.after(texts_now, turn=turn)
        behind = [part for part in prompt.moved if not part.startswith("(under “")]
        assert lines_of([*in_front(prompt), *behind]) == lines_of(texts_now)
        again = prompt.after(texts_now, turn=turn + 1)
        assert (again.stable, again.moved) == (prompt.stable, prompt.moved)


@given(st.lists(st.tuples(lines, lines), min_size=2, max_size=5), texts, texts)
def test_what_is_in_front_only_gets_shorter_until_another_prompt_comes(
    several: list[tuple[list[str], list[str]]], head: str, tail: str
) -> None:
    """Each text in front is that of the turn before with parts taken out, or the newest prompt whole."""
    prompt = SplitPrompt()
    for turn, (one, other) in enumerate(several):
        before, text = prompt, "\n".join([head, *one, tail, *other])
        prompt = prompt.after([text], turn=turn)
        if in_front(prompt) != [text]:
            rest = iter(before.stable[0] or ())
            assert all(part in rest for part in prompt.stable[0] or ())


STYLES: dict[str, tuple[str, str, list[str]]] = {
    "a line": (
        "You are a clerk.\nCurrent time: {}.\nNever delete an order.\n",
        "You are a clerk.\nNever delete an order.\n",
        ["Current time: {}."],
    ),
    "blank lines in front": (
        "\n\n  You are a clerk. It is {} now.\n\nNever delete an order.",
        "\n\n  You are a clerk. Never delete an order.",
        ["It is {} now."],
    ),
    "a sentence": (
        "You are a clerk. It is {} now. Never delete an order.",
        "You are a clerk. Never delete an order.",
        ["It is {} now."],
    ),
    "an element": (
        "You are a clerk.\nNever delete an order.\nName every file that you have read.\n<memory>\n- likes {}\n- Rome\n</memory>\n",
        "You are a clerk.\nNever delete an order.\nName every file that you have read.\n",
        ["<memory>\n- likes {}\n- Rome\n</memory>"],
    ),
    "a large element": (
        "You are a clerk.\n<memory>\n- lives in the old part of Rome\n- likes {}\n- has a dog and two cats\n</memory>\n",
        "You are a clerk.\n<memory>\n- lives in the old part of Rome\n- has a dog and two cats\n</memory>\n",
        ["(under “<memory>”)", "- likes {}"],
    ),
    "an item under a heading": (
        "You are a clerk.\n## Customer\n- name: Ada\n- plan: {}\n## Rules\n- Never delete an order.\n",
        "You are a clerk.\n## Customer\n- name: Ada\n## Rules\n- Never delete an order.\n",
        ["(under “## Customer”)", "- plan: {}"],
    ),
    "a rule": (
        "You are a clerk. Never use more than {} threads. Be brief.",
        "You are a clerk. Be brief.",
        ["Never use more than {} threads."],
    ),
    "a fence": (
        "You are a clerk of a shop.\nNever delete an order.\nThe state is below.\n```\n{}\n```\nBe brief.\n",
        "You are a clerk of a shop.\nNever delete an order.\nThe state is below.\nBe brief.\n",
        ["```\n{}\n```"],
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_prompts_of_many_styles(style: str) -> None:
    """What changes is found from the second prompt on; in front stays the rest, to the byte."""
    text, front, moved = STYLES[style]
    prompt = SplitPrompt().after([text.format("one")], turn=0)
    assert in_front(prompt) == [text.format("one")]
    for turn, value in enumerate(["two", "three", "one", "one", "four"], 1):
        prompt = prompt.after([text.format(value)], turn=turn)
        assert in_front(prompt) == [front]
        assert list(prompt.moved) == [part.format(value) for part in moved]
        assert prompt.text == "\n".join([OPENING, *prompt.moved, CLOSING])


def test_what_is_added_goes_behind_and_what_is_in_front_stays() -> None:
    """A memory that comes later, grows and goes."""
    base = "You are a clerk.\nNever delete an order.\n"
    prompt = SplitPrompt().after([base], turn=0)
    for turn, memory in enumerate(["", "- tea\n", "- tea\n- Rome\n", ""], 1):
        prompt = prompt.after([base + memory], turn=turn)
        assert in_front(prompt) == [base]
        assert list(prompt.moved) == memory.splitlines()


def test_another_prompt_is_sent_as_it_is() -> None:
    """A role that most of it is not of the one before; two that alternate are told by where they begin alike."""
    clerk = "You are a clerk. Never delete an order. It is ten."
    judge = "You are a judge. Weigh both sides and quote the law. It is ten."
    prompt = SplitPrompt()
    for turn in range(6):
        text = judge if turn % 2 else clerk
        prompt = prompt.after([text], turn=turn)
        assert (in_front(prompt), prompt.moved) == ([text], ())


def test_a_prompt_of_which_most_changes_each_turn_keeps_its_beginning_in_front() -> None:
    """What was looked up for a question, several times as long as the rest: found from the third turn on."""
    front, behind = "You are a clerk. Never delete an order.\n", "Quote the file.\n"
    prompt = SplitPrompt()
    for turn in range(5):
        found = "".join(f"Page {turn}{n} says word{turn}{n} of value{turn}{n}.\n" for n in range(9))
        prompt = prompt.after([front + found + behind], turn=turn)
    assert in_front(prompt) == [front + behind]
    assert len(prompt.moved) == 9


def test_a_message_that_is_to_be_sent_as_it_is_is_never_split() -> None:
    """``None`` stands for it; the others are split beside it."""
    prompt = SplitPrompt().after([None, "Be brief. It is ten."], turn=0)
    prompt = prompt.after([None, "Be brief. It is two."], turn=1)
    assert prompt.stable == (None, ("Be brief. ",))
    assert prompt.moved == ("It is two.",)
