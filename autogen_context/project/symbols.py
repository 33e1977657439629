"""Extract the definitions of a source file, by grammar (extra ``code``) or by keywords and indentation, and its references.

In languages with explicit imports (Python, JavaScript, TypeScript), a bare name counts as a reference only if imported.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from posixpath import splitext
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from autogen_context.compressor.code import LineSpan, holders, nested, outline

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Language as TreeSitterLanguage
    from tree_sitter import Query

Family = Literal["python", "script", "c"]  # how comments, strings and imports are written
Grammar = tuple[str, str]  # the module of a grammar, and its function

HEAD_CHARS = 120  # length limit of a definition's head
HEAD_LINES = 12
MOST_DEFINITIONS = 500  # of one file
MOST_REFERENCES = 3_000
LEAST_CHARS, MOST_CHARS = 3, 60  # of a referenced name
LONGEST_CHARS = 100_000  # invalid code costs a parser up to 4 microseconds per character
DEEPEST = 12  # syntax nodes around a definition

CONTAINERS = (
    "class|interface|enum|namespace|struct|trait|impl|mod|module|record|object|protocol|extension"
)
DEFINITION = re.compile(
    r"function|method|class|interface|impl|trait|struct|enum|namespace|module|constructor|record"
)
CONTAINER = re.compile(rf"(?:[\w()]+[ \t]+)*(?:{CONTAINERS})\b")
WORDS = CONTAINERS.replace("impl|", "") + r"|def|function\*?|fn|func|fun|type"
NAMES = tuple(
    re.compile(pattern)
    for pattern in (
        r"func\s*\([^)]*\)\s*(\w+)",  # Go method
        rf"(?:[\w()]+\s+)*?(?:{WORDS})\s+([A-Za-z_$][\w$]*)",
        r"impl\b(?:<[^>]*>)?\s+(?:[\w:<>', ]+\s+for\s+)?(\w+)",
        r"(?:export\s+)?(?:default\s+)?(?:const|let|var)\s+([\w$]+)",
        r"(?!(?:test|it|describe|expect|if|for|while|switch|return)\b)(?:[\w<>\[\],.&*:?@]+\s+)*[*&]*(?:\w+::)?([A-Za-z_~$][\w$]*)\s*\(",
    )
)
TYPE = re.compile(r"(?:(?:export|pub|declare)[ \t]+)*type[ \t]+([A-Za-z_]\w*)")  # unindented
REMARK = re.compile(
    r"\s*(?:#|//|/\*|\*|[rR]?\"\"\"|[rR]?''')"
)  # a comment or docstring before the body, not part of a head
TRAILING = re.compile(r"\s+#(?: type: | noqa| pragma).*")

LONG_STRINGS = r'"""[\s\S]*?(?:"""|\Z)|' + r"'''[\s\S]*?(?:'''|\Z)"
DOUBLE = r'"(?:\\.|[^"\\\n])*"'
SINGLE = r"'(?:\\.|[^'\\\n])*'"
BLOCKS = r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
SILENT: dict[Family, re.Pattern[str]] = {
    "python": re.compile(rf"#[^\n]*|{LONG_STRINGS}|{DOUBLE}|{SINGLE}"),
    "script": re.compile(rf"{BLOCKS}|{DOUBLE}|{SINGLE}|`(?:\\.|[^`\\])*`"),
    "c": re.compile(rf"{BLOCKS}|{DOUBLE}|'(?:\\.|[^'\\\n])'"),  # 'a is a lifetime in Rust
}
NAME = r"[A-Za-z_$][\w$]*"
MEMBER = re.compile(rf"\.\s*({NAME})")
MEMBER_OF_C = re.compile(rf"(?:\.|->|::)\s*({NAME})")  # in Python an arrow precedes a type
BARE = re.compile(rf"(?<![\w.$])(?<!->)(?<!::)({NAME})")
FROM = re.compile(
    r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|^[ \t]*import[ \t]+([\w.]+)",
    re.MULTILINE,
)
SCRIPT_IMPORT = re.compile(
    r"\b(?:import|export)\b([^;'\"()]{0,2000}?)\bfrom\s*['\"]([^'\"\n]+)['\"]"
    r"|\b(?:const|let|var)\s*([^=;]{1,500})=\s*require\(\s*['\"]([^'\"\n]+)['\"]"
)
SCRIPT_WORDS = frozenset({"type", "default", "import", "export"})
SCRIPT_END = re.compile(r"\.[cm]?[jt]sx?$")


class Language(NamedTuple):
    """How a language is read; without a grammar, by keywords and indentation."""

    family: Family
    grammar: Grammar | None = None


LANGUAGES: dict[str, Language] = {
    **dict.fromkeys((".py", ".pyi"), Language("python", ("python", "language"))),
    **dict.fromkeys(
        (".ts", ".mts", ".cts"), Language("script", ("typescript", "language_typescript"))
    ),
    ".tsx": Language("script", ("typescript", "language_tsx")),
    **dict.fromkeys(
        (".js", ".jsx", ".mjs", ".cjs"), Language("script", ("javascript", "language"))
    ),
    ".go": Language("c", ("go", "language")),
    ".rs": Language("c", ("rust", "language")),
    ".java": Language("c", ("java", "language")),
    ".cs": Language("c", ("c_sharp", "language")),
    **dict.fromkeys((".c", ".h"), Language("c", ("c", "language"))),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh"), Language("c", ("cpp", "language"))),
    **dict.fromkeys((".kt", ".swift", ".scala", ".dart", ".php"), Language("c")),
    ".rb": Language("python"),
}


def language_by_name(name: str) -> Language | None:
    """Return the language of a file, or ``None`` if it is not source code in a supported language."""
    return LANGUAGES.get(splitext(name)[1].lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A definition in a file: its name, its head (the lines up to the body, joined), and its nesting depth."""

    name: str
    head: str
    depth: int = 0

    @property
    def line(self) -> str:
        """The head, indented by depth."""
        return "  " * self.depth + self.head


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """Definitions and references of a source file; a reference is a bare ``name``, a ``.member`` or an imported ``module:name``."""

    definitions: tuple[Definition, ...] = ()
    references: tuple[str, ...] = ()


def symbols_of(text: str, language: Language) -> Symbols:
    """Return the definitions and references of a source text."""
    lines = text.split("\n")
    grammar = language.grammar
    spans = spans_by_grammar(text, grammar) if grammar else []
    spans = spans or outline(lines)
    found = list(definitions_in(lines, spans))
    for at, (line, holder) in enumerate(zip(lines, holders(spans, len(lines)), strict=True)):
        if holder is None and (named := TYPE.match(line)):
            found.append((at, Definition(name=named[1], head=head_of([line]))))
    found.sort(key=lambda row: row[0])
    return Symbols(
        definitions=tuple(definition for _, definition in found[:MOST_DEFINITIONS]),
        references=references_in(text, language.family),
    )


def spans_by_grammar(text: str, grammar: Grammar) -> list[LineSpan]:
    """Return the spans of definitions, by grammar; none if it is not installed or the text is too long."""
    if len(text) > LONGEST_CHARS:
        return []
    try:
        from tree_sitter import Parser, QueryCursor  # noqa: PLC0415 - an extra

        language, query = language_of(*grammar)
    except ImportError:
        return []
    root = Parser(language).parse(text.encode(errors="replace")).root_node
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(DEEPEST)  # invalid code can nest without limit, at quadratic cost
    rows: list[tuple[int, int, int]] = []
    for _, match in cursor.matches(root):
        whole, body = match["whole"][0], match["body"][0]
        if DEFINITION.search(whole.type):
            start, end, first = whole.start_point.row, whole.end_point.row + 1, body.start_point.row
            inner = first if first > start and body.type == "block" else first + 1
            rows.append((start, min(inner, end), end))
    return nested(sorted(rows, key=lambda row: (row[0], -row[2])))


@cache
def language_of(name: str, function: str) -> "tuple[TreeSitterLanguage, Query]":
    """Load a language, and the query for its nodes with a body."""
    from tree_sitter import Language, Query  # noqa: PLC0415 - an extra

    module = import_module(f"tree_sitter_{name}")
    make = cast("Callable[[], object]", getattr(module, function))  # each grammar's module has it
    language = Language(make())
    return language, Query(language, "(_ body: (_) @body) @whole")


def definitions_in(
    lines: Sequence[str], spans: Sequence[LineSpan]
) -> Iterator[tuple[int, Definition]]:
    """Yield the definitions with a body and their line numbers, except those local to a function."""
    around: list[tuple[int, bool]] = []  # enclosing: end, and if members are visible
    for span in spans:
        while around and around[-1][0] <= span.start:
            around.pop()
        seen = all(opens for _, opens in around)
        stop = min(max(span.body, span.start + 1), span.start + HEAD_LINES)
        head = head_of(lines[span.start : stop])
        name = next((found[1] for pattern in NAMES if (found := pattern.match(head))), "")
        around.append((span.end, bool(name) and CONTAINER.match(head) is not None))
        if seen and name:
            yield span.start, Definition(name=name, head=head, depth=len(around) - 1)


def head_of(lines: Sequence[str]) -> str:
    """Return the head of a definition on one line, without the token that opens the body."""
    bare = [lines[0], *(line for line in lines[1:] if not REMARK.match(line))]
    text = " ".join(TRAILING.sub("", " ".join(bare)).split())
    text = text.replace("( ", "(").replace(", )", ")")
    text = text.removesuffix("{").rstrip().removesuffix("=>").rstrip().removesuffix(":")
    return text if len(text) <= HEAD_CHARS else f"{text[:HEAD_CHARS]}…"


def references_in(text: str, family: Family) -> tuple[str, ...]:
    """Return the names that a text uses, sorted and unique; comments and strings are ignored."""
    code = SILENT[family].sub(" ", text)
    member = MEMBER_OF_C if family == "c" else MEMBER
    spoken = FROM.sub(" ", code) if family == "python" else code
    found = {
        f".{name}" for name in member.findall(spoken) if LEAST_CHARS <= len(name) <= MOST_CHARS
    }
    if family == "python":
        found |= set(python_imports(code))
    elif family == "script":
        found |= set(script_imports(text))
    else:
        found |= {name for name in BARE.findall(code) if LEAST_CHARS <= len(name) <= MOST_CHARS}
    return tuple(sorted(found)[:MOST_REFERENCES])


def python_imports(code: str) -> Iterator[str]:
    """Yield the names imported by Python code, each with the last part of its module."""
    for module, names, whole in FROM.findall(code):
        if whole:
            *before, name = whole.split(".")
            yield f"{before[-1] if before else ''}:{name}"
        hint = module.rstrip(".").rpartition(".")[2]
        for clause in names.strip("()\\ ").split(","):
            words = clause.split()
            if words and words[0].isidentifier():
                yield f"{hint}:{words[0]}"


def script_imports(text: str) -> Iterator[str]:
    """Yield the names imported by JavaScript or TypeScript code, each with the last part of its module."""
    for clause, source, required, source_required in SCRIPT_IMPORT.findall(text):
        hint = SCRIPT_END.sub("", source or source_required).rpartition("/")[2]
        for part in (clause or required).replace(":", " as ").split(","):
            if "*" in part:
                yield f":{hint}"
            names = re.findall(NAME, part.partition(" as ")[0])
            yield from (f"{hint}:{name}" for name in names if name not in SCRIPT_WORDS)
