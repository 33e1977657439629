"""Put a model's summary in the place of what it summarises.

Promise: what people ruled stands before it as it is, and so do facts that it lost; a value that it lost is put back where
there is room. A summary that fails verification, or keeps less than the extract would, is not used. What a model wrote
counts as the assistant's words from then on: a rule is none by being in a summary.
"""

from collections.abc import Iterator
from dataclasses import replace

from autogen_context.compressor.concepts import Holdings
from autogen_context.compressor.core import add, core_of, extracts, noted
from autogen_context.compressor.draft import STATED_SHARE, Draft
from autogen_context.compressor.extract import Job, judged
from autogen_context.compressor.material import Material, material_of, reopened
from autogen_context.compressor.passage import Passage, Speaker, joined, passages_of
from autogen_context.compressor.redundancy import without_redundancy
from autogen_context.compressor.result import CompressionResult
from autogen_context.compressor.sense import Concept, sense_of
from autogen_context.compressor.summarise import Summarize, fault_of
from autogen_context.compressor.weigh import Weighed, total, weighed
from autogen_context.errors import CompletionFailed
from autogen_context.ledger import Entry
from autogen_context.ledger.rendering import render

SUMMARY_SHARE = 0.8  # of the room beside the rules; the rest for what the summary loses
LESS_QUALITY = 1.0  # than the extract's, that a summary may have for being a text
LEAST_SHARE = 0.25  # of what the extract preserves, by weight, that a summary must hold by itself
LOST = "it lost too much"
WRITER = Speaker(turn=1, opening="[assistant] ", author="assistant")


async def summarised(
    job: Job, summarize: Summarize, extract: CompressionResult
) -> CompressionResult:
    """The text with a model's summary in it.

    Args:
        job: what is to be compressed.
        summarize: asks the model.
        extract: what is used if the summary is not.

    Raises:
        CompletionFailed: the summary is not used.
    """
    material = material_of(job.text)
    rules = [entry for entry in material.ledger if is_ruled(entry)]
    stated = written(rules, int(job.target_tokens * STATED_SHARE), job)
    room = job.target_tokens - job.tally.tokens(stated) - 1
    source = without_redundancy(shown(job, material))
    summary = await summarize(joined(source), max(1, int(room * SUMMARY_SHARE)))
    if fault := fault_of(summary, source) or hollow(summary, extract):
        raise CompletionFailed(fault)
    text = merged(summary, material, room, job)
    result = judged(job, extract.original_tokens, material, text, "model summary")
    if result.strategy != "model summary" or result.quality < extract.quality - LESS_QUALITY:
        raise CompletionFailed(LOST)
    return result


def is_ruled(entry: Entry) -> bool:
    """Whether a statement stands in the result whatever the summary says."""
    return entry.kind != "fact" and not entry.reported


def shown(job: Job, material: Material) -> list[Passage]:
    """What a model is shown: all but the ledger of an earlier compression, and what no longer holds."""
    _, rest = reopened(job.text)
    has = Holdings("\n".join(material.texts)).has
    return [passage for passage in passages_of(rest) if all(map(has, values_of(passage)))]


def values_of(passage: Passage) -> Iterator[Concept]:
    """The values, numbers and dates of a passage."""
    kinds = {"value", "number", "date"}
    return (concept for concept in sense_of(passage.text).concepts if concept.kind in kinds)


def hollow(summary: str, extract: CompressionResult) -> str:
    """Why a summary is not used that says next to nothing of what the extract says; what is put back would be all."""
    has = Holdings(summary).has
    held = sum(concept.weight for concept in extract.preserved if has(concept))
    least = LEAST_SHARE * sum(concept.weight for concept in extract.preserved)
    return LOST if held < least else ""


def merged(summary: str, material: Material, room: int, job: Job) -> str:
    """The statements, the summary, shortened where it has no room, and after it what it lost."""
    entries = weighed(by_the_assistant(summary, material), job.tally, job.keep)
    kept = (
        entries if total(entries) <= room else core_of(noted(entries, job.tally), room, job.tally)
    )
    has = Holdings(joined(entry.passage for entry in kept)).has
    statements = [
        entry
        for entry in material.ledger
        if is_ruled(entry) or not all(map(has, sense_of(entry.text).concepts))
    ]
    stated = written(statements, job.target_tokens - total(kept) - 1, job)
    back = put_back(kept, material, job.target_tokens - job.tally.tokens(stated) - 1, job)
    passages = [entry.passage for entry in (*kept, *back)]
    return Draft(stated=stated, passages=passages, strategy="model summary").text


def by_the_assistant(summary: str, material: Material) -> list[Passage]:
    """The passages of a summary, as the assistant's where the text says who speaks."""
    passages = passages_of(summary)
    spoken = any(passage.speaker.author for passage in material.passages)
    return [replace(passage, speaker=WRITER) for passage in passages] if spoken else passages


def written(entries: list[Entry], room: int, job: Job) -> str:
    """Some statements within a room."""
    return render(entries, room_tokens=room, count=job.tally.tokens).text


def put_back(kept: list[Weighed], material: Material, room: int, job: Job) -> list[Weighed]:
    """What the summary lost of the passages, in their order, as far as there is room beside it."""
    has = Holdings(joined(entry.passage for entry in kept)).has
    source = weighed(material.passages, job.tally, job.keep)
    back: dict[int, Weighed] = {}
    add(back, extracts(has, source, range(len(source)), job.tally), room - total(kept))
    return [back[at] for at in sorted(back)]
