"""What a source file defines, and what it refers to.

Promise: pure; the same text gives the same symbols; broken code, parts of files and any other text go, in time in
proportion to it. Definitions are told by the grammar of the language where it is installed (extra ``code``), by words
and indentation otherwise; references by the words of the code, comments and strings left out. Where a language says what
it takes from elsewhere (Python, JavaScript, TypeScript), a bare name counts only if it was imported, so that a local
variable is no use of a function of the same name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from autogen_context.compressor.arrival.outline import (
    Grammar,
    Span,
    holders,
    outline,
    spans_by_grammar,
)

Family = Literal["python", "script", "c"]  # how comments, strings and imports are written

HEAD_CHARS = 120  # of a definition's head
HEAD_LINES = 12
MOST_DEFINITIONS = 500  # of one file
MOST_REFERENCES = 3_000
LEAST_CHARS, MOST_CHARS = 3, 60  # of a name that is looked for elsewhere
VALUE_CHARS = 100  # of a line with a constant

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
    r"#define[ \t]+(?P<defined>\w+)"
    r"|(?:export[ \t]+)?(?:pub[ \t]+)?(?:const|static)[ \t]+(?P<worded>[A-Za-z_]\w*)[ \t]*[:=\s]"
    r"|(?P<plain>[A-Z]\w*)[ \t]*(?::[^=\n]{1,80})?=(?!=)"
)
TYPE = re.compile(
    r"(?:export[ \t]+|pub(?:\([^)]*\))?[ \t]+|declare[ \t]+)*type[ \t]+(?P<name>[A-Za-z_]\w*)"
)
IMPORTED = re.compile(r"=\s*(?:await\s+)?(?:require|import|__importDefault)\s*\(")
REMARK = re.compile(
    r"\s*(?:#|//|/\*|\*|[rR]?\"\"\"|[rR]?''')"
)  # before the body, no part of a head
TRAILING = re.compile(r"\s+#(?: type: | noqa| pragma).*")
OPENERS = ("(", "[", "{", '"""', "'''", ",", "=", "\\")

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
WORD = re.compile(NAME)
MEMBER = re.compile(rf"\.\s*({NAME})")
MEMBER_OF_C = re.compile(rf"(?:\.|->|::)\s*({NAME})")  # an arrow in Python is of a type
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a language is read; one without a grammar by its words and its indentation."""

    family: Family
    grammar: Grammar | None = None


TYPESCRIPT = Language(family="script", grammar=("typescript", "language_typescript"))
JAVASCRIPT = Language(family="script", grammar=("javascript", "language"))
CPP = Language(family="c", grammar=("cpp", "language"))
LANGUAGES = {
    **dict.fromkeys((".py", ".pyi"), Language(family="python", grammar=("python", "language"))),
    **dict.fromkeys((".ts", ".mts", ".cts"), TYPESCRIPT),
    ".tsx": Language(family="script", grammar=("typescript", "language_tsx")),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), JAVASCRIPT),
    ".go": Language(family="c", grammar=("go", "language")),
    ".rs": Language(family="c", grammar=("rust", "language")),
    ".java": Language(family="c", grammar=("java", "language")),
    ".cs": Language(family="c", grammar=("c_sharp", "language")),
    **dict.fromkeys((".c", ".h"), Language(family="c", grammar=("c", "language"))),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh"), CPP),
    **dict.fromkeys((".kt", ".swift", ".scala", ".dart", ".php"), Language(family="c")),
    ".rb": Language(family="python"),
}


def language_by_name(name: str) -> Language | None:
    """The language of a file; ``None`` where it is not source text of one that is read."""
    return LANGUAGES.get(PurePosixPath(name).suffix.lower())


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

    @property
    def line(self) -> str:
        """It as a line below its file."""
        return "  " * self.depth + self.head


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """What is known of a source file.

    Attributes:
        definitions: in the order of the file; one that lies in another follows it.
        references: names that the file uses, sorted: ``name`` alone, ``.name`` of something, ``module:name`` imported.
    """

    definitions: tuple[Definition, ...] = ()
    references: tuple[str, ...] = ()


def symbols_of(text: str, language: Language) -> Symbols:
    """What a text, of a source file in a language, defines and refers to."""
    lines = text.split("\n")
    grammar = language.grammar
    spans = spans_by_grammar(text, grammar, broken_too=True) if grammar else []
    spans = spans or outline(lines)
    found = [*definitions_in(lines, spans), *definitions_outside(lines, spans)]
    found.sort(key=lambda row: row[0])
    return Symbols(
        definitions=tuple(definition for _, definition in found[:MOST_DEFINITIONS]),
        references=references_in(text, language.family),
    )


def definitions_in(lines: Sequence[str], spans: Sequence[Span]) -> Iterator[tuple[int, Definition]]:
    """The definitions with a body, but for those that only a function knows, and their lines."""
    around: list[tuple[int, bool]] = []  # where each ends, and whether others see what is in it
    for span in spans:
        while around and around[-1][0] <= span.start:
            around.pop()
        seen = all(opens for _, opens in around)
        stop = min(max(span.body, span.start + 1), span.start + HEAD_LINES)
        head = head_of(lines[span.start : stop])
        name = name_in(head)
        around.append((span.end, bool(name) and CONTAINER.match(head) is not None))
        if seen and name:
            yield span.start, Definition(name=name, head=head, depth=len(around) - 1)


def definitions_outside(
    lines: Sequence[str], spans: Sequence[Span]
) -> Iterator[tuple[int, Definition]]:
    """Constants and types at the margin, outside of what has a body, and their lines; long values are left out."""
    for at, (line, holder) in enumerate(zip(lines, holders(spans, len(lines)), strict=True)):
        if holder is not None or not line[:1].strip() or IMPORTED.search(line):
            continue
        found = TYPE.match(line) or CONSTANT.match(line)
        name = found.group(found.lastgroup) if found and found.lastgroup else ""
        value = line.rstrip()
        if value.endswith(OPENERS) or len(value) > VALUE_CHARS:
            value = value.partition(" =")[0]
        if len(name) >= LEAST_CHARS:
            yield at, Definition(name=name, head=head_of([value]))


def head_of(lines: Sequence[str]) -> str:
    """The head of a definition on one line, without what opens its body."""
    bare = [lines[0], *(line for line in lines[1:] if not REMARK.match(line))]
    text = " ".join(TRAILING.sub("", " ".join(bare)).split())
    text = text.replace("( ", "(").replace(", )", ")")
    text = text.removesuffix("{").rstrip().removesuffix("=>").rstrip().removesuffix(":")
    return text if len(text) <= HEAD_CHARS else f"{text[:HEAD_CHARS]}…"


def name_in(head: str) -> str:
    """The name that a head defines; empty where it defines none."""
    return next((found[1] for pattern in NAMES if (found := pattern.match(head))), "")


def references_in(text: str, family: Family) -> tuple[str, ...]:
    """The names that a text uses, sorted, each once."""
    code = SILENT[family].sub(" ", text)
    member = MEMBER_OF_C if family == "c" else MEMBER
    spoken = FROM.sub(" ", code) if family == "python" else code
    found = {f".{name}" for name in member.findall(spoken) if is_telling(name)}
    if family == "python":
        found |= set(python_imports(code))
    elif family == "script":
        found |= set(script_imports(text))
    else:
        found |= {name for name in BARE.findall(code) if is_telling(name)}
    return tuple(sorted(found)[:MOST_REFERENCES])


def is_telling(name: str) -> bool:
    """Whether a name is long enough to be looked for, and no data."""
    return LEAST_CHARS <= len(name) <= MOST_CHARS


def python_imports(code: str) -> Iterator[str]:
    """What is imported by Python, each name with the last word of its module."""
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
    """What is imported by JavaScript and TypeScript, each name with the last word of its module."""
    for clause, source, required, source_required in SCRIPT_IMPORT.findall(text):
        path = SCRIPT_END.sub("", source or source_required)
        hint = path.rpartition("/")[2]
        for part in (clause or required).replace(":", " as ").split(","):
            if "*" in part:
                yield f":{hint}"
            names = WORD.findall(part.partition(" as ")[0])
            yield from (f"{hint}:{name}" for name in names if name not in SCRIPT_WORDS)
