"""Make a call once more that failed.

Promise: as often as was said and no more; pauses grow, or are what the server asked for. ``CompletionFailed`` passes
through, since its client has tried again already; so does cancellation.
"""

import asyncio
from collections.abc import Mapping
from typing import cast

from autogen_context.errors import CompletionFailed
from autogen_context.models.completion import Complete

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0


async def asked_again(
    complete: Complete, prompt: str, *, retries: int, longest_pause_s: float
) -> str:
    """The answer to a prompt, at the last try at the latest.

    Args:
        complete: answers a prompt.
        prompt: what is asked.
        retries: how many tries there are after the first.
        longest_pause_s: a server that asks for more is not asked again.

    Raises:
        Exception: the failure of the last try.
    """
    for tried in range(retries):
        try:
            return await complete(prompt)
        except CompletionFailed:
            raise
        except Exception as error:
            pause_s = pause_after(error, tried)
            if pause_s >= longest_pause_s:
                raise
        await asyncio.sleep(pause_s)
    return await complete(prompt)


def pause_after(error: Exception, tried: int) -> float:
    """How long to wait, in seconds: what the server says, where the client hands that on; else longer each time."""
    said = retry_after_s(error)
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**tried) if said is None else said


def retry_after_s(error: Exception) -> float | None:
    """The header ``Retry-After`` of the response that an error carries, as clients built on httpx do; in seconds."""
    headers: object = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    said = cast("Mapping[str, object]", headers).get("retry-after")  # header names are strings
    try:
        return max(0.0, float(str(said)))
    except ValueError:
        return None  # a date, or nothing
