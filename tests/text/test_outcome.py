"""How a program ended: what its frame says, else its summary, else its last word; where nothing shows it, nothing is said."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.text import outcome
from autogen_context.text.outcome import (
    is_error_line,
    is_of_none,
    most_informative,
    of_tests,
    outcome_of,
)
from support.outputs import OUTPUTS


@pytest.mark.parametrize(
    ("output", "ending"),
    [
        pytest.param(output, ending, id=f"{ending}: {name}")
        for ending, outputs in OUTPUTS.items()
        for name, output in outputs.items()
    ],
)
def test_what_an_output_shows(output: str, ending: str) -> None:
    """A failure and a success need evidence in the place where programs and harnesses put it; all else is unknown."""
    assert outcome_of(output).ending == ending
    assert outcome_of(output.replace("\n", "\r\n")).ending == ending
    assert outcome_of(f"\x1b[31m{output}\x1b[0m\n").ending == ending


CONTENT = {
    "a file that does not exist": ("cat: a.txt: No such file or directory", "failed"),
    "a tool's message": ("Error: file not found: src/a.py", "failed"),
    "an edit that found nothing": ("ERROR:\nNo replacement was performed, old_str `x` did not appear verbatim in a.py.", "failed"),
    "a fault": ('{"error": "no such order"}', "failed"),
    "a log that was read": ("12:00 start\n12:01 exit code: 1\nSegmentation fault\n" * 9, "unknown"),
    "a source file": ("import sys\n\nif bad:\n    sys.exit(1)\n", "unknown"),
    "a test report": ("Failures of last week\n1 failed, 9 passed\n" * 20, "unknown"),
    "a record": ('{"status": "failed", "id": 1, "a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8, "i": 9, "j": 1, "k": 2}', "unknown"),
    "grep that found nothing": ("<returncode>1</returncode>\n<output>\n</output>", "unknown"),
    "texts of a program": ('{"errors": {"required": "Pflichtfeld", "short": "zu kurz"}}', "unknown"),
    "settings": ('{"name": "web", "status": "failed", "error": "red"}', "unknown"),
    "a record of a run": ('{"job": {"exit_code": 1}, "id": 7}', "unknown"),
    "a file that ends with a status": ("def f(): pass\n[exit code: 1]", "unknown"),
    "a harness's own line": ("x\n[Command finished with exit code 127]", "failed"),
    "a status beside an output": ('{"output": "x", "exit_code": 1}', "failed"),
    "a fault with a message": ('{"error": {"code": 404, "message": "order not found"}}', "failed"),
    "a frame": ("<returncode>2</returncode>\n<output>\nls: cannot access 'x': No such file or directory\n</output>", "failed"),
}  # fmt: skip  # a row a case


@pytest.mark.parametrize("name", CONTENT)
def test_what_was_looked_up_is_no_evidence(name: str) -> None:
    """Of what a reading or a search brought, the frame counts, or an output that is nothing but a message."""
    output, ending = CONTENT[name]
    assert outcome_of(output, is_content=True).ending == ending


@example(code=256, form="<returncode>{}</returncode>", first=False)
@example(code=200, form="<returncode>{}</returncode>", first=True)
@given(st.integers(-300, 300), st.sampled_from(["exit code: {}", "Exited with status {}", "<returncode>{}</returncode>", '{{"returncode": {}}}']), st.booleans())  # fmt: skip
def test_a_status_decides(code: int, form: str, first: bool) -> None:  # noqa: FBT001 - drawn
    """Whatever the lines say that are no test summary: 0 is a success, any other number a failure."""
    stated = form.format(code)
    output = stated if form.startswith("{{") else "\n".join([stated, "all done"] if first else ["all done", stated])  # fmt: skip
    assert outcome_of(output).ending == ("failed" if code else "succeeded")


@given(st.integers(0, 30), st.integers(0, 30))
def test_a_summary_goes_before_another_programs_status(failed: int, passed: int) -> None:
    """``pytest | tail`` ends with 0 whatever the tests did."""
    found = outcome_of(f"{failed} failed, {passed} passed in 0.1s\n[exit code: 0]")
    assert found.ending == ("failed" if failed else "succeeded")


@pytest.mark.parametrize(
    "end",
    ["make: *** [Makefile:3: test] Error 1", "Segmentation fault (core dumped)", "panic: runtime error: index out of range",
     "Traceback (most recent call last):\nOSError: disk full", "bash: deploy: command not found", "npm ERR! Test failed."],
)  # fmt: skip
@pytest.mark.parametrize("summary", ["3 passed in 0.10s", "Ran 3 tests in 0.1s\n\nOK", "PASSED"])
def test_a_last_word_goes_before_tests_that_passed(summary: str, end: str) -> None:
    """The program went on after them, and failed; with an error that is no such word nothing is known."""
    assert outcome_of(summary).succeeded
    assert outcome_of(f"{summary}\n{end}").failed
    assert outcome_of(f"{summary}\nCoverage check failed: 80% < 90%").ending == "unknown"


@pytest.mark.parametrize("line", ["return value: 42", "Return code: 200", "returned with status 404", '{"return_value": 7}'])  # fmt: skip
def test_what_a_function_returns_is_no_status(line: str) -> None:
    """A value, or a number that no program ends with."""
    assert outcome_of(line).ending == "unknown"
    assert outcome_of("Return code: 3").failed
    assert outcome_of("Return code: -1073741819").failed


@pytest.mark.parametrize("value", ['"none"', '"no"', '"OK"', '"No errors."', '"0"', "0", '""', "null", "[]"])  # fmt: skip
def test_a_fault_that_is_none_is_none(value: str) -> None:
    """A field for faults says so where there are any."""
    assert not outcome_of(f'{{"error": {value}, "id": 7}}').failed
    assert not outcome_of(f'{{"error": {value}}}', is_content=True).failed
    assert outcome_of('{"error": "no such order", "id": 7}').failed


@pytest.mark.parametrize("line", ["0 failed", "Failed: 0", "error: 0", "failed: 0 ok: 3", "error: 0 problems", "FAILED: 0", "Errors: 0, warnings: 2",
    "1 error found, 1 error fixed", "Found 2 errors (2 fixed, 0 remaining).", "3 passed\n2 errors ignored"])  # fmt: skip
def test_no_failures_are_none(line: str) -> None:
    """A count of 0, or of what was settled, in whatever is shown."""
    assert not outcome_of(line).failed
    assert not outcome_of(line, is_content=True).failed


@pytest.mark.parametrize("line", ["retry after error: connection refused", "Handled error: timeout, will retry"])  # fmt: skip
def test_an_error_that_the_program_went_on_after_is_no_last_word(line: str) -> None:
    """What follows decides; at the end it is the last word."""
    assert not outcome_of(f"{line}\nconnected\nall 3 fetched").failed
    assert outcome_of(f"connected\n{line}").failed


@pytest.mark.parametrize("line", ["error: 0 is no index", "Error: 0x80070005", "2 errors found, 1 error fixed", "error: 10 problems"])  # fmt: skip
def test_a_number_that_is_not_0_is_a_failure(line: str) -> None:
    """Whatever digits it begins with, and what is left of several."""
    assert outcome_of(line).failed


COUNTED = {
    "3/5 tests passed": "failed",
    "3 of 5 tests passed": "failed",
    "Passed: 3/5": "failed",
    "5/5 tests passed": "succeeded",
    "5 of 5 tests passed": "succeeded",
    "Some tests failed.\n3 passed": "unknown",
    "10 tests run: 9 passed, 1 timed out, 0 skipped": "failed",
    "10 tests run: 9 passed, 0 timed out, 1 skipped": "succeeded",
    "9 passed, 1 interrupted": "failed",
    "9 passed, 2 did not run": "failed",
    "web1 : ok=3 changed=1 unreachable=1 failed=0 skipped=0": "failed",
    "web1 : ok=3 changed=1 unreachable=0 failed=1 skipped=0": "failed",
    "web1 : ok=3 changed=1 unreachable=0 failed=0 skipped=2": "succeeded",
}


@pytest.mark.parametrize("summary", COUNTED)
def test_a_summary_is_read_as_it_counts(summary: str) -> None:
    """Of a total, in the words of each runner, and by names with a sign."""
    assert outcome_of(summary).ending == COUNTED[summary]


@given(st.text(), st.booleans())
def test_any_text_is_read(text: str, content: bool) -> None:  # noqa: FBT001 - drawn
    """No output raises, and what tells of a failure stands in it or says its status."""
    found = outcome_of(text, is_content=content)
    assert bool(found.lines) <= found.failed
    assert found.succeeded <= (found.evidence != "nothing")


def test_what_tells_is_the_error() -> None:
    """Of a summary and the line that names an exception, the latter; of a status alone, the status."""
    assert most_informative(outcome_of("E   ValueError: 7\n1 failed").lines) == "E   ValueError: 7"
    assert most_informative(outcome_of("ok\nexit code: 3").lines) == "exit code: 3"
    assert "KeyError: 'port'" in most_informative(outcome_of("Traceback\nKeyError: 'port'").lines)


def test_a_long_output_is_read_at_its_ends() -> None:
    """Whatever the length, what is said at an end counts."""
    noise = "a line of a log\n" * 100_000
    assert outcome_of(f"{noise}9 passed in 3s").succeeded
    assert outcome_of(f"1 failed, 3 passed\n{noise}").failed
    assert outcome_of(f"{noise}Segmentation fault (core dumped)").failed


REPORTED = (  # a line for each word by which a line is found to report something
    "3 errors", "an exception", "Traceback (most recent call last):", "1 failure", "fatal: bad object", "panic: nil map",
    "critical: disk full", "permission denied", "connection refused", "aborted", "2 timed out", "file not found", "no such table",
    "unable to connect", "4 interrupted", "2 did not run", "1 unreachable", "3 crashed", "5 passed", "2 successes", "Tests: 3",
    "3 examples", "3 specs", "2 scenarios", "3 runs", "total: 3", "2 skipped", "3 pending", "2 warnings", "5 assertions",
    "ok  example.com/a  0.3s", "OK (3)", "not ok 3", "✕ adds", "✗ adds", "✘ adds", "❌ adds", "0 tests", "0 examples", "errors: 0",
    "exceptions: 0", "failures: 0", "3 fixed", "3 ignored", "3 resolved", "3 corrected", "3/5 succeeded",
)  # fmt: skip


def may_have_any(line: str, parts: Sequence[str]) -> bool:
    """Nothing is ruled out."""
    return bool(line or parts)


@pytest.mark.parametrize("line", REPORTED)
def test_what_rules_a_line_out_changes_nothing(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Looking for a word before an expression is tried makes it quick and nothing else."""

    def shown() -> tuple[object, ...]:
        return is_error_line(line), is_of_none(line), of_tests([line]), of_tests([line, "1 failed"])

    found = shown()
    monkeypatch.setattr(outcome, "has_any", may_have_any)
    assert shown() == found
