"""Which languages are read, by the ends of file names.

Promise: data only. A language without a grammar here is read by its words and its indentation.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

Family = Literal["python", "script", "c"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a language is read.

    Attributes:
        family: how comments, strings and imports are written.
        grammar: the module of its grammar and the function that gives it.
    """

    family: Family
    grammar: tuple[str, str] | None = None

    @property
    def key(self) -> str:
        """Equal for languages that are read alike."""
        return "-".join((self.family, *(self.grammar or ())))

    def without_grammar(self) -> "Language":
        """The same, read by its words."""
        return Language(family=self.family)


PYTHON = Language(family="python", grammar=("python", "language"))
TYPESCRIPT = Language(family="script", grammar=("typescript", "language_typescript"))
TSX = Language(family="script", grammar=("typescript", "language_tsx"))
JAVASCRIPT = Language(family="script", grammar=("javascript", "language"))
CPP = Language(family="c", grammar=("cpp", "language"))
BRACED = Language(family="c")
LANGUAGES = {
    **dict.fromkeys((".py", ".pyi"), PYTHON),
    **dict.fromkeys((".ts", ".mts", ".cts"), TYPESCRIPT),
    ".tsx": TSX,
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), JAVASCRIPT),
    ".go": Language(family="c", grammar=("go", "language")),
    ".rs": Language(family="c", grammar=("rust", "language")),
    ".java": Language(family="c", grammar=("java", "language")),
    ".cs": Language(family="c", grammar=("c_sharp", "language")),
    **dict.fromkeys((".c", ".h"), Language(family="c", grammar=("c", "language"))),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh"), CPP),
    **dict.fromkeys((".kt", ".swift", ".scala", ".dart", ".php"), BRACED),
    ".rb": Language(family="python"),
}


def language_by_name(name: str) -> Language | None:
    """The language of a file; ``None`` where it is not source text of one that is read."""
    return LANGUAGES.get(PurePosixPath(name).suffix.lower())
