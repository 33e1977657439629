"""What a person sees while the agent works: paragraphs, a picture, and a bar.

Promise: paragraphs are plain text as wide as the terminal at most; the bar is there only for a person, and goes away.
"""

import shutil
import textwrap
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

WIDEST = 100  # columns; longer lines are hard to read


def say(text: str, *, fill: bool = True) -> None:
    """Print a paragraph after an empty line; a path stays in one line."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    print(f"\n{textwrap.fill(text, width) if fill else text}", flush=True)


def show(lines: Iterable[Text]) -> None:
    """Print lines after an empty one, in colour on a terminal that has it."""
    console = Console(highlight=False)
    console.print()
    for line in lines:
        console.print(line, no_wrap=True, overflow="ignore", crop=False)


@contextmanager
def progress_bar(requests: int) -> Generator[Callable[[], None]]:
    """A bar on standard error, if that is a terminal; yields how to advance it."""
    console = Console(stderr=True)
    columns = (
        TextColumn("the agent works"),
        BarColumn(),
        TextColumn("request {task.completed} of {task.total}"),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=requests)
        yield lambda: bar.advance(task)
