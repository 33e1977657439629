"""The words by which a task is judged: data for ``budget.task``, one row a kind of evidence.

Promise: every entry is in lower case and in its base form; ``base_forms`` takes an inflected word back to it.

A signal of several words is written without articles and fillers (``SKIPPED``), as the reader leaves them out too.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

TaskType = Literal["debug", "implement", "explore", "verify", "document", "refactor", "chat"]

# Points of one signal, by task type. Where two types have as many points, the upper row has it.
TYPE_SIGNALS: Mapping[TaskType, Mapping[int, str]] = {
    "debug": {
        1: "error issue exception problem wrong incorrect unexpected unexpectedly timeout",
        2: "fix bug debug crash fail failure broken traceback stacktrace regression diagnose repair troubleshoot hang leak "
        "segfault typeerror valueerror keyerror attributeerror importerror indexerror runtimeerror "
        "doesn't-work not-work what's-wrong actual-result expected-behavior expected-result stack-trace",
        4: "root-cause reproduce why-fail why-not-work is-broken are-broken test-fail build-fail fix-test fix-build fix-doc",
    },
    "implement": {
        1: "feature support endpoint",
        2: "implement add create build write develop introduce integrate generate extend scaffold make "
        "enable allow change modify update",
    },
    "explore": {
        1: "what where which how why understand",
        2: "explore investigate find explain search look analyze analyse research inspect discover compare locate trace "
        "browse study overview",
        3: "how-do how-does where-is where-are what-is what-are what-does which-file which-module show-me tell-me-how",
    },
    "verify": {
        1: "test coverage ci assertion",
        2: "verify check validate confirm review audit assert benchmark",
        4: "run-test write-test add-test create-test run-suite make-sure double-check code-review sign-off",
    },
    "document": {
        1: "documentation comment guide tutorial",
        2: "document docstring readme changelog describe docs",
        4: "write-documentation add-documentation update-documentation update-readme write-readme add-docstring "
        "write-docstring write-doc update-doc add-comment write-guide write-tutorial release-note update-changelog",
    },
    "refactor": {
        1: "move structure duplicate duplication",
        2: "rename restructure reorganize reorganise simplify extract modernize migrate split decouple dedupe deduplicate "
        "inline",
        4: "refactor clean-up tidy-up move-into split-into",
    },
    "chat": {  # weak: a greeting before a task is no chat
        1: "hi hello hey thanks thank bye joke chat weather feel morning evening weekend "
        "how-are-you good-morning good-night talk-about tell-me-about-yourself nice-meet",
    },
}

# What each feature of a task adds to its complexity: so many points from so many on.
COMPLEXITY_POINTS: Mapping[str, tuple[tuple[int, int], ...]] = {
    "words": ((30, 1), (100, 2), (300, 3)),
    "constraints": ((1, 1), (3, 2)),
    "files named": ((2, 1), (4, 2)),
    "things to do": ((2, 1), (4, 2)),
    "steps": ((2, 1), (4, 2)),
    "question words": ((2, 1), (4, 2)),
    "uses of tools": ((1, 1), (3, 2)),
}
COMPLEXITY_SIGNALS: Mapping[str, str] = {
    "constraints": "must should shall without only never always exactly unless require cannot ensure mustn't shouldn't don't "
    "at-least at-most no-more no-less make-sure backwards-compatible backward-compatible",
    "steps": "then next afterwards finally lastly also",
    "question words": "what why how where",
    "uses of tools": "run execute install deploy commit push download compile grep curl query fetch search",
}

# What ends the name of a file.
FILE_ENDINGS = (
    "bash c cc cfg cpp cs css csv docx env go h hpp html ini ipynb java js json jsonl jsx kt lock log lua md mjs pdf php "
    "png proto ps1 py pyi r rb rs rst scala sh sql svg swift tex toml ts tsv tsx txt vue xlsx xml yaml yml zip"
)

SKIPPED = "a an the some any new unit this that these those my our your its to of for on all please"
LONGEST_SIGNAL = 4  # words

_SUFFIXES = (
    ("ies", "y"),
    ("es", ""),
    ("es", "e"),
    ("s", ""),
    ("ied", "y"),
    ("ed", ""),
    ("ed", "e"),
)
_ING = (("ing", ""), ("ing", "e"))
_LAST_LETTERS = ("s", "d", "g")
_SHORTEST_STEM = 3
_DOUBLED = re.compile(r"([bdglmnprt])\1$")


def base_forms(word: str) -> Iterator[str]:
    """The word, and what it may be an inflection of; some are no words and match nothing."""
    yield word
    if not word.endswith(_LAST_LETTERS):
        return
    for suffix, ending in _SUFFIXES + _ING:
        stem = word.removesuffix(suffix)
        if stem != word and len(stem) >= _SHORTEST_STEM:
            yield stem + ending
            if not ending and _DOUBLED.search(stem):
                yield stem[:-1]
