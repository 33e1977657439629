r"""What a terminal would show of an output that was written for one.

Promise: colours, cursor codes and the states of a progress bar that were written over go; every character that would be
on the screen at the end stays, in its place, blanks at the end of a line as well.
"""

import re

CODE = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-Za-z])")
OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n|\Z)[^\n]*", re.MULTILINE)


def shown(text: str) -> str:
    r"""An output as it stands on a screen; a line's end of ``\r\n`` stays one."""
    if "\x1b" in text:
        text = CODE.sub("", text).replace("\x1b", "")
    if "\r" in text:
        text = OVERWRITTEN.sub(lambda match: last_state(match.group()), text)
    return text


def last_state(line: str) -> str:
    r"""What stands at last of a line in which the cursor went back to its start; its own ``\r`` at the end stays."""
    ending = "\r" if line.endswith("\r") else ""
    seen: list[str] = []
    covered = 0
    for state in reversed(line.removesuffix("\r").split("\r")):
        seen.append(state[covered:])
        covered = max(covered, len(state))
    return "".join(seen) + ending
