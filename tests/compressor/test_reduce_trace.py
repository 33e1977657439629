"""Stack traces: messages, heads and the user's own frames stay, those of libraries go."""

import pytest
from hypothesis import given

from autogen_context.compressor.arrival.test_output import RunOfTests
from autogen_context.compressor.arrival.trace import Trace
from support.reducing import ROOMS, assert_promises, room_of, texts_of

PYTHON_LIBRARY = """\
  File "/usr/lib/python3.11/site-packages/django/core/base.py", line {i}, in call
    return self.handler(request, {i})"""
PYTHON_OWN = """\
  File "/app/shop/billing.py", line {i}, in charge
    total = invoice.total({i})"""
LIBRARY_FRAMES = {
    "python": PYTHON_LIBRARY,
    "node": "    at Layer.handle (/app/node_modules/express/lib/router.js:{i}:5)",
    "node itself": "    at Module._compile (node:internal/modules/cjs/loader:{i}:14)",
    "java": "\tat org.springframework.web.Servlet.doGet(Servlet.java:{i})",
    "java itself": "\tat java.base/java.util.ArrayList.forEach(ArrayList.java:{i})",
    "go": "\t/usr/local/go/src/net/http/server.go:{i} +0x1d",
    "rust": "             at /rustc/9fc6b4312/library/core/src/panicking.rs:{i}:14",
    "c#": "   at System.Linq.Enumerable.First{i}[T](IEnumerable`1 source)",
}
OWN_FRAMES = {
    "python": PYTHON_OWN,
    "node": "    at chargeCustomer (/app/src/billing.js:{i}:11)",
    "node itself": "    at async main (file:///app/src/billing.js:{i}:11)",
    "java": "\tat com.shop.Billing.charge(Billing.java:{i})",
    "java itself": "\tat com.shop.Billing.charge(Billing.java:{i})",
    "go": "\t/app/billing/charge.go:{i} +0x2f",
    "rust": "             at ./src/billing.rs:{i}:9",
    "c#": "   at Shop.Billing.Charge(Int32 cents) in /app/Billing.cs:line {i}",
}
HEADS = {
    "python": ("Traceback (most recent call last):", "shop.errors.BillingError: invoice 4711"),
    "node": ("TypeError: total is not a function", ""),
    "node itself": ("ReferenceError: total is not defined", ""),
    "java": ('Exception in thread "main" java.lang.IllegalStateException: 4711', ""),
    "java itself": (
        "java.lang.NullPointerException: invoice",
        "Caused by: java.io.IOException: 4711",
    ),
    "go": ("panic: runtime error: index out of range [7]", "goroutine 1 [running]:"),
    "rust": ("thread 'main' panicked at src/billing.rs:7:9:", "stack backtrace:"),
    "c#": ("Unhandled exception. System.InvalidOperationException: 4711", ""),
}
TEXTS = texts_of(
    [
        *LIBRARY_FRAMES.values(),
        *OWN_FRAMES.values(),
        *(part for parts in HEADS.values() for part in parts),
        "During handling of the above exception, another exception occurred:",
        "    ~~~~^^^",
        "goroutine 1 [running]:",
        "    ... 12 more",
    ]
)


