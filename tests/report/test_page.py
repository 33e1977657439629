"""The page of an event log: it says what the log says, in a real browser as well, and nothing in the log acts on it."""

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from autogen_context import IncrementalContextManager
from autogen_context.cli.main import main
from autogen_context.manager.event_log import Event, EventLog
from autogen_context.report.bill import bill_of, totals_of
from autogen_context.report.events import Run
from autogen_context.report.follow import PageServer
from autogen_context.report.page import page_of, visible
from autogen_context.testing.conversation import conversation
from support.forks import ended, forked
from support.runs import LONG, growing, lived, manager_of, run_of, turn, unit
from support.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Command = Callable[..., str]
SAID = conversation(turns=60)
HOSTILE = "</script><img src=x onerror=alert(1)>&amp;\u202etxt.exe\u2028\x1b[2J\ud800{{ 7*7 }}"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The event log of a run of 61 turns that compacts."""
    events = EventLog(tmp_path_factory.mktemp("log") / "run.jsonl")
    manager = manager_of(events, 4_000)
    for prepared in lived(manager, SAID):
        manager.record_usage(prepared, prompt_tokens=prepared.certificate.counted_tokens)
    assert events.flush(30)
    return events.path


@pytest.fixture(scope="module")
def run(log: Path) -> Run:
    """That run."""
    return run_of(EventLog(log))


# What it says


def test_the_page_has_the_numbers_of_the_log(run: Run) -> None:
    """Those of sending everything, of what was sent, and of the bill; and the same log gives the same page."""
    totals, page = totals_of(bill_of(run)), page_of([run], title="run")
    counted = sum(event["counted"] for event in run.turns)
    assert totals.whole.above_limit > 30
    assert (totals.sent.above_limit, totals.sent.tokens) == (0, counted)
    for number in (totals.whole.cost_tokens, totals.sent.cost_tokens, counted):
        assert f"{number:,.0f}" in page
    assert f"The provider billed {counted:,} input tokens" in page
    assert "how many of them were cached, this host does not report" in page
    assert page == page_of([run], title="run")
    drawn = [f'<path class="s-{name}"' for name in ("notices", "tools", "people", "system")]
    places = [page.index(path) for path in drawn]
    assert places == sorted(places)  # each reaches to the bottom, the smaller before the larger


def test_an_engine_of_ones_own_takes_seconds() -> None:
    """Uncached tokens by those that it reads in a second, in place of dollars that nobody asks."""
    told = {
        "cached_fraction": 0.0,
        "write_fraction": 1.0,
        "input_per_million": None,
        "tokens_per_s": 2.0,
    }
    run = growing(8, price=told, model="llama.cpp/m")
    page = page_of([run], title="run")
    assert totals_of(bill_of(run)).whole.cost_tokens == 800
    assert "<td>400</td>" in page
    assert ">seconds<" in page
    assert "dollars" not in page.partition("<script")[0]
    assert ">seconds<" not in page_of([growing(8)], title="run")


def other(event: str, **told: object) -> Event:
    """An event of turn 2."""
    return {**turn(2, []), "event": event, **told}


def test_the_page_answers_from_the_other_events() -> None:
    """What was asked back, what could not be sent, whether summaries invented, what the cache had; and what broke the cache."""
    quality = {"used": 0.25, "relevance": 7.5, "compression": None}
    gone = [
        unit(n, after=40, action="drop", reason=f"left out: 0.{n} a token", before=90 + 10 * n)
        for n in (1, 3, 2)
    ]
    cut = turn(4, gone, compacted=True, quality=quality)
    needed = {"limit": 5, "needed": 7, "parts": {"system": 7}}
    others = [
        other("asked_back", handle="", query_chars=11, found=1),
        other("impossible", **needed, history={"messages": 9, "tokens": 900}),
        other("summary", used=False, why="it names <b>"),
        other("summary", used=True, why=""),
        other("cache", hits=2, misses=3, invalidated=1),
    ]
    page = page_of([Run(id="r", turns=[*growing(3).turns, cut], others=others)], title="run")
    for said in (
        "turn 2: a query of 11 characters, found",
        "Turn 2: the protected messages needed 7 tokens and the limit was 5 (system 7).",
        "A model made 2 summaries; each was checked against its text, and 1 are used.",
        "since <bdi>it names &lt;b&gt;</bdi>: 1.",
        "had 2 of 5 things it was asked; 1 entries were invalid",
        "the model had named 25 % again",
        "Relevance 7.5 of 10",
        "compacted: 3 dropped; 0 tokens no longer cached",
        '<bdi>left out: 0.3 a token</bdi></td><td class="opt">3</td><td>210</td>',
    ):
        assert said in page
    assert "<bdi>left out: 0.1 a token" not in page  # only numbers differ: those of the largest
    assert "Compression" not in page


def test_what_hides_or_turns_text_is_written_out() -> None:
    """Marks of direction, controls, line separators and lone halves of characters; what is long is cut, all else as it is."""
    assert visible("a\u202eb\x1bc\u2028\ud800\u200b") == r"a\u202Eb\u001Bc\u2028\uD800\u200B"
    assert len(visible("x" * 1_000_000)) < 5_000
    for text in ("plain", "שלום", "line\nline\ttab", "日本"):
        assert visible(text) == text


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


def test_report_writes_the_page_of_a_log(log: Path, shown: Command, refused: Command) -> None:
    """Beside it, or where it is told; the log itself is never written over."""
    assert shown("report", log) == f"The page is in {log.with_suffix('.html')}\n"
    assert "this is the log itself" in refused("report", log, "-o", log)
    assert "61" in log.with_suffix(".html").read_text("utf-8")


def test_report_says_what_is_wrong_with_a_log(
    tmp_path: Path, refused: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file without a turn; lines that are damaged, which are left out; numbers that are none."""
    (tmp_path / "none.jsonl").write_text("no log\n")
    assert main(["report", str(tmp_path / "none.jsonl")]) == 2
    error = capsys.readouterr().err
    assert "damaged lines that were skipped" in error
    assert "no turn was recorded yet" in error
    huge = json.dumps(turn(1, [unit(0)], counted=10**400), default=asdict)
    (tmp_path / "huge.jsonl").write_text(huge)
    assert "huge.jsonl: " in refused("report", tmp_path / "huge.jsonl")


