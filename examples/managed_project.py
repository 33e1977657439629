"""A manager that knows the project: its context in front, and what changes before the newest message.

Runs without a model: it makes a small project, and edits a file as somebody else would.
"""

import asyncio
import tempfile
from pathlib import Path

from autogen_context import IncrementalContextManager, ProjectContext
from autogen_context.project.file_changes import FileChangeTracker

FILES = {
    "README.md": "# Till\n\nIt adds up what is bought. Prices are whole cents.\n",
    "till/price.py": "def price_of(thing: str) -> int:\n    return 7\n",
    "till/pay.py": "from till.price import price_of\n\n\ndef pay(things: list[str]) -> int:\n    return sum(map(price_of, things))\n",
}


async def main() -> None:
    """Prepare a turn before and after an edit, and one in another process."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "till"
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)

        project, files = ProjectContext(root), FileChangeTracker(root)
        manager = IncrementalContextManager(window_tokens=16_000, project=project, files=files)
        messages = [
            {"role": "system", "content": "You are a programmer."},
            {"role": "user", "content": "Prices depend on the day."},
        ]
        first = await manager.prepare(messages)
        print(first.messages[1]["content"])  # behind the system prompt, the same until a compaction

        (root / "till/price.py").write_text(
            FILES["till/price.py"].replace("str)", "str, day: int)")
        )
        messages += [
            {"role": "assistant", "content": "I look at the prices."},
            {"role": "user", "content": "Go on."},
        ]
        second = await manager.prepare(messages)
        print(f"\nThe prefix is the same: {second.messages[:3] == first.messages}")
        print(f"\n{second.messages[-2]['content']}")  # before the newest message

        other = IncrementalContextManager(window_tokens=16_000, project=project, files=files)
        other.load_state(manager.save_state())
        again = await other.prepare(messages)
        print(f"\nA loaded manager goes on to the byte: {again.messages == second.messages}")
        await manager.aclose()
        await other.aclose()


if __name__ == "__main__":
    asyncio.run(main())
