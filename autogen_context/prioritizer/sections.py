"""Which section of a balanced budget a category of context belongs to.

Promise: one section for each of the seven categories; data only.
"""

from collections.abc import Mapping

from autogen_context.budget.profile import Section
from autogen_context.prioritizer.category import Category

# What is done for a task and what came out of it are one history; the tables have no section for the rest.
SECTION_OF: Mapping[Category, Section] = {
    "requirements": "requirements",
    "design": "design",
    "structure": "project_structure",
    "memory": "memory_patterns",
    "related": "execution_history",
    "execution": "execution_history",
    "general": "execution_history",
}
