"""The date that most lines of a log begin with is written once.

Promise: lossless: where the note stands at the top, each line that begins with a time of day had the date before it.
What has such a note already, or a line that begins with a mere time of day, stays as it is.
"""

import re
from collections import Counter

TIME = r"\d\d:\d\d:\d\d"
DATED = re.compile(
    r"\n(\[?\d{4}[-/]\d\d[-/]\d\d[T ]|\[?[A-Z][a-z]{2} [ 0-3]\d (?:\d{4} )?)" + f"(?={TIME})"
)
MERE_TIME = re.compile(f"\n{TIME}")
LEAST_LINES = 20  # with one date; below, the note costs about as much


def without_dates(text: str) -> str:
    """The same text with its most frequent date in a note at the top; the text itself where that does not pay."""
    lines = f"\n{text}"
    dates = Counter(DATED.findall(lines))
    if not dates or text.startswith('["') or MERE_TIME.search(lines):
        return text
    date, times = dates.most_common(1)[0]
    if times < LEAST_LINES:
        return text
    rest = re.sub(f"\n{re.escape(date)}(?={TIME})", "\n", lines)
    return f'["{date}" stands before each line that begins with a time]{rest}'
