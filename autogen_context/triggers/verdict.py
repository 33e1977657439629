"""Whether tests passed, by what their runner printed.

Promise: one failure among any number of passes is a failure, none failed is a pass, and what tells neither (nothing ran,
the runner is missing, the output is cut off) is neither. Time is bounded whatever the length: ``HEAD_CHARS`` from the
beginning and ``TAIL_CHARS`` from the end are read.

Counts are read from the lines that summarise ("1 failed, 9 passed", "Tests run: 5, Failures: 0"), in whatever order, case
and spelling a runner writes them; where it writes none, the status words that open or close a line ("FAILED", "OK"), a
trace, and the exit code.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

Verdict = Literal["passed", "failed"]

HEAD_CHARS = 2_000
TAIL_CHARS = 8_000
LINE_CHARS = 300  # a longer line summarises nothing
REMEMBERED = 8

# What a word beside a number counts.
_WORDS = {
    "bad": "fail|fails|failed|failing|failure|failures|error|errors|errored|unexpected successes",
    "good": "pass|passes|passed|passing|success|successes|succeeded",
    "all": "tests run|test run|tests|test|examples|example|specs|spec|scenarios|runs|total",
    "rest": "skipped|skips|skip|pending|todo|ignored|xfailed|xpassed|deselected|warnings|warning|assertions|assertion|measured|filtered out|expected failures",
}
_COUNTS = {word: what for what, words in _WORDS.items() for word in words.split("|")}
_WORD = "|".join(sorted(_COUNTS, key=len, reverse=True))
_COUNT = re.compile(
    rf"(?<![\w.])(\d+) (?:(?:unit |sub)?tests? |test (?:cases?|files?|suites?) |checks? )?({_WORD})(?![\w%])"
    rf"|\b({_WORD})(?: *[:=] *| (?=\d+\s*$))(\d+)\b(?![%:/-]|\.\d| +(?:{_WORD})\b)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"[:=] *\d|\d [A-Za-z]|[a-z] \d+\s*\Z")  # far quicker than a count
_BESIDE = re.compile(  # what may stand beside a single count
    r"\b(?:tests?|suites?|files?|cases?|results?|run|ran|finished|completed|executed|in|with|out|of|ok|failed|passed|fail"
    r"|info|errors?|time|elapsed|duration|during collection|unexpected|m?s|secs?|seconds?|minutes?)\b|(?<=\d)m?s\b",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")

_OPENS = r"^\W{0,12}\b(?:(?:INFO|ERROR|info|error)\] )?"
_FAILED = re.compile(
    rf"{_OPENS}(?:FAILED(?: \(|\s*$| \S+::| \S+\.py\b| \|| {{1,3}}\] [1-9])|FAIL(?:\t|:(?! *0\s*$)|\s*$| +\S+[./]\w)|(?:FAILURES|ERRORS)!\s*$"
    r"|(?:FAIL|ERROR): \w+ \(|ERROR (?:\S+(?:::|\.py\b)|collecting )|BUILD FAIL(?:URE|ED)\b|not ok \d+(?!.*# (?:TODO|SKIP))"
    r"|Result: FAIL\b|\S+:\S+\s+FAILED in |Failed: Total |[1-9]\d* (?:tests? )?failed: |error: (?:test failed|could not compile)"
    r"|(?P<n>\d+)(?: ?/ ?| (?:out )?of )(?!(?P=n)\b)\d+ (?:tests? )?pass(?:ed|ing)?\b|\d?\d(?:\.\d+)?% (?:tests )?passed\s*(?:$|,))"
    r"|^\s*[✕✗✘❌\xd7] |\.\.\. (?:FAIL|FAILED|ERROR)\s*$|::\S+ (?:FAILED|ERROR)\b|\[build failed\]",
    re.MULTILINE,
)
_PASSED = re.compile(
    rf"{_OPENS}(?:OK(?: \(.*\)| \[[^\]]*\])?\s*$|OK, but |ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))(?!.*no tests)|PASS\s*$|PASS +\S+\.\w"
    r"|PASSED(?:\s*$| {1,3}\] [1-9])|Passed(?:!|: Total [1-9])|Result: PASS\b|\S+:\S+\s+(?:\(cached\) )?PASSED in |Test Run Successful|BUILD SUCCESS"
    r"|100(?:\.0+)?% (?:tests )?passed\s*(?:$|,)"
    r"|(?i:all) (?:\w+ ){0,3}(?i:tests|checks|assertions|cases|specs)(?: \w+)? (?i:pass|passed|succeed|succeeded|successful)\b)",
    re.MULTILINE,
)
_NOT_RUN = re.compile(
    r"no tests? (?:to run|ran|were)|tests are skipped|no-source|not found|no module named|modulenotfounderror|can't open file"
    r"|missing script|unknown command|not recognized as an internal|no such (?:file|command)",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"^Traceback \(most recent call last\)|^panic: |panicked at|^(?:Assertion|Runtime)Error\b"
    r"|(?:exit(?:ed)?(?: with)?(?: code| status)?|returncode)\W{0,3}[1-9]\d{0,2}\b",
    re.MULTILINE,
)


def verdict_of(text: str) -> Verdict | None:
    """What the output of tests says of them; ``None`` where it does not tell."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    return _verdict(text)


@lru_cache(REMEMBERED)
def _verdict(text: str) -> Verdict | None:
    shown = _COLOUR.sub("", text)
    counts = _counts(shown)
    if counts["bad"] or _FAILED.search(shown):
        return "failed"
    has_run = counts.get("all") != 0
    if counts["good"] or (has_run and "bad" in counts and "good" not in counts):
        return "passed"
    if _NOT_RUN.search(shown):
        return None
    if has_run and _PASSED.search(shown):
        return "passed"
    return "failed" if _TROUBLE.search(shown) else None


def _counts(text: str) -> Counter[str]:
    """How many failed, passed and were there, over all lines that summarise; a key only where a line told it."""
    counts: Counter[str] = Counter()
    for line in text.split("\n"):
        if len(line) <= LINE_CHARS and _NUMBERED.search(line):
            for what, number in _counts_in(line):
                counts[what] += number
    return counts


def _counts_in(line: str) -> Iterator[tuple[str, int]]:
    """The counts of a line that summarises: there are several, or nothing but one."""
    found = list(_COUNT.finditer(line))
    if len(found) == 1 and _LETTER.search(_BESIDE.sub("", _COUNT.sub("", line))):
        return
    for before, word, name, behind in (item.groups() for item in found):
        yield _COUNTS[(word or name).lower()], int(before or behind)
