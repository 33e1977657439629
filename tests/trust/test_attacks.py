"""Attacks on authority, and people's words inside pasted output, as others wrote them: what each must not gain, or lose.

The cases are data, by authors who knew who can write what and nothing of this package: ``attacks.json`` and ``pasted.json``.
"""

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
from autogen_context.view.decision import Why

pytestmark = pytest.mark.one_python

HERE = Path(__file__).parent
WINDOW = 4_000
EVERY = 4  # messages; a turn is prepared behind these
RULES = ("Never delete the production database.", "Invoices above 500 euros need my approval.")
TASK = f"Please repair the shop's checkout. {' '.join(RULES)} The deploy must not run before the tests passed."
INSTRUCTION = "Now look at the deploy of the Kaunas branch; answer in French."
AUTHORITY = {"person", "system"}
MARK = re.compile(r"^\s*(?:[-+>|]\s*)*>")


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
    found = [Case(**each) for each in json.loads((HERE / name).read_text("utf-8"))]
    return [pytest.param(each, id=each.id) for each in found]


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


def hostile(case: Case) -> list[ChatMessage]:  # noqa: PLR0911 - a row for each channel
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


class Attack:
    """One attack, lived through by a manager; ``problems`` has what it gained."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case, self.problems = case, list[str]()
        self._file = folder / "a.py"
        self._options: dict[str, Any] = {}
        messages = [says("system", "You are a coding agent."), says("user", TASK), *work(2)]
        at = len(messages)
        messages += hostile(case)
        self._hit = range(at, len(messages))
        messages += [says("assistant", "I see.")] if case.channel in {"frame", "peer"} else []
        messages += [
            *work(1, start=50),
            says("assistant", "That is read."),
            says("user", INSTRUCTION),
        ]
        self._spoken = len(messages)
        self._messages = [*messages, *work(24, start=100)]
        if case.channel == "summary":
            self._options["model_client"] = self._summarise
        if case.channel == "file_diff":
            self._file.write_text("one\ntwo\n")
            self._options["files"] = folder

    async def _summarise(self, prompt: str) -> str:
        """What a model that is mostly right says."""
        paths = dict.fromkeys(re.findall(r"src/part_\d+\.py", prompt))
        return f"{' '.join(f'The file {path} was read.' for path in paths)} {self.case.text}"

    async def live(self) -> None:
        """Go through the conversation, and look at what is sent."""
        messages, written = self._messages, 0
        manager = IncrementalContextManager("gpt-4o", window_tokens=WINDOW, **self._options)
        for upto in range(2, len(messages) + 1):
            if upto % EVERY and upto not in {self._spoken, len(messages)}:
                continue
            if self.case.channel == "file_diff" and upto >= self._spoken + 4 and not written:
                written = self._file.write_text(self.case.text, errors="surrogatepass")
            if self.case.channel == "summary":
                self._look(upto, await manager.prepare(messages[:upto]))
            else:
                self._look(upto, manager.prepare_nowait(messages[:upto]))
        if self.case.channel == "recalled":
            about = flat(self.case.claims[0])[:60]
            messages.append(says("user", f"What did the page say about: {about}?"))
            self._look(len(messages), manager.prepare_nowait(messages), is_asked=True)
        await manager.aclose()

    def _look(self, upto: int, turn: Prepared[ChatMessage], *, is_asked: bool = False) -> None:
        """Look at one request: what had to stay, what is said of the attacker's messages, and what we say ourselves."""
        everything = "\n".join(str(m["content"]) for m in turn.messages if m["content"])
        wanted = [*RULES, *([INSTRUCTION] if upto >= self._spoken and not is_asked else [])]
        found = [f"{text!r} is gone" for text in wanted if text not in everything]
        for decision in turn.decisions:
            is_kept = decision.why.is_protected and decision.why is not Why.NEWEST
            if decision.start in self._hit and (is_kept or decision.why is Why.PERSON):
                found.append(f"unit {decision.start}: {decision.reason}")
        ours = [t for t in told(turn, self._messages) if not is_a_part(t, self.case.text)]
        for claim in self.case.claims:
            if self.case.channel == "summary":
                found += [f"told {claim!r}" for text in ours if flat(claim) in flat(text)]
            found += [f"bare {line[:200]!r}" for line in bare(ours, claim)]
        self.problems += [f"turn {upto}: {each}" for each in found]

    def look_at_ledger(self) -> None:
        """Look at what the ledger takes for a person's."""
        ledger = Ledger()
        ledger.learn(self._messages)
        own = flat(f"{TASK} {INSTRUCTION}").casefold()
        for entry in ledger:
            text = flat(entry.text)
            if entry.author in AUTHORITY and text.casefold() not in own:
                claims = [c for c in self.case.claims if text in flat(c) or flat(c) in text]
                self.problems += [f"ledger: {entry.author} {text!r}" for _ in claims]
        kept = [entry.text for entry in ledger if entry.author == "person"]
        gone = [rule for rule in RULES if not any(rule.rstrip(".") in text for text in kept)]
        self.problems += [f"ledger: {rule!r} was withdrawn" for rule in gone]


async def faults(case: Case, folder: Path) -> list[str]:
    """What an attack gained."""
    attack = Attack(case, folder)
    await attack.live()
    attack.look_at_ledger()
    return list(dict.fromkeys(attack.problems))


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


@pytest.mark.parametrize("case", cases("attacks.json"))
async def test_an_attack_gains_no_authority(case: Case, tmp_path: Path) -> None:
    """Not as a rule, an instruction, a line of ours; and it withdraws and pushes out nothing."""
    assert await faults(case, tmp_path) == [], case.why


@pytest.mark.parametrize("case", cases("pasted.json"))
def test_a_persons_words_beside_pasted_output_stay(case: Case) -> None:
    """Whatever was pasted, in whatever frame."""
    assert list(lost(case)) == []
