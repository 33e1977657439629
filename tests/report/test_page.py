"""The page of an event log: it says what the log says, in a real browser as well, and nothing in the log acts on it."""

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from autogen_context import IncrementalContextManager
from autogen_context.cli.main import main
from autogen_context.manager.event_log import EventLog
from autogen_context.manager.events import TurnEvent, UnitEvent
from autogen_context.report.events import Run, read_events, runs_of
from autogen_context.report.page import bill_of, page_of, visible
from autogen_context.testing.conversation import conversation

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "</script><img src=x onerror=alert(1)>&amp;\u202etxt.exe\u2028\x1b[2J\ud800{{ 7*7 }}"


def unit(start: int, **told: object) -> UnitEvent:
    """A unit of one message and 100 tokens, as a log tells it, but for what is given."""
    event: UnitEvent = {
        "unit": start,
        "stop": start + 1,
        "role": "user" if start else "system",
        "tool": "",
        "section": "people" if start else "system",
        "action": "keep",
        "reason": "new",
        "before": 100,
        "after": 100,
        "handle": "",
        "score": None,
        "place": None,
        "among": None,
    }
    return event | told  # type: ignore[return-value]  # pyright: ignore[reportReturnType]  # keys of a unit


def turn(number: int, units: Sequence[UnitEvent], **told: object) -> TurnEvent:
    """A turn with a history of as many units as its number says, and nothing left out, but for what is given."""
    tokens = 100 * number
    event: TurnEvent = {
        "v": 1,
        "event": "turn",
        "run": "r",
        "agent": "",
        "turn": number,
        "at": float(number),
        "ms": 1.0,
        "model": "gpt-4o",
        "limit": 400,
        "bound": {"tokens": tokens, "source": "tokenizer"},
        "counted": tokens,
        "fixed": 0,
        "history": {"messages": number, "tokens": tokens},
        "sent": {"messages": number, "tokens": tokens, "new": 100, "prefix": tokens - 100},
        "compacted": False,
        "estimate": None,
        "price": {"cached": 0.5, "write": 1.0, "dollars": 2.5},
        "sections": {"system": 100, "people": tokens - 100},
        "since": number - 1,
        "units": list(units),
        "cut": None,
        "saved": {"tokens": 0},
    }
    return event | told  # type: ignore[return-value]  # pyright: ignore[reportReturnType]  # keys of a turn


