"""Pages lose blanks between tags only, and are cut to their text."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.compressor.arrival.html import Html
from autogen_context.compressor.arrival.page import lines_of_page
from support.reducing import exact, room_of
from support.structured import assert_cuts, assert_tightens
from support.texts import HOSTILE, TEXTS

REDUCER = Html()

PIECES = st.sampled_from(
    [
        *(
            "<html>",
            "</html>",
            "<body>",
            "<div class='a'>",
            "</div>",
            "<p>",
            "</p>",
            "<pre>",
            "</pre>",
            "<br/>",
        ),
        *(
            "<script>if (a < b) { x(); }</script>",
            "<script>",
            "</script>",
            "<style>p { }</style>",
            "<textarea>",
            "</textarea>",
        ),
        *(
            "<!-- a\n\n   <b> -->",
            "<!--",
            "-->",
            "<![CDATA[ <x>\n  <y> ]]>",
            "<![CDATA[",
            "<!DOCTYPE html>",
            "<?xml version='1.0'?>",
        ),
        *(
            "<a href='/x'>",
            "</a>",
            "<td>",
            "</td>",
            "<tr>",
            "<li>",
            "<h2>",
            "</h2>",
            "<img alt='pic'>",
            "<input name=q>",
        ),
        *(
            "\n",
            "\n    ",
            "  ",
            "text",
            "a  b\n  c",
            "&amp;",
            "&#0;",
            "&#xD800;",
            "&nosuch;",
            "<",
            ">",
            "<a",
            "</",
            '"',
            "\x00",
            "\ud800",
        ),
        *("<pre xml:space='preserve'>", "<PRE>", "</Script >", "<svg><path d='M0 0'/></svg>", "İ"),
    ]
)
PAGES = st.lists(PIECES, max_size=40).map("".join)
ANY = st.one_of(PAGES, TEXTS)
KEPT = re.compile(
    r"<(pre|textarea|script|style)\b.*?(?:(?=</\1)|\Z)|<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)",
    re.DOTALL | re.IGNORECASE,
)


@given(PAGES)
def test_only_blanks_between_tags_go(text: str) -> None:
    """What keeps its blanks is the same to the character, and elsewhere a line's end between two tags stays one."""
    tight = REDUCER.tighten(text)
    assert [m.group() for m in KEPT.finditer(tight)] == [m.group() for m in KEPT.finditer(text)]
    between = re.compile(r">\s*\n\s*<")
    assert between.sub("><", tight).split() == between.sub("><", text).split()
    assert len(between.findall(tight)) == len(between.findall(text))


@given(ANY)
@example("<p>\n  \n  <b>" * 3)
def test_any_text_is_tightened_once(text: str) -> None:
    """Broken or not, it becomes no longer, and is tight then."""
    assert_tightens(REDUCER, text)


@given(ANY)
def test_any_text_is_cut_to_its_room(text: str) -> None:
    """Broken or not, it fits, and has not become larger."""
    assert_cuts(REDUCER, text, "text")


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        pytest.param("<div>" * 60_000, id="deep"),
        pytest.param("<" * 300_000, id="brackets"),
        pytest.param("<!--" * 80_000, id="comments that never end"),
        pytest.param("<pre>" * 60_000, id="elements that never end"),
        pytest.param("<script>" * 40_000, id="scripts that never end"),
        pytest.param("<a " + "a" * 300_000 + ">", id="a long attribute"),
        pytest.param("<a " + "a=" * 150_000 + ">", id="attributes"),
        pytest.param("<a href='" * 40_000, id="quotes that never end"),
        pytest.param(">" + " \n" * 150_000, id="blanks"),
        pytest.param("<p>" + "x" * 1_000_000, id="a line of a megabyte"),
    ],
)
def test_hostile_texts_are_cut(text: str) -> None:
    """Whatever comes, it fits in the end."""
    REDUCER.recognises(text)
    assert_tightens(REDUCER, text)
    lines_of_page(text)
    assert exact(REDUCER.cut(text, room_of(60, "a"))) <= 60


PAGE = """\
<!DOCTYPE html>
<html lang="en">
  <head>
    <title>Prices &amp; terms</title>
    <style>p { color: red }</style>
    <script>var hidden = 1 < 2;</script>
  </head>
  <body>
    <h2>What it
      costs</h2>
    <p>See <a href="/terms?a=1&amp;b=2">the <b>terms</b></a>, or <a href="#top">go up</a>.</p>
    <ul>
      <li>one</li>
      <li>two</li>
    </ul>
    <table>
      <tr><th>Plan</th><th>Price</th></tr>
      <tr><td>Small</td><td>5 &euro;</td></tr>
    </table>
    <pre>
keep   this
  as it is</pre>
    <form><input type="text" name="q" value="x"><img src="a.png" alt="a cat"></form>
    <!-- nobody sees this -->
  </body>
</html>
"""


