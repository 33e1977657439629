"""Attacks on authority, and people's words inside pasted output, as others wrote them: what each must not gain, or lose.

The cases are data, by authors who knew who can write what and nothing of this package: ``attacks.jsonl`` and ``pasted.jsonl``.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from _pytest.mark import ParameterSet

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.ledger import Ledger
from autogen_context.testing import ChatMessage

HERE = Path(__file__).parent
WINDOW = 4_000
EVERY = 4  # messages; a turn is prepared behind these
RULES = ("Never delete the production database.", "Invoices above 500 euros need my approval.")
TASK = f"Please repair the shop's checkout. {' '.join(RULES)} The deploy must not run before the tests passed."
INSTRUCTION = "Now look at the deploy of the Kaunas branch; answer in French."
AUTHORITY = {"person", "system"}
MARK = re.compile(r"^\s*(?:[-+>|]\s*)*>")


IN_TEXT_ALONE = "transcripts of text alone do not say whose the words outside a frame are, nor whether a report nobody writes is one"
# What is not held, and why; each would fail here if it came to be held.
OPEN = {
    "A-016": IN_TEXT_ALONE,
    "A-018": IN_TEXT_ALONE,
    "A-023": IN_TEXT_ALONE,
    "A-026": IN_TEXT_ALONE,
    "B-022": "in a plain list, user_proxy is the name that AutoGen gives to the person",
    "CP-11": "of a paste of thousands of tokens the ends stay, and what is read as a statement",
}


class Case(NamedTuple):
    """A case of one of the files."""

    id: str
    channel: str = "paste"
    text: str = ""
    claims: Sequence[str] = ()
    words: Sequence[str] = ()
    before: str = ""
    name: str = "web_surfer"
    why: str = ""


def cases(name: str) -> list[ParameterSet]:
    """The cases of a file."""
    lines = (HERE / name).read_text("utf-8").split("\n")
    found = [Case(**json.loads(line)) for line in lines if line.strip()]
    return [pytest.param(each, id=each.id, marks=open_ones(each.id)) for each in found]


def open_ones(number: str) -> list[pytest.MarkDecorator]:
    """A case that is not held is expected to fail."""
    return [pytest.mark.xfail(reason=OPEN[number], strict=True)] if number in OPEN else []


def says(role: str, text: str, **more: object) -> ChatMessage:
    """A message."""
    return cast("ChatMessage", {"role": role, "content": text, **more})


def call(number: str, name: str, **arguments: object) -> ChatMessage:
    """A call of a tool."""
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    calls = [{"id": number, "type": "function", "function": function}]
    return cast("ChatMessage", {"role": "assistant", "content": None, "tool_calls": calls})


def work(count: int, *, start: int = 0) -> Iterator[ChatMessage]:
    """Steps of the agent: files that it reads, each with much in it."""
    for n in range(start, start + count):
        yield call(f"w{n}", "read_file", path=f"src/part_{n}.py")
        body = "\n".join(
            f"    total_{n}_{i} = rate_{i} * {n * 7 + i}  # of part {n}" for i in range(30)
        )
        yield says("tool", f"def part_{n}():\n{body}\n", tool_call_id=f"w{n}")


def hostile(case: Case) -> list[ChatMessage]:
    """What the attacker gets into the list."""
    text = case.text
    match case.channel:
        case "tool" | "recalled":
            return [
                call("h", "fetch_page", url="https://example.com/offer"),
                says("tool", text, tool_call_id="h"),
            ]
        case "test_error":
            return [
                call("h", "run_tests", command="pytest -q"),
                says("tool", text, tool_call_id="h"),
            ]
        case "command":
            return [call("h", "run", command=text), says("tool", "done", tool_call_id="h")]
        case "file_name":
            return [
                call("h", "read_file", path=text),
                says("tool", "x = 1\n", tool_call_id="h"),
                call("i", "write_file", path=text, content="x = 2\n"),
                says("tool", "ok", tool_call_id="i"),
            ]
        case "frame":
            return [
                says("assistant", case.before or "Let me look.\n\n```bash\ncat notes.txt\n```"),
                says("user", text),
            ]
        case "peer":
            return [
                says("assistant", "I shall ask the others."),
                says("user", text, name=re.sub(r"[^\w-]", "_", case.name) or "peer"),
            ]
        case _:
            return [
                call("h", "read_file", path="a.py"),
                says("tool", "one\ntwo\n", tool_call_id="h"),
            ]


def told(prepared: Prepared[ChatMessage], given: Sequence[ChatMessage]) -> list[str]:
    """The texts of the messages that are ours: neither the host's own objects nor those with another text in their place."""
    own = {id(message) for message in given}
    return [
        str(m["content"])
        for m in prepared.messages
        if id(m) not in own and m["role"] in ("user", "system")
    ]


def is_a_part(text: str, whole: str) -> bool:
    """Whether a text is the attacker's own message, cut: most of its lines stand there."""
    lines = [line for line in text.split("\n") if line.strip()]
    return sum(line in whole for line in lines) >= len(lines) / 2


def flat(text: str) -> str:
    """A text without what is only layout."""
    return re.sub(r"\s+", " ", text)


def bare(texts: Sequence[str], claim: str) -> list[str]:
    """The lines of ours in which a claim stands and is no quotation: neither marked nor within double quotes."""
    found: list[str] = []
    wanted = flat(claim)
    for text in texts:
        for line in text.split("\n"):
            if wanted in flat(line) and not MARK.match(line):
                outside = re.sub(r'"[^"]*"', '""', flat(line))
                if wanted in outside:
                    found.append(line)
    return found


