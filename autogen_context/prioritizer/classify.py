"""Which of the seven categories a unit or a labelled part belongs to, and whether it tells of an error or a decision.

Promise: rules over whole words; the same unit has the same category, whatever stands around it. Of a long text the
beginning and the end are read.
"""

import re
from collections.abc import Mapping, Sequence

from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolAction, ToolKind, answers_of, is_failure
from autogen_context.messages.tool_call import actions_of
from autogen_context.prioritizer.category import Category

END_CHARS = 800  # of a text, from its beginning and from its end
FEWEST_WORDS = 4  # of an answer that says more than that it is one

_PART = re.compile(r"[^\W\d_]+")
_MEMORY = re.compile(
    r"^\W*(?:(?:relevant|retrieved|recalled|stored|long[- ]term|known|saved|user) )?(?:memor(?:y|ies)|facts)\b[^\n]{0,80}(?:\n|$)",
    re.IGNORECASE,
)
_DECISION = re.compile(  # over lower case, which is twice as quick as ignoring it
    r"\b(?:(?:i|we)(?:'ll| will| should| am going to|'m going to| are going to| can) (?:now )?(?:use|go with|implement|keep|switch to|"
    r"replace|change|fix|modify|introduce|avoid|add)|(?:i|we)(?:'ve| have)? (?:decided|chose|chosen|opted|settled)|let's (?:use|go with|keep|switch)|"
    r"(?:the|my|our) (?:plan|decision|approach|design|fix|solution) (?:is|will be)|root cause (?:is|was)|decision:|plan:|approach:)"
)
_ERROR = re.compile(
    r"(?<!\b0 )(?<!\bno )\b(?i:errors?|exception|traceback|failed|failures?|fatal|panic|denied|refused|unable to|not found)\b|[a-z](?:Error|Exception)\b"
)
_SPEC = re.compile(
    r"(?:^|/)(?:(?:[^/]*[_. -])?(?:requirements?|specs?|specification|tasks?|issue|prd|acceptance)(?:[_. -][^/]*)?\.(?:md|rst|adoc|ya?ml|json)"
    r"|CONTRIBUTING[^/]*|AGENTS\.md|CLAUDE\.md)$",
    re.IGNORECASE,
)
_PAGE = re.compile(
    r"(?:^|/)(?:README[^/]*|CHANGELOG[^/]*|docs?/.*|[^/]*\.(?:md|rst|adoc)|requirements[^/]*\.txt|pyproject\.toml|package\.json"
    r"|setup\.(?:py|cfg)|Cargo\.toml|go\.mod|Makefile)$",
    re.IGNORECASE,
)

OF_KIND: Mapping[ToolKind, Category] = {
    "test": "execution",
    "run": "execution",
    "search": "structure",
    "write": "related",
    "read": "related",
    "other": "general",
}
RANK = tuple(OF_KIND)  # of several calls in a message, the first of these says most

_LABELS: Mapping[Category, str] = {
    "requirements": "goal goals task tasks requirement requirements instruction instructions steering constraint "
    "constraints objective objectives request question spec specification rules system user criteria",
    "related": "history conversation related code edits changes dialogue messages answer answers example examples",
    "design": "design decision decisions plan plans hypothesis hypotheses strategy approach architecture reasoning "
    "thoughts assumptions",
    "structure": "structure files file tree map repository repo project layout symbols dependencies environment",
    "memory": "memory memories fact facts knowledge preference preferences pattern patterns recall recalled remember "
    "remembered retrieved lessons profile",
    "execution": "action actions observation observations result results execution output outputs test tests error "
    "errors log logs run runs trace tool tools steps",
}
LABEL_WORDS: Mapping[str, Category] = {
    word: category for category, words in _LABELS.items() for word in words.split()
}
MEMORY_TOOLS = frozenset({"memory", "memories", "remember", "recall", "knowledge", "facts"})


def category_of(unit: Unit, actions: Sequence[ToolAction] | None = None) -> Category:
    """The category of a unit.

    Args:
        unit: the unit.
        actions: what its calls do, in their order; by the names of the tools where nothing is given.

    Returns:
        ``requirements`` for what a person or the system prompt says and for reads of a specification, ``structure`` for
        listings, searches and the project's own pages, ``execution`` for runs and tests, ``memory`` for what a memory
        gave, ``design`` for what the agent decided, ``related`` for other work on the task, ``general`` for the rest.
    """
    first = unit.messages[0]
    if first.calls:
        return category_of_actions(actions_of(unit) if actions is None else actions, first)
    if first.results:
        return "execution"
    if _MEMORY.match(first.text):
        return "memory"
    if first.role in SYSTEM_ROLES or first.role == "user":
        return "requirements"
    if is_decision(first.text):
        return "design"
    return "general" if len(first.text.split(None, FEWEST_WORDS)) < FEWEST_WORDS else "related"


def category_of_actions(actions: Sequence[ToolAction], message: Message) -> Category:
    """The category of the calls in a message, by the one that says most."""
    names = {word for call in message.calls for word in words_of(call.name)}
    if not MEMORY_TOOLS.isdisjoint(names):
        return "memory"
    chief = min(actions, key=lambda action: RANK.index(action.kind))
    files = [path for action in actions for path in action.subjects] if chief.kind == "read" else []
    if any(_SPEC.search(path) for path in files):
        return "requirements"
    if any(_PAGE.search(path) for path in files):
        return "structure"
    if chief.kind == "other":
        decides = is_decision(message.text) or any(is_decision(c.arguments) for c in message.calls)
        return "design" if decides else "general"
    return OF_KIND[chief.kind]


def category_of_label(label: str) -> Category:
    """The category of a labelled part, by the words of its label."""
    for word in words_of(label):
        if word in LABEL_WORDS:
            return LABEL_WORDS[word]
    return "general"


def is_decision(text: str) -> bool:
    """Whether a text states what was decided."""
    return _DECISION.search(ends_of(text).lower().replace("\u2019", "'")) is not None


def is_error(unit: Unit, actions: Sequence[ToolAction] | None = None) -> bool:
    """Whether a call failed, or what was run or tested tells of an error; what is read may well speak of one.

    Args:
        unit: the unit.
        actions: what its calls do, in their order; by the names of the tools where nothing is given.
    """
    known = actions_of(unit) if actions is None else actions
    return any(
        is_failure(answer) or (action.kind in ("run", "test") and tells_of_error(answer))
        for action, (_, answer) in zip(known, answers_of(unit), strict=True)
        if answer is not None
    )


def tells_of_error(answer: str) -> bool:
    """Whether there is a word for an error in what came out."""
    return _ERROR.search(ends_of(answer)) is not None


def ends_of(text: str) -> str:
    """The beginning and the end of a text."""
    return text if len(text) <= 2 * END_CHARS else f"{text[:END_CHARS]}\n{text[-END_CHARS:]}"


def words_of(name: str) -> list[str]:
    """The words of a label or a tool's name."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name[:END_CHARS])
    return [word.lower() for word in _PART.findall(spaced.replace("_", " "))]
