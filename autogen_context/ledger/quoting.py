"""Tell what somebody says from what he quotes.

Promise: quoted, fenced, indented and pasted text, documents between tags, mails, code and log lines have line ends in their
place, so that positions stay those of the given text. Time in proportion to the text.
"""

import re

from autogen_context.language.phrases import phrases

LINE = re.compile(r"[^\n]+")
QUOTED = re.compile(
    r"^[ \t]*(?:```.*?(?:^[ \t]*```|\Z)|~~~.*?(?:^[ \t]*~~~|\Z)|(?:>|(?:    |\t)(?![ \t]*(?:[-*•]|\d+[.)]) )).*?$)",
    re.DOTALL | re.MULTILINE,
)
DOCUMENT = re.compile(  # the tag in front of material
    r"^[ \t]*<(?P<tag>documents?|document_contents?|web_?page|page|article|e-?mail|mail|file|attachment|source|quote|blockquote|snippet"
    r"|transcript|search_results?|results?|tool_\w{1,20}|function_\w{1,20}|output|stdout|stderr|logs?|html|xml|data)\b[^<>\n]{0,200}>",
    re.MULTILINE | re.IGNORECASE,
)
MAIL = re.compile(  # from the lines at its head on
    r"^(?=(?:[A-Z][\w-]{1,20}: [^\n]*\n){0,6}Subject: )(?:(?:From|To|Cc|Subject|Date|Sent|Reply-To): [^\n]*\n){2,}.*",
    re.DOTALL | re.MULTILINE,
)
ANNOUNCED_CHARS = 80  # in front of a colon, that may say whose words follow
MOST_LOOKED_AT = 400  # characters of a line in which colons are looked for
QUOTING = ("```", "~~~", ">", "    ", "\t")  # of which one stands in whatever QUOTED finds
CODE_LINE = re.compile(  # code, markup, logs, diffs, prompts, data
    r"[ \t]*(?:#{1,6} |\*\*[^*]+\*\*:?[ \t]*$|def |class \w+[(:]|import \w|from [\w.]+ import|return\b|at [\w.$]+\(|Traceback |File \"|\$ |#!|#include|</?\w"
    r"|\+\+\+ |--- |@@ |\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b"
    r"|[\[{][\"'{\[]|\||[^,\n]*(?:\d,[A-Za-z]|[A-Za-z],\d))"
)
CODE_SIGNS = ("=>", "==", "&&", "||", "(){", "() {")
CODE_ENDS = ("{", "}", ";")
TAG = re.compile(r"<[a-z!/][^<>\n]*>")


def unquoted(text: str) -> str:
    """The text with line ends in place of what is quoted, pasted, code or log; as long as it was."""
    read = unfenced(text)
    parts: list[str] = []
    at = 0
    for match in LINE.finditer(read):
        line = match.group()
        end = said_up_to(line)
        if end is None:
            return "".join([*parts, read[at : match.start()]]).ljust(len(read), "\n")
        if end < len(line):
            parts += read[at : match.start() + end], "\n" * (len(line) - end)
            at = match.end()
    return "".join([*parts, read[at:]]) if at else read


def is_quoted(text: str, place: int) -> bool:
    """Whether a place of what a person says is within what somebody else said."""
    return unquoted(text)[place] == "\n"


def unfenced(text: str) -> str:
    """The text with line ends in place of quoted, fenced and indented lines, of documents and mails."""
    if "</" in text:
        text = without_documents(text)
    if "Subject: " in text:
        text = MAIL.sub(blank, text)
    return QUOTED.sub(blank, text) if any(map(text.__contains__, QUOTING)) else text


def without_documents(text: str) -> str:
    """The text with line ends in place of what stands between tags; up to the last of its ends, since it may hold any."""
    lower, parts, at = text.lower() if len(text.lower()) == len(text) else text, list[str](), 0
    ends: dict[str, int] = {}
    for opened in DOCUMENT.finditer(text):
        tag = f"</{opened['tag'].lower()}>"
        end = ends.setdefault(tag, lower.rfind(tag)) + len(tag)
        if opened.start() >= at and end > opened.end():
            parts += text[at : opened.start()], "\n" * (end - opened.start())
            at = end
    return "".join([*parts, text[at:]]) if at else text


def said_up_to(line: str) -> int | None:
    """Where a line ends to be its author's words; ``None`` where nothing behind it is."""
    if is_code(line):
        return 0
    colon = line.find(":")
    while colon >= 0:
        ends = not line[colon + 1 :].strip()
        near = line[max(0, colon - ANNOUNCED_CHARS) : colon]
        found = phrases("ledger").find(near)
        if any(each.label == "told" and not near[each.stop :].strip() for each in found):
            return None if ends else colon
        if ends and any(each.label in {"told", "material"} for each in found):
            return None
        colon = line.find(":", colon + 1) if colon < MOST_LOOKED_AT else -1
    return len(line)


def is_code(line: str) -> bool:
    """Whether a line is code, markup, a log, data."""
    return (
        CODE_LINE.match(line) is not None
        or line.rstrip(" \t").endswith(CODE_ENDS)
        or any(map(line.__contains__, CODE_SIGNS))
        or ("<" in line and TAG.search(line) is not None)
    )


def blank(match: re.Match[str]) -> str:
    """As many line ends as there were characters."""
    return "\n" * len(match.group())
