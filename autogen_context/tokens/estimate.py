"""An upper bound on the tokens of a text, with no vocabulary and nothing but the standard library.

Promise: for any ``str``, ``EstimateCounter().count(text).tokens`` is at least what cl100k_base and o200k_base make of it,
in linear time.

Why it holds: byte pair encoding merges neighbours as long as their union is a token. So in its result no two neighbours
have a union that is known to be a token, and the longest division of a piece that obeys this is an upper bound. The
more tokens are known, the tighter the bound; ``known_tokens.json`` names some 18,000 that both encodings have. The proof,
and what was measured, stand in docs/decisions/0003-counting.md.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import add
from pathlib import Path

from autogen_context.tokens.measure import Count

# Both encodings first cut a text into pieces, by these rules (tiktoken_ext.openai_public; here for ASCII).
_TAIL = r"(?:'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE]))"
_LEAD = r"[\0-\t\v\f\x0e-/:-@\[-`{-\x7f]"  # what may stand before the letters of a word
_MARK = r"[\0-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]"
_FOREIGN = r"[^\0-\x7f]"
_CL100K = re.compile(
    rf"{_TAIL}|{_LEAD}?+[A-Za-z]++|[0-9]{{1,3}}+| ?{_MARK}++[\r\n]*+|\s++\Z|\s*[\r\n]|\s+(?!\S)|\s",
    re.ASCII,
)
_O200K = re.compile(
    rf"{_LEAD}?[A-Z]*[a-z]+{_TAIL}?|{_LEAD}?[A-Z]+[a-z]*{_TAIL}?|[0-9]{{1,3}}| ?{_MARK}+[\r\n/]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    re.ASCII,
)
# The borders that both have in common; o200k_base lets slashes follow a line break, then the next ones are not.
_WORD = rf"[A-Za-z]++{_TAIL}?"
_AFTER_SLASH = rf"(?=/)(?:{_MARK}++[\r\n]*+)++(?:{_WORD})?"
_SHARED = (
    rf"{_LEAD}?{_WORD}|[0-9]{{1,3}}| ?{_MARK}++(?:[\r\n]++(?:{_AFTER_SLASH})?)?"
    r"|\s++\Z|\s*[\r\n]+|\s+(?!\S)|\s"
)
_ASCII_PIECES = re.compile(_SHARED, re.ASCII)
# What touches a character beyond ASCII is glued to it: there the rules above would need the Unicode tables.
_GLUED = rf"{_FOREIGN}++(?>[\r\n]++{_AFTER_SLASH}|{_SHARED})?"
_MIXED_PIECES = re.compile(rf"(?>{_SHARED})(?:{_GLUED})*+|(?:{_GLUED})++", re.ASCII)
_RUN = re.compile(r"(.)\1{7,}", re.DOTALL)
# Where a token may end inside a character: the space that takes the first byte of what follows, and a few more.
_WIDE_AFTER_SPACE = re.compile(r" (?=[\u0800-\U0010ffff])")
_TEARABLE = re.compile(
    r"([^\0-\x7f])(?=([\u0540-\u057f\u0980-\u09bf\u0c00-\u0c3f\u0e00-\u0e3f\u10c0-\u10ff\u1780-\u17bf"
    r"\ud000-\ud7ff\uff40-\uff7f]))"
)
# Both encodings end a piece here, whatever stands before and after.
_BORDER = re.compile(r"(?<=\n)(?=[!-.0-~])|(?<=[A-Za-z0-9])(?= [A-Za-z])")

_SLICE_CHARS = 1_000_000
_PAIR_CHARS = 2
_CLOSE_LOOK_CHARS = 24  # a close look at a piece costs the square of its length
SEAM_TOKENS = 8  # a cut anywhere was seen to hide 5 at most; docs/decisions/0003-counting.md


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What both vocabularies are known to hold.

    Attributes:
        tokens: strings that are one token.
        pairs: those of two characters, but for digits, which are cut in threes across pairs.
        two_token_blocks: 64 code points each, where a token holds all bytes of a character but the last.
        torn: (last six bits of a character, block of the next) -> tokens lost where one token holds parts of both.
    """

    tokens: frozenset[str]
    pairs: frozenset[str]
    two_token_blocks: frozenset[int]
    torn: Mapping[tuple[int, int], int]


class EstimateCounter:
    """Counts any text from above, offline and without loading a vocabulary."""

    def count(self, text: str, /) -> Count:
        """An upper bound on the tokens of ``text`` in cl100k_base and in o200k_base.

        Source:
            docs/decisions/0003-counting.md.
        """
        tokens = sum_slices(text, _slice_tokens, at_most=_SLICE_CHARS)
        return Count(tokens=tokens, source="estimate")


def sum_slices(text: str, tokens: Callable[[str], int], *, at_most: int) -> int:
    """The sum of ``tokens`` over slices of a text, never below what it is for the whole.

    Args:
        text: any text.
        tokens: tokens of one slice.
        at_most: the longest slice, in characters.

    Returns:
        Tokens; ``SEAM_TOKENS`` more for each cut where no border of pieces was near.
    """
    if len(text) <= at_most:
        return tokens(text)
    return sum(tokens(part) + seam * SEAM_TOKENS for part, seam in _slices(text, at_most))


