"""Quote what is not ours in a message of ours: the one way in which foreign text gets into one.

Promise: whatever a text holds, each of its lines carries the mark of a quotation, and nothing in it ends that: no line break of any
kind, control, bidirectional or invisible character, no closing quote or what looks like one. A value is bounded in length. A block
keeps all lines and all visible characters. Linear time.

Two forms: a value on a line of ours in double quotes, ``failed: "KeyError: 7"``, and a block in which every line begins with ``> ``.
A name of one plain word, such as a path, stands as it is: it has neither blanks nor signs that could make it a sentence of ours.
"""

import re

MARK = "> "  # at the beginning of each line of a block
VALUE_CHARS = 160  # of a value on a line of ours
MORE = "…"

# Unicode's Default_Ignorable_Code_Point (what is not shown: zero-width, bidirectional, tags, variation selectors), controls, separators
# of lines, and surrogates without their other half.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[{_UNSEEN}\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]+")
_BLANKS = re.compile(r"\s+")
_DOUBLE = (
    '"\u00ab\u00bb\u02ba\u02dd\u02ee\u05f4\u201c-\u201f\u2033\u2036\u2057\u275d\u275e\u2e42\u301d-\u301f\u3003\uff02'
    "\U0001f676-\U0001f678"
)
_SINGLE = "'`\u00b4\u02b9-\u02bd\u2018-\u201b\u2032\u2035\u275b\u275c\uff07"
# Two single ones look like a double one.
_CLOSING = re.compile(f"[{_DOUBLE}{_SINGLE}]{{2,}}|[{_DOUBLE}]")
_BRACKETS = str.maketrans(
    dict.fromkeys("[\u27e6\u3010\u3014\u301a\uff3b", "(")
    | dict.fromkeys("]\u27e7\u3011\u3015\u301b\uff3d", ")")
)
_PLAIN = re.compile(rf"[\w./@+~#=%,-]{{1,{VALUE_CHARS}}}")


def one_line(text: str, *, most_chars: int = VALUE_CHARS) -> str:
    """Return a text on one line without characters that are not shown, cut to a length with a mark."""
    line = _HIDDEN.sub("", _BLANKS.sub(" ", text[: 4 * most_chars]))
    line = _BLANKS.sub(" ", line).strip()
    is_cut = len(line) > most_chars or (
        len(text) > 4 * most_chars and text[4 * most_chars :].strip()
    )
    return f"{line[:most_chars].rstrip()}{MORE}" if is_cut else line


def quoted(text: str, *, most_chars: int = VALUE_CHARS) -> str:
    """Return a text as a value on a line of ours: on one line, in double quotes that it cannot end."""
    inside = _CLOSING.sub("'", one_line(text, most_chars=most_chars))
    return f'"{inside} "' if inside.endswith("\\") else f'"{inside}"'


def named(name: str) -> str:
    """Return a name: one plain word as it is, anything else as a value."""
    return name if _PLAIN.fullmatch(name) and not _HIDDEN.search(name) else quoted(name)


def bracketed(name: str) -> str:
    """Return a name for the inside of square brackets: on one line, with other brackets in their place."""
    return one_line(name).translate(_BRACKETS)


def block(text: str) -> str:
    """Return a text as a block: each line with its mark, without characters that are not shown; tabs stay."""
    return "\n".join(MARK + _HIDDEN.sub("", line) for line in text.splitlines())


def remarked(text: str, before: str) -> str:
    """Return a message of ours that was shortened from ``before``: again each line of its block has the mark."""
    if f"\n{MARK}" not in before or text == before:
        return text
    first, *rest = text.split("\n")
    marked = [line if line.startswith(MARK) else MARK + line for line in rest]
    return "\n".join([first, *marked])