def trace(language: str, frames: int = 60) -> str:
    """A head, frames of libraries with one of the user's own in their middle, and what follows."""
    begin, end = HEADS[language]
    lines = [LIBRARY_FRAMES[language].format(i=i) for i in range(frames)]
    lines.insert(frames // 2, OWN_FRAMES[language].format(i=4711))
    return "\n".join(part for part in (begin, *lines, end) if part)


@given(TEXTS, ROOMS)
def test_promises(text: str, tokens: int) -> None:
    """Never larger, within the room, the same again, for traces and for what is broken."""
    assert_promises(Trace(), text, tokens)


@pytest.mark.parametrize("language", HEADS)
def test_the_error_and_own_frames_stay(language: str) -> None:
    """Whatever the language; the frames around them are the ones that go."""
    text = trace(language)
    assert Trace().recognises(text)
    short = Trace().cut(text, room_of(130))
    begin, end = HEADS[language]
    assert begin in short
    assert end in short
    assert OWN_FRAMES[language].format(i=4711) in short
    assert "lines …]" in short


def test_each_error_of_a_chain_stays() -> None:
    """What was being handled when the next one came is said as well."""
    between = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
    errors = ("KeyError: 'a'", "ValueError: no a", "RuntimeError: gave up")
    chain = between.join(trace("python").rpartition("\n")[0] + "\n" + error for error in errors)
    short = Trace().cut(chain, room_of(200))
    assert all(error in short for error in errors)
    assert short.count("During handling of the above exception") == 2


def test_what_a_library_raises_on_its_way_is_no_message() -> None:
    """Its source lines go with its frames."""
    text = trace("python").replace("return self.handler(request", "raise ValueError(error")
    short = Trace().cut(text, room_of(120))
    assert PYTHON_OWN.format(i=4711) in short
    assert HEADS["python"][1] in short
    assert short.count("raise ValueError") <= 2


def test_frames_that_are_asked_for_stay() -> None:
    """A library's frame too, when the call names it."""
    text = trace("python").replace("base.py", "cache.py", 1)
    assert "cache.py" not in Trace().cut(text, room_of(100)).split("[…")[-1]
    text = "\n".join(
        line.replace("base.py", "cache.py") if "line 17," in line else line
        for line in text.split("\n")
    )
    assert 'cache.py", line 17' in Trace().cut(text, room_of(120, "cache.py", "17"))


def test_a_repeated_frame_is_counted() -> None:
    """Deep recursion is written once with a number."""
    frame = "    at walk (/app/src/tree.js:12:5)"
    text = "RangeError: Maximum call stack size exceeded\n" + f"{frame}\n" * 90
    assert Trace().tighten(text).split("\n")[1:3] == [frame, "[the line above 89 more times]"]


def test_prose_is_no_trace() -> None:
    """Words that only sound like one."""
    assert not Trace().recognises("Meet me at the station (at noon).\n" * 9)
    assert not Trace().recognises("    at rest\n" * 9)


PYTEST = """\
============================= test session starts ==============================
collected 400 items

{passed}
=================================== FAILURES ===================================
_________________________________ test_total ___________________________________

    def test_total():
>       assert total([1, 2]) == 4
E       assert 3 == 4

tests/test_shop.py:9: AssertionError
=========================== short test summary info ============================
FAILED tests/test_shop.py::test_total - assert 3 == 4
======================== 1 failed, 399 passed in 9.71s =========================
"""
PYTEST_LINES = PYTEST.split("\n")
RUNS = {
    "pytest": PYTEST.format(
        passed="\n".join(f"tests/test_{i}.py::test_it PASSED  [ 10%]" for i in range(399))
    ),
    "unittest": "\n".join(f"test_{i} (tests.test_shop.Shop) ... ok" for i in range(399))
    + "\nFAIL: test_total (tests.test_shop.Shop)\nTraceback (most recent call last):\n"
    + '  File "/app/tests/test_shop.py", line 9, in test_total\nAssertionError: 3 != 4\n'
    + "-" * 70
    + "\nRan 400 tests in 9.71s\n\nFAILED (failures=1)",
    "jest": "\n".join(f"  ✓ adds {i} (1 ms)" for i in range(399))
    + "\n  ● shop test_total\n    AssertionError: 3 == 4\n\nTests:       1 failed, 399 passed, 400 total",
    "go": "\n".join(f"--- PASS: TestShop{i} (0.00s)" for i in range(399))
    + "\n--- FAIL: test_total (0.00s)\n    shop_test.go:9: error: got 3, want 4\nFAIL\nexit status 1",
    "rust": "\n".join(f"test shop::adds_{i} ... ok" for i in range(399))
    + "\ntest shop::test_total ... FAILED\nerror: got 3, want 4\ntest result: FAILED. 399 passed; 1 failed",
}
OUTCOMES = {
    "pytest": ("E       assert 3 == 4", "1 failed, 399 passed in 9.71s", "____ test_total ____"),
    "unittest": ("AssertionError: 3 != 4", "FAILED (failures=1)", "Ran 400 tests"),
    "jest": ("AssertionError: 3 == 4", "Tests:       1 failed, 399 passed", "●"),
    "go": ("error: got 3, want 4", "--- FAIL: test_total", "\nFAIL\n"),
    "rust": ("error: got 3, want 4", "test result: FAILED", "test_total ... FAILED"),
}


@given(
    texts_of([*PYTEST_LINES, *(line for run in RUNS.values() for line in run.split("\n")[395:])]),
    ROOMS,
)
def test_promises_of_runs(text: str, tokens: int) -> None:
    """The same for what test runners print."""
    assert_promises(RunOfTests(), text, tokens)


@pytest.mark.parametrize("runner", RUNS)
def test_failures_and_the_outcome_stay(runner: str) -> None:
    """What passed is what goes."""
    assert RunOfTests().recognises(RUNS[runner])
    short = RunOfTests().cut(RUNS[runner], room_of(220))
    assert all(part in short for part in OUTCOMES[runner])


def test_names_stay_before_what_is_around_them() -> None:
    """Of many failures each is named."""
    failures = [
        f"____________ test_total_{i} ____________\n\n" + "    total = 1\n" * 20 for i in range(20)
    ]
    text = "\n".join(["=== FAILURES ===", *failures, "=== 20 failed in 1s ==="])
    short = RunOfTests().cut(text, room_of(300))
    assert all(f"____ test_total_{i} ____" in short for i in range(20))


def test_code_of_failures_stays_before_what_passed() -> None:
    """However much passed."""
    code = "\n".join(f"    total = {i}" for i in range(20))
    passed = "\n".join(f"tests/test_{i}.py::test_it PASSED  [ 10%]" for i in range(99))
    text = f"{passed}\n{passed}\n____ test_total ____\n{code}\n{passed}\n{passed}\n=== 1 failed ==="
    assert code in RunOfTests().cut(text, room_of(250))


def test_a_log_with_errors_is_no_run_of_tests() -> None:
    """Levels in capitals are not outcomes."""
    assert not RunOfTests().recognises("12:00:01 ERROR x failed\n12:00:02 FAILED to start\n" * 9)
