"""What is taken of pages, records of decisions and settings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.project.documents import (
    Document,
    DocumentKind,
    extracts,
    named_by_kind,
    read_document,
)
from support.texts import TEXTS
from support.tree import RECORD

LARGE = 100_000


def said(document: Document, room: int = LARGE) -> list[str]:
    """The lines of a document within a room, in characters."""
    found, _ = extracts([document], room_tokens=room, count=len)
    return list(found.get(document.name, ()))


def document_of(name: str, text: str) -> Document:
    """A page."""
    return read_document("requirements", name, text)


@settings(max_examples=20)
@given(st.lists(TEXTS, max_size=3), st.integers(0, 2_000))
def test_extracts_fit_their_room(texts: list[str], room: int) -> None:
    """With the names of their documents and the ends of all lines."""
    documents = [document_of(f"{n}.md", text) for n, text in enumerate(texts)]
    found, tokens = extracts(documents, room_tokens=room, count=len)
    written = sum(len(line) + 1 for lines in found.values() for line in lines)
    assert written + sum(len(name) + 1 for name in found) <= tokens + 3 * written
    assert tokens <= room


def test_the_top_comes_first_and_a_heading_with_what_it_heads() -> None:
    """The beginning, then the first sentence of each section, then the rest; no badge, no ruler."""
    page = "\n\n".join(
        ["# Top", "[![Build](https://x/y.svg)](https://x)\n\n---", "One. Two. Three. Four."]
        + [f"## Part {n}\n\nFirst of {n}. Second of {n}." for n in range(3)]
    )
    document = document_of("page.md", page)
    assert said(document, 48) == ["# Top", "One.", "Two.", "Three.", "Four."]
    assert said(document, 110)[5:] == [
        "## Part 0",
        "First of 0.",
        "## Part 1",
        "First of 1.",
        "## Part 2",
        "First of 2.",
    ]
    assert "Second of 1." in said(document)


MADR = """---
status: "accepted"
---
# Use Postgres

## Context and Problem Statement

We need a store. It must last.

## Decision Outcome

Chosen option: "Postgres", because it lasts.

### Consequences

* Good, because it lasts.
"""
RECORDS = {
    "nygard": (
        RECORD,
        [
            "1. Prices are whole cents (accepted)",
            "We keep all prices as whole cents.",
            "Nobody divides them.",
        ],
    ),
    "madr": (MADR, ["Use Postgres (accepted)", 'Chosen option: "Postgres", because it lasts.']),
    "bold lead": (
        "# 4. Go\n\n**Decision.** We write Go. It is quick.\n\n**Why.** It is.\n",
        ["4. Go", "We write Go.", "It is quick.", "**Why.** It is."],
    ),
    "superseded": (
        RECORD.replace("Accepted", "Superseded by 7"),
        ["1. Prices are whole cents (superseded by 7)"],
    ),
    "empty": ("", ["x.md"]),
}


@pytest.mark.parametrize(("text", "lines"), RECORDS.values(), ids=RECORDS)
def test_records_of_decisions(text: str, lines: list[str]) -> None:
    """Title and status, then the decision; what no longer holds gives its title alone."""
    assert said(read_document("design", "docs/adr/x.md", text)) == lines


FILES: dict[DocumentKind, tuple[str, str]] = {  # names as they are found, and as they are taken
    "requirements": (
        "docs/zebra.md docs/index.md REQUIREMENTS.md README.md requirements.txt src/README.md",
        "README.md REQUIREMENTS.md docs/index.md docs/zebra.md",
    ),
    "design": (
        "docs/adr/0001-a.md docs/adr/0010-b.md doc/adr/0002-c.md docs/adr/README.md src/x.md",
        "docs/adr/0010-b.md doc/adr/0002-c.md docs/adr/0001-a.md",
    ),
    "memory_patterns": (
        "src/AGENTS.md CLAUDE.md AGENTS.md Makefile docs/development.md",
        "AGENTS.md CLAUDE.md docs/development.md",
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_which_files_are_taken(kind: DocumentKind) -> None:
    """The most telling first, the newest records first; no indexes, no lists of packages."""
    found, taken = FILES[kind]
    assert named_by_kind(found.split())[kind] == tuple(taken.split())
