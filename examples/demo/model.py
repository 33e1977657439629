"""The model of the demo: it follows the story, and looks at what it is sent before each step.

Promise: what it reports of a request is in the messages of that request, as the server got them.
"""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import takewhile

from story import SYSTEM, TASK, steps

from autogen_context.testing import Call, ChatMessage, Request, Say, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the model found in a request.

    Attributes:
        has_task: system prompt and task are there, to the letter.
        missing: how many results of its newest calls are not there.
        reduced: how many are there, but not as the tool returned them.
    """

    has_task: bool
    missing: int
    reduced: int


class Model:
    """Takes the steps of the story in order.

    Args:
        outputs: what the tools returned so far.

    Attributes:
        seen: what it found in each request.
    """

    def __init__(self, outputs: Container[str]) -> None:
        self.seen: list[Seen] = []
        self._outputs = outputs
        self._steps = steps()
        self._called = 0

    def __call__(self, request: Request) -> Step:
        """The next step."""
        self.seen.append(self._look(request.messages))
        step = next(self._steps, None) or Say(answer(request.messages))
        parts = [step] if isinstance(step, Say | Call) else step
        self._called = sum(isinstance(part, Call) for part in parts)
        return step

    def _look(self, messages: Sequence[ChatMessage]) -> Seen:
        results = newest_results(messages)
        said = {(message["role"], message["content"]) for message in messages}
        return Seen(
            has_task={("system", SYSTEM), ("user", TASK)} <= said,
            missing=self._called - len(results),
            reduced=sum(result not in self._outputs for result in results),
        )


def newest_results(messages: Sequence[ChatMessage]) -> list[str]:
    """The results that a conversation ends with."""
    newest = takewhile(lambda message: message["role"] == "tool", reversed(messages))
    return [str(message["content"]) for message in newest]


def answer(messages: Sequence[ChatMessage]) -> str:
    """The answer, from the newest test run and from what the task asks for.

    A line of it that an earlier result in the list has as well, such as ``Ran 60 tests in 0.010s``, is not sent twice.
    """
    shown = "\n".join(str(message["content"]) for message in messages if message["role"] == "tool")
    ran = re.findall(r"Ran \d+ tests", shown)
    return (
        f"All tests pass ({ran[-1] if ran else 'though I do not see the newest run'}). I changed period.py, since "
        "periods that touch share no moment; recurrence.py, where the day of a monthly series drifted after a short "
        "month; and pricing.py, where half a cent was rounded to the even cent. Tests and data are as they were."
    )
