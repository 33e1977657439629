"""The seam to a model that summarises, and what a summary must be to be used.

Promise: a summary passes only if it is a text of its own, shorter than what it summarises, that names no value which is
not there and carries no instruction. What is said of a fault tells nothing of either text. Linear time.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from autogen_context.compressor.concepts import Holdings, flattened
from autogen_context.compressor.passage import Passage, joined, passages_of
from autogen_context.compressor.sense import sense_of
from autogen_context.errors import CompletionFailed
from autogen_context.ledger import Kind, Ledger

STARTS_CHARS = 300  # of a summary, in which a refusal or an error shows
DIGITS = re.compile(r"\d+")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
REFUSAL = re.compile(
    r"\W*(?:i['\u2019]?m|i am|we['\u2019]?re|we are)? ?(?:very |so |really )?(?:sorry|afraid|unable|not able|apologi[sz]e)\b"
    r"|\W*(?:i|we) (?:can['\u2019]?t|cannot|can not|won['\u2019]?t|will not|am unable|am not able|must decline|apologi[sz]e|don['\u2019]?t have (?:access|the ability))\b"
    r"|\W*as an? (?:ai|artificial|large|language)\b|\W*unfortunately, i\b",
    re.IGNORECASE,
)
ERROR_PAGE = re.compile(
    r"\s*(?:<(?:!doctype|html|head|body|\?xml)\b|[\[{]\s*\"(?:errors?|detail|status|statuscode|code|message)\"\s*:"
    r"|(?:http(?:/[\d.]+)? |error(?: code)?:? )?[45]\d\d\b:?(?=\s*(?:$|[A-Z-]))"
    r"|(?:bad gateway|gateway time-?out|service (?:temporarily )?unavailable|internal server error|too many requests"
    r"|rate limit|upstream (?:connect|request)|connection (?:refused|reset|timed out)|traceback \(most recent)\b)",
    re.IGNORECASE,
)
INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|skip)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|all|any|your|system)\b"
    r".{0,40}\b(?:instructions?|prompts?|rules?|messages?|guidelines?|directions?|orders?|context)\b"
    r"|\byou are now (?:an?|the|in|free)\b|\b(?:new|updated|real|actual) (?:system )?(?:instructions?|prompts?|task) ?:"
    r"|\b(?:do not|don['\u2019]?t|never) (?:tell|inform|alert|mention (?:this|it) to) the user\b"
    r"|\breveal (?:your|the) (?:system )?(?:prompt|instructions?)\b|<\|?(?:im_start|system|endoftext)",
    re.IGNORECASE,
)


RULES: frozenset[Kind] = frozenset({"safety rule", "constraint", "preference"})


class SummarizerPaused(CompletionFailed):
    """The summariser was not asked, because it failed too often of late."""


class Summarize(Protocol):
    """What a compressor asks of a summariser."""

    async def __call__(self, text: str, target_tokens: int, /) -> str:
        """The text in at most so many tokens.

        Raises:
            CompletionFailed: there is no usable summary. Any other exception counts the same.
        """
        ...


def fault_of(summary: str, source: Sequence[Passage]) -> str:
    """Why a summary is not used.

    Args:
        summary: what a model answered.
        source: the passages that it was to summarise.

    Returns:
        The reason, in words of ours; empty where there is none.
    """
    text = joined(source)
    if not summary.strip():
        return "it is empty"
    if len(summary) >= len(text):
        return "it is not shorter than the text"
    if fault := fault_of_form(summary):
        return fault
    if any(invented(summary, text)):
        return "it names a value that is not in the text"
    if any(unfounded(summary, source)):
        return "it makes a rule of what is none"
    return ""


def fault_of_form(summary: str) -> str:
    """Why a text is no summary, whatever it was to summarise."""
    start = summary[:STARTS_CHARS]
    if REFUSAL.match(start):
        return "it is a refusal"
    if ERROR_PAGE.match(start):
        return "it is an error message"
    if INSTRUCTION.search(summary):
        return "it carries instructions"
    return ""


def invented(summary: str, source: str) -> Iterator[str]:
    """Values, numbers and dates of a summary that its source has not; a date may be written in another way."""
    flat = flattened(source)
    numbers = numbers_in(flat)
    for passage in passages_of(summary):
        for concept in sense_of(passage.text).concepts:
            if concept.kind in {"number", "date"}:
                if not numbers >= numbers_in(concept.text):
                    yield concept.text
            elif concept.kind == "value" and concept.text.lower() not in flat:
                yield concept.text


def numbers_in(text: str) -> set[str]:
    """The numbers of a text, without what parts thousands and without leading zeros."""
    return {number.lstrip("0") for number in DIGITS.findall(THOUSANDS.sub("", text))}


def unfounded(summary: str, source: Sequence[Passage]) -> Iterator[str]:
    """Rules of a summary that nobody with a say gave: an assistant and a tool only report."""
    read = Ledger()
    read.learn_text(summary, author="person")
    rules = [entry.text for entry in read if entry.kind in RULES]
    if rules:
        said = joined(
            passage for passage in source if passage.speaker.author not in {"assistant", "tool"}
        )
        tells_of = Holdings(said).tells_of
        yield from (rule for rule in rules if not tells_of(sense_of(rule).about))
