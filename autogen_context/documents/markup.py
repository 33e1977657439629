"""The text of an HTML page as plain text, with headings, items and code marked as in Markdown.

Promise: every visible character is there, in order; scripts and styles are not. What defines a term is indented below it. No page
makes this raise; linear time.
"""

from html.parser import HTMLParser

from typing_extensions import override

HIDDEN = frozenset({"script", "style", "head", "template", "svg", "noscript"})
HEADINGS = {f"h{level}": level for level in range(1, 7)}
PARAGRAPHS = frozenset(
    {
        *("blockquote", "dd", "div", "dl", "dt", "ol", "p", "pre", "section", "table", "ul"),
        *HEADINGS,
    }
)
BREAKS = PARAGRAPHS | {
    *(
        "address",
        "article",
        "aside",
        "body",
        "br",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
    ),
    *("header", "hr", "li", "main", "nav", "tbody", "tfoot", "thead", "tr"),
}
CELLS = frozenset({"td", "th"})
INDENT = 4  # characters for each list of definitions that a line stands in
MOST_DEPTH = 8  # of these; more is a damaged page


class _Reader(HTMLParser):
    """Collects lines."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._line: list[str] = []
        self._prefix = ""
        self._hidden: list[str] = []
        self._defines: list[bool] = []  # of each open list of definitions: in a definition
        self._verbatim = 0

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin what a tag begins."""
        if tag in HIDDEN:
            self._hidden.append(tag)
        if tag in BREAKS:
            self.end_line(is_paragraph=tag in PARAGRAPHS)
        if tag in HEADINGS:
            self._prefix = "#" * HEADINGS[tag] + " "
        elif tag == "li":
            self._prefix = "- "
        elif tag == "dl":
            self._defines.append(False)
        elif tag in {"dd", "dt"} and self._defines:
            self._defines[-1] = tag == "dd"
        elif tag == "pre":
            self._verbatim += 1
        elif tag in CELLS and self._line:
            self._line.append(" | ")

    @override
    def handle_endtag(self, tag: str) -> None:
        """End what a tag ends."""
        if tag in HIDDEN and tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        if tag in BREAKS:
            self.end_line(is_paragraph=tag in PARAGRAPHS)
        if tag == "dl" and self._defines:
            self._defines.pop()
        elif tag == "dd" and self._defines:
            self._defines[-1] = False
        elif tag == "pre":
            self._verbatim = max(0, self._verbatim - 1)

    @override
    def handle_data(self, data: str) -> None:
        """Add a text."""
        if self._hidden:
            return
        if not self._verbatim:
            self._line.append(data)
            return
        first, *rest = data.split("\n")
        self._line.append(first)
        for line in rest:
            self.end_line()
            self._line.append(line)

    def end_line(self, *, is_paragraph: bool = False) -> None:
        """End the line that is under way, and with ``is_paragraph`` leave a blank one."""
        text = "".join(self._line)
        text = text.rstrip() if self._verbatim else " ".join(text.split())
        self._line = []
        if text:
            indent = (
                0 if self._prefix.startswith("#") else INDENT * min(sum(self._defines), MOST_DEPTH)
            )
            code = INDENT if self._verbatim else 0
            self.lines.append(" " * (indent + code) + self._prefix + text)
            self._prefix = ""
        elif self._verbatim and not is_paragraph:
            self.lines.append("")
        if is_paragraph and self.lines and self.lines[-1]:
            self.lines.append("")


def text_of_html(page: str) -> str:
    """Return the text of an HTML page."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    reader.end_line()
    return "\n".join(reader.lines)