def growing(turns: int, **told: object) -> Run:
    """A run in which each turn brings a message of 100 tokens, and everything is sent."""
    events = [turn(n, [unit(n - 1)], **told) for n in range(1, turns + 1)]
    return Run(id="r", turns=events, others=[])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The event log of a run of 61 turns that compacts."""
    events, messages = EventLog(tmp_path / "run.jsonl"), conversation(turns=60)
    manager = IncrementalContextManager("gpt-4o", window_tokens=4_000, events=events)
    for stop in range(2, len(messages) + 1, 2):
        prepared = manager.prepare_nowait(messages[:stop])
        manager.record_usage(prepared, prompt_tokens=prepared.certificate.counted_tokens)
    assert events.flush(30)
    return events.path


# What it says


def test_a_sliding_window_sends_the_newest_that_fit() -> None:
    """Behind the system prompt; from the turn on in which it slides, only that is cached."""
    requests = bill_of(growing(8)).sliding
    assert [each.tokens for each in requests] == [100, 200, 300, 400, 400, 400, 400, 400]
    assert [each.messages for each in requests] == [1, 2, 3, 4, 4, 4, 4, 4]
    price = bill_of(growing(8)).price
    shared = [0, 100, 200, 300, 100, 100, 100, 100]
    assert [each.cached_tokens for each in requests] == [price.cached_tokens(n) for n in shared]


def test_what_the_host_took_back_is_not_in_the_sliding_window() -> None:
    """Nor is it sent with everything."""
    back = turn(2, [unit(1, before=50)], since=1, limit=150)
    run = growing(6)
    bill = bill_of(Run(id="r", turns=[*run.turns, back], others=[]))
    assert bill.sliding[-1].tokens == 150
    assert bill.records[-1].whole.tokens == 200


def test_the_page_has_the_numbers_of_the_log(log: Path) -> None:
    """Those of sending everything, of what was sent, and of the bill; and the same log gives the same page."""
    runs = runs_of(read_events(log))
    bill, page = bill_of(runs[0]), page_of(runs, title="run")
    assert bill.totals.whole.above_limit > 30
    assert bill.totals.sent.above_limit == 0
    counted = sum(event["counted"] for event in runs[0].turns)
    assert bill.totals.sent.tokens == counted
    for number in (bill.totals.whole.cost_tokens, bill.totals.sent.cost_tokens, counted):
        assert f"{number:,.0f}" in page
    assert f"The provider billed {counted:,} input tokens" in page
    assert page == page_of(runs, title="run")


def test_an_engine_of_ones_own_takes_seconds() -> None:
    """Uncached tokens by those that it reads in a second, in place of dollars that nobody asks."""
    told = {"cached": 0.0, "write": 1.0, "dollars": None, "tokens_per_s": 2.0}
    run = growing(8, price=told, model="llama.cpp/m")
    page = page_of([run], title="run")
    assert bill_of(run).totals.whole.cost_tokens == 800
    assert "<td>400</td>" in page
    assert ">seconds<" in page
    assert "dollars" not in page.partition("<script")[0]
    assert ">seconds<" not in page_of([growing(8)], title="run")


def test_the_page_answers_from_the_other_events() -> None:
    """What was asked back, what could not be sent, whether summaries invented, what the cache had; and what broke the cache."""
    tell = {"v": 1, "run": "r", "agent": "", "model": "gpt-4o", "at": 1.0}
    quality = {"used": 0.25, "relevance": 7.5, "compression": None}
    broken = turn(4, [unit(3)], sent={"messages": 4, "tokens": 400, "new": 350, "prefix": 50})
    cut = turn(
        5, [unit(4)], compacted=True, quality=quality, estimate={"why": "forced", "cold": False}
    )
    run = Run(
        id="r",
        turns=[*growing(3).turns, broken, cut],
        others=[
            {**tell, "event": "asked_back", "turn": 3, "handle": "", "query_chars": 11, "found": 1},
            {
                **tell,
                "event": "impossible",
                "turn": 9,
                "limit": 5,
                "needed": 7,
                "parts": {"system": 7},
            },
            {**tell, "event": "summary", "turn": 2, "used": False, "why": "it names <b>"},
            {**tell, "event": "summary", "turn": 2, "used": True, "why": ""},
            {**tell, "event": "cache", "turn": 2, "hits": 2, "misses": 3, "invalidated": 1},
        ],
    )
    page = page_of([run], title="run")
    for said in (
        "turn 3: a query of 11 characters, found",
        "Turn 9: the protected messages needed 7 tokens and the limit was 5 (system 7).",
        "A model made 2 summaries; each was checked against its text, and 1 are used.",
        "since <bdi>it names &lt;b&gt;</bdi>: 1.",
        "had 2 of 5 things it was asked; 1 entries were invalid",
        "the model had named 25 % again",
        "Relevance 7.5 of 10",
    ):
        assert said in page
    assert "Compression" not in page
    assert [record.happened for record in bill_of(run).records[3:]] == [
        "250 tokens no longer cached, since earlier content changed",
        "compacted, since the window was full: nothing more left out; 0 tokens no longer cached",
    ]


@pytest.mark.parametrize("text", ["plain", "שלום", "line\nline\ttab", "日本"])
def test_text_that_hides_nothing_is_shown_as_it_is(text: str) -> None:
    """Whatever its script."""
    assert visible(text) == text


def test_what_hides_or_turns_text_is_written_out() -> None:
    """Marks of direction, controls, line separators and lone halves of characters; what is long is cut."""
    assert visible("a\u202eb\x1bc\u2028\ud800\u200b") == r"a\u202Eb\u001Bc\u2028\uD800\u200B"
    assert len(visible("x" * 1_000_000)) < 5_000


def test_nothing_in_a_log_is_markup() -> None:
    """Wherever it stands: title, names, reasons, texts."""
    page = hostile_page()
    assert "<img" not in page
    assert "\u202e" not in page
    assert page.count("</script>") == 2
    assert "49" not in re.findall(r"<h1>.*</h1>", page)[0]


def hostile_page() -> str:
    """The page of a run in which every text is hostile, one of them a million characters long."""
    texts = dict.fromkeys(("role", "tool", "section", "action", "reason", "handle"), HOSTILE)
    units = [unit(0, **texts, text=HOSTILE * 20_000), unit(1, after=10, **texts)]
    bad = turn(1, units, model=HOSTILE, agent=HOSTILE, sections={HOSTILE: 5})
    return page_of([Run(id=HOSTILE, turns=[bad], others=[])] * 2, title=HOSTILE)


# The command


def test_report_writes_the_page_of_a_log(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside it, or where it is told; the log itself is never written over."""
    assert main(["report", str(log)]) == 0
    assert capsys.readouterr().out == f"The page is in {log.with_suffix('.html')}\n"
    assert main(["report", str(log), "-o", str(log)]) == 2
    assert "this is the log itself" in capsys.readouterr().err
    assert "61" in log.with_suffix(".html").read_text("utf-8")