def test_a_replay_has_the_same_page(tmp_path: Path, shown: Command) -> None:
    """With --html: all conversations of the file, each under its name."""
    runs = [{"id": f"c{n}", "messages": conversation(turns=9, seed=n)} for n in range(2)]
    file, page = tmp_path / "runs.jsonl", tmp_path / "page.html"
    file.write_text("\n".join(map(json.dumps, runs)))
    out = shown("replay", file, "--window", "2000", "--html", page)
    assert out.endswith(f"The page is in {page}\n")
    html = page.read_text("utf-8")
    assert "c0 · 10 turns" in html
    assert "c1 · 10 turns" in html


# Served while an agent runs


@contextmanager
def followed(log: Path) -> Generator[PageServer]:
    """A server of a log."""
    with PageServer(log) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def went_on(manager: IncrementalContextManager, log: EventLog, first: int, last: int) -> None:
    """Let an agent go on, from one turn to another."""
    assert all(
        prepared.certificate.fits for prepared in lived(manager, SAID[: 2 * last], first=first)
    )
    assert log.flush(30)


def asked(
    server: PageServer, path: str | None = None, *, host: str = "", method: str = "GET"
) -> tuple[int, dict[str, str], str]:
    """What it answers: status, headers and text."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    headers = {"Host": host or f"127.0.0.1:{server.server_port}", "Origin": "http://evil.test"}
    connection.request(method, server.path if path is None else path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text


def test_it_has_what_the_log_has_when_it_is_asked(tmp_path: Path) -> None:
    """Before there is a log, while it grows, after it was rotated or cut off; the version tells each from the others."""
    log = EventLog(tmp_path / "run.jsonl", max_bytes=12_000)
    manager, versions = manager_of(log, 4_000), list[str]()
    with followed(log.path) as server:
        for first, last in ((1, 0), (1, 3), (4, 12), (13, 30)):
            went_on(manager, log, first, last)
            versions.append(json.loads(asked(server, f"{server.path}version")[2]))
            status, _, page = asked(server)
            assert status == 200
            assert f'"version":"{versions[-1]}"' in page
            assert (f"<span>turn {last}</span>" if last else "waits for the first") in page
        assert (tmp_path / "run.jsonl.1").exists()
        os.truncate(log.path, 0)
        status, _, page = asked(server)
        assert status == 200
        assert "<span>turn 30</span>" not in page
        log.path.write_text('{"v": 2, "event": "turn"}\n')
        assert asked(server)[0] == 500
        assert "a newer autogen-context reads it" in asked(server)[2]
    assert len(set(versions)) == 4


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [
        pytest.param("/", "", 404, id="without the secret"),
        pytest.param("/x/", "", 404, id="with another secret"),
        pytest.param(None, "evil.test", 421, id="for another name, as after DNS rebinding"),
        pytest.param(None, "evil.test:{port}", 421, id="for another name and this port"),
        pytest.param(None, "127.0.0.1.evil.test:{port}", 421, id="for a name that begins so"),
        pytest.param(None, "localhost:{port}", 200, id="for localhost"),
    ],
)
def test_who_has_not_the_address_gets_nothing(
    tmp_path: Path, path: str | None, host: str, status: int
) -> None:
    """Nor does a page of another origin: no header allows that."""
    log = EventLog(tmp_path / "run.jsonl")
    went_on(manager_of(log), log, 1, 1)
    with followed(log.path) as server:
        got, headers, text = asked(server, path, host=host.format(port=server.server_port))
        assert got == status
        assert ("gpt-4o" in text) is (status == 200)
        assert not [name for name in headers if name.startswith("access-control")]
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert asked(server, method="POST")[0] == 501
        assert server.server_address[0] == "127.0.0.1"


def test_the_command_ends_with_ctrl_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says where the page is; a port that is taken is named."""
    command, told = ["report", str(tmp_path / "run.jsonl"), "--follow", "--json"], tmp_path / "told"

    def run() -> int:
        sys.stdout = told.open("w", buffering=1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return main(command)

    process, _ = forked(run)
    wait_until(lambda: told.exists() and "http" in told.read_text())
    [(port, path)] = re.findall(r"http://127\.0\.0\.1:(\d+)(/[\w-]{22}/)", told.read_text())
    connection = HTTPConnection("127.0.0.1", int(port), timeout=30)
    connection.request("GET", path)
    assert "waits for the first" in connection.getresponse().read().decode()
    connection.close()
    assert main([*command, "--port", port]) == 2
    assert "Address already in use" in capsys.readouterr().err
    os.kill(process, signal.SIGINT)
    assert ended(process) == 130


# In a browser


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Chromium, without a net; where it is not installed, the test is skipped."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("needs a browser: apt-get install chromium")
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
def test_axe_finds_nothing(browser: "Browser", tmp_path: Path, width: int, *, dark: bool) -> None:
    """Light and dark, narrow and wide, followed and not, with a unit and all numbers open; and nothing is wider than the window."""
    log = EventLog(tmp_path / "run.jsonl")
    turns = list(lived(manager_of(log, 1_500), LONG[:20]))
    assert any(prepared.compacted for prepared in turns)
    html = page_of([run_of(log)], title="run.jsonl", version="1" if dark else None)
    page = opened(browser, tmp_path, html, dark=dark)
    page.set_viewport_size({"width": width, "height": 800})
    page.locator(".strip button").first.click()
    for summary in page.locator("summary").all():
        summary.click()
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    asked = "axe.run({ resultTypes: ['violations'] }).then((found) => found.violations)"
    assert page.evaluate(asked) == []
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
    browser: "Browser", tmp_path: Path, run: Run
) -> None:
    """The slider's for turns, the arrows for units, Enter for a unit's life, which says when it left, and why."""
    page = opened(browser, tmp_path, page_of([run], title="run"))
    slider, strip = page.locator("input[type=range]"), page.locator(".strip button")
    assert page.locator(".turn h3").text_content() == "Turn 61 of 61"
    slider.press("Home")
    assert page.locator(".turn h3").text_content() == "Turn 1 of 61"
    assert strip.count() == 2
    page.get_by_role("button", name="Next compaction").click()
    first = next(event for event in run.turns if event["compacted"])
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


