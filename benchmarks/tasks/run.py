"""One task with one manager on its host: the agent works, the server bills and refuses, the verdict is read.

Promise: every manager has the same task, policy, tools, tokenizer and server. A request above the window is refused, as the
provider does; with that the run is over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from autogen_core.tools import FunctionTool
from host_agents import COUNTER, HostAgent, Job
from openai import BadRequestError

from autogen_context.messages.find_tools import FIND_TOOLS_NAME
from autogen_context.testing import (
    Call,
    LoopbackServer,
    Request,
    Say,
    Script,
    ScriptedModel,
    Step,
)
from autogen_context.testing.usage import compact
from autogen_context.tokens.prices import Rates
from tasks.extra_tools import office_tools
from tasks.managers import MODEL, Closed, Manager, Setting
from tasks.sight import Sight
from tasks.summariser import summary
from tasks.task import Task, Tool

RATES = Rates(cached_fraction=0.1)  # a cached token at a tenth of one that is not
ENDS = "TERMINATE"  # the word by which chats of classic agents end
GIVES_UP = "I cannot finish this."
LARGEST_MESSAGE = 900  # tokens: what tasks promise of a single one


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one task; tokens are those of the provider's count."""

    family: str
    seed: int
    window: int  # tokens; 0 is none
    manager: str
    host: str
    solved: bool
    repeated: int
    broken: int
    why: str
    refused: int  # requests, as the provider refuses them
    requests: int
    look_ups: int  # questions to a tool that gives back what left
    largest_tokens: int  # of one request
    cost_tokens: int  # all prompts, those for summaries too; cached tokens at a tenth
    summaries: int  # requests for a summary
    extra_tools: int = 0  # that the task does not need


class Billed(ScriptedModel):
    """A scripted model that counts exactly, with the price of its bills."""

    def __init__(self, steps: Script) -> None:
        super().__init__(steps, count=lambda text: COUNTER.count(text).tokens)

    @property
    def cost_tokens(self) -> float:
        """All prompts, cached tokens at a tenth."""
        return sum(RATES.cost_tokens(b.prompt_tokens, b.cached_tokens) for b in self.bills)


async def run(task: Task, manager: Manager, window: int, *, extra_tools: int = 0) -> Outcome:
    """Work a task to its end, or to where a request is refused; with so many tools that it does not need."""
    asked: list[str] = []
    model = Billed(partial(decided, task, asked))
    summariser = Billed(summary)
    agents: dict[str, HostAgent] = {}
    clients: list[Closed] = []
    async with (
        LoopbackServer(model, window_tokens=window or None) as server,
        LoopbackServer(summariser) as second,
    ):
        for name, prompt in task.prompts.items():
            tools = [*office_tools(extra_tools), *task.tools(name)]
            setting = Setting(
                window=window,
                taken=model.count(prompt) + schema_tokens(tools, model),
                largest_message=LARGEST_MESSAGE,
                summaries_url=second.base_url,
                clients=clients,
            )
            ours, own = manager.given(setting)
            job = Job(
                url=server.base_url, tools=tools, name=name, prompt=prompt, model=MODEL, ours=ours, own=own
            )  # fmt: skip
            agents[name] = manager.host(job)
        await converse(task, agents)
        for agent in agents.values():
            await agent.aclose()
        for client in clients:
            await client.close()
        refused = [request.error for request in server.rejected]
    verdict = task.verdict()
    return Outcome(
        family=task.family,
        seed=task.seed,
        window=window,
        manager=manager.name,
        host=manager.host_name,
        solved=verdict.solved and not refused,
        repeated=verdict.repeated,
        broken=verdict.broken,
        why=refused[0] if refused else verdict.why,
        refused=len(refused),
        requests=len(model.bills),
        look_ups=len(asked),
        largest_tokens=max((bill.prompt_tokens for bill in model.bills), default=0),
        cost_tokens=round(model.cost_tokens + summariser.cost_tokens),
        summaries=len(summariser.bills),
        extra_tools=extra_tools,
    )


async def converse(task: Task, agents: Mapping[str, HostAgent]) -> None:
    """Say what people say, one after the other; a request that is refused ends it."""
    answer = ""
    for said in task.said:
        try:
            answer = await agents[said.to].ask(said.text.replace("{answer}", answer))
        except Exception as error:
            if isinstance(error, BadRequestError) or isinstance(error.__cause__, BadRequestError):
                return
            raise
        answer = answer.removesuffix(ENDS).strip()


def decided(task: Task, asked: list[str], request: Request) -> Step:
    """The step of the policy; ``asked`` notes its look-ups. After the task's most requests it gives up."""
    if request.number > task.most_requests:
        return Say(f"{GIVES_UP} {ENDS}")
    sight = Sight(request)
    step = searched(task.decide(sight), request)
    parts = step if isinstance(step, Sequence) else [step]
    calls = [part for part in parts if isinstance(part, Call)]
    if tool := sight.look_up_tool:
        asked += [call.name for call in calls if call.name == tool[0]]
    if calls:
        return step
    return [Say(f"{part.text} {ENDS}") for part in parts if isinstance(part, Say)]


def searched(step: Step, request: Request) -> Step:
    """A step, or the search for tools that it calls and the request does not have; a search that was in vain is not repeated.

    Who searches knows the words of a name, and the name itself only where the request has it.
    """
    parts = step if isinstance(step, Sequence) else [step]
    functions: list[Any] = [tool["function"] for tool in request.tools]
    there = [function["name"] for function in functions]
    missing = [part.name for part in parts if isinstance(part, Call) and part.name not in there]
    newest = request.messages[-1]
    is_answer = str(newest.get("content")).startswith(("[Found", "[Can be called", "No tool"))
    if not missing or FIND_TOOLS_NAME not in there or is_answer:
        return step
    text = compact([request.tools, request.messages])
    words = (name if name in text else name.replace("_", " ") for name in missing)
    return Call(FIND_TOOLS_NAME, {"query": ", ".join(dict.fromkeys(words))})


def schema_tokens(tools: Sequence[Tool], model: ScriptedModel) -> int:
    """Tokens of the schemas of tools, as agentchat writes them."""
    schemas = [FunctionTool(tool, description=tool.__doc__ or "").schema for tool in tools]
    return model.count(compact([{"type": "function", "function": each} for each in schemas]))
