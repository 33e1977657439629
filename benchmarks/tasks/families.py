"""The families of tasks, by name."""

from collections.abc import Mapping

from tasks.batches import Batches
from tasks.corrections import Corrections
from tasks.documents import Documents
from tasks.edits import Edits
from tasks.hostile import Hostile
from tasks.lookups import Lookups
from tasks.plans import Plans
from tasks.rules import Rules
from tasks.task import Task
from tasks.teams import Teams

FAMILIES: Mapping[str, type[Task]] = {
    each.family: each
    for each in (Batches, Edits, Rules, Corrections, Lookups, Documents, Teams, Hostile, Plans)
}
