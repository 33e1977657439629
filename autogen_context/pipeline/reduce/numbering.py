r"""Line numbers of code without the blanks that align them.

Promise: lossless, and no character behind a number changes: ``cat -n`` writes each number right-aligned in six columns,
and a tab. Where one line that begins with a number and a tab is aligned otherwise, the whole text stays as it is.
"""

import re

NUMBERED = re.compile(r"^( *)(\d+)\t", re.MULTILINE)
WIDTH = 6


def without_padding(text: str) -> str:
    """The same text with the blanks before its line numbers gone, where all are as ``cat -n`` writes them."""
    if "\t" not in text:
        return text
    found = NUMBERED.findall(text)
    if all(len(blanks) == max(0, WIDTH - len(number)) for blanks, number in found):
        return NUMBERED.sub(r"\2\t", text)
    return text
