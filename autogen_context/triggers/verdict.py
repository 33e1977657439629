"""Whether tests passed, by what their runner printed.

Promise: one failure among any number of passes is a failure, none failed is a pass, and what tells neither (nothing ran,
the runner is missing, the output is cut off) is neither. Time is bounded whatever the length: ``HEAD_CHARS`` from the
beginning and ``TAIL_CHARS`` from the end are read.

Counts are read from the lines that summarise ("1 failed, 9 passed", "Tests run: 5, Failures: 0"), in whatever order,
case and spelling a runner writes them; phrases ("BUILD FAILED", "OK") where it writes no counts.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

Verdict = Literal["passed", "failed"]

HEAD_CHARS = 2_000
TAIL_CHARS = 8_000
REMEMBERED = 8
LINE_CHARS = 300  # a longer line summarises nothing

# What a word beside a number counts: failures, passes, all that there were, or none of these.
_COUNTED = {
    "bad": "failed failures failure failing fail fails errors error errored broken unexpected_successes",
    "good": "passed passing pass passes success successes succeeded",
    "all": "tests_run test_run tests test examples example specs spec scenarios scenario runs total",
    "rest": "skipped skips skip pending todo ignored xfailed xpassed deselected warnings warning rerun measured filtered_out"
    " assertions assertion inconclusive cancelled expected_failures subtests_passed",
}
_COUNTS = {
    word.replace("_", " "): what for what, words in _COUNTED.items() for word in words.split()
}
_NOUN = r"(?:(?:unit |sub)?tests? |test (?:cases?|files?|suites?) |examples? |specs? |checks? )?"
_WORDS = "|".join(sorted(_COUNTS, key=len, reverse=True))
_ITEM = re.compile(
    rf"(?<![\w.])(\d+) {_NOUN}({_WORDS})(?![\w%])"
    rf"|\b({_WORDS})(?: *[:=] *| (?=\d+\s*$))(\d+)\b(?![%:/-]|\.\d| +(?:{_WORDS})\b)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"[:=] *\d|\d [A-Za-z]|[a-z] \d+\s*\Z")  # far quicker than an item
_FILLER = re.compile(
    r"\b(?:tests?|suites?|files?|cases?|results?|run|ran|finished|completed|executed|in|with|out|of|ok|failed|passed|fail|info"
    r"|errors?|time|elapsed|duration|during collection|unexpected|m?s|secs?|seconds?|minutes?|h)\b|(?<=\d)m?s\b",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")

_FAILED = re.compile(
    r"^\W{0,12}\b(?:(?:INFO|ERROR|info|error)\] )?(?:FAILED(?: \(|\s*$| \S+::| \S+\.py\b| \|| {1,3}\] [1-9])|FAIL(?:\t|:(?! *0\s*$)|\s*$| \S+\.[jt]sx?\b| +\S+/)|(?:FAILURES|ERRORS)!\s*$"
    r"|(?:FAIL|ERROR): \w+ \(|ERROR \S+(?:::|\.py\b)|ERROR collecting |BUILD FAIL(?:URE|ED)\b|FAILURE: |not ok \d+(?!.*# (?:TODO|SKIP))|Result: FAIL\b"
    r"|[\w/.-]+:\S+\s+FAILED in |Failed: Total |(?P<n>\d+)(?: ?/ ?| (?:out )?of )(?!(?P=n)\b)\d+ (?:tests? )?pass(?:ed|ing)?\b"
    r"|[1-9]\d* (?:tests? )?fail(?:ed|ures?): |\d?\d(?:\.\d+)? ?% (?:of )?(?:the )?(?:tests )?pass(?:ed|ing)\s*(?:$|,)"
    r"|(?:Test Failed|Test Run Failed)\b|error: (?:test failed|could not compile)|evaluation failed"
    r"|npm ERR! Test failed|(?:some|\d+) (?:tests|checks|assertions) (?:have )?failed\b)"
    r"|^\s*(?:✕|✗|✘|❌|\xd7) |\.\.\. (?:FAIL|FAILED|ERROR)\s*$|::\S+ (?:FAILED|ERROR)\b|\[build failed\]",
    re.MULTILINE,
)
_PASSED = re.compile(
    r"^\W{0,12}\b(?:(?:INFO|info)\] )?(?:OK(?: \(.*\)| \[[^\]]*\])?\s*$|OK, but |ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))(?!.*no tests)|(?<!no tests to run\n)(?<!no tests to run\r\n)PASS\s*$"
    r"|PASS +\S+\.[jt]sx?\b|Passed! *(?:$|- )|Passed: Total [1-9]|[Tt]ests passed[.!]?\s*$|PASSED(?:\s*$| \(successes)|Result: PASS\b|[\w/.-]+:\S+\s+(?:\(cached\) )?PASSED in |Test Run Successful|Test passed\b|PASSED {1,3}\] [1-9]|congratulations :\)"
    r"|100(?:\.0+)? ?% (?:of )?(?:the )?(?:tests )?pass(?:ed|ing)\s*(?:$|,)"
    r"|[Aa][Ll][Ll] (?:\w+ ){0,3}(?:tests|checks|assertions|cases|specs|suites|TESTS)(?: \w+)? (?:pass|passed|succeed|succeeded|successful|PASSED)\b)",
    re.MULTILINE,
)
_BUILT = re.compile(r"^\W{0,12}\b(?:INFO\] )?BUILD SUCCESS(?:FUL)?\b", re.MULTILINE)
_UNTESTED = re.compile(r"No tests to run|Tests are skipped|:test (?:NO-SOURCE|SKIPPED)")
_NOT_RUN = re.compile(
    r"No module named|ModuleNotFoundError|command not found|not recognized as an internal|can't open file"
    r"|Missing script|Unknown command|no such (?:file|command)|No such file or directory: 'py",
    re.IGNORECASE,
)
_RAISED = re.compile(
    r"^Traceback \(most recent call last\):|^panic: |^(?:Assertion|Runtime)Error\b", re.MULTILINE
)


def verdict_of(text: str) -> Verdict | None:
    """What the output of tests says of them; ``None`` where it does not tell."""
    return verdict_of_part(read_part(text))


@lru_cache(REMEMBERED)
def verdict_of_part(part: str) -> Verdict | None:
    """The verdict in what is read of an output; each trigger asks for that of the same turn."""
    shown = _COLOUR.sub("", part)
    counts = counts_in(shown)
    if counts["bad"] or _FAILED.search(shown):
        return "failed"
    if counts["good"] or (counts.get("all") != 0 and is_called_passed(shown)):
        return "passed"
    if "bad" in counts and "good" not in counts and counts.get("all") != 0:
        return "passed"
    return "failed" if _RAISED.search(shown) and not _NOT_RUN.search(shown) else None


def is_called_passed(text: str) -> bool:
    """Whether an output says without counts that tests passed; what was only built says nothing of them."""
    if _PASSED.search(text):
        return True
    return _BUILT.search(text) is not None and _UNTESTED.search(text) is None


def read_part(text: str) -> str:
    """What of an output is read: its beginning and its end."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"


def counts_in(text: str) -> Counter[str]:
    """How many failed, passed and were there, over all lines that summarise; a key only where a line told it."""
    counts: Counter[str] = Counter()
    for line in text.split("\n"):
        if len(line) <= LINE_CHARS and _NUMBERED.search(line):
            for what, number in items_of(line):
                counts[what] += number
    return counts


def items_of(line: str) -> Iterator[tuple[str, int]]:
    """The counts of a line that summarises: there are several, or nothing but one."""
    found = list(_ITEM.finditer(line))
    if len(found) == 1 and _LETTER.search(_FILLER.sub("", _ITEM.sub("", line))):
        return
    for before, word, name, behind in (item.groups() for item in found):
        yield _COUNTS[(word or name).lower()], int(before or behind)