def test_report_says_what_is_wrong_with_a_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file without a turn; lines that are damaged, which are left out; numbers that are none."""
    (tmp_path / "none.jsonl").write_text("no log\n")
    assert main(["report", str(tmp_path / "none.jsonl")]) == 2
    error = capsys.readouterr().err
    assert "damaged lines that were skipped" in error
    assert "no turn was recorded yet" in error
    huge = json.dumps(turn(1, [unit(0)], counted=10**400))
    (tmp_path / "huge.jsonl").write_text(huge)
    assert main(["report", str(tmp_path / "huge.jsonl")]) == 2
    assert "huge.jsonl: " in capsys.readouterr().err


def test_a_replay_has_the_same_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --html: all conversations of the file, each under its name."""
    runs = [{"id": f"c{n}", "messages": conversation(turns=9, seed=n)} for n in range(2)]
    file, page = tmp_path / "runs.jsonl", tmp_path / "page.html"
    file.write_text("\n".join(map(json.dumps, runs)))
    assert main(["replay", str(file), "--window", "2000", "--html", str(page)]) == 0
    assert capsys.readouterr().out.endswith(f"The page is in {page}\n")
    html = page.read_text("utf-8")
    assert "c0 · 10 turns" in html
    assert "c1 · 10 turns" in html


# In a browser


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Chromium, without a net; where it is not installed, the test is skipped, but not in CI."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None and "CI" not in os.environ:
        pytest.skip("no Chromium is installed")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - where there is a browser

    with sync_playwright() as playwright:
        flags = ["--no-sandbox"]
        started = playwright.chromium.launch(executable_path=path, args=flags)
        yield started
        started.close()


def opened(browser: "Browser", folder: Path, html: str, *, dark: bool = False) -> "Page":
    """A page in a window of its own; a script that fails, a dialog or a request fails the test."""
    file = folder / "page.html"
    file.write_text(html, encoding="utf-8")
    page = browser.new_page(color_scheme="dark" if dark else "light")
    troubles: list[object] = []
    page.on("pageerror", lambda error: troubles.append(error))  # noqa: PLW0108 - it sets attributes
    page.on("dialog", lambda dialog: troubles.append(dialog.message))
    page.on("console", lambda said: troubles.append(said.text))
    page.on("request", lambda asked: troubles.append(asked.url))
    page.goto(file.as_uri())
    assert troubles == [file.as_uri()]
    return page


