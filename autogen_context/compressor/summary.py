"""Summarise a text by a chat model.

Promise: there is a summary within the time limit or ``CompletionFailed`` is raised, whatever the model does. A text larger
than the model's window is summarised in parts, and these once more together. A model that fails again and again is left
alone for a while. Cancellation passes through; nothing of a text is logged or put into an error.

What comes back is verified where it is used: ``SemanticCompressor`` rejects what is no summary of the text and puts back
what it lost. Here only the form is looked at, so that the refusal of one part does not become a part of the whole.
"""

import asyncio
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from autogen_context.compressor.summarise import SummarizerPaused, fault_of_form
from autogen_context.compressor.summary_breaker import Breaker
from autogen_context.compressor.summary_prompt import joined_note, part_note, prompt_for
from autogen_context.compressor.summary_retry import asked_again
from autogen_context.errors import CompletionFailed
from autogen_context.models.completion import Complete
from autogen_context.tokens.estimate import EstimateCounter

PROMPT_TOKENS = 400  # what a prompt has beside its text
LEAST_WINDOW = 1_000
LEAST_PART_TOKENS = 50  # of the summary of one part
MOST_ROUNDS = 3  # summaries of summaries; a model that does not shorten would go on for ever


class Summarizer:
    """Asks a model for summaries; what ``SemanticCompressor`` takes as its ``summarizer``.

    Args:
        complete: answers a prompt: ``CompletionClient(...).complete``, or a function around a host's own client.
        window_tokens: what the model takes as input; of it, half is left to its answer and to what an estimate misses.
        timeout_s: for a summary with all its parts and further tries, waiting for a place included, in seconds.
        retries: how often a call that failed is made again, with growing pauses, or after what the server says
            (``Retry-After``). A ``CompletionFailed`` is not tried again: its client did that.
        concurrency: how many calls run at once.
        breaker: when to leave the model alone.

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        complete: Complete,
        *,
        window_tokens: int = 16_000,
        timeout_s: float = 60.0,
        retries: int = 2,
        concurrency: int = 4,
        breaker: Breaker | None = None,
    ) -> None:
        if window_tokens < LEAST_WINDOW:
            raise ValueError(f"window_tokens={window_tokens}: give {LEAST_WINDOW} or more")
        if not timeout_s > 0:
            raise ValueError(f"timeout_s={timeout_s}: give a positive number of seconds")
        if retries < 0:
            raise ValueError(f"retries={retries}: give 0 or more")
        if concurrency < 1:
            raise ValueError(f"concurrency={concurrency}: give 1 or more")
        self._complete = complete
        self._part_tokens = window_tokens // 2 - PROMPT_TOKENS
        self._timeout_s = timeout_s
        self._retries = retries
        self._concurrency = concurrency
        self._breaker = breaker or Breaker()
        # A semaphore serves one event loop; each loop that calls has its own.
        self._places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    async def __call__(self, text: str, target_tokens: int, /) -> str:
        """The summary of a text.

        Args:
            text: any text.
            target_tokens: what the summary may have; models keep to it more or less.

        Raises:
            CompletionFailed: there is none.
        """
        if not self._breaker.admits():
            raise SummarizerPaused("it failed too often of late")
        try:
            summary = await self._within_time(text, target_tokens)
        except Exception:
            self._breaker.failed()
            raise
        self._breaker.succeeded()
        return summary

    async def _within_time(self, text: str, target_tokens: int) -> str:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._summary(text, target_tokens)
        except TimeoutError:
            raise CompletionFailed(f"none within {self._timeout_s:g} s") from None
        except ExceptionGroup as failures:
            raise first_of(failures) from None

    async def _summary(self, text: str, target_tokens: int) -> str:
        """The summary of a text, by way of its parts where it is too large."""
        note = ""
        for _ in range(MOST_ROUNDS):
            parts = list(parts_of(text, self._part_tokens))
            if len(parts) == 1:
                return await self._asked(prompt_for(text, target_tokens=target_tokens, note=note))
            text, note = await self._in_parts(parts, target_tokens), joined_note(len(parts))
        raise CompletionFailed("it does not get shorter")

    async def _in_parts(self, parts: list[str], target_tokens: int) -> str:
        """The summaries of parts, one below the other."""
        each = max(LEAST_PART_TOKENS, 2 * target_tokens // len(parts))
        prompts = [
            prompt_for(part, target_tokens=each, note=part_note(number, len(parts)))
            for number, part in enumerate(parts, 1)
        ]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._asked(prompt)) for prompt in prompts]
        return "\n".join(task.result() for task in tasks)

    async def _asked(self, prompt: str) -> str:
        """The model's answer, if it has the form of a summary."""
        async with self._place():
            answer = await asked_again(
                self._complete, prompt, retries=self._retries, longest_pause_s=self._timeout_s
            )
        if fault := "it is empty" if not answer.strip() else fault_of_form(answer):
            raise CompletionFailed(fault)
        return answer.strip()

    def _place(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        return self._places.setdefault(loop, asyncio.Semaphore(self._concurrency))


def parts_of(text: str, part_tokens: int) -> Iterator[str]:
    """The text in parts of so many tokens at most by an estimate from above, cut at lines, or anywhere where a line is too long."""
    count = EstimateCounter().count
    lines: list[str] = []
    used = 0
    for line in short_lines(text, part_tokens):
        tokens = count(line).tokens + 1
        if lines and used + tokens > part_tokens:
            yield "".join(lines)
            lines, used = [], 0
        lines.append(line)
        used += tokens
    yield "".join(lines)


def short_lines(text: str, part_tokens: int) -> Iterator[str]:
    """The lines of a text with their ends; long ones in pieces."""
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), part_tokens):
            yield line[start : start + part_tokens]


def first_of(failures: BaseExceptionGroup[Exception]) -> Exception:
    """One of the failures of calls that ran side by side; the others were given up because of it."""
    failure = failures.exceptions[0]
    return first_of(failure) if isinstance(failure, BaseExceptionGroup) else failure
