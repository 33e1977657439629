"""A context provider of your own: the agent is told the git branch, again whenever it changes.

Runs without a model: it makes a repository, and switches its branch as somebody else would.
"""

import asyncio
import tempfile
from pathlib import Path

from autogen_context import IncrementalContextManager
from autogen_context.view.notice import Notice, ProviderTurn, ProviderUpdate


class GitBranch:
    """Tells the branch of a repository."""

    name = "git"

    def __init__(self, root: Path) -> None:
        self._head = root / ".git" / "HEAD"

    async def before_turn(self, turn: ProviderTurn, /) -> None:
        """Nothing to wait for."""

    def turn(self, turn: ProviderTurn, /) -> ProviderUpdate:  # noqa: ARG002 - what it tells depends on no turn
        """What holds now; the manager tells it where it is news."""
        branch = self._head.read_text("utf-8").strip().removeprefix("ref: refs/heads/")
        return ProviderUpdate(notices=(Notice(key="branch", text=f"The git branch is {branch}."),))


async def main() -> None:
    """Prepare a turn before and after somebody switches the branch."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".git").mkdir()
        messages = [{"role": "user", "content": "Fix the parser."}]
        manager = IncrementalContextManager(window_tokens=8_000, providers=[GitBranch(root)])
        for branch in ("main", "main", "release-2"):
            (root / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n", "utf-8")
            prepared = await manager.prepare(messages)
            print(len(prepared.messages), "messages;", prepared.messages[-2]["content"])
            messages += [
                {"role": "assistant", "content": "I look at it."},
                {"role": "user", "content": "Go on."},
            ]


if __name__ == "__main__":
    asyncio.run(main())