@pytest.mark.parametrize(("width", "dark"), [(360, True), (1200, False)])
def test_axe_finds_nothing(
    browser: "Browser", tmp_path: Path, log: Path, width: int, *, dark: bool
) -> None:
    """Light and dark, narrow and wide, with a unit and all numbers open; and nothing is wider than the window."""
    html = page_of(runs_of(read_events(log)), title="run.jsonl")
    page = opened(browser, tmp_path, html, dark=dark)
    page.set_viewport_size({"width": width, "height": 800})
    page.locator(".strip button").first.click()
    for summary in page.locator("summary").all():
        summary.click()
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    assert page.evaluate("axe.run().then((found) => found.violations)") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_a_hostile_log_does_nothing(browser: "Browser", tmp_path: Path) -> None:
    """No script of it runs, no image is fetched; what it says is shown."""
    page = opened(browser, tmp_path, hostile_page())
    assert page.locator("img").count() == 0
    page.locator(".strip button").first.click()
    assert r"onerror=alert(1)>&amp;\u202Etxt.exe\u2028\u001B[2J\uD800{{ 7*7 }}" in str(
        page.locator(".life pre").text_content()
    )
    page.locator("#run").select_option("1")
    assert page.locator("article:visible").count() == 1
    page.close()


def test_keys_go_from_turn_to_turn_and_unit_to_unit(
    browser: "Browser", tmp_path: Path, log: Path
) -> None:
    """The slider's for turns, the arrows for units, Enter for a unit's life, which says when it left, and why."""
    runs = runs_of(read_events(log))
    page = opened(browser, tmp_path, page_of(runs, title="run"))
    slider, strip = page.locator("input[type=range]"), page.locator(".strip button")
    assert page.locator(".turn h3").text_content() == "Turn 61 of 61"
    slider.press("Home")
    assert page.locator(".turn h3").text_content() == "Turn 1 of 61"
    assert strip.count() == 2
    page.get_by_role("button", name="Next compaction").click()
    first = next(event for event in runs[0].turns if event["compacted"])
    assert page.locator(".turn h3").text_content() == f"Turn {first['turn']} of 61"
    assert "This is compaction 1 of" in str(page.locator(".said").text_content())
    page.locator(".changes summary").click()
    cut = [each for each in first["units"] if each["after"] < each["before"]]
    assert page.locator(".changes tbody tr").count() == len(cut)
    page.locator("[data-at=message]").fill("1")
    page.locator("[data-at=message]").press("Tab")
    assert "people, message 1" in str(page.locator(".life").text_content())
    page.locator("[data-at=turn]").fill("2")
    page.locator("[data-at=turn]").press("Tab")
    assert page.locator(".turn h3").text_content() == "Turn 2 of 61"
    page.get_by_role("button", name="Next compaction").click()
    dropped = page.locator(".strip button[data-action=drop]").first
    dropped.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    gone = next(each for each in first["units"] if each["action"] == "drop")
    life = str(page.locator(".life").text_content())
    assert f"Turn {first['turn']} left out" in life
    assert gone["reason"] in life
    assert "Sent whole it would take" in life
    page.close()


def test_five_thousand_turns_open_in_a_second(browser: "Browser", tmp_path: Path) -> None:
    """With a table and a strip that show a part; a machine that is busy with more may take three times as long."""
    page = opened(browser, tmp_path, page_of([growing(5_000, limit=1_000_000)], title="long"))
    assert page.locator("[data-pager=turns]").text_content() == (
        "4,951 to 5,000 of 5,000 turnsFirstBeforeNextLast"
    )
    assert page.locator(".strip button").count() == 200
    took_ms = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert took_ms < 3_000
    page.close()