def test_a_page_is_its_text() -> None:
    """Headings, links with where they lead, lists, rows; no scripts, styles and comments."""
    assert lines_of_page(PAGE) == [
        "# Prices & terms",
        "## What it costs",
        "See the terms (/terms?a=1&b=2), or go up.",
        "- one",
        "- two",
        "Plan | Price",
        "Small | 5 €",
        "keep   this",
        "  as it is",
        "[q=x]a cat",
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("<svg/>a<svg><text>b</text></svg>c", ["ac"], id="drawings"),
        pytest.param("<p>a<!-- b --><![CDATA[ <i>&c ]]>d", ["a <i>&c d"], id="character data"),
        pytest.param("<p>İ<SCRIPT>b</Script>c", ["İc"], id="letters that grow"),
        pytest.param("a<script>b", ["a"], id="a script that never ends"),
        pytest.param("a<a href=' /x '>b</a>c</a>d", ["ab (/x)cd"], id="a link closed twice"),
        pytest.param("<li></li><h1></h1><td></td>", [], id="nothing in it"),
        pytest.param("a &lt;b&gt; &amp;amp; &nbsp;c", ["a <b> &amp; c"], id="entities"),
    ],
)
def test_what_is_seen_of_a_page(text: str, lines: list[str]) -> None:
    """What hides is gone, what is escaped is not."""
    assert lines_of_page(text) == lines


def test_a_document_may_keep_its_blanks() -> None:
    """Where it says so, all of them."""
    text = "<a xml:space='preserve'>\n   <b/>\n   <c/>\n</a>"
    assert REDUCER.tighten(text) == text


def test_a_tight_page_is_the_page() -> None:
    """Indents go, text and preformatted lines stay."""
    tight = REDUCER.tighten(PAGE)
    assert "<ul>\n<li>one</li>\n<li>two</li>\n</ul>" in tight
    assert "keep   this\n  as it is" in tight
    assert "What it\n      costs" in tight
    assert exact(tight) < exact(PAGE)


def test_what_is_wanted_stays() -> None:
    """Headings, the wanted line, the failed one, both ends, and what stands around the page."""
    body = "".join(
        f"<p class='paragraph-of-text'>Paragraph {i} says little.</p>\n" for i in range(400)
    )
    body = body.replace("Paragraph 200 says", "Paragraph 200 failed:").replace(
        "Paragraph 300", "<h3>Refunds</h3>"
    )
    text = f"$ curl -s x\nHTTP/1.1 200 OK\n<html><body>{body}</body></html>\nexit code 7\n"
    assert REDUCER.recognises(text)
    short = REDUCER.cut(text, room_of(200, "77"))
    for part in (
        "$ curl -s x\n",
        "Paragraph 77 ",
        "Paragraph 200 failed",
        "### Refunds",
        "exit code 7",
        " lines …]",
    ):
        assert part in short
    assert "<p" not in short


def test_of_a_document_elements_stay() -> None:
    """Names of elements say what their text is, so they stay with it."""
    items = "".join(
        f"  <item id='{i}'>\n    <price>{i}.50</price>\n    <state>ok</state>\n  </item>\n"
        for i in range(200)
    )
    text = f"<?xml version='1.0'?>\n<orders>\n{items}</orders>\n"
    assert REDUCER.recognises(text)
    short = REDUCER.cut(text, room_of(120, "77.50"))
    assert "<price>77.50</price>" in short
    assert short.startswith("<?xml version='1.0'?>")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(PAGE, True, id="a page"),
        pytest.param(f"  % Total  Speed\n100  42\n{PAGE}", True, id="below what curl says"),
        pytest.param("<div><p>a</p><p>b</p><p>c</p><p>d</p></div>", True, id="a piece"),
        pytest.param(
            "<returncode>0</returncode>\n<output>\nall tests passed, nothing to do\n</output>",
            False,
            id="an output",
        ),
        pytest.param(
            "import React\n\nexport const A = () => <div><p>a</p><p>b</p></div>\n" * 5,
            False,
            id="code",
        ),
        pytest.param("if a < b and c > d:\n    pass\n" * 9, False, id="comparisons"),
        pytest.param("see <https://a.b> and <https://c.d> " * 9, False, id="links"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_what_a_page_is(text: str, told: bool) -> None:  # noqa: FBT001 - a column of the table
    """Told by how it begins, and by many tags."""
    assert REDUCER.recognises(text) is told
