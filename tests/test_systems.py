"""What only Unix has is optional: without it every module is imported, and conversations go on and are kept."""

import json
import os
import subprocess
import sys
from pathlib import Path

import autogen_context

# Runs in a process of its own: hosts and libraries are imported first, as they have their own ways to be on Windows; then
# the package is imported anew where what Windows lacks is gone.
WITHOUT = """
import asyncio, importlib, json, os, pkgutil, shutil, sys
from pathlib import Path

shutil._use_fd_functions = False  # as on Windows; Python itself asks for O_NONBLOCK where it is true
modules = sys.argv[3:]

def import_all():
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            if type(error).__name__ != "MissingExtra" and not isinstance(error, ModuleNotFoundError):
                raise
            if isinstance(error, ModuleNotFoundError) and error.name.startswith("autogen_context"):
                raise

import_all()
for name in [each for each in sys.modules if each.split(".")[0] == "autogen_context"]:
    del sys.modules[name]
for name in json.loads(sys.argv[1]):
    sys.modules[name] = None
for name in json.loads(sys.argv[2]):
    vars(os).pop(name, None)
import_all()

from autogen_context import ContextCache, ContextConfig, IncrementalContextManager
from autogen_context.testing.conversation import conversation

def manager(**parts):
    config = ContextConfig(model="gpt-4o", window_tokens=4_000, originals_directory="originals")
    return IncrementalContextManager(config=config, **parts)

async def main():
    messages = conversation(turns=30, tokens_per_turn=300)
    Path("notes.md").write_bytes(b"# Notes\\r\\n\\r\\nIt costs 7 euros.\\r\\n")
    async with ContextCache("kept", compare="content") as cache:
        for _ in range(2):
            found = await cache.get_or_build("key", lambda: "built", depends_on=["notes.md", "*.md"])
            assert found == "built"
        assert cache.stats().builds == 1
        async with manager(cache=cache, events="run.jsonl", project=".", files=".") as keeper:
            for stop in range(2, len(messages) + 1, 2):
                turn = await keeper.prepare(messages[:stop])
                assert turn.certificate.fits
            await keeper.save("state.json")
    async with manager() as later:
        await later.load("state.json")
        assert (await later.prepare(messages)).certificate.fits
    print(*sorted(path.name for path in Path().iterdir()))

asyncio.run(main())
"""

MODULES = (
    "fcntl",
    "termios",
    "tty",
    "pty",
    "resource",
    "pwd",
    "grp",
    "syslog",
    "readline",
    "curses",
)
FUNCTIONS = (
    *("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW", "O_DIRECTORY", "O_SYNC", "O_DSYNC"),
    *("O_NDELAY", "O_NOATIME", "O_PATH", "O_ASYNC", "fork", "forkpty", "register_at_fork"),
    *("getuid", "geteuid", "getgid", "getegid", "getresuid", "setuid", "setgid"),
    *("chown", "fchown", "lchown", "fchmod", "fchdir", "chroot", "mkfifo", "mknod"),
    *("killpg", "getpgid", "setpgid", "setsid", "getsid", "getpgrp", "tcgetpgrp", "wait3", "wait4"),
    *("pread", "pwrite", "preadv", "pwritev", "statvfs", "fstatvfs", "sysconf", "confstr", "uname"),
    *("getloadavg", "nice", "getpriority", "sched_yield", "sync", "fdatasync"),
    *("posix_fadvise", "posix_fallocate", "getxattr", "setxattr", "listxattr", "ctermid"),
)
PACKAGE = Path(autogen_context.__file__).parent
NAMES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py"
)


def ran(folder: Path, code: str, *arguments: str) -> str:
    """What code prints in a process of its own."""
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


def test_what_only_unix_has_is_optional(tmp_path: Path) -> None:
    """A conversation with a cache, originals, a log, a project and files is kept and goes on."""
    found = ran(tmp_path, WITHOUT, json.dumps(MODULES), json.dumps(FUNCTIONS), *NAMES)
    assert {"kept", "originals", "run.jsonl", "state.json"} <= set(found.split())


BROKEN = """
import os, sys
import autogen_context
del os.O_RDONLY
try:
    from autogen_context import register
except ImportError as error:
    print(error)
"""


def test_a_public_name_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    """Not only that it cannot be imported."""
    found = ran(tmp_path, BROKEN)
    assert "O_RDONLY" in found
    assert "autogen_context.adapters.register" in found
