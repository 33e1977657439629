"""Tell what a person says from output that a host sends in the user's role.

Promise: pure, linear in the text. In doubt it is a person's: output is only what a message opens with, in a form that hosts
write and people do not, and only right behind words of the model that call no tool. What follows an output in tags is a
person's again; what stands between two outputs is not, since an output may hold anything, the end of its own tag included.

Forms: mini-swe-agent's ``<returncode>`` and ``<output>``, tags of that kind; ``exitcode: 0 (execution succeeded)`` of
AutoGen's code executors; ``EXECUTION RESULT of [tool]:`` of OpenHands; ``OBSERVATION:`` of SWE-agent behind a block of
code; ``Observation:`` of ReAct behind an ``Action:``.
"""

import re

from autogen_context.messages.message import Message

TAGS = (
    "output|stdout|stderr|returncode|return_code|exit_code|exitcode|observation|execution_result|command_output"
    "|tool_result|tool_response|tool_output|function_result|function_results|function_response"
)
OPENED = re.compile(rf"\s*<(?P<tag>{TAGS})(?:\s[^<>\n]{{0,200}})?>", re.IGNORECASE)
LABELLED = re.compile(
    r"\s*(?:exitcode: -?\d+ \(execution (?:succeeded|failed)\)|EXECUTION RESULT of \[[^\]\n]{1,80}\]:"
    r"|The script ran(?:, then exited with an error| but produced no output)\b[^\n]{0,40}\bPOSIX exit code\b)"
)
AFTER_CODE = re.compile(r"\s*OBSERVATION:[ \t]*\n")
AFTER_ACTION = re.compile(r"\s*Observation:")
CODE = re.compile(r"^[ \t]*```", re.MULTILINE)
ACTION = re.compile(r"^Action(?: Input)?:", re.MULTILINE)


def words_and_output(message: Message, before: Message | None) -> tuple[str, str]:
    """The text of a message in two parts.

    Args:
        message: any message.
        before: the one in front of it; ``None`` at the beginning.

    Returns:
        What its author says, and what a tool gave; one of them is mostly empty.
    """
    if message.role != "user" or message.results or not is_spoken_by_model(before):
        return message.text, ""
    end = output_end(message.text, before.text if before else "")
    return message.text[end:], message.text[:end]


def is_spoken_by_model(message: Message | None) -> bool:
    """Whether the model says something and calls no tool."""
    return (
        message is not None
        and message.role == "assistant"
        and bool(message.text)
        and not message.calls
    )


def output_end(text: str, asked: str) -> int:
    """Where the output ends that a text opens with; 0 where it opens with none."""
    labelled = (
        LABELLED.match(text)
        or (AFTER_CODE.match(text) and CODE.search(asked))
        or (AFTER_ACTION.match(text) and ACTION.search(asked))
    )
    return len(text) if labelled else tagged_end(text)


def tagged_end(text: str) -> int:
    """Where the last of the tags ends that a text opens with; the end of the text where one is not closed."""
    end, lower = 0, text.lower()
    seen: set[str] = set()
    while (opened := OPENED.match(text, end)) and opened["tag"].lower() not in seen:
        tag = opened["tag"].lower()
        closed = lower.rfind(f"</{tag}>", opened.end())
        if closed < 0:
            return len(text)
        end = closed + len(tag) + 3
        seen.add(tag)
    return end
