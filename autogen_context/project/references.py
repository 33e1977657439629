"""What a source text refers to, by the words of its code.

Promise: pure; time in proportion to the text. Comments and strings refer to nothing. Where a language says what it takes
from elsewhere (Python, JavaScript, TypeScript), a bare name counts only if it was imported, so that a local variable is
no use of a function of the same name.
"""

import re
from collections.abc import Iterator
from sys import intern

from autogen_context.project.language import Family

MOST_REFERENCES = 3_000  # of one file
LEAST_CHARS, MOST_CHARS = 3, 60  # of a name

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
WORD = re.compile(NAME)
SCRIPT_WORDS = frozenset({"type", "default", "import", "export"})
SCRIPT_END = re.compile(r"\.[cm]?[jt]sx?$")


def references_in(text: str, family: Family) -> tuple[str, ...]:
    """The names that a text uses.

    Args:
        text: of a source file.
        family: how its language writes comments, strings and imports.

    Returns:
        Sorted, each once: ``name`` alone, ``.name`` of something, ``module:name`` imported from a module.
    """
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
    return tuple(map(intern, sorted(found)[:MOST_REFERENCES]))


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
