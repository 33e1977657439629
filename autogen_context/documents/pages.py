"""Read the pages of a folder: Markdown, reStructuredText, AsciiDoc, Org, HTML, JSON and plain text, in whatever encoding.

Promise: no pipe is opened, nothing outside the folder is read, and what looks like a secret is hidden. What is not read is named with
the reason. The same files give the same pages.
"""

import json
import logging
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

from typing_extensions import override

from autogen_context.cache.files import read_regular
from autogen_context.documents.markup import text_of_html
from autogen_context.project.secrets import without_secrets
from autogen_context.text.encoding import decoded
from autogen_context.text.quote import one_line

logger = logging.getLogger(__name__)

HTML = (".html", ".htm", ".xhtml")
SUFFIXES = (
    ".md",
    ".markdown",
    ".txt",
    ".text",
    ".rst",
    ".adoc",
    ".asciidoc",
    ".org",
    ".json",
    *HTML,
)
TEXT_KEYS = ("text", "content", "body", "answer")
TITLE_KEYS = ("title", "question", "name")
MEGABYTE = 1024 * 1024  # bytes
MOST_FILE_BYTES = 16 * MEGABYTE
MOST_FOLDER_BYTES = (
    48 * MEGABYTE
)  # of all pages together; an index of them takes about ten times as much memory
MOST_KINDS = 5  # of files that are no pages, named


class Page(NamedTuple):
    """A document: its path in the folder (with a number if the file has several), title and text.

    ``is_untitled`` says that the title is only the file's name.
    """

    source: str
    title: str
    text: str
    is_untitled: bool = True

    @property
    def file(self) -> str:
        """The path of its file."""
        return self.source.rpartition("#")[0] if ".json#" in self.source.lower() else self.source


class SkippedFile(NamedTuple):
    """A file that is not read, and why; of files that are no pages, all at once."""

    source: str
    reason: str

    @override
    def __str__(self) -> str:
        """Return both in words."""
        return f"{one_line(self.source)}: {self.reason}"


class PagesRead(NamedTuple):
    """The pages of a folder, by name, and what was skipped."""

    pages: list[Page]
    skipped: list[SkippedFile]


def read_pages(folder: str) -> PagesRead:
    """Read the pages below a folder; hidden files and folders are left alone."""
    found, left = PagesRead([], []), MOST_FOLDER_BYTES
    others = Counter[str]()
    for source in files_below(folder):
        if not source.lower().endswith(SUFFIXES):
            others[Path(source).suffix.lower() or "without a suffix"] += 1
            continue
        try:
            data = bytes_of(Path(folder), source, min(left, MOST_FILE_BYTES))
            left -= len(data)
            found.pages.extend(pages_of(source, data))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            found.skipped.append(SkippedFile(source, why))
    if others:
        kinds = ", ".join(kind for kind, _ in others.most_common(MOST_KINDS))
        more = ", …" if len(others) > MOST_KINDS else ""
        skipped = SkippedFile(
            f"{others.total()} other files", f"no pages by their names ({kinds}{more})"
        )
        found.skipped.append(skipped)
    return found


def files_below(folder: str) -> list[str]:
    """Return the files below a folder by their paths in it, sorted, without hidden ones."""
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        found += [
            f"{place}/{name}"[len(folder) + 1 :] for name in names if not name.startswith(".")
        ]
    return sorted(found)


def bytes_of(root: Path, source: str, most_bytes: int) -> bytes:
    """Return the content of a file; raise ``OSError`` or ``ValueError`` with the reason if it is not to be read."""
    path = root / source
    if path.is_symlink() or path.resolve() != path:
        raise ValueError("a link")
    size = path.stat().st_size
    if size > MOST_FILE_BYTES:
        raise ValueError(f"larger than {MOST_FILE_BYTES // MEGABYTE} MiB ({size / MEGABYTE:.1f})")
    if size > most_bytes:
        raise ValueError(
            f"the pages before it have {MOST_FOLDER_BYTES // MEGABYTE} MiB, the most of a folder"
        )
    return read_regular(path, most_bytes=most_bytes)


def pages_of(source: str, data: bytes) -> Iterator[Page]:
    """Yield the pages of a file: one, or one for each item of a JSON list."""
    text = decoded(data)
    if text is None:
        raise ValueError("binary, or in an encoding that was not recognised")
    text = text_of_html(text) if source.lower().endswith(HTML) else text
    return entries_in(source, without_secrets(text))


def entries_in(source: str, text: str) -> Iterator[Page]:
    """Yield the pages of a text that was read from a file."""
    name = source.rpartition("/")[2].rpartition(".")[0].replace("-", " ").replace("_", " ")
    if source.lower().endswith(".json"):
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            logger.warning("%r is no valid JSON, so it is read as text: %s", source, error)
            yield Page(source, name, text)
            return
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        for at, item in enumerate(items, 1):
            title, body = item_of(item, name)
            numbered = f"{source}#{at}" if len(items) > 1 else source
            yield Page(numbered, title, body, is_untitled=title == name)
        return
    yield Page(source, name, text)


def item_of(value: object, title: str) -> tuple[str, str]:
    """Return the title and text of a JSON value."""
    if not isinstance(value, dict):
        return title, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    known = {str(key).lower(): each for key, each in cast("dict[object, object]", value).items()}
    titles = [str(known[key]) for key in TITLE_KEYS if key in known]
    texts = [str(known[key]) for key in TEXT_KEYS if key in known]
    return (titles or [title])[0], (texts or [json.dumps(value, ensure_ascii=False)])[0]
