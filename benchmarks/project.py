"""What the context of a project costs: the first build, a turn with nothing changed, a turn with one file edited.

Each is timed three times: asked of the project itself, and as a whole turn of a manager that has the project, and of one
that has none: the difference is what the project costs.

Usage: python benchmarks/project.py [FILES]

The first part is of this project's own tree, copied, and of a scripted agent that reads and edits files in it; the second
of a made-up tree of FILES modules (10,000 where left out). A turn waits for threads, so that on a busy machine the clock
says more than the turn costs; the time of the process stands beside it.
"""

import asyncio
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from side_by_side import ms, table

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.files import walk
from autogen_context.cache.watch import FileWatch
from autogen_context.manager import IncrementalContextManager
from autogen_context.project.project import ProjectContext, ProjectView
from autogen_context.tokens.gauge import gauge_for

TREE = Path(__file__).parents[1]
TURNS = 120
EDITED_SHARE = 0.25  # of the turns of an agent
FILES = 10_000
ROUNDS = 30
PAUSE_S = 0.15  # a model takes longer
SETTLED_S = 2.2  # a file that was written just now is read again
WINDOW_TOKENS = 60_000
SHOWN_CHARS = 2_000  # of a file that an agent reads
TASK = "Make the reduction of logs faster; keep its promises."
OPENING = "[The project"  # of a head
HEAD = ("", "wall, median", "worst", "process, median")


class Asked:
    """Asks the project itself.

    Attributes:
        view: what it said last.
        renewed: how many heads were written.
    """

    def __init__(self, project: ProjectContext) -> None:
        self._project = project
        self.view: ProjectView | None = None
        self.renewed = 0

    async def __call__(self, in_play: tuple[Path, ...]) -> None:
        """One turn."""
        self.view = await self._project.context(TASK, in_play=in_play)
        self.renewed += self.view.renewed


class Managed:
    """Prepares turns of a conversation with a manager that has the project, or none.

    Attributes:
        has_head: whether the last request had the head of the project.
    """

    def __init__(self, project: ProjectContext | None) -> None:
        self.has_head = False
        self._messages: list[dict[str, object]] = [{"role": "user", "content": TASK}]
        self._manager = IncrementalContextManager(
            model="gpt-4o", window_tokens=WINDOW_TOKENS, project=project
        )

    async def __call__(self, in_play: tuple[Path, ...]) -> None:
        """One turn, after the files in play were read."""
        for path in in_play:
            self._read(path)
        self._messages.append({"role": "user", "content": f"Go on ({len(self._messages)})."})
        sent = (await self._manager.prepare(self._messages)).messages
        self.has_head = any(str(message["content"]).startswith(OPENING) for message in sent)

    def _read(self, path: Path) -> None:
        """What an agent that reads a file adds."""
        number = f"c{len(self._messages)}"
        function = {"name": "read_file", "arguments": json.dumps({"path": str(path)})}
        call = {"id": number, "type": "function", "function": function}
        shown = path.read_text("utf-8")[:SHOWN_CHARS]
        self._messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        self._messages.append({"role": "tool", "tool_call_id": number, "content": shown})


@dataclass
class Turns:
    """Turns that are timed.

    Attributes:
        root: the folder of the project.
        ask: does one turn.
        times: of the turns by their kinds, by the clock and of the process, in seconds.
    """

    root: Path
    ask: Callable[[tuple[Path, ...]], Awaitable[None]]
    times: dict[str, list[tuple[float, float]]] = field(
        default_factory=dict[str, list[tuple[float, float]]]
    )

    async def turn(self, kind: str, *, in_play: tuple[Path, ...] = ()) -> None:
        """One turn."""
        process, wall = time.process_time(), time.perf_counter()
        await self.ask(in_play)
        taken = time.perf_counter() - wall, time.process_time() - process
        self.times.setdefault(kind, []).append(taken)

    def table(self) -> str:
        """A row for each kind."""
        return table(HEAD, *(row(kind, taken) for kind, taken in self.times.items()))


def row(kind: str, taken: list[tuple[float, float]]) -> list[str]:
    """A row of the table."""
    wall = [each for each, _ in taken]
    process = statistics.median(each for _, each in taken)
    return [f"{kind} ({len(taken)})", ms(statistics.median(wall)), ms(max(wall)), ms(process)]


