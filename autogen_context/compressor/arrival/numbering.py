r"""Line numbers of code without the blanks that align them.

Promise: lossless, and no character behind a number changes: ``cat -n`` writes each number right-aligned in six columns,
and a tab. Where one line that begins with a number and a tab is aligned otherwise, the whole text stays as it is.
"""

import re

ALIGNED = "|".join(rf" {{{6 - digits}}}\d{{{digits}}}\t" for digits in range(1, 6))
OTHERWISE = re.compile(rf"\n(?!{ALIGNED}|\d{{6,}}\t) *\d+\t")
PADDING = re.compile(r"\n +(?=\d+\t)")


def without_padding(text: str) -> str:
    """The same text with the blanks before its line numbers gone, where all are as ``cat -n`` writes them."""
    if "\t" not in text:
        return text
    lines = f"\n{text}"
    return text if OTHERWISE.search(lines) else PADDING.sub("\n", lines)[1:]
