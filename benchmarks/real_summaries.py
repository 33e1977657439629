"""What becomes of the summaries of a model that is too weak for them: SmolLM2-135M on this machine.

Usage: python benchmarks/real_summaries.py [--spans 20] [--threads 2] [--talk] [--show]

The spans are those that a manager asks for in a window of 3,000 tokens, over talks of people with an agent that works with
tools (statements.py, work_talk.py); with --talk what the people said alone, in half of its tokens. The model is asked for each as the compressor asks it. For each: what verification did with the answer,
what of the result stands nowhere in the span (invented), and what of the values that the extract keeps the result lacks (lost).
A refusal costs what the model read and the seconds; the extract, which is there anyway, is used then.
"""

import argparse
import asyncio
import logging
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from statistics import median
from time import perf_counter

from pydantic import TypeAdapter
from small_model import SmallModel
from statements import BESIDE, ITEMS, Item, conversation
from summaries import PROMPT, Told
from work_talk import Message, WorkTalk

from autogen_context import IncrementalContextManager, SemanticCompressor
from autogen_context.compressor.concepts import Concept, Holdings, flattened, sense_of
from autogen_context.compressor.summaries import SUMMARY_FRACTION, WORDS_PER_TOKEN
from autogen_context.errors import CompletionFailed

WINDOW_TOKENS = 3_000
MODEL_TOKENS, ANSWER_TOKENS = 4_000, 200
REPEAT_PENALTY = 1.2  # as local engines are set for small models


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One span: what the model wrote, and what was made of it."""

    text: str
    answer: str
    result: str  # the extract where the summary was refused
    refused: str  # why; empty where it was used
    mended: bool
    invented: Sequence[str]
    lost: Sequence[str]
    read_tokens: int
    seconds: float


async def spans(messages: Sequence[Message]) -> list[tuple[str, int]]:
    """What a manager would have summarised of a conversation, and in how many tokens."""
    found: dict[str, int] = {}

    async def noted(prompt: str, /) -> str:
        if asked := PROMPT.search(prompt):
            found[asked[3]] = ceil(int(asked[1]) / WORDS_PER_TOKEN / SUMMARY_FRACTION)
        raise CompletionFailed("it is only noted")

    async with IncrementalContextManager(
        model="gpt-4", window_tokens=WINDOW_TOKENS, model_client=noted
    ) as manager:
        for place, message in enumerate(messages):
            if message["role"] == "assistant":
                await manager.prepare(messages[:place])
    return list(found.items())


async def outcome(model: SmallModel, text: str, target_tokens: int) -> Outcome:
    """Have a span summarised, and look at what came of it."""
    told, answers, read = Told(), list[str](), 0
    began, logger = perf_counter(), logging.getLogger("autogen_context")

    async def answered(prompt: str, /) -> str:
        nonlocal read
        tokens = model.prompt([{"role": "user", "content": prompt}])
        reading = await asyncio.to_thread(
            model.read, tokens, answer_tokens=ANSWER_TOKENS, repeat_penalty=REPEAT_PENALTY
        )
        read = reading.evaluated_tokens
        answers.append(reading.text)
        return reading.text

    compressor = SemanticCompressor(answered, model_window_tokens=MODEL_TOKENS, timeout_s=900)
    extract = compressor.compress_nowait(text, target_tokens=target_tokens).compressed
    logger.addHandler(told)
    try:
        result, refused = await compressor.summarise(text, target_tokens=target_tokens), ""
    except CompletionFailed as error:
        result, refused = extract, error.reason
    logger.removeHandler(told)
    return Outcome(
        text=text,
        answer=answers[0] if answers else "",
        result=result,
        refused=refused,
        mended=bool(told.mended),
        invented=[
            each.text for each in values_in(result) if each.text.lower() not in flattened(text)
        ],
        lost=[each.text for each in values_in(extract) if not Holdings(result).has(each)],
        read_tokens=read,
        seconds=perf_counter() - began,
    )


def values_in(text: str) -> set[Concept]:
    """Values and numbers of a text."""
    return {each for each in sense_of(text).concepts if each.kind in ("value", "number")}


async def main() -> None:
    """Ask for the summaries, and print what became of them."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--spans", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--talk", action="store_true", help="what people said, without tools")
    parser.add_argument("--show", action="store_true", help="each answer, and what was made of it")
    asked = parser.parse_args()
    logging.getLogger("autogen_context").setLevel(logging.INFO)
    logging.getLogger("autogen_context").addHandler(logging.NullHandler())
    items, due = TypeAdapter(list[Item]).validate_json(BESIDE.read_bytes()), list[tuple[str, int]]()
    for number in range(0, len(items), ITEMS):
        few = items[number : number + ITEMS]
        said = "\n".join(f"[user] {text}" for item in few for text in item.messages)
        if asked.talk:
            due.append((said, len(said) // 8))
        elif len(due) < asked.spans:  # of each conversation the first ones, which have its people
            due += islice(await spans(conversation(few, WorkTalk(number))), 4)
    model = SmallModel(
        window_tokens=MODEL_TOKENS, threads=asked.threads, answer_tokens=ANSWER_TOKENS
    )
    found: list[Outcome] = []
    for text, target_tokens in due[: asked.spans]:
        found.append(await outcome(model, text, target_tokens))
        if asked.show:
            show(found[-1])
    used = [each for each in found if not each.refused]
    print(
        f"{len(found)} spans: {len(used)} summaries used, {sum(e.mended for e in used)} of them mended."
    )
    for why, times in Counter(each.refused for each in found if each.refused).most_common():
        print(f"refused {times} times: {why}")
    print(
        f"values invented: {sum(len(e.invented) for e in found)}, lost of the extract's: {sum(len(e.lost) for e in found)}"
    )
    print(
        f"a summary took {median(e.seconds for e in found):.0f} s and {median(e.read_tokens for e in found):,.0f} tokens at the median"
    )


def show(one: Outcome) -> None:
    """One span, for somebody to read."""
    print("=" * 100)
    print(textwrap.shorten(one.text, 900))
    for name, text in (("MODEL", one.answer), ("RESULT", one.result)):
        print(f"--- {name}:\n{text}")
    verdict = f"refused: {one.refused}" if one.refused else "mended" if one.mended else "used"
    verdict += f" after {one.seconds:.0f} s, {one.read_tokens:,} tokens"
    print(f"--- {verdict}; invented {list(one.invented)}, lost {list(one.lost)}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
