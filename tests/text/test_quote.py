"""What is not ours stands quoted in a message of ours, and nothing in it ends the quotation."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.text.quote import MARK, block, bracketed, named, one_line, quoted, remarked
from support.hostile import HOSTILE

UNSEEN = {"Cc", "Cf", "Zl", "Zp", "Cs"}


def shown(text: str) -> str:
    """The characters of a text that can be seen."""
    return "".join(c for c in text if unicodedata.category(c) not in UNSEEN and not c.isspace())


@given(HOSTILE | st.text())
def test_a_value_is_one_closed_string(text: str) -> None:
    """On one line, between two double quotes and without a third or what looks like one, whatever it holds."""
    value = quoted(text)
    assert len(value) <= 160 + 4
    assert value[0] == value[-1] == '"'
    inside = value[1:-1]
    assert not set(inside) & set(
        '"\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\uff02\u301d\u301e\u275d\u275e'
    )
    assert "''" not in inside
    assert not inside.endswith("\\")
    assert all(unicodedata.category(c) not in UNSEEN for c in value)
    assert len(value.splitlines()) == 1


@given(HOSTILE | st.text(), st.integers(1, 50))
def test_a_line_is_one_line(text: str, most: int) -> None:
    """Of bounded length, with the mark of a cut; a short one keeps all that can be seen."""
    line = one_line(text, most_chars=most)
    assert len(line.splitlines()) <= 1
    assert len(line) <= most + 1
    if len(text) <= most and not any("\ufe00" <= c <= "\ufe0f" for c in text):
        assert shown(line) == shown(one_line(text))


@given(HOSTILE | st.text())
def test_each_line_of_a_block_has_its_mark(text: str) -> None:
    """At any kind of line break, also where a reader takes other signs for one; no visible character goes."""
    lines = block(text).split("\n") if text else []
    assert all(line.startswith(MARK) for line in lines)
    assert len(lines) == len(text.splitlines())
    assert all(len(line.splitlines()) <= 1 for line in lines)
    assert all(unicodedata.category(c) not in UNSEEN or c == "\t" for line in lines for c in line)


@pytest.mark.parametrize("name", ["src/a.py", "get_order", "#W42", "a-b@1.2", "größe/文.py"])
def test_a_plain_word_needs_no_quotes(name: str) -> None:
    """A path or the name of a tool stands as it is."""
    assert named(name) == name


@given(HOSTILE | st.text())
def test_a_name_is_a_word_or_quoted(name: str) -> None:
    """What is no plain word is a value; in brackets it has none of its own."""
    assert named(name) in (name, quoted(name))
    if named(name) == name:
        assert not any(c.isspace() or c in "\"'`:;[]()<>{}!?" for c in name)
    assert not set(bracketed(name)) & set("[]\uff3b\uff3d\u3010\u3011")
    assert len(bracketed(name).splitlines()) <= 1


@given(HOSTILE, st.integers(0, 200))
def test_a_cut_block_stays_one(text: str, at: int) -> None:
    """Wherever a message of ours is cut, each line below its own has the mark again."""
    before = f"[ours]\n{block(text)}"
    cut = f"{before[:at]}\n[… shortened …]\n{before[at + 5 :]}"
    if text:
        _, *lines = remarked(cut, before).split("\n")
        assert all(line.startswith(MARK) for line in lines)
