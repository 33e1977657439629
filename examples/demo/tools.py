"""The tools of the agent: a copy of a project in which it looks around, edits and runs tests.

Promise: no tool reaches outside the copy, and the same steps give the same outputs to the byte, on any day.
"""

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

ALL_TESTS = ("discover", "-t", ".", "-s", "roombook/tests")
TESTS_TAKE_AT_MOST_S = 60
DURATION = re.compile(r"(?<=tests) in \d+\.\d+s|(?<=test) in \d+\.\d+s")

Tool = Callable[..., Awaitable[str]]


class Workspace:
    """A folder with a project.

    Args:
        root: the folder.

    Attributes:
        outputs: what the tools returned, in order.
    """

    def __init__(self, root: Path) -> None:
        self.outputs: list[str] = []
        self._root = root.resolve()

    @property
    def tools(self) -> list[Tool]:
        """What the agent may do."""
        return [self.list_files, self.read_file, self.search, self.edit_file, self.run_tests]

    async def list_files(self, folder: str = ".") -> str:
        """List the files of a folder and of the folders in it, with their lines."""
        rows = (f"{len(lines_of(path)):>5}  {self._name(path)}" for path in self._files(folder))
        return self._told("\n".join(rows))

    async def read_file(self, path: str, first_line: int = 1, last_line: int = 100_000) -> str:
        """Read lines of a file; each begins with its number."""
        file = self._inside(path)
        if not file.is_file():
            return self._told(f"There is no file {path}.")
        numbered = list(enumerate(lines_of(file), 1))[first_line - 1 : last_line]
        return self._told("\n".join(f"{number:>4}  {line}" for number, line in numbered))

    async def search(self, text: str, folder: str = ".") -> str:
        """Find the lines that have a text; upper and lower case are the same."""
        found = [
            f"{self._name(path)}:{number}: {line.strip()}"
            for path in self._files(folder)
            for number, line in enumerate(lines_of(path), 1)
            if text.lower() in line.lower()
        ]
        return self._told("\n".join(found) or f"Nothing has {text!r}.")

    async def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace a piece of a file; the old piece must be in it once."""
        file = self._inside(path)
        before = file.read_text(encoding="utf-8") if file.is_file() else ""
        if before.count(old) != 1:
            return self._told(f"{path} has the old piece {before.count(old)} times; it must be 1.")
        file.write_text(before.replace(old, new), encoding="utf-8")
        counts = len(old.splitlines()), len(new.splitlines())
        return self._told("{}: replaced {} lines by {}.".format(path, *counts))

    async def run_tests(self, module: str = "") -> str:
        """Run the tests of a module such as test_period, or all of them."""
        which = [f"roombook.tests.{module}"] if module else ALL_TESTS
        _, output = await self._unittest(*which, "-v")
        return self._told(DURATION.sub("", output.replace(f"{self._root}{os.sep}", "")).strip())

    async def passes(self) -> bool:
        """Whether all tests pass; no tool of the agent."""
        code, _ = await self._unittest(*ALL_TESTS)
        return code == 0

    async def _unittest(self, *arguments: str) -> tuple[int, str]:
        """Run unittest in the copy; its exit code and what it wrote."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-B", "-m", "unittest", *arguments),
            cwd=self._root,
            env={**os.environ, "NO_COLOR": "1"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(TESTS_TAKE_AT_MOST_S):
                written, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            return 1, f"The tests took more than {TESTS_TAKE_AT_MOST_S} seconds."
        return process.returncode or 0, written.decode(errors="replace")

    def _files(self, folder: str) -> Iterator[Path]:
        return (path for path in sorted(self._inside(folder).rglob("*")) if path.is_file())

    def _inside(self, path: str) -> Path:
        """A path of the project.

        Raises:
            ValueError: it leads out of it; the agent reads that as the result of its call.
        """
        full = (self._root / path).resolve()
        if not full.is_relative_to(self._root):
            raise ValueError(f"{path} is outside the project")
        return full

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()

    def _told(self, output: str) -> str:
        self.outputs.append(output)
        return output


def lines_of(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()
