"""Model names: when two spellings are one model, and which known model a strange name descends from.

Promise: a name is never taken for a model of another version: ``gpt-4`` does not answer for ``gpt-4.1-x``
or ``gpt-45``, and ``claude-opus-4`` does not answer for ``claude-opus-4-9``.
"""

import re
from collections.abc import Collection, Iterator

# More than any model's name needs; what lies beyond is not looked at, so that a hostile name costs little.
_LONGEST_NAME = 200
_MOST_STARTS = 16
_LONGEST_KNOWN = 64

# Where a model's name may begin: after a route ("azure/"), a label ("ft:"), a vendor ("us.anthropic."), or a
# host that puts its own name before the model's.
_STARTS = re.compile(r"[/:]|(?<=[a-z])\.(?=[a-z])|\b(?:databricks|openai|snowflake)-")

# Where a known name may end: before a date, a tag, a revision, the name of a tuned variant.
_BORDERS = re.compile(r"[-_.:@/ ]")

# What goes on with one or two digits is another version, not a variant: "-4", ".1", but not "-08-2024".
_ANOTHER_VERSION = re.compile(r"[-_.]\d{1,2}(?![\da-z])(?!-\d\d)")

# A window in the name, in thousands: "-32k", "_8k".
_THOUSANDS = re.compile(r"(?:^|[-_.:])(\d{1,4})k(?![a-z\d])")

_SPELLINGS = (
    (re.compile(r"(?<=\d)p(?=\d)"), "."),  # Fireworks writes 3p1 for 3.1
    (re.compile(r"(?:meta-)?llama-?v?(?=\d)"), "llama-"),  # llama3.1, Meta-Llama-3.1, llama-v3.1
)

# A family and the known model that stands for it: its smallest, since a guess that is too large fails in
# the provider's hands. The first that fits wins, so the most specific stands first.
_FAMILIES = tuple(
    (re.compile(rf"(?:{pattern})(?![a-z])(?!(?<=\d)\d)"), model)
    for pattern, model in (
        (r"gpt-[5-9]", "gpt-5"),
        (r"(?:chat)?gpt-4(?:o|\.\d)", "gpt-4o"),
        (r"gpt-oss", "gpt-oss-20b"),
        (r"gpt-3\.?5", "gpt-3.5-turbo"),
        (r"o[1-9]", "o1-mini"),
        (r"claude-(?:instant|v?[12])", "claude-instant-v1"),
        (r"claude", "claude-3-haiku"),
        (r"gemini-(?:[2-9]|exp|flash|pro)", "gemini-2.0-flash"),
        (r"gemini", "gemini-1.5-flash"),
        (r"gemma-?[4-9]", "gemma-4-e2b-it"),
        (r"gemma-?3", "gemma-3-4b-it"),
        (r"gemma", "gemma-7b-it"),
        (r"mistral-large-?\d?", "mistral-large-2407"),
        (r"mistral-(?:medium|nemo)", "mistral-medium-2505"),
        (r"mistral-small-?[3-9]", "mistral-small-2503"),
        (r"ministral|pixtral|magistral|devstral", "pixtral-12b"),
        (r"codestral", "codestral-2405"),
        (r"(?:open-)?mixtral", "open-mixtral-8x7b"),
        (r"(?:open-)?mistral", "open-mistral-7b"),
        (r"llama-(?:3[.-][1-9]|[4-9])", "llama-3.1-8b"),
        (r"llama-3", "llama-3-8b"),
        (r"(?:code)?llama", "llama-2-7b"),
        (r"deepseek-v?[4-9]", "deepseek-v4-flash"),
        (r"deepseek-coder", "deepseek-coder-33b-instruct"),
        (r"deepseek", "deepseek-r1"),
        (r"qwen-?(?:3\.[5-9]|[4-9])", "qwen3.5-27b"),
        (r"qwen-?3", "qwen3-8b"),
        (r"qwen|qwq|qvq", "qwen2.5-7b-instruct"),
        (r"grok", "grok-3"),
        (r"command-[ar]", "command-r"),
        (r"command", "command-nightly"),
        (r"kimi", "kimi-k2"),
        (r"glm-[5-9]", "glm-5"),
        (r"glm-4", "glm-4.5"),
        (r"minimax-m", "minimax-m2"),
        (r"jamba-(?:1\.|large|mini)", "jamba-1.5-mini"),
        (r"(?:amazon-)?nova", "nova-micro-v1"),
        (r"phi-[4-9]", "phi-4"),
        (r"phi", "phi-3-mini-4k-instruct"),
        (r"nemotron", "nemotron-nano-9b-v2"),
        (r"sonar", "sonar"),
    )
)


def squash(name: str) -> str:
    """A name without punctuation and case: two spellings of one model give the same."""
    return "".join(filter(str.isalnum, name.casefold()))


def unrouted(name: str) -> str:
    """A name without the route before it: ``openai/gpt-4o`` is ``gpt-4o``, wherever it is served."""
    return name.rpartition("/")[2] or name


def stated_tokens(name: str) -> int | None:
    """The window that a name states, in tokens: 32,000 for ``…-32k``; None if it states none."""
    stated = _THOUSANDS.search(name.casefold()[:_LONGEST_NAME])
    return int(stated[1]) * 1000 or None if stated else None


def ancestor(name: str, known: Collection[str]) -> tuple[str, str] | None:
    """The known model that a name is a variant of.

    Args:
        name: a dated, prefixed, tagged or fine-tuned name.
        known: the squashed names of known models.

    Returns:
        The squashed name of the longest known model that the name begins with, else of the one that stands
        for its family, and what of the name is left. None if there is neither.
    """
    spelled = _respelled(name)
    starts = [0, *(mark.end() for mark in _STARTS.finditer(spelled))][:_MOST_STARTS]
    for start in starts:
        for end in _ends(spelled, start):
            if squash(spelled[start:end]) in known and not _ANOTHER_VERSION.match(spelled, end):
                return squash(spelled[start:end]), spelled[end:]
    return _family(spelled, starts)


def _respelled(name: str) -> str:
    spelled = name.casefold()[:_LONGEST_NAME]
    for pattern, replacement in _SPELLINGS:
        spelled = pattern.sub(replacement, spelled)
    return spelled


def _ends(name: str, start: int) -> Iterator[int]:
    """Where a known name may end, the furthest first."""
    yield len(name)
    yield from reversed(
        [mark.start() for mark in _BORDERS.finditer(name, start + 1, start + _LONGEST_KNOWN)]
    )


def _family(name: str, starts: list[int]) -> tuple[str, str] | None:
    route_end = name.rfind("/") + 1  # what serves a model is not its family: "mistral/x"
    for start in sorted({route_end, *starts}, reverse=True):
        for pattern, model in _FAMILIES:
            if start >= route_end and (head := pattern.match(name, start)):
                return squash(model), name[head.end() :]
    return None
