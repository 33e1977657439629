"""What tells an agent's intent: data for ``triggers.intent``.

Promise: nothing but these tables is language in the rules.

Phrases are regular expressions, looked for in the clauses of what an agent says, in lower case, without code and quotes.
"""

import re
from collections.abc import Mapping
from typing import Literal

Intent = Literal["EXPLORE", "DEBUG", "IMPLEMENT", "VERIFY", "DOCUMENT", "REFACTOR"]
Transition = tuple[Intent, Intent]

TRANSITIONS: frozenset[Transition] = frozenset(
    {
        ("EXPLORE", "IMPLEMENT"),
        ("DEBUG", "VERIFY"),
        ("IMPLEMENT", "VERIFY"),
        ("IMPLEMENT", "DOCUMENT"),
    }
)
CONFIDENCE = 0.85


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases))


# Where one clause says several, the first of these goes before.
SAID: Mapping[Intent, re.Pattern[str]] = {
    "VERIFY": _any(
        r"\b(?:(?:verify|verifying)(?! (?:if|whether|how|what|why|(?:my|this|the) (?:hypothesis|assumption|theory)))|verification|double[- ]check|validate|sanity[- ]check|regressions?)\b",
        r"\b(?:make|making|be|to be) (?:\w+ )?(?:sure|certain)\b(?! i understand)",
        r"\b(?:confirm|check|see|ensure)(?:s|ing)? (?:that |if |whether )?(?:the |our |my |it |this |everything |nothing |all )(?:\w+ ){0,4}(?:fix(?:ed)?|works?|changes?|gone|missing|resolved|passe?s?|stored|saved|content|correct|broke|right|stands)\b",
        r"\btest (?:the |our |my |this |it )(?:\w+ )?(?:fix|changes?|implementation|out)\b|\b(?:edge|corner) cases?\b",
        r"\bwrite (?:a |some |unit |the )*tests?\b|\badd(?:ing)? (?:a |some |unit |the |more |another )*tests?\b",
    ),
    "DEBUG": _any(
        r"\b(?:reproduc(?:e|es|ed|ing|tion)|debug(?:ging)?|traceback|stack trace|root cause|diagnos\w+|bisect)\b",
        r"\b(?:confirm|see|show|trigger|demonstrate)s? (?:that )?(?:the |this )?(?:\w+ )?(?:bug|issue|problem|error|failure|crash)\b",
        r"\b(?:see|find out|understand|check|investigate|look into) (?:where|why) (?:\w+ ){1,5}(?:fails?|breaks?|panics?|crashes|raises?|goes)\b",
        r"\bwhy (?:does|is|did|do|are|would|was)\b|\bwhat (?:went|goes|is going) wrong\b|\b(?:went|goes|is) wrong\b",
        r"\b(?:tests?|it|this|that|build|compiler|script|run|fit|suite|call|import)\b(?: \w+){0,4} (?:still )?(?:fails?|failed|crash(?:es|ed)|panic(?:s|ked)|complain(?:s|ed)|rais(?:es|ed)|broke)\b",
        r"\b(?:investigat(?:e|es|ed|ing)|track(?:ing)? down|narrow(?:ing)? down) (?:\w+ ){0,3}(?:bug|error|failure|crash|fault|exception|problem)\b",
        r"\b(?:still|now) (?:getting|get|fails?|failing|seeing) \b|\b(?:test|build) failures?\b|\bfailing tests?\b",
    ),
    "DOCUMENT": _any(
        r"\b(?:document(?:ation|ing|ed|s)?|docstrings?|read ?me|changelog|release notes?|manual|wiki|docs)\b",
        r"\b(?:add|write|update|improve)\w* (?:a |the |some |more )*(?:comments?|description)\b",
    ),
    "REFACTOR": _any(
        r"\b(?:refactor\w*|renam(?:e|es|ed|ing)|restructur\w+|reorgani[sz]\w+|simplif\w+|de-?duplicat\w+|moderni[sz]\w+)\b",
        r"\b(?:extract|inline|split|merge|pull|factor)(?:ing)? (?:it|this|that|the|out|both|these|into|a)\b|\bclean(?:ing)?[- ]?up\b|\btidy\b",
        r"\bmov(?:e|ing) (?:\w+ ){1,6}(?:into|to) (?:a |an |its |the |one |another )(?:\w+ )?(?:helper|module|file|function|class|base|method|mixin)\b",
        r"\bremov(?:e|ing) (?:the )?(?:dead|unused|duplicate\w*) \w+",
    ),
    "IMPLEMENT": _any(
        r"^(?:now,? |next,? |then,? )?(?:i'll|i will|let me|let's|i need to|i'm going to) (?:now |also )?(?:fill|save|store|create|build|implement|add|write|generate"
        r"|fix|apply|convert|install|train|fit|drop|merge|insert|change|update|replace|modify|introduce)\b",
    ),
}  # fmt: skip  # a phrase a row

# Clearing away is no intent of its own.
CLEARING = re.compile(
    r"\b(?:remov(?:e|ing)|delet(?:e|ing)|clean(?:ing)? up|clear(?:ing)? away|get rid of) (?:\w+ ){0,4}(?:scripts?|temporary|reproduction|scratch|test files?"
    r"|temp files?|leftovers?)\b"
)
# What is added to look into a fault is no change of the work.
PROBING = re.compile(
    r"\b(?:add|insert|put|use|update|print)\w* (?:\w+ ){0,4}(?:debug(?:ging)?|prints?|print statements?|logging|trace)\b|\bdebug (?:print|output|code)s?\b"
)
