"""The seven categories of context: their weights for a task, and the category of a unit or labelled part.

Phrases of people are in the language files (topic ``unit``); names of files, labels and tools are here.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from autogen_context.budget.policy import Section
from autogen_context.budget.task import TaskType
from autogen_context.language.phrases import phrases
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolAction, ToolKind
from autogen_context.messages.tool_call import actions_of
from autogen_context.text.work import ends_of

Category = Literal[
    "requirements", "related", "design", "structure", "memory", "execution", "general"
]

# Requirements of the current task, history of related tasks, design decisions, project structure, memory, execution
# history, anything else.
BASE_WEIGHTS: Mapping[Category, float] = {
    "requirements": 1.0,
    "related": 0.9,
    "design": 0.8,
    "structure": 0.7,
    "memory": 0.6,
    "execution": 0.5,
    "general": 0.3,
}
LEAST_MULTIPLIER = 0.25  # of a category's weight
MOST_MULTIPLIER = 4.0  # of a category's weight

# Categories that are not listed have 1.
TYPE_MULTIPLIERS: Mapping[TaskType, Mapping[Category, float]] = {
    "debug": {"execution": 1.8, "related": 1.1, "design": 0.8, "general": 0.7},
    "implement": {"requirements": 1.2, "design": 1.2, "structure": 1.2, "memory": 0.8, "general": 0.7},
    "explore": {"structure": 1.5, "memory": 1.1, "requirements": 0.9},
    "verify": {"requirements": 1.2, "execution": 1.6, "design": 0.8, "memory": 0.8, "general": 0.7},
    "document": {"design": 1.4, "structure": 1.2, "execution": 0.6},
    "refactor": {"design": 1.4, "structure": 1.4, "memory": 0.8, "general": 0.7},
    "chat": {"memory": 1.5, "general": 1.5, "design": 0.6, "structure": 0.5, "execution": 0.5},
}  # fmt: skip  # a row a type

# Budgets have one section for related and execution history, and none for general.
SECTION_OF: Mapping[Category, Section] = {
    "requirements": "requirements",
    "design": "design",
    "structure": "project_structure",
    "memory": "memory_patterns",
    "related": "execution_history",
    "execution": "execution_history",
    "general": "execution_history",
}

END_CHARS = 800  # read from the beginning and from the end of a text
HEADING_CHARS = 120  # most characters of a heading above memories
FEWEST_WORDS = 4  # shorter answers are general

_PART = re.compile(r"[^\W\d_]+")
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
RANK: tuple[ToolKind, ...] = tuple(OF_KIND)  # precedence among several calls of a message
MEMORY_TOOLS = frozenset({"memory", "memories", "remember", "recall", "knowledge", "facts"})

_LABELS: Mapping[Category, str] = {
    "requirements": "goal goals task tasks requirement requirements instruction instructions steering constraint "
    "constraints objective objectives request question spec specification rules system user criteria",
    "related": "history conversation related code edits changes dialogue messages answer answers example examples",
    "design": "design decision decisions plan plans hypothesis hypotheses strategy approach architecture reasoning "
    "thoughts assumptions",
    "structure": "structure files file tree graph map repository repo project layout symbols dependencies environment",
    "memory": "memory memories fact facts knowledge preference preferences pattern patterns recall recalled remember "
    "remembered retrieved lessons profile",
    "execution": "action actions observation observations result results execution output outputs test tests error "
    "errors log logs run runs trace tool tools steps",
}
LABEL_WORDS: Mapping[str, Category] = {
    word: category for category, words in _LABELS.items() for word in words.split()
}
RECORDS = frozenset({"history", "log", "logs"})  # of something that the label may name before it
OF_WHAT = frozenset({"of", "for", "from", "about", "in", "on", "to", "with"})


def weights_of(
    task_type: TaskType, *, advised: Mapping[Category, float] | None = None
) -> dict[Category, float]:
    """Return each category's weight: its base times the advised multiplier, else that of the rules."""
    multipliers = multipliers_of(task_type) | dict(advised or {})
    return {
        category: base * clamped(multipliers[category]) for category, base in BASE_WEIGHTS.items()
    }


def multipliers_of(task_type: TaskType) -> dict[Category, float]:
    """Return each category's multiplier for a type of task, by the rules."""
    return {category: TYPE_MULTIPLIERS[task_type].get(category, 1.0) for category in BASE_WEIGHTS}


def clamped(multiplier: float) -> float:
    """Return the multiplier within its bounds."""
    return min(MOST_MULTIPLIER, max(LEAST_MULTIPLIER, multiplier))


def category_of(unit: Unit, actions: Sequence[ToolAction] | None = None) -> Category:
    """Return the category of a unit; ``actions`` are derived from tool names if not given."""
    first = unit.messages[0]
    text = first.text
    if first.calls:
        return category_of_calls(first, actions_of(unit) if actions is None else actions)
    if first.results or first.origin == "program":
        return "execution"
    heading = text.strip()[:END_CHARS].partition("\n")[0]
    if len(heading) <= HEADING_CHARS:
        found = next((f for f in phrases("unit").find(heading) if f.label == "memory"), None)
        if found is not None and _PART.search(heading, 0, found.start) is None:
            return "memory"
    if first.role in SYSTEM_ROLES or first.role == "user":
        return "requirements"
    if is_decision(text):
        return "design"
    return "general" if len(text.split(None, FEWEST_WORDS)) < FEWEST_WORDS else "related"


def category_of_calls(message: Message, actions: Sequence[ToolAction]) -> Category:
    """Return the category of a message with tool calls, by the call with precedence."""
    names = {word for call in message.calls for word in words_of(call.name)}
    if not MEMORY_TOOLS.isdisjoint(names):
        return "memory"
    done = {action.kind for action in actions}
    ranked: list[ToolKind] = [each for each in RANK if each in done]
    kind = ranked[0]
    files = [path for action in actions for path in action.subjects if kind == "read"]
    if any(_SPEC.search(path) for path in files):
        return "requirements"
    if any(_PAGE.search(path) for path in files):
        return "structure"
    said = [message.text, *(call.arguments for call in message.calls)]
    return "design" if kind == "other" and any(map(is_decision, said)) else OF_KIND[kind]


def category_of_label(label: str) -> Category:
    """Return the category of a label, by its last known word: ``system_graph`` is a graph.

    For a record (``execution_history``, ``decision log``) the word before decides, except for the task, whose history is
    no requirement. Words after a preposition are ignored.
    """
    words = words_of(label)
    words = words[: next((i for i, w in enumerate(words) if w in OF_WHAT and i), len(words))]
    record: Category | None = None
    for word in reversed(words):
        found = LABEL_WORDS.get(word)
        if found is None:
            continue
        if word not in RECORDS:
            return found if record is None or found != "requirements" else record
        record = record or found
    return record or "general"


def is_decision(text: str) -> bool:
    """Whether a text states a decision."""
    read = ends_of(text, END_CHARS)
    return any(
        found.label == "decision" or (found.label == "title" and read.startswith(":", found.stop))
        for found in phrases("unit").find(read)
    )


def words_of(name: str) -> list[str]:
    """Return the words of a label or a tool name, lower case."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name[:END_CHARS])
    return [word.lower() for word in _PART.findall(spaced.replace("_", " "))]
