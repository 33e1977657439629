"""A small world of files: they are listed, read, searched and edited, and a package can be tested.

Promise: a tool answers errors as text; nothing but ``replace_text`` changes a file. What is read again without need, and what is
edited a second time, is counted.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from tasks.sources import lines_of_tests
from tasks.task import Tool

MOST_HITS = 5  # of a search that are shown
LINES_AROUND = 2  # shown about an edit


class Files:
    """Files by their paths.

    Args:
        texts: what is in them at the beginning.
        wrong_line: the number of the line by which the tests of a file fail, 0 if they pass.
        random: for what the tests print.

    Attributes:
        texts: what is in them now.
        repeated: files read again though nothing asked for it, and edits of what had been edited.
    """

    def __init__(
        self, texts: Mapping[str, str], wrong_line: Callable[[str, str], int], random: Random
    ) -> None:
        self.texts = dict(texts)
        self.repeated = 0
        self._wrong_line = wrong_line
        self._random = random
        self._read = set[str]()
        self._edited = set[tuple[str, str]]()

    def reopened(self, path: str) -> None:
        """This file may be read once more: something was found in it."""
        self._read.discard(path)

    def tools(self) -> Sequence[Tool]:
        """The tools, which act on these files."""
        return [self.list_files, self.read_file, self.replace_text, self.search, self.run_tests]

    def list_files(self) -> str:
        """List all files."""
        paths = sorted(self.texts)
        return "\n".join([f"{len(paths)} files:", *paths])

    def read_file(self, path: str) -> str:
        """Read a file."""
        if path not in self.texts:
            return f"There is no {path}."
        self.repeated += path in self._read
        self._read.add(path)
        text = self.texts[path]
        return f"{path} ({text.count(chr(10))} lines)\n{text}"

    def replace_text(self, path: str, old: str, new: str) -> str:
        """Replace a text by another, everywhere in a file."""
        text = self.texts.get(path)
        if text is None:
            return f"There is no {path}."
        if not old or old not in text:
            self.repeated += (path, old) in self._edited
            return f"Nothing replaced: {path} does not contain `{old}`."
        self._edited.add((path, old))
        self.texts[path] = text.replace(old, new)
        lines = self.texts[path].split("\n")
        at = next(number for number, line in enumerate(text.split("\n")) if old in line)
        around = lines[max(0, at - LINES_AROUND) : at + LINES_AROUND + 1]
        return "\n".join(
            [f"Replaced {text.count(old)} times in {path}; the first place now reads:", *around]
        )

    def search(self, text: str) -> str:
        """Search all files for a text; shows the first few places."""
        hits = [
            f"{path}:{number}: {line.strip()}"
            for path in sorted(self.texts)
            for number, line in enumerate(self.texts[path].split("\n"), 1)
            if text in line
        ]
        return "\n".join([f"{len(hits)} places, the first {MOST_HITS}:", *hits[:MOST_HITS]])

    def run_tests(self, package: str) -> str:
        """Run the tests of a package."""
        paths = [path for path in sorted(self.texts) if path.startswith(f"packages/{package}/")]
        if not paths:
            return f"There is no package {package}."
        passed = self._random.randrange(9, 17)
        wrong = {path: line for path in paths if (line := self._wrong_line(path, self.texts[path]))}
        for path in wrong:
            self.reopened(path)
        failures = [
            f"FAILED {path}: LookupError, line {line} asks for what no longer exists"
            for path, line in wrong.items()
        ]
        head = f"{package}: {len(wrong)} failed, {passed * len(paths)} passed"
        return "\n".join([*lines_of_tests(self._random, passed), *failures, head])
