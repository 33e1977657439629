"""One thing that is told beside the host's messages.

Promise: a value; what it quotes cannot pass for a line of ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from autogen_context.messages.message import Text

Topic = Literal["task", "requirement", "decision", "file", "outcome", "provider", "project"]
Name = tuple[Topic, Text]
"""What a notice is about: a later one of the same name takes its place."""

LABELS: Mapping[Topic, str] = {  # the most important first
    "task": "Task: ",
    "requirement": "Requirement: ",
    "decision": "Decided: ",
    "file": "",
    "outcome": "",
    "provider": "",
    "project": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that is told.

    Attributes:
        topic: what kind of thing; left out, whatever a provider has to tell.
        key: which one.
        text: how it is, on one line.
        position: how many of the host's messages were known when it came.
        detail: what is told with it, quoted below its line: it may be the content of a file.
        news: how it is told the first time, where that is not how it is told later.
    """

    topic: Topic = "provider"
    key: Text
    text: Text
    position: int = 0
    detail: Text = ""
    news: Text = ""

    @property
    def name(self) -> Name:
        """What it is about."""
        return self.topic, self.key

    @property
    def told(self) -> str:
        """It as it is told; whatever it quotes cannot pass for a line of ours."""
        line = self.news or f"{LABELS[self.topic]}{self.text}"
        return "\n".join([line, *(f"> {quoted}" for quoted in self.detail.splitlines())])
