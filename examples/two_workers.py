"""Two worker processes share a cache and originals through the Redis server that REDIS_URL names.

The window of the first one's manager overflows; the second has what left it, by its handle. Without a model.
"""

import asyncio
import os
import secrets
import subprocess
import sys

from autogen_context import IncrementalContextManager
from autogen_context.cache.cache import ContextCache
from autogen_context.cache.originals import RedisOriginals
from autogen_context.cache.redis_server import RedisLimits, RedisServer
from autogen_context.cache.redis_tier import RedisTier
from autogen_context.cache.tier import Scope

TEAM = Scope(tenant="acme", agent="team")  # both workers, so that they share


async def work(name: str, server: RedisServer) -> None:
    """Build once for all; put away what leaves the window, or ask it back."""
    manager = IncrementalContextManager(
        model="gpt-4o", window_tokens=4_000, original_store=RedisOriginals(server, scope=TEAM)
    )
    async with ContextCache(shared=RedisTier(server, tenant=TEAM.tenant)) as cache:
        print(f"{name}:", await cache.get_or_build("plan", lambda: f"the plan, as {name} built it"))
        handle = await cache.get_or_build("handle", lambda: overflow(manager))
    if not cache.stats().shared.hits:  # nobody built these before
        print(f"{name}: what left my window is under its handle")
    else:
        print(f"{name}: {manager.recall_context(handle, lines='3').splitlines()[-1]}")


def overflow(manager: IncrementalContextManager) -> str:
    """Prepare a turn that is too long for the window; the handle of something that is not sent as it was."""
    logs = [f"disk {n}\nchecked\nstate {n * 7}\n" + "x " * 500 for n in range(40)]
    prepared = manager.prepare_nowait([{"role": "user", "content": log} for log in logs])
    return [decision.handle for decision in prepared.decisions if decision.handle][1]


if __name__ == "__main__":
    if "REDIS_URL" not in os.environ:
        print("set REDIS_URL to a Redis server: redis://:password@127.0.0.1:6379/0")
    elif len(sys.argv) > 1:
        redis = RedisServer(os.environ["REDIS_URL"], limits=RedisLimits(timeout_s=5))
        asyncio.run(work(sys.argv[1], redis))
    else:
        # What a worker reads was written by one with the key; without it nothing of the conversation is shared.
        given = {"AUTOGEN_CONTEXT_STORE_KEY": secrets.token_hex(32), **os.environ}
        for worker in ("worker 1", "worker 2"):
            subprocess.run([sys.executable, __file__, worker], check=True, env=given)  # noqa: S603
