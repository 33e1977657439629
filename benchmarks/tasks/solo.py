"""A task worked without any host: a list, a policy and tools; what a family is tried with while it is written.

Promise: the same steps as with a real agent whose list is ``shown`` to the model, without its server and bills.
"""

from collections.abc import Callable, Mapping, Sequence

from autogen_context.testing import ChatMessage, ScriptedModel
from tasks.sight import Sight, arguments_of
from tasks.task import Task, Tool, Verdict

Show = Callable[[Sequence[ChatMessage]], Sequence[ChatMessage]]
"""The list to send, of the whole one."""


def solve(task: Task, show: Show = lambda messages: messages) -> Verdict:
    """Work a task to its end and return its verdict."""
    model = ScriptedModel(lambda request: task.decide(Sight(request)), count=len)
    histories: dict[str, list[ChatMessage]] = {
        name: [{"role": "system", "content": prompt}] for name, prompt in task.prompts.items()
    }
    tools = {name: {tool.__name__: tool for tool in task.tools(name)} for name in task.prompts}
    answer = ""
    for said in task.said:
        text = said.text.replace("{answer}", answer)
        histories[said.to].append({"role": "user", "content": text})
        answer = worked(model, histories[said.to], tools[said.to], show, task.most_requests)
    return task.verdict()


def worked(
    model: ScriptedModel,
    history: list[ChatMessage],
    tools: Mapping[str, Tool],
    show: Show,
    most_requests: int,
) -> str:
    """Let an agent work until it says something; its history grows."""
    schemas: list[ChatMessage] = [
        {"type": "function", "function": {"name": name, "description": tool.__doc__}}
        for name, tool in tools.items()
    ]
    for _ in range(most_requests):
        answer = model.answer(show(history), tools=schemas)
        history.append(answer.as_message())
        if not answer.calls:
            return answer.text or ""
        for call in answer.calls:
            result = tools[call.name](**arguments_of(call.arguments))
            history.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return "I cannot finish this."
