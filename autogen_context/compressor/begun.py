"""What is left of a text that is one piece, and larger than its room.

Promise: within the room; something of the text, as long as a word of it and a mark have room; what goes leaves a mark.
"""

from autogen_context.compressor.counting import Tally
from autogen_context.compressor.shorten import mark_of, shorten_text

MORE = "…"


def begun(text: str, room_tokens: int, tally: Tally) -> str:
    """Both ends of a text; where these have no room beside their mark, its first words; empty where not one has."""
    short = shorten_text(text, room_tokens=room_tokens, count=tally.tokens)
    nothing_of_it = ("", mark_of(tally.tokens(text)))
    return first_words(text, room_tokens, tally) if short in nothing_of_it else short


def first_words(text: str, room_tokens: int, tally: Tally) -> str:
    """As many of the first words as have room, and a mark."""
    words = text.split()
    least, most = 0, min(len(words), room_tokens)
    while least < most:
        half = (least + most + 1) // 2
        fits = tally.tokens(f"{' '.join(words[:half])} {MORE}") <= room_tokens
        least, most = (half, most) if fits else (least, half - 1)
    return f"{' '.join(words[:least])} {MORE}" if least else ""
