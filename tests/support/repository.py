"""What belongs in the repository, and what does not."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

EXPECTED = re.compile(
    r"""
    (?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md
    | LICENSE | Makefile | \.gitignore | \.ci/run | pyproject\.toml | mkdocs\.yml | model_limits\.json
    | (?:autogen_context|tests|benchmarks|examples)(?:/\w+)*/[\w-]+\.(?:py|json|toml)
    | autogen_context/(?:py\.typed|report/page\.(?:css|html|js))
    | docs(?:/[\w-]+)*/[\w-]+\.(?:md|svg)
    | docs/quickstart\.py
    | examples/demo/project(?:/[\w-]+)*/[\w-]+\.(?:md|jsonl|txt)  # what the demo repairs
    """,
    re.VERBOSE,
)
CONFLICT = re.compile(r"^(?:[<|>]{7}(?: .*)?|={7})$", re.MULTILINE)
MOST_BYTES = 250_000


def git(root: Path, *arguments: str) -> list[str]:
    """What git lists, separated by zero bytes."""
    command = [shutil.which("git") or "git", "-C", str(root), *arguments]
    run = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - git
    return [each for each in run.stdout.decode().split("\0") if each]


def strays(root: Path) -> Iterator[str]:
    """What is wrong with the files that a repository tracks, a line each."""
    ignored = set(git(root, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard"))
    for name in git(root, "ls-files", "-z", "--dedup"):
        path = root / name
        if name in ignored or path.is_symlink() or not EXPECTED.fullmatch(name):
            yield f"{name}: not expected here"
        elif path.exists():  # else it was deleted a moment ago
            content = path.read_bytes()
            if b"\0" in content or len(content) > MOST_BYTES:
                yield f"{name}: no text, or more than {MOST_BYTES:,} bytes"
            elif found := CONFLICT.search(content.decode()):
                yield f"{name}: a mark of a conflict: {found[0]}"
