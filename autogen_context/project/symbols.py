"""Extract the definitions of a source file, by keywords and indentation, and its references.

In languages with explicit imports (Python, JavaScript, TypeScript), a bare name counts as a reference only if imported.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import splitext
from typing import Literal

from autogen_context.compressor.code import LineSpan, holders, outline

Family = Literal["python", "script", "c"]  # how comments, strings and imports are written

HEAD_CHARS = 120  # length limit of a definition's head
HEAD_LINES = 12
MOST_DEFINITIONS = 500  # of one file
MOST_REFERENCES = 3_000  # of one file
LEAST_CHARS, MOST_CHARS = 3, 60  # of a referenced name

CONTAINERS = (
    "class|interface|enum|namespace|struct|trait|impl|mod|module|record|object|protocol|extension"
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
# A comment or docstring before the body, not part of a head.
REMARK = re.compile(r"\s*(?:#|//|/\*|\*(?![\w,*])|[rR]?\"\"\"|[rR]?''')")
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


FAMILIES: dict[str, Family] = {
    **dict.fromkeys((".py", ".pyi", ".rb"), "python"),
    **dict.fromkeys((".ts", ".mts", ".cts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"), "script"),
    **dict.fromkeys((".go", ".rs", ".java", ".cs", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp"), "c"),
    **dict.fromkeys((".hh", ".kt", ".swift", ".scala", ".dart", ".php"), "c"),
}


def family_of(name: str) -> Family | None:
    """Return how a file is read, or ``None`` if it is not source code in a supported language."""
    return FAMILIES.get(splitext(name)[1].lower())


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


def symbols_of(text: str, family: Family) -> Symbols:
    """Return the definitions and references of a source text."""
    # Comments and strings of several lines may quote code; a default in a head is a string of one line.
    silent = SILENT[family]
    lines = silent.sub(lambda found: "\n" * found[0].count("\n") or found[0], text).split("\n")
    spans = outline(lines)
    found = list(definitions_in(lines, spans))
    for at, (line, holder) in enumerate(zip(lines, holders(spans, len(lines)), strict=True)):
        if holder is None and (named := TYPE.match(line)):
            found.append((at, Definition(name=named[1], head=head_of([line]))))
    found.sort(key=lambda row: row[0])
    return Symbols(
        definitions=tuple(definition for _, definition in found[:MOST_DEFINITIONS]),
        references=references_in(text, family),
    )


def definitions_in(
    lines: Sequence[str], spans: Sequence[LineSpan]
) -> Iterator[tuple[int, Definition]]:
    """Yield the definitions with a body and their line numbers, except those local to a function."""
    around: list[tuple[int, bool]] = []  # enclosing: end, and if members are visible
    for span in spans:
        while around and around[-1][0] <= span.start:
            around.pop()
        seen = all(opens for _, opens in around)
        is_longer = lines[span.start].endswith("(")  # than the outline reads
        stop = span.end if is_longer and span.body == span.start + 1 else span.body
        head = head_of(lines[span.start : min(stop, span.start + HEAD_LINES)])
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
    members = member.findall(spoken)
    found = {f".{name}" for name in members if LEAST_CHARS <= len(name) <= MOST_CHARS}
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