async def main() -> None:
    """Print what each tree costs."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    for name, root_of, go_on in (
        ("this project", copied, agent),
        (f"{files:,} modules", partial(made_up, files=files), same_file),
    ):
        with tempfile.TemporaryDirectory() as folder:
            await measured(name, root_of(Path(folder) / "tree"), Path(folder) / "cache", go_on)


async def measured(
    name: str, root: Path, directory: Path, go_on: Callable[[Turns], Awaitable[None]]
) -> None:
    """Print what one tree costs."""
    await asyncio.sleep(SETTLED_S)
    async with ContextCache(directory) as cache:
        with FileWatch() as watch:
            count = gauge_for("gpt-4o").meter.text
            project = ProjectContext(root, cache=cache, watch=watch, count=count)
            asked = Asked(project)
            turns = Turns(root, asked)
            await turns.turn("first build")
            print(
                f"\n{name}: {asked.view.files:,} files, {asked.view.tokens:,} tokens"
                if asked.view
                else name
            )
            await turns.turn("second turn")
            builds = project.builds
            wanted, built = builds.asked, builds.built
            await go_on(turns)
            kept = 1 - (builds.built - built) / (builds.asked - wanted)
            print(
                f"{kept:.1%} of {builds.asked - wanted:,} wanted were there; heads: {asked.renewed}"
            )
            manager = Managed(project)
            managed = Turns(root, manager)
            await managed.turn("first turn, same cache")
            while not manager.has_head:
                await managed.turn("a turn while it is read")
                await asyncio.sleep(SETTLED_S)
            await go_on(managed)
            plain = Turns(root, Managed(None))
            await go_on(plain)
        later = Turns(root, Asked(ProjectContext(root, cache=cache, count=count)))
        await later.turn("first turn of a later process")
        await later.turn("nothing changed, no watch")
        for who, timed in (
            ("the project", turns),
            ("a manager", managed),
            ("one without it", plain),
            ("later", later),
        ):
            print(f"\n{who}", timed.table(), sep="\n")
        print(cache.stats())


async def agent(turns: Turns) -> None:
    """Read and edit files, as an agent does."""
    chance = random.Random(7)  # noqa: S311 - a script
    root = turns.root
    files = [*sorted(root.glob("autogen_context/**/*.py")), *sorted(root.glob("docs/**/*.md"))]
    for turn in range(TURNS):
        path, edits = chance.choice(files), chance.random() < EDITED_SHARE
        if edits:
            path.write_text(edited(path.read_text("utf-8"), turn, path.suffix), "utf-8")
        await asyncio.sleep(PAUSE_S)
        await turns.turn("one file edited" if edits else "nothing changed", in_play=(path,))


def edited(text: str, turn: int, suffix: str) -> str:
    """A text after an edit: a body, a new function, or a sentence."""
    if suffix == ".md":
        return f"{text}\nEdited in turn {turn}.\n"
    if turn % 2:
        return text.replace("return ", "return  ", 1)
    return f"{text}\n\ndef added_{turn}(x: int) -> int:\n    return x\n"


async def same_file(turns: Turns) -> None:
    """Many turns without a change, then as many with one file edited before each."""
    for _ in range(ROUNDS):
        await turns.turn("nothing changed")
    path = turns.root / "part3" / "module_3.py"
    for turn in range(ROUNDS):
        path.write_text(edited(path.read_text("utf-8"), turn, ".py"), "utf-8")
        await asyncio.sleep(PAUSE_S)
        await turns.turn("one file edited")


def copied(root: Path) -> Path:
    """This project's own tree, without what git ignores."""
    for path in walk(TREE):
        target = root / path.relative_to(TREE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return root


def made_up(root: Path, *, files: int) -> Path:
    """Modules in a hundred folders that use each other."""
    for n in range(files):
        other = n * 7 % files
        path = root / f"part{n % 100}" / f"module_{n}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"from part{other % 100}.module_{other} import use_{other}\n\n\n"
            f"class Thing{n}:\n    def method_{n}(self, value: int) -> int:\n        return use_{other}(value)\n\n\n"
            f"def use_{n}(value: int) -> int:\n    return value + {n}\n",
            "utf-8",
        )
    (root / "README.md").write_text("# Modules\n\nA tree of many modules.\n", "utf-8")
    return root


if __name__ == "__main__":
    asyncio.run(main())
