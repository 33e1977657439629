"""Whether tests passed: what their runners print, in whatever spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.triggers.verdict import Verdict, verdict_of

PASSES = {
    "pytest": "==== 9 passed, 2 warnings in 0.12s ====",
    "pytest in colours": "\x1b[32m=== \x1b[1m9 passed\x1b[0m\x1b[32m in 0.1s ===\x1b[0m",
    "pytest with expected failures": "3 passed, 2 xfailed in 0.1s",
    "none failed": "0 failed",
    "unittest": "....\n---\nRan 4 tests in 0.001s\n\nOK",
    "unittest with skips": "Ran 4 tests in 0.001s\n\nOK (skipped=1)",
    "jest": "Test Suites: 3 passed, 3 total\nTests:       9 passed, 9 total\nTime:        1.2 s",
    "vitest": " Test Files  2 passed (2)\n      Tests  9 passed (9)",
    "mocha": "  12 passing (30ms)",
    "go": "ok  \texample.org/a\t0.012s",
    "go, cached": "ok  \texample.org/a\t(cached)",
    "go, verbose": "--- PASS: TestAdd (0.00s)\nPASS",
    "cargo": "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s",
    "maven": "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
    "gradle": "BUILD SUCCESSFUL in 2s",
    "ctest": "100% tests passed, 0 tests failed out of 12",
    "rspec": "12 examples, 0 failures, 1 pending",
    "phpunit": "OK (12 tests, 30 assertions)",
    "phpunit with skips": "OK, but incomplete, skipped, or risky tests!\nTests: 12, Assertions: 30, Skipped: 1.",
    "dotnet": "Passed!  - Failed:     0, Passed:     9, Skipped:     0, Total:     9, Duration: 54 ms - A.dll",
    "dotnet, older": "Test Run Successful.\nTotal tests: 10\n     Passed: 10",
    "minitest": "10 runs, 20 assertions, 0 failures, 0 errors, 0 skips",
    "tap": "# tests 5\n# pass 5\n# fail 0",
    "deno": "ok | 5 passed | 0 failed (12ms)",
    "bun": " 5 pass\n 0 fail\n 12 expect() calls",
    "catch2": "All tests passed (12 assertions in 3 test cases)",
    "googletest": "[==========] 9 tests from 2 test suites ran. (1 ms total)\n[  PASSED  ] 9 tests.",
    "xctest": "Executed 5 tests, with 0 failures (0 unexpected) in 0.002 (0.003) seconds",
    "twisted": "Ran 5 tests in 0.010s\n\nPASSED (successes=5)",
    "an editor's own run": "Running 88 tests\n\n88 passed. 0 failed. 0 errors.",
    "a script": "\u2713 All tests passed",
    "a word": "PASSED",
    "a share": "100% passed",
    "maven, its last line": "[INFO] BUILD SUCCESS",
    "gradle, its last line": "BUILD SUCCESSFUL",
    "jest, a file": "PASS  src/a.test.ts",
    "pest": "  Tests:    2 passed (6 assertions)",
    "cargo nextest": "     Summary [   0.012s] 5 tests run: 5 passed, 0 skipped",
    "dotnet, newer": "Test summary: total: 9, failed: 0, succeeded: 9, skipped: 0, duration: 1.2s",
    "dotnet, cut off": "Passed!",
    "sbt": "[info] Passed: Total 5, Failed 0, Errors 0, Passed 5",
    "scalatest": "[info] All tests passed.",
    "bazel": "//a:test (cached) PASSED in 0.3s",
    "prove": "All tests successful.\nResult: PASS",
    "karma": "Executed 5 of 5 SUCCESS (0.01 secs / 0.005 secs)",
    "cypress": "All specs passed!",
    "automake": "# PASS:  5\n# FAIL:  0",
    "all of so many": "5 of 5 tests passed",
}  # fmt: skip  # a row a case
FAILURES = {
    "one of ten": "1 FAILED, 9 PASSED",
    "pytest": "= 1 failed, 9 passed, 2 warnings in 3.21s =",
    "pytest, while collecting": "==== 1 error in 0.5s ====",
    "pytest, cut off": "FAILED tests/test_a.py::test_x - AssertionError",
    "pytest, verbose": "tests/test_a.py::test_x FAILED [ 50%]",
    "unittest": "Ran 4 tests in 0.001s\n\nFAILED (failures=1)",
    "jest": "Test Suites: 1 failed, 3 passed, 4 total\nTests:       1 failed, 9 passed, 10 total",
    "jest, one line": "Tests: 1 failed",
    "jest, a mark": "  \u2715 adds (3 ms)",
    "vitest": "      Tests  1 failed | 8 passed (9)",
    "mocha": "  12 passing (30ms)\n  1 failing",
    "go": "--- FAIL: TestAdd (0.00s)\nFAIL\nFAIL\texample.org/a\t0.01s",
    "go, one of two packages": "ok  \texample.org/a\t0.012s\nFAIL\texample.org/b [build failed]",
    "cargo": "test a ... FAILED\n\ntest result: FAILED. 11 passed; 1 failed; 0 ignored",
    "cargo does not compile": "error: could not compile `a` (lib test) due to 1 previous error",
    "maven": "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
    "gradle": "12 tests completed, 1 failed\n\nBUILD FAILED in 2s",
    "ctest": "92% tests passed, 1 tests failed out of 12",
    "rspec": "12 examples, 2 failures",
    "phpunit": "FAILURES!\nTests: 12, Assertions: 30, Failures: 1.",
    "phpunit errors": "ERRORS!\nTests: 12, Assertions: 30, Errors: 1.",
    "dotnet": "Failed!  - Failed:     1, Passed:     9, Skipped:     0, Total:     10",
    "minitest": "10 runs, 20 assertions, 1 failures, 0 errors, 0 skips",
    "tap": "not ok 2 - adds\n# tests 5\n# pass 4\n# fail 1",
    "bun": " 5 pass\n 1 fail",
    "catch2": "test cases: 5 | 4 passed | 1 failed",
    "googletest": "[  PASSED  ] 8 tests.\n[  FAILED  ] 1 test, listed below:",
    "doctest": "***Test Failed*** 1 failures.",
    "an editor's own run": "374 passed. 3 failed. 1 errors.",
    "one word": "FAILED",
    "a share": "99% passed",
    "not all of so many": "4/5 tests passed",
    "with its reason": "1 failed: KeyError",
    "maven, its last line": "[INFO] BUILD FAILURE",
    "maven, one module of two": "[ERROR] Tests run: 5, Failures: 1, Errors: 0\n[INFO] BUILD SUCCESS",
    "jest, one file of two": "PASS src/b.test.js\nFAIL src/a.test.js",
    "dotnet, newer": "Test summary: total: 9, failed: 1, succeeded: 8, skipped: 0",
    "sbt": "[error] Failed: Total 5, Failed 1, Errors 0, Passed 4",
    "bazel": "//a:test   FAILED in 0.3s",
    "prove": "Result: FAIL",
    "karma": "Executed 5 of 5 (1 FAILED) (0.1 secs)",
    "automake": "# PASS:  4\n# FAIL:  1",
    "a script that raises": 'Traceback (most recent call last):\n  File "t.py"\nAssertionError: 1 != 2',
}  # fmt: skip  # a row a case
NEITHER = {
    "nothing": "",
    "no verdict": "collected 12 items\n\ntests/test_a.py ....",
    "nothing ran": "==== no tests ran in 0.01s ====",
    "no such file": "ERROR: file or directory not found: tests/no.py\n\n=== no tests ran in 0.00s ===",
    "all skipped": "3 skipped in 0.1s",
    "all deselected": "5 deselected in 0.1s",
    "unittest without tests": "Ran 0 tests in 0.000s\n\nOK",
    "cargo without tests": "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured",
    "rspec without examples": "0 examples, 0 failures",
    "go without tests": "?   \texample.org/a\t[no test files]\nok  \texample.org/b\t0.01s [no tests to run]",
    "phpunit without tests": "No tests executed!",
    "ctest without tests": "No tests were found!!!",
    "maven without tests": "[INFO] No tests to run.\n[INFO] BUILD SUCCESS",
    "maven skips tests": "[INFO] Tests are skipped.\n[INFO] BUILD SUCCESS",
    "gradle without tests": "> Task :test NO-SOURCE\nBUILD SUCCESSFUL in 1s",
    "go without tests, verbose": "testing: warning: no tests to run\nPASS\nok  \tp\t0.1s [no tests to run]",
    "a share of something": "100% of the files were read",
    "not the last word": "PASSED parameters: 3",
    "command not found": "bash: pytest: command not found",
    "no such module": "/usr/bin/python: No module named pytest",
    "a module is missing": "Traceback (most recent call last):\nModuleNotFoundError: No module named 'django'",
    "prose with numbers": "Reading 5 errors from the log of 3",
    "an address": "PASS: 127.0.0.1:8000 -> 0.0.0.0:8000",
    "a log line": "retrying after 2 errors of the server",
}  # fmt: skip  # a row a case
ROWS = [
    *[pytest.param(text, "passed", id=f"passed: {name}") for name, text in PASSES.items()],
    *[pytest.param(text, "failed", id=f"failed: {name}") for name, text in FAILURES.items()],
    *[pytest.param(text, None, id=f"neither: {name}") for name, text in NEITHER.items()],
]
NOISE = "a line of a log\n"


@pytest.mark.parametrize(("text", "verdict"), ROWS)
def test_what_runners_print(text: str, verdict: Verdict | None) -> None:
    """A failure among passes is a failure; none failed is a pass; what tells neither is neither."""
    assert verdict_of(text) == verdict


@pytest.mark.parametrize(("text", "verdict"), ROWS)
def test_what_stands_around_changes_nothing(text: str, verdict: Verdict | None) -> None:
    """Log lines before and behind, and line ends of another system."""
    assert verdict_of(f"{NOISE}{text}\n{NOISE}") == verdict
    assert verdict_of(text.replace("\n", "\r\n")) == verdict


@given(st.sampled_from([*PASSES.values()]), st.sampled_from([*FAILURES.values()]), st.booleans())
def test_one_failure_is_a_failure(passed: str, failed: str, first: bool) -> None:  # noqa: FBT001 - drawn
    """However many runs passed, in whatever order: trap of looking for "passed" alone."""
    parts = [failed, passed] if first else [passed, failed]
    if "Traceback" not in failed:  # a trace that tests caught and printed is no verdict over theirs
        assert verdict_of("\n".join(parts)) == "failed"


@given(st.integers(0, 30), st.integers(0, 30), st.booleans(), st.booleans())
def test_counts_decide(failed: int, passed: int, swapped: bool, loud: bool) -> None:  # noqa: FBT001 - drawn
    """Any count of failures above 0 fails, in any order and case; none at all of either is neither."""
    counts = [f"{failed} failed", f"{passed} passed"]
    line = ", ".join(reversed(counts) if swapped else counts)
    expected = "failed" if failed else "passed" if passed else None
    assert verdict_of(line.upper() if loud else line) == expected


@given(st.text(max_size=400))
def test_any_text_goes(text: str) -> None:
    """It has a verdict or none, the same each time."""
    assert verdict_of(text) == verdict_of(text)
    assert verdict_of(text) in ("passed", "failed", None)


def test_a_long_output_is_read_at_its_ends() -> None:
    """Beginning and end are read, whatever the length; a verdict at the end counts."""
    text = NOISE * 100_000
    assert verdict_of(f"{text}9 passed in 3s") == "passed"
    assert verdict_of(f"1 failed, 3 passed\n{text}") == "failed"
