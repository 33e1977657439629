"""What a source file defines, and what it refers to.

Promise: pure; the same text gives the same symbols; broken code, parts of files and any other text go, in time in
proportion to it. Definitions are told by the grammar of the language where it is installed (extra ``code``), by words
and indentation otherwise; references by the words of the code, comments and strings left out.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import intern

from autogen_context.compressor.arrival.grammar import DEEPEST, LONGEST_CHARS, language_of, nested
from autogen_context.compressor.arrival.outline import Span, holders, outline
from autogen_context.project.language import Language
from autogen_context.project.references import references_in

HEAD_CHARS = 120  # of a definition's head
MOST_DEFINITIONS = 500  # of one file
HEAD_LINES = 12

CONTAINER = re.compile(
    r"(?:[\w()]+[ \t]+)*(?:class|interface|enum|namespace|struct|trait|impl|mod|module|record|object|protocol|extension)\b"
)
WORDED = (
    r"(?:[\w()]+\s+)*?(?:class|def|function\*?|interface|enum|namespace|fn|struct|trait|mod|func|fun|module|record"
    r"|object|protocol|extension|type)\s+([A-Za-z_$][\w$]*)"
)
NAMES = tuple(
    re.compile(pattern)
    for pattern in (
        r"func\s*\([^)]*\)\s*(\w+)",  # a method of Go
        WORDED,
        r"impl\b(?:<[^>]*>)?\s+(?:[\w:<>', ]+\s+for\s+)?(\w+)",
        r"(?:export\s+)?(?:default\s+)?(?:const|let|var)\s+([\w$]+)",
        r"(?!(?:test|it|describe|expect|if|for|while|switch|return)\b)(?:[\w<>\[\],.&*:?@]+\s+)*[*&]*(?:\w+::)?([A-Za-z_~$][\w$]*)\s*\(",
    )
)
CONSTANT = re.compile(
    r"(?:#define[ \t]+(?P<defined>\w+)"
    r"|(?:export[ \t]+)?(?:pub[ \t]+)?(?:const|static)[ \t]+(?P<worded>[A-Za-z_]\w*)[ \t]*[:=\s]"
    r"|(?P<plain>[A-Z]\w*)[ \t]*(?::[^=\n]{1,80})?=(?!=))"
)
TYPE = re.compile(
    r"(?:export[ \t]+|pub(?:\([^)]*\))?[ \t]+|declare[ \t]+)*type[ \t]+(?P<name>[A-Za-z_]\w*)"
)
IMPORTED = re.compile(r"=\s*(?:await\s+)?(?:require|import|__importDefault)\s*\(")
REMARK = re.compile(
    r"\s*(?:#|//|/\*|\*|[rR]?\"\"\"|[rR]?''')"
)  # before the body, and no part of the head
TRAILING = re.compile(r"\s+#(?: type: | noqa| pragma).*")
OPENERS = ("(", "[", "{", '"""', "'''", ",", "=", "\\")
VALUE_CHARS = 100  # of a line with a constant
LEAST_LETTERS = 3  # of a name that is looked for elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Something that a file defines.

    Attributes:
        name: as it is referred to.
        head: its first lines up to the body, on one line.
        depth: how many others it lies in.
    """

    name: str
    head: str
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """What is known of a source file.

    Attributes:
        definitions: in the order of the file; one that lies in another follows it.
        references: names that the file uses, sorted: ``name`` alone, ``.name`` of something, ``module:name`` imported.
    """

    definitions: tuple[Definition, ...] = ()
    references: tuple[str, ...] = ()

    def to_json(self) -> str:
        """It as text, for a cache."""
        rows = [[each.name, each.head, each.depth] for each in self.definitions]
        return json.dumps([rows, " ".join(self.references)])

    @classmethod
    def from_json(cls, text: str) -> "Symbols":
        """What was written by ``to_json``.

        Raises:
            ValueError: it was not.
        """
        try:
            rows, references = json.loads(text)
            found = [Definition(name=name, head=head, depth=depth) for name, head, depth in rows]
            return cls(definitions=tuple(found), references=tuple(map(intern, references.split())))
        except (TypeError, AttributeError) as error:
            raise ValueError("these are no symbols of a file") from error


def symbols_of(text: str, language: Language) -> Symbols:
    """What a text defines and refers to.

    Args:
        text: of a source file.
        language: in which it is written.
    """
    lines = text.split("\n")
    spans = parsed_spans(text, language) or outline(lines)
    inside = definitions_in(lines, spans)
    found = sorted([*inside, *definitions_outside(lines, spans)], key=lambda row: row[0])
    return Symbols(
        definitions=tuple(definition for _, definition in found[:MOST_DEFINITIONS]),
        references=references_in(text, language.family),
    )


def parsed_spans(text: str, language: Language) -> list[Span]:
    """Where definitions stand by the grammar, which finds its way in broken code too; none where it is not installed."""
    if language.grammar is None or len(text) > LONGEST_CHARS:
        return []
    try:
        from tree_sitter import Parser, QueryCursor  # noqa: PLC0415 - an extra

        grammar, query = language_of(*language.grammar)
    except ImportError:
        return []
    root = Parser(grammar).parse(text.encode(errors="replace")).root_node
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(
        DEEPEST
    )  # broken text is nested without end, and costs the square of it
    found = (match for _, match in cursor.matches(root))
    return nested([(match["whole"][0], match["body"][0]) for match in found])


def definitions_in(lines: Sequence[str], spans: Sequence[Span]) -> Iterator[tuple[int, Definition]]:
    """The definitions with a body, but for those that only a function knows, and their lines."""
    around: list[tuple[int, bool]] = []  # where each ends, and whether others see what is in it
    for span in spans:
        while around and around[-1][0] <= span.start:
            around.pop()
        seen = all(opens for _, opens in around)
        head = head_of(
            lines[span.start : min(max(span.body, span.start + 1), span.start + HEAD_LINES)]
        )
        name = name_in(head)
        around.append((span.end, bool(name) and CONTAINER.match(head) is not None))
        if seen and name:
            yield span.start, Definition(name=intern(name), head=head, depth=len(around) - 1)


def definitions_outside(
    lines: Sequence[str], spans: Sequence[Span]
) -> Iterator[tuple[int, Definition]]:
    """Constants and types at the margin, outside of what has a body, and their lines."""
    for at, (line, holder) in enumerate(zip(lines, holders(spans, len(lines)), strict=True)):
        if holder is not None or not line[:1].strip():
            continue
        found = None if IMPORTED.search(line) else TYPE.match(line) or CONSTANT.match(line)
        name = found.group(found.lastgroup) if found and found.lastgroup else ""
        if len(name) >= LEAST_LETTERS:
            yield at, Definition(name=intern(name), head=head_of([closed(line)]))


def closed(line: str) -> str:
    """A line at the margin; without its value where that goes on in the next line, or is long."""
    value = line.rstrip()
    if value.endswith(OPENERS) or len(value) > VALUE_CHARS:
        return line.partition(" =")[0]
    return line


def head_of(lines: Sequence[str]) -> str:
    """The head of a definition on one line, without what opens its body."""
    first, *others = lines
    bare = [line for line in others if not REMARK.match(line)]
    text = (
        " ".join(TRAILING.sub("", " ".join([first, *bare])).split())
        .replace("( ", "(")
        .replace(", )", ")")
    )
    text = text.removesuffix("{").rstrip().removesuffix("=>").rstrip().removesuffix(":")
    return text if len(text) <= HEAD_CHARS else f"{text[:HEAD_CHARS]}…"


def name_in(head: str) -> str:
    """The name that a head defines; empty where it defines none."""
    for pattern in NAMES:
        found = pattern.match(head)
        if found:
            return found[1]
    return ""
