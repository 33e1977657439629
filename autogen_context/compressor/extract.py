"""Compress a text without a model.

Promise: at most the target, never larger than the input, deterministic.
"""

from dataclasses import dataclass
from itertools import chain, compress
from operator import not_

from autogen_context.compressor.begun import begun
from autogen_context.compressor.concepts import Holdings, concepts_of, keywords_in
from autogen_context.compressor.counting import Tally
from autogen_context.compressor.draft import Draft, stated_in
from autogen_context.compressor.material import Material, material_of
from autogen_context.compressor.result import (
    BEST_SCORE,
    CompressionResult,
    Strategy,
    quality_of,
)
from autogen_context.compressor.sense import sense_of
from autogen_context.compressor.shorten import shorten_text
from autogen_context.compressor.steps import drafts
from autogen_context.compressor.structure import BY_STRUCTURE, structured
from autogen_context.tokens.measure import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One text to compress.

    Attributes:
        text: any text.
        target_tokens: what the result may have.
        keep: keywords to keep.
        tally: counts a text.
    """

    text: str
    target_tokens: int
    keep: tuple[str, ...]
    tally: Tally


def extracted(job: Job) -> CompressionResult:
    """The text in its target, by the first step that meets it; cut where none does."""
    before = job.tally.counted(job.text)
    if before.tokens <= job.target_tokens:
        return unchanged(job, before)
    material = material_of(job.text)
    found = structured(
        job.text,
        target_tokens=job.target_tokens,
        tally=job.tally,
        keep=job.keep,
        statements=len(material.ledger),
    )
    return judged(job, before, material, *(found or stepped(job, material)))


def stepped(job: Job, material: Material) -> tuple[str, Strategy]:
    """What the first step leaves that meets the target, and which it was; a plain cut where the steps leave nothing."""
    stated = stated_in(material.ledger, target_tokens=job.target_tokens, tally=job.tally)
    draft = start = Draft(stated=stated, passages=material.passages, strategy="none")
    for draft in drafts(start, target_tokens=job.target_tokens, tally=job.tally, keep=job.keep):
        if fits(draft, job):
            break
    if draft.text or len(material.ledger):
        return draft.text, draft.strategy
    return begun(job.text, job.target_tokens, job.tally), "shorten"


def fits(draft: Draft, job: Job) -> bool:
    """Whether a draft meets the target; it is counted whole only where its parts do, and these until they do not."""
    left = job.target_tokens - job.tally.tokens(draft.stated)
    for passage in draft.passages:
        left -= job.tally.tokens(passage.text)
        if left < 0:
            return False
    return job.tally.tokens(draft.text) <= job.target_tokens


def unchanged(job: Job, before: Count) -> CompressionResult:
    """A text that meets the target as it is."""
    return CompressionResult(
        original=job.text,
        compressed=job.text,
        original_tokens=before,
        compressed_tokens=before,
        quality=BEST_SCORE,
        preserved=concepts_of(job.text, job.keep),
        lost=(),
        strategy="none",
    )


def judged(
    job: Job, before: Count, material: Material, text: str, strategy: Strategy
) -> CompressionResult:
    """The result with this text, or with as much of it as fits, and with what it kept.

    What counts are the concepts that hold: those of the ledger, and of what stands beside its statements.
    """
    room = min(job.target_tokens, before.tokens)
    if job.tally.tokens(text) > room:
        text, strategy = shorten_text(text, room_tokens=room, count=job.tally.tokens), "shorten"
    senses = [sense_of(holding) for holding in material.texts]
    said = dict.fromkeys(chain.from_iterable(sense.concepts for sense in senses))
    concepts = tuple({**dict.fromkeys(keywords_in(job.text, job.keep)), **said})
    holdings = Holdings(text, in_columns=strategy in BY_STRUCTURE)
    held = list(map(holdings.has, concepts))
    preserved = tuple(compress(concepts, held))
    lost = tuple(compress(concepts, map(not_, held)))
    words = set(chain.from_iterable(sense.terms for sense in senses))
    return CompressionResult(
        original=job.text,
        compressed=text,
        original_tokens=before,
        compressed_tokens=job.tally.counted(text),
        quality=quality_of(preserved, lost, kept_words=kept_share(words, holdings.terms)),
        preserved=preserved,
        lost=lost,
        strategy=strategy,
    )


def kept_share(words: set[str], kept: set[str]) -> float:
    """The share of some terms that are kept; all of none."""
    return len(words & kept) / len(words) if words else 1.0
