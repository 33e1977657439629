"""The sentences of a person's text, and which of them are the person's own: not quoted, pasted, code or a log.

Promise: linear time; of a long text its ends are read. Code, quotations, documents in tags, mails and what is announced as somebody
else's keep their place and count as quoted.
"""

import re
from collections.abc import Iterator

from autogen_context.language.phrases import phrases
from autogen_context.text.sentence import Stop, stops_in
from autogen_context.text.work import STATEMENT_CHARS

LEAST_CHARS, MOST_CHARS = 3, 400  # of a sentence; longer ones are pasted text
ANNOUNCED_CHARS = 80  # before a colon, searched for a speaker ("she wrote:")
MOST_LOOKED_AT = 400  # characters of a line that are searched for colons
BREAKS = r"\n\s*|;(?=\s)"  # that end a sentence besides its signs
SPOKEN = re.compile(
    r"\"[^\"\n]{1,300}\"|\u201c[^\u201d\n]{1,300}\u201d|\u00ab[^\u00bb\n]{1,300}\u00bb"
)
BULLET = re.compile(r"\s*(?:[-*\u2022\u2013]|\d{1,2}[.)])\s+(?:\[[ x]\]\s+)?")
QUESTION = re.compile(r"[?\uff1f\u061f\u037e]")
QUOTING = ("```", "~~~", ">", "    ", "\t")  # every match of QUOTED contains one of these
QUOTED = re.compile(
    r"^[ \t]*(?:(?P<fence>`{3,}|~{3,}).*?(?:^[ \t]*(?P=fence)(?P<closed>)|\Z)|(?:>|(?:    |\t)(?![ \t]*(?:[-*•]|\d+[.)]) )).*?$)",
    re.DOTALL | re.MULTILINE,
)
DOCUMENT = re.compile(  # opening tag of pasted material
    r"^[ \t]*<(?P<tag>documents?|document_contents?|web_?page|page|article|e-?mail|mail|file|attachment|source|quote|blockquote|snippet"
    r"|transcript|search_results?|results?|tool_\w{1,20}|function_\w{1,20}|output|stdout|stderr|logs?|html|xml|data)\b[^<>\n]{0,200}>",
    re.MULTILINE | re.IGNORECASE,
)
MAIL = re.compile(  # from the header lines to the end
    r"^(?=(?:[A-Z][\w-]{1,20}: [^\n]*\n){0,6}Subject: )(?:(?:From|To|Cc|Subject|Date|Sent|Reply-To): [^\n]*\n){2,}.*",
    re.DOTALL | re.MULTILINE,
)
CODE_LINE = re.compile(  # code, markup, logs, diffs, prompts, data
    r"[ \t]*(?:#{1,6} |\*\*[^*]+\*\*:?[ \t]*$|def |class \w+[(:]|import \w|from [\w.]+ import|return\b|at [\w.$]+\(|Traceback |File \"|\$ |#!|#include|</?\w"
    r"|\+\+\+ |--- |@@ |\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b"
    r"|[\[{][\"'{\[]|\||[^,\n]*(?:\d,[A-Za-z]|[A-Za-z],\d))"
    r"|.*(?:[{};][ \t]*$|=>|==|&&|\|\||\(\) ?\{|<[a-z!/][^<>\n]*>)"
)


def all_sentences(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where the sentences of a person's text start and stop, and whether each is quoted; of a long text those of its ends."""
    most = STATEMENT_CHARS
    parts = [(text, 0)]
    if len(text) > 2 * most:
        parts = [(text[:most], 0), (text[-most:], len(text) - most)]
    for part, begins in parts:
        plain = unquoted(part)
        for start, _, stop, _ in sentences(part, questions=True):
            yield begins + start, begins + stop, plain[start] == "\n"


def sentences(text: str, *, questions: bool = False) -> Iterator[tuple[int, int, int, bool]]:
    """Yield start, end without and with the full stop, and ``is_list_item`` of each sentence that may state something."""
    quotations = [match.span() for match in SPOKEN.finditer(text)]
    start, at, size = 0, 0, len(text)
    for stop, end, following, sign in (*stops_in(text, BREAKS), Stop(size, size, size, "")):
        while at < len(quotations) and quotations[at][1] <= stop:
            at += 1
        if sign and at < len(quotations) and quotations[at][0] < stop:
            continue
        bullet = BULLET.match(text, start, stop)
        left = text[bullet.end() if bullet else start : stop]
        begin = stop - len(left.lstrip(" \t\n*_"))
        last = begin + len(text[begin:stop].rstrip(" \t\n*_,"))
        if LEAST_CHARS <= last - begin <= MOST_CHARS and (questions or not QUESTION.search(sign)):
            yield begin, last, stop if sign[:1] == "\n" else end, bullet is not None
        start = following


def unquoted(text: str) -> str:
    """Replace quotations, pasted material, code and logs by newlines, keeping the length of the text."""
    if "</" in text:
        text = without_documents(text)
    if "Subject: " in text:
        text = MAIL.sub(lambda match: "\n" * len(match.group()), text)
    if any(map(text.__contains__, QUOTING)):
        text = without_quotations(text)
    lines = text.split("\n")
    for at, line in enumerate(lines):
        end = said_up_to(line) if line else 0
        if end is None:
            lines[at:] = ["\n" * len(each) for each in lines[at:]]
            break
        lines[at] = line[:end] + "\n" * (len(line) - end)
    return "\n".join(lines)


def without_quotations(text: str) -> str:
    """Replace quoted lines and code by newlines; if a fence is left open, all from the first one on: one inside a paste opens the rest."""
    found = list(QUOTED.finditer(text))
    fences = [each for each in found if each["fence"]]
    if fences and fences[-1]["closed"] is None:
        start = fences[0].start()
        text = text[:start] + "\n" * (len(text) - start)
    return QUOTED.sub(lambda match: "\n" * len(match.group()), text)


def is_quoted(text: str, place: int) -> bool:
    """Return True if a position of a person's text is inside a quotation or pasted material, or far inside a long text."""
    most = 2 * STATEMENT_CHARS
    return place >= most or unquoted(text[:most])[place] == "\n"


def without_documents(text: str) -> str:
    """Replace tagged documents by newlines, up to the last closing tag, since their content may contain any tag."""
    lower, parts, at = text.lower() if len(text.lower()) == len(text) else text, list[str](), 0
    ends: dict[str, int] = {}
    for opened in DOCUMENT.finditer(text):
        tag = f"</{opened['tag'].lower()}>"
        end = ends.setdefault(tag, lower.rfind(tag)) + len(tag)
        if opened.start() >= at and end > opened.end():
            parts += text[at : opened.start()], "\n" * (end - opened.start())
            at = end
    return "".join([*parts, text[at:]])


def said_up_to(line: str) -> int | None:
    """Return where the author's own words end in a line; ``None`` if this line and all later ones are somebody else's."""
    if CODE_LINE.match(line):
        return 0
    colon = line.find(":")
    while colon >= 0:
        ends = not line[colon + 1 :].strip()
        near = line[max(0, colon - ANNOUNCED_CHARS) : colon]
        found = phrases("ledger").find(near)
        if any(each.label == "reported_speech" and not near[each.stop :].strip() for each in found):
            return None if ends else colon
        if ends and any(each.label in {"reported_speech", "material"} for each in found):
            return None
        colon = line.find(":", colon + 1) if colon < MOST_LOOKED_AT else -1
    return len(line)
