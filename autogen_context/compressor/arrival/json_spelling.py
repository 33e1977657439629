r"""JSON read and written with every scalar as it is spelled: ``1.0`` stays ``1.0``, ``\u00e9`` stays ``\u00e9``.

Promise: what is written again is what was read without the blanks between its parts: the same keys in the same order,
repeated ones included, and the same characters in each string and number. Both ways run in the standard library's C.

How: characters that the text does not have stand for its escapes while it is read, so that no string is unescaped, and
around each number, which is read as a string; they give way when it is written.
"""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from json.decoder import JSONDecoder
from typing import TypeAlias, cast

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | bool | None"
"""A JSON value; numbers are strings between two bars, and strings have their escapes."""

BLANKS = " \t\r\n"
PRIVATE = range(
    0xE000, 0xF900
)  # characters without meaning, of which every text leaves some unused
NEEDED = 7  # of them
ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


class Spelling:
    """Reads and writes the JSON of one text.

    Args:
        text: any text.

    Raises:
        ValueError: it has every private character, so that none is left to stand for something.
    """

    def __init__(self, text: str) -> None:
        unused = list(islice((c for c in map(chr, PRIVATE) if c not in text), NEEDED))
        if len(unused) < NEEDED:
            raise ValueError("a text with every private character of Unicode is not read as JSON")
        self.backslash, self.quote, self.escape, self.bar = unused[:4]
        self.twin, self.name, self.fresh = unused[4:]
        self.text = self._escaped(text)
        self._decode = JSONDecoder(
            parse_int=self.bare,
            parse_float=self.bare,
            parse_constant=self.bare,
            object_pairs_hook=self._distinct,
        ).raw_decode

    def read(self, text: str, start: int) -> tuple[Tree, int]:
        """The JSON value at a place of a text that has the spelling's escapes, and where it ends.

        Raises:
            ValueError: there is none.
            RecursionError: it is nested too deep.
        """
        return cast("tuple[Tree, int]", self._decode(text, start))  # of what the hooks return

    def written(self, tree: Tree) -> str:
        """A value without blanks between its parts, still with the characters that stand for others."""
        return ENCODE(tree)

    def spelled(self, written: str) -> str:
        """What was written or read, with the characters of the text."""
        bar, name = self.bar, self.name
        text = written.replace(f'"{self.fresh}",', "\n").replace(f'"{self.fresh}', '\n"')
        text = text.replace(f'{name}",', "").replace(f'{name}":true,', "")
        text = text.replace(f'"{bar}', "").replace(f'{bar}"', "")
        text = text.replace(self.twin, "").replace(name, '"')
        text = text.replace(self.escape, "\\").replace(self.quote, '\\"')
        return text.replace(self.backslash, "\\\\")

    def bare(self, text: str) -> str:
        """A string that is written without quotes."""
        return f"{self.bar}{text}{self.bar}"

    def _escaped(self, text: str) -> str:
        if "\\" not in text:
            return text
        text = text.replace("\\\\", self.backslash).replace('\\"', self.quote)
        return text.replace("\\", self.escape)

    def _distinct(self, pairs: Sequence[tuple[str, Tree]]) -> dict[str, Tree]:
        """An object; repeated keys have a character more for each time they came before."""
        fields = dict(pairs)
        if len(fields) == len(pairs):
            return fields
        times: Counter[str] = Counter()
        distinct: dict[str, Tree] = {}
        for key, value in pairs:
            distinct[key + self.twin * times[key]] = value
            times[key] += 1
        return distinct