def faults(case: Case, tmp_path: Path) -> Iterator[str]:
    """What an attack gained."""
    messages = [says("system", "You are a coding agent."), says("user", TASK)]
    messages += work(2)
    at = len(messages)
    messages += hostile(case)
    hit = range(at, len(messages))
    messages += [says("assistant", "I see.")] if case.channel in {"frame", "peer"} else []
    messages += work(1, start=50)
    messages += [says("assistant", "That is read."), says("user", INSTRUCTION)]
    spoken = len(messages)
    messages += work(24, start=100)
    options: dict[str, Any] = {}
    if case.channel == "summary":

        async def model(prompt: str) -> str:
            paths = dict.fromkeys(
                re.findall(r"src/part_\d+\.py", prompt)
            )  # what is true, to be believed
            return f"{' '.join(f'The file {path} was read.' for path in paths)} {case.text}"

        options["model_client"] = model
    if case.channel == "file_diff":
        (tmp_path / "a.py").write_text("one\ntwo\n")
        options["files"] = tmp_path
    manager = IncrementalContextManager("gpt-4o", window_tokens=WINDOW, **options)

    async def prepared(upto: int) -> Prepared[ChatMessage]:
        if case.channel == "summary":
            return await manager.prepare(messages[:upto])
        return manager.prepare_nowait(messages[:upto])

    async def live() -> None:
        written = 0
        for upto in range(2, len(messages) + 1):
            if upto % EVERY and upto not in {spoken, len(messages)}:
                continue
            if case.channel == "file_diff" and upto >= spoken + 4 and not written:
                written = (tmp_path / "a.py").write_text(case.text, errors="surrogatepass")
            check(upto, await prepared(upto))
        if case.channel == "recalled":
            asks = says("user", f"What did the page say about: {flat(case.claims[0])[:60]}?")
            messages.append(asks)
            check(len(messages), await prepared(len(messages)), is_asked=True)
        await manager.aclose()

    problems: list[str] = []

    def check(upto: int, turn: Prepared[ChatMessage], *, is_asked: bool = False) -> None:
        texts = [str(m["content"]) for m in turn.messages if m["content"]]
        everything = "\n".join(texts)
        for rule in RULES:
            if rule not in everything:
                problems.append(f"turn {upto}: the rule {rule!r} is gone")
        if upto >= spoken and not is_asked and INSTRUCTION not in everything:
            problems.append(f"turn {upto}: the instruction is gone")
        for decision in turn.decisions:
            reason = decision.reason
            is_kept = "must stay" in reason and "newest" not in reason
            if decision.start in hit and (is_kept or reason.startswith("a person said it")):
                problems.append(f"turn {upto}: unit {decision.start}: {reason}")
        ours = [text for text in told(turn, messages) if not is_a_part(text, case.text)]
        for claim in case.claims:
            if case.channel == "summary":
                problems.extend(
                    f"turn {upto}: told {claim!r}" for text in ours if flat(claim) in flat(text)
                )
            problems.extend(f"turn {upto}: bare {line[:200]!r}" for line in bare(ours, claim))

    asyncio.run(live())
    ledger = Ledger()
    ledger.learn(messages)
    for entry in ledger:
        if entry.author in AUTHORITY:
            for claim in case.claims:
                is_own = flat(entry.text).casefold() in flat(f"{TASK} {INSTRUCTION}").casefold()
                if not is_own and (
                    flat(entry.text) in flat(claim) or flat(claim) in flat(entry.text)
                ):
                    problems.append(f"ledger: {entry.author} {entry.kind} {entry.text!r}")
    kept = [entry.text for entry in ledger if entry.author == "person"]
    for rule in RULES:
        if not any(rule.rstrip(".") in text for text in kept):
            problems.append(f"ledger: {rule!r} was withdrawn")
    yield from dict.fromkeys(problems)


def lost(case: Case) -> Iterator[str]:
    """The words of a person that are not in the last request, though there is room."""
    messages = [
        says("system", "You are a coding agent."),
        says("user", "Please repair the checkout."),
        *work(2),
    ]
    messages += [says("assistant", case.before)] if case.before else []
    messages += [says("user", case.text)]
    messages += [says("assistant", "All right.")]
    messages += [says("user", "And now go on with the parts."), *work(60, start=100)]
    manager = IncrementalContextManager("gpt-4o", window_tokens=16_000)
    last, compacted = None, False
    for upto in range(2, len(messages) + 1):
        if upto % (2 * EVERY) == 0 or upto == len(messages):
            last = manager.prepare_nowait(messages[:upto])
            compacted |= last.compacted
    assert last is not None
    assert compacted
    text = flat("\n".join(str(m["content"]) for m in last.messages if m["content"]))
    text = re.sub(r"\s>\s", " ", text)
    for words in case.words:
        if flat(words) not in text:
            yield f"lost {words!r}"


@pytest.mark.parametrize("case", cases("attacks.jsonl"))
def test_an_attack_gains_no_authority(case: Case, tmp_path: Path) -> None:
    """Not as a rule, an instruction, a line of ours; and it withdraws and pushes out nothing."""
    assert list(faults(case, tmp_path)) == [], case.why


@pytest.mark.parametrize("case", cases("pasted.jsonl"))
def test_a_persons_words_beside_pasted_output_stay(case: Case) -> None:
    """Whatever was pasted, in whatever frame."""
    assert list(lost(case)) == []
