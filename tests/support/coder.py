"""An agent that works on files, and whoever else does; a plugin of the suite, for its fixtures."""

import subprocess
from pathlib import Path

import pytest

from autogen_context import IncrementalContextManager
from autogen_context.project.file_changes import FileChangeTracker
from support import keeping
from support.keeping import TOLD, told_in
from support.saying import asks, call_of, says, tells

CONTENT = "one\ntwo\nthree\n"
CHANGED = "a.py changed on disk since it was read above"
DIFF = "> 1 of 3 lines removed, 1 added, from line 2 on:\n> @@ -1,3 +1,3 @@\n>  one\n> -two\n> +TWO\n>  three"
NAMES = ("a.py", "b.py", "src/c.py")
EDIT = "sed -i s/two/TWO/ a.py"


def block(*lines: str) -> str:
    """What is told in one turn."""
    return "\n".join([TOLD, *lines, "]"])


class Coder:
    """An agent that works on files, and whoever else does.

    Attributes:
        messages: its conversation.
        manager: keeps it.
    """

    def __init__(
        self, root: Path, *, window_tokens: int = 20_000, files: FileChangeTracker | None = None
    ) -> None:
        self.root = root
        self._files = files or FileChangeTracker(root)
        self.messages = [says("Make it fast.", "user")]
        self.manager = self.another(window_tokens)

    def another(self, window_tokens: int = 20_000) -> IncrementalContextManager:
        """A manager for the same files."""
        return keeping.manager(window_tokens, files=self._files)

    def calls(self, name: str, result: str | None, **arguments: object) -> None:
        """A call, and its result where there is one."""
        number = f"c{len(self.messages)}"
        self.messages += [asks(call_of(number, name, **arguments))]
        if result is not None:
            self.answers(number, result)

    def answers(self, number: str, result: str) -> None:
        """The result of a call."""
        self.messages += [tells(number, result)]

    def reads(self, path: str) -> None:
        """It reads a file."""
        content = (self.root / path).read_bytes().decode("utf-8", "replace")
        self.calls("read_file", content, path=path)

    def goes_on(self) -> None:
        """Somebody says something."""
        self.messages += [says("Go on.", "user")]

    def shell(self, line: str) -> None:
        """Another process does something."""
        subprocess.run(["/bin/sh", "-c", line], cwd=self.root, check=True)  # noqa: S603 - our own lines

    async def turn(self, *, waits: bool = True) -> list[str]:
        """What is told in the next request, that of earlier turns included."""
        if waits:
            return told_in(await self.manager.prepare(self.messages))
        return told_in(self.manager.prepare_nowait(self.messages))

    async def until_compacted(self) -> list[str]:
        """What is told in the request that a compaction makes."""
        for n in range(200):
            self.messages += [says(f"{n} " + "and so on " * 40, "user")]
            turn = await self.manager.prepare(self.messages)
            if turn.compacted:
                return told_in(turn)
        raise AssertionError


def made(folder: Path) -> Path:
    """A small project, beside a file that is none of it."""
    project = folder.resolve() / "project"
    (project / "src").mkdir(parents=True)
    for path in (*NAMES, "../outside.py"):
        (project / path).write_text(CONTENT)
    return project


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project."""
    return made(tmp_path)


@pytest.fixture
def coder(root: Path) -> Coder:
    """Works on it."""
    return Coder(root)
