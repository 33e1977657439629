"""A page that is served while an agent runs: it has what the log has, for who was given its address, and for nobody else."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from autogen_context import IncrementalContextManager
from autogen_context.manager.event_log import EventLog
from autogen_context.report.follow import PageServer
from autogen_context.testing.conversation import conversation

if TYPE_CHECKING:
    from playwright.sync_api import Page

LONG = conversation(turns=60)


@contextmanager
def followed(log: Path) -> Generator[PageServer]:
    """A server of a log."""
    with PageServer(log) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


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


def turns(manager: IncrementalContextManager, log: EventLog, first: int, last: int) -> None:
    """Let an agent go on."""
    for turn in range(first, last + 1):
        manager.prepare_nowait(LONG[: 2 * turn])
    assert log.flush(30)


def manager_of(log: EventLog) -> IncrementalContextManager:
    """A manager that compacts now and then."""
    return IncrementalContextManager("gpt-4o", window_tokens=4_000, events=log)


def test_it_has_what_the_log_has_when_it_is_asked(tmp_path: Path) -> None:
    """Before there is a log, while it grows, after it was rotated or cut off; the version tells each from the others."""
    log = EventLog(tmp_path / "run.jsonl", max_bytes=12_000)
    manager, versions = manager_of(log), list[str]()
    with followed(log.path) as server:
        for first, last in ((1, 0), (1, 3), (4, 12), (13, 30)):
            for turn in range(
                first, last + 1
            ):  # each is written before the next: files rotate between writes
                turns(manager, log, turn, turn)
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
    turns(manager_of(log), log, 1, 1)
    with followed(log.path) as server:
        got, headers, text = asked(server, path, host=host.format(port=server.server_port))
        assert got == status
        assert ("gpt-4o" in text) is (status == 200)
        assert not [name for name in headers if name.startswith("access-control")]
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert asked(server, method="POST")[0] == 501
        assert server.server_address[0] == "127.0.0.1"


def test_the_command_ends_with_ctrl_c(tmp_path: Path) -> None:
    """It says where the page is; a port that is taken is named."""
    command = [sys.executable, "-c", "from autogen_context.cli.main import run; run()", "report"]
    command += [str(tmp_path / "run.jsonl"), "--follow", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own code
        assert process.stdout is not None
        told = next(line for line in process.stdout if "http" in line)
        [(port, path)] = re.findall(r"http://127\.0\.0\.1:(\d+)(/[\w-]{22}/)", told)
        connection = HTTPConnection("127.0.0.1", int(port), timeout=30)
        connection.request("GET", path)
        assert "waits for the first" in connection.getresponse().read().decode()
        connection.close()
        command += ["--port", port]
        taken = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - as above
        assert taken.returncode == 2
        assert "Address already in use" in taken.stderr
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


@pytest.fixture
def window() -> "Iterator[Page]":
    """A window of Chromium; where it is not installed, the test is skipped, but not in CI."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None and "CI" not in os.environ:
        pytest.skip("no Chromium is installed")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - where there is a browser

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


def test_a_browser_follows_a_run(tmp_path: Path, window: "Page") -> None:
    """It shows the newest turn by itself; who looks at another one is asked first. It asks nobody else, and says when it ends."""
    log = EventLog(tmp_path / "run.jsonl")
    manager, addresses, troubles = manager_of(log), list[str](), list[object]()
    status, title = window.locator(".live"), window.locator(".turn h3")
    window.on("pageerror", lambda error: troubles.append(error))  # noqa: PLW0108 - it sets attributes
    with followed(log.path) as server:
        window.on("request", lambda asked: addresses.append(asked.url))
        window.goto(server.url)
        assert "waits for the first" in str(status.text_content())
        turns(manager, log, 1, 10)
        title.filter(has_text="Turn 10 of 10").wait_for()
        turns(manager, log, 11, 30)
        title.filter(has_text="Turn 30 of 30").wait_for()
        window.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
        assert window.evaluate("axe.run().then((found) => found.violations)") == []
        window.locator("input[type=range]").press("Home")
        turns(manager, log, 31, 40)
        window.locator(".live button").wait_for()
        assert title.text_content() == "Turn 1 of 30"
        window.locator(".live button").click()
        title.filter(has_text="Turn 40 of 40").wait_for()
    status.filter(has_text="has ended").wait_for()
    assert troubles == []
    assert {address.removesuffix("version") for address in addresses} == {server.url}