def _slices(text: str, at_most: int) -> Iterator[tuple[str, bool]]:
    """The text in slices, each with whether a piece may have been cut at its end."""
    start = 0
    while len(text) - start > at_most:
        end = start + at_most
        near_end = _BORDER.finditer(text, max(start + 1, end - 2_000), end)
        borders = [border.start() for border in near_end]
        stop = borders[-1] if borders else end
        yield text[start:stop], not borders
        start = stop
    yield text[start:], False


def _slice_tokens(text: str) -> int:
    """The bound for one slice; so many close looks that the time stays linear, the rest by their lengths."""
    known = _known().tokens
    close_looks = 64 + len(text) // 32
    total = _extra_tokens(text)
    pieces = _ASCII_PIECES if text.isascii() else _MIXED_PIECES
    for piece, times in Counter(pieces.findall(text)).items():
        if piece in known:
            total += times
        elif len(piece) <= _CLOSE_LOOK_CHARS and close_looks and piece.isascii():
            close_looks -= 1
            total += times * _close_bound(piece)
        else:
            total += times * _quick_bound(piece)
    return total


@lru_cache(maxsize=65_536)
def _close_bound(piece: str) -> int:
    """The most tokens that either encoding can make of a short ASCII piece."""
    cl100k, o200k = _CL100K.findall(piece), _O200K.findall(piece)
    bound = sum(map(_longest_division, cl100k))
    return bound if cl100k == o200k else max(bound, sum(map(_longest_division, o200k)))


def _longest_division(piece: str) -> int:
    """The most parts in which no two neighbours together are a known token."""
    known = _known().tokens
    if piece in known:
        return 1
    best_first = [
        [0]
    ]  # for each end: (parts, length of the last part) of every division, as parts * 32 + length
    for end in range(1, len(piece) + 1):
        found: list[int] = []
        for start in range(end):
            for division in best_first[start]:
                if not start or piece[start - division % 32 : end] not in known:
                    found.append((division // 32 + 1) * 32 + end - start)
                    break
        found.sort(reverse=True)
        best_first.append(found)
    return best_first[-1][0] // 32


def _quick_bound(piece: str) -> int:
    """Runs of one character by their length; of the rest, three characters cost two tokens where both pairs are known.

    Single characters that follow each other as tokens are no known pair. With n characters and k known pairs that
    leaves at most n - k/3 tokens.
    """
    total = start = 0
    for run in _RUN.finditer(piece):
        total += _pairs_bound(piece[start : run.start()]) + _run_bound(run[1], len(run[0]))
        start = run.end()
    return total + _pairs_bound(piece[start:])


def _pairs_bound(piece: str) -> int:
    known_pairs = sum(map(_known().pairs.__contains__, map(add, piece, piece[1:])))
    return len(piece) - known_pairs // 3


def _run_bound(character: str, length: int) -> int:
    """Two neighbours are longer than every run that is known; 3 more for the ends, where others may reach in."""
    return min(length, 2 * length // (_longest_known_run(character) + 1) + 3)


@cache
def _longest_known_run(character: str) -> int:
    known = _known().tokens
    length = 1
    while character * (length + 1) in known:
        length += 1
    return length


def _extra_tokens(text: str) -> int:
    """What the characters of a text may cost beyond one token each."""
    if text.isascii():
        return 0
    wide = sum(times * (_character_tokens(char) - 1) for char, times in Counter(text).items())
    return wide + len(_WIDE_AFTER_SPACE.findall(text)) + _torn_tokens(text)


def _torn_tokens(text: str) -> int:
    """What is lost where one token holds the end of a character and the begin of the next."""
    torn = _known().torn
    pairs = _TEARABLE.findall(text)
    return sum(torn.get((ord(char) % 64, ord(after) >> 6), 0) for char, after in pairs)


def _character_tokens(char: str) -> int:
    """The most tokens of one character: its UTF-8 bytes, less where a token for the first bytes is known."""
    if char.isascii() or char in _known().tokens:
        return 1
    width = len(char.encode("utf-8", "surrogatepass"))
    return 2 if ord(char) >> 6 in _known().two_token_blocks else width


@cache
def _known() -> _Known:
    """The tokens that both encodings have; all numbers of one to three digits are among them."""
    data = json.loads(Path(__file__).with_name("known_tokens.json").read_text("utf-8"))
    digits = [f"{number:0{width}}" for width in (1, 2, 3) for number in range(10**width)]
    return _Known(
        tokens=frozenset(data["tokens"]).union(digits),
        pairs=frozenset(
            token
            for token in data["tokens"]
            if len(token) == _PAIR_CHARS and not any(map(str.isnumeric, token))
        ),
        two_token_blocks=frozenset(data["two_token_blocks"]),
        torn={
            (low, block): lost
            for low, first, end, lost in data["torn"]
            for block in range(first, end)
        },
    )