def test_of_a_long_run_a_part_is_shown(browser: "Browser", tmp_path: Path) -> None:
    """In the table and the strip, with buttons for the rest, so that it opens at once."""
    page = opened(browser, tmp_path, page_of([growing(1_000, limit=1_000_000)], title="long"))
    assert page.locator("[data-pager=turns]").text_content() == (
        "951 to 1,000 of 1,000 turnsFirstBeforeNextLast"
    )
    assert page.locator(".strip button").count() == 100
    page.close()


def test_a_browser_follows_a_run(browser: "Browser", tmp_path: Path) -> None:
    """It shows the newest turn by itself; who looks at another one is asked first. It asks nobody else, and says when it ends."""
    log = EventLog(tmp_path / "run.jsonl")
    manager, addresses, troubles = manager_of(log, 4_000), list[str](), list[object]()
    window = browser.new_page()
    status, title = window.locator(".live"), window.locator(".turn h3")
    window.on("pageerror", lambda error: troubles.append(error))  # noqa: PLW0108 - it sets attributes
    with followed(log.path) as server:
        window.on("request", lambda asked: addresses.append(asked.url))
        window.goto(server.url)
        assert "waits for the first" in str(status.text_content())
        went_on(manager, log, 1, 10)
        title.filter(has_text="Turn 10 of 10").wait_for()
        went_on(manager, log, 11, 30)
        title.filter(has_text="Turn 30 of 30").wait_for()
        window.locator("input[type=range]").press("Home")
        went_on(manager, log, 31, 40)
        window.locator(".live button").wait_for()
        assert title.text_content() == "Turn 1 of 30"
        window.locator(".live button").click()
        title.filter(has_text="Turn 40 of 40").wait_for()
    status.filter(has_text="has ended").wait_for()
    assert troubles == []
    assert {address.removesuffix("version") for address in addresses} == {server.url}
    window.close()
