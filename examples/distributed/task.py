"""What the processes of the team say to one another, and the window of its agents."""

from dataclasses import dataclass

WINDOW = 4_000


@dataclass
class Task:
    """What an agent is asked, and what it answers."""

    text: str
