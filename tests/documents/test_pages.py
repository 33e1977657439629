"""What is read of a folder, and what is said of the rest."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.documents import pages as pages_module
from autogen_context.documents.markup import text_of_html
from autogen_context.documents.pages import Page, entries_in, read_pages


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("a-b.md", "# T\n\nText.", [("a-b.md", "a b", "# T\n\nText.")], id="markdown"),
        pytest.param("d/a-b.txt", "Text.", [("d/a-b.txt", "a b", "Text.")], id="text"),
        pytest.param("a.json", '{"Title": "T", "content": "C"}', [("a.json", "T", "C")], id="json"),
        pytest.param(
            "a.json",
            '[{"question": "Q", "answer": "A"}, "B"]',
            [("a.json#1", "Q", "A"), ("a.json#2", "a", "B")],
            id="a list",
        ),
        pytest.param("a.json", "{broken", [("a.json", "a", "{broken")], id="broken json"),
        pytest.param("a.md", "", [("a.md", "a", "")], id="empty"),
    ],
)
def test_what_a_page_is(
    name: str, text: str, expected: list[tuple[str, str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    """Each kind of file gives its pages, a broken one its text, and a warning that names it."""
    found = list(entries_in(name, text))
    assert [each[:3] for each in found] == expected
    assert {each.file for each in found} == {name}
    told = ["'a.json' is no valid JSON"] if text == "{broken" else []
    assert [each.getMessage().partition(",")[0] for each in caplog.records] == told


def test_what_is_not_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file with its reason; what is no page by its name together; what is hidden not at all."""
    monkeypatch.setattr(pages_module, "MOST_FILE_BYTES", 10_000)
    monkeypatch.setattr(pages_module, "MOST_FOLDER_BYTES", 15_000)
    files = {
        "a.md": b"# A\n\n" + b"Read. " * 1_000,
        "binary.txt": bytes(range(256)),
        "large.md": b"x" * 10_001,
        "late.md": b"y" * 9_990,
        "picture.png": b"",
        ".hidden.md": b"# Hidden",
        "latin.txt": "Die Größe der Tür beträgt drei Meter.".encode("latin-1"),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    read = read_pages(str(tmp_path))
    assert [each.source for each in read.pages] == ["a.md", "latin.txt"]
    assert "Größe der Tür" in read.pages[1].text
    assert [each.source for each in read.skipped] == [
        *("binary.txt", "large.md", "late.md", "link.md", "1 other files"),
    ]
    reasons = ("binary", "larger than", "the most of a folder", "a link", ".png")
    for skipped, reason in zip(read.skipped, reasons, strict=True):
        assert reason in str(skipped)


def test_html_is_read_as_its_text() -> None:
    """Headings, items, definitions and code keep their form; scripts are not text."""
    page = (
        "<html><head><title>x</title><script>bad()</script></head><body><h2>Copy &amp; paste</h2>"
        "<p>One <b>bold</b>\nline.</p><ul><li>first<li>second</ul><dl><dt>FORMAT<dd><p>What it is.</p></dl>"
        "<pre>a = 1\n  b = 2</pre><table><tr><td>x<td>y</table>"
    )
    lines = [line for line in text_of_html(page).splitlines() if line]
    assert lines == [
        *("## Copy & paste", "One bold line.", "- first", "- second", "FORMAT", "    What it is."),
        *("    a = 1", "      b = 2", "x | y"),
    ]


@given(st.text())
def test_no_html_makes_it_raise(page: str) -> None:
    """Whatever a page holds."""
    text_of_html(f"<dd><pre>{page}<h1>")


def test_secrets_are_hidden(tmp_path: Path) -> None:
    """A key in a page goes nowhere."""
    (tmp_path / "a.md").write_text("api_key = 'sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD'\n")
    assert isinstance(page := read_pages(str(tmp_path)).pages[0], Page)
    assert "[hidden]" in page.text
