"""What is read of a turn: claims in what is said, verdicts of tests, and which turns say what came out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.triggers.hybrid import SubtaskTrigger
from autogen_context.triggers.turn import (
    REMEMBERED,
    FileSort,
    Outcomes,
    Step,
    Verdict,
    outcome_of,
    sort_of,
)
from support.turns import called, edit, ran_tests, read, shell, turn

FAILURE = "error: no match was found for old_str"
GET_USER, GET_ORDER = (called(name, {"id": 1}, "{}") for name in ("get_user", "get_order"))


def outcomes_of(*rows: list[Step]) -> Outcomes:
    """What came out of a turn for each row."""
    outcomes = Outcomes()
    for i, row in enumerate(rows):
        outcomes.add(turn(i, "", *row))
    return outcomes


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([[edit("a.py")], [edit("b.py")], [edit("a.py")]], (1, 2), id="last changes"),
        pytest.param([[edit("a.py"), edit("b.py")], [edit("a.py")]], (0, 1), id="one of two files"),
        pytest.param([[edit("a.py")], [edit("a.py", FAILURE)]], (0,), id="a failed change is none"),
        pytest.param([[edit("a.py")], [edit("a.py", None)]], (0,), id="one without an answer"),
        pytest.param([[shell("echo 1 > a.py; python a.py", "Error: x")]], (0,), id="a run that failed wrote before"),
        pytest.param([[ran_tests()], [ran_tests("1 failed")]], (1,), id="newest verdict"),
        pytest.param([[ran_tests()], [ran_tests("collecting")]], (0,), id="no verdict"),
        pytest.param([[GET_USER], [GET_ORDER], [GET_ORDER], [read("a.py")]], (0, 2), id="newest answers of services"),
        pytest.param([[shell("git log", "abc")], [read("a.py")]], (), id="what can be had again"),
    ],
)  # fmt: skip  # a row a case
def test_what_stays(rows: list[list[Step]], expected: tuple[int, ...]) -> None:
    """Last changes, the newest verdict, the newest answer of each service; nothing else."""
    assert outcomes_of(*rows).scope(0, len(rows)).outcomes == expected


def test_what_is_remembered_is_bounded_and_in_order() -> None:
    """Of more turns than that the oldest ones are let go of; one that came before is refused by name."""
    outcomes = outcomes_of(*([edit(f"{i}.py")] for i in range(REMEMBERED + 5)))
    assert outcomes.scope(0, REMEMBERED + 5).outcomes == tuple(range(5, REMEMBERED + 5))
    with pytest.raises(
        ValueError, match=rf"turn 1 came after turn {REMEMBERED + 4}: give turns in order"
    ):
        outcomes.add(turn(1))


def is_done(text: str) -> bool:
    """Whether words alone, after a look, complete the work."""
    trigger = SubtaskTrigger()
    trigger.observe(turn(0, "", read("z.py")))
    return trigger.observe(turn(1, text)).fires


CLAIMS: dict[bool, list[str]] = {
    True: [
        *["I'm done.", "THOUGHT: Great! All 31 tests pass.", "Task completed."],
        *["Super! Der Fehler ist behoben.", "Parfait, tous les tests passent."],
        *["El error está corregido.", "O erro foi corrigido.", "L'errore è stato corretto."],
    ],
    False: [
        *["Not complete.", "I need to complete the task.", "All done?", "The task is almost done."],
        *["This function works by splitting the text.", "The `task is done` message comes from the queue."],
        *["Sobald der Fehler behoben ist, melde ich mich.", "Ist der Fehler behoben?"],
        *["La correction n'est pas terminée.", "C'est terminé ?", "La tarea no está terminada."],
        *["¿La tarea está terminada?", "A tarefa não está concluída.", "A tarefa está concluída?"],
        *["Il compito non è finito.", "Il compito è finito?"],
    ],
}  # fmt: skip  # a row a kind


@pytest.mark.parametrize(
    ("text", "done"), [(text, done) for done, texts in CLAIMS.items() for text in texts]
)
def test_what_counts_as_done(text: str, *, done: bool) -> None:
    """A plain claim in any of the languages; no doubt, condition, plan, question or description."""
    assert is_done(text) is done


def test_a_long_text_is_read_at_its_ends() -> None:
    """What stands between them claims nothing."""
    filler = "This is a long thought about nothing. " * 10_000
    assert is_done(f"I'm done. {filler}")
    assert is_done(f"{filler} I'm done.")
    assert not is_done(f"{filler} I'm done. {filler}")


PASSES = {
    "pytest": "==== 9 passed, 2 warnings in 0.12s ====",
    "pytest in colours": "\x1b[32m=== \x1b[1m9 passed\x1b[0m\x1b[32m in 0.1s ===\x1b[0m",
    "unittest": "....\n---\nRan 4 tests in 0.001s\n\nOK",
    "jest": "Test Suites: 3 passed, 3 total\nTests:       9 passed, 9 total\nTime:        1.2 s",
    "jest, its last line": "Tests: 9 passed, 9 total",
    "mocha": "  12 passing (30ms)",
    "go": "ok  \texample.org/a\t0.012s",
    "go, verbose": "--- PASS: TestAdd (0.00s)\nPASS",
    "cargo": "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s",
    "maven": "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
    "phpunit": "OK (12 tests, 30 assertions)",
    "cargo nextest": "     Summary [   0.012s] 5 tests run: 5 passed, 0 skipped",
}  # fmt: skip  # a row a case
FAILURES = {
    "one of ten": "1 FAILED, 9 PASSED",
    "pytest": "= 1 failed, 9 passed, 2 warnings in 3.21s =",
    "pytest, cut off": "FAILED tests/test_a.py::test_x - AssertionError",
    "unittest": "Ran 4 tests in 0.001s\n\nFAILED (failures=1)",
    "jest": "Test Suites: 1 failed, 3 passed, 4 total\nTests:       1 failed, 9 passed, 10 total",
    "jest, its last line": "Tests: 1 failed, 9 passed, 10 total",
    "counts that pass, and the command's exit code": "9 passed in 0.12s\nFAIL Required coverage of 90% not reached\nexit code: 1",
    "only an exit code after them": "9 passed in 0.12s\n(Command finished with exit code 2)",
    "counts behind names": "Failures: 0 Errors: 1",
    "go": "--- FAIL: TestAdd (0.00s)\nFAIL\nFAIL\texample.org/a\t0.01s",
    "cargo": "test a ... FAILED\n\ntest result: FAILED. 11 passed; 1 failed; 0 ignored",
    "cargo does not compile": "error: could not compile `a` (lib test) due to 1 previous error",
    "maven": "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
    "phpunit": "FAILURES!\nTests: 12, Assertions: 30, Failures: 1.",
    "jest, one file of two": "PASS src/b.test.js\nFAIL src/a.test.js",
}  # fmt: skip  # a row a case
NEITHER = {
    "no verdict": "collected 12 items\n\ntests/test_a.py ....",
    "no such file": "ERROR: file or directory not found: tests/no.py\n\n=== no tests ran in 0.00s ===",
    "all skipped": "3 skipped in 0.1s",
    "unittest without tests": "Ran 0 tests in 0.000s\n\nOK",
    "go without tests": "?   \texample.org/a\t[no test files]\nok  \texample.org/b\t0.01s [no tests to run]",
    "command not found": "bash: pytest: command not found",
    "a module is missing": "Traceback (most recent call last):\nModuleNotFoundError: No module named 'django'",
    "prose with numbers": "Reading 5 errors from the log of 3",
}  # fmt: skip  # a row a case
VERDICTS = {"passed": PASSES, "failed": FAILURES, None: NEITHER}
NOISE = "a line of a log\n"


def verdict_for(output: str) -> Verdict | None:
    """What a turn that ran tests with this output has found."""
    return outcome_of(turn(0, "", ran_tests(output))).verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        pytest.param(text, verdict, id=f"{verdict}: {name}")
        for verdict, texts in VERDICTS.items()
        for name, text in texts.items()
    ],
)
def test_what_runners_print(text: str, verdict: Verdict | None) -> None:
    """A failure among passes is a failure; none failed is a pass; what tells neither is neither; log lines change nothing."""
    assert verdict_for(text) == verdict
    assert verdict_for(f"{NOISE}{text}\n{NOISE}") == verdict
    assert verdict_for(text.replace("\n", "\r\n")) == verdict


@given(st.integers(0, 30), st.integers(0, 30), st.booleans(), st.booleans())
def test_counts_decide(failed: int, passed: int, swapped: bool, loud: bool) -> None:  # noqa: FBT001 - drawn
    """Any count of failures above 0 fails, in any order and case (T3: "1 FAILED, 9 PASSED"); none at all is neither."""
    counts = [f"{failed} failed", f"{passed} passed"]
    line = ", ".join(reversed(counts) if swapped else counts)
    expected = "failed" if failed else "passed" if passed else None
    assert verdict_for(line.upper() if loud else line) == expected


def test_a_long_output_is_read_at_its_ends() -> None:
    """Whatever the length, a verdict at the end counts."""
    assert verdict_for(f"{NOISE * 100_000}9 passed in 3s") == "passed"
    assert verdict_for(f"1 failed, 3 passed\n{NOISE * 100_000}") == "failed"


SORTS: dict[FileSort, str] = {
    "code": "src/loader.py tests/fix.patch",
    "test": "tests/test_loader.py src/Toggle.test.tsx spec/data.bin",
    "document": "docs/guide.md tests/README.md",
    "try": "reproduce_issue.py reproduce/conf.py tmp/fix.sh",
}


@pytest.mark.parametrize(
    ("path", "sort"), [(path, sort) for sort, paths in SORTS.items() for path in paths.split()]
)
def test_what_a_file_is_for(path: str, sort: FileSort) -> None:
    """Whole words of its path tell."""
    assert sort_of(path) == sort
