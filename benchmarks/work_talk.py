"""Work talk for benchmarks: turns in which a person asks, tools answer at length and the assistant reports.

The same seed gives the same turns. A result has some 100 to 900 tokens: numbered code, listings, test reports, logs, JSON,
diffs, search hits or tables. Nothing in a turn states a rule, a limit or a fact about the person.
"""

# ruff: noqa: SIM905 - words in a line

import json
from collections.abc import Callable, Collection, Iterator
from random import Random
from typing import Any

Message = dict[str, Any]

VERBS = "load parse merge build resolve flush encode collect render submit split verify drain patch index".split()
NOUNS = "batch schema cursor token route payload digest frame queue session bucket shard cell segment graph".split()
FOLDERS = "src/core src/api src/storage lib/sync tools app/views app/models services/feed worker tests/unit".split()
ERRORS = "KeyError ValueError TypeError TimeoutError ImportError AttributeError ConnectionError IndexError".split()
TYPES = "str int bytes float dict[str,str] list[int] Path bool".split()
LEVELS = "DEBUG INFO INFO INFO WARNING ERROR".split()

REQUESTS = (
    "now run the tests again",
    "Why does the import of {module} fail?",
    "Show me {path}.",
    "Can you find out where {function} is called from?",
    "What does the log say after the restart?",
    "Rename {function} to {other}, everywhere.",
    "ok and the type checker?",
    "Have a look at {path} as well.",
    "Which files changed on this branch?",
    "{test} is red. What is it?",
    "Try it with a smaller input.",
    "Could you split {function} into two?",
    "Hm, that's odd. Print what {function} gets.",
    "List what's in {folder}.",
    "Go on with the next failure.",
    "Is {error} raised anywhere besides {module}?",
    "Write a test for {function}.",
    "And if you revert that?",
    "Get the latest rows of the {noun} table.",
    "Pull, then build.",
    "The {noun} endpoint answers with an error, see what it returns.",
    "Undo the change in {path}.",
    "How big is the {noun} file by now?",
    "Compare {function} with {other}, they look alike to me.",
    "Good. What's left on the list?",
    "Where does the time go in {function}?",
    "Check the {noun} config.",
    "Do the same for {path}.",
    "Why is {test} skipped?",
    "It crashed with {error} again, look into it.",
    "Fix the formatting.",
    "What did the last commits touch in {folder}?",
    "Move {function} out of {module}.",
    "Does {path} still mention {other}?",
    "Restart the worker and watch it for a bit.",
    "I don't get the trace. Where does it start?",
    "Bump the version and build a wheel.",
    "Add a docstring to {function}.",
    "Delete what nobody calls in {path}.",
    "Can this be simpler?",
)

ANSWERS = (
    "Done. {function} in {path} was the cause; I changed the call and looked at the result.",
    "The output points to {path}. The {noun} arrives empty there, which explains the {error}.",
    "{function} is called in three places, the one in {module} passes a stale {noun}.",
    "That works now. The next failure is {test}.",
    "Nothing unusual in this, apart from the warning on the {noun}.",
    "I see it: {other} returns early and the {noun} is left half written.",
    "Here is what I found. {path} imports {module}, {module} imports it back, and Python gives up.",
    "Changed. The diff is small: {function} takes the {noun} as an argument.",
    "Still red. The {error} comes from {function}, one level further down than before.",
    "It is slow because {function} reads the {noun} again for each row.",
    "Finished, and the checks are green as far as I ran them.",
    "The listing shows nothing out of order. I would look at {other} next.",
)

TOOLS = ("read_file", "run_command", "search", "http_get", "query")


class WorkTalk:
    """An endless supply of turns of work.

    Args:
        seed: the same seed gives the same turns.
        avoid: tells which words of a text it may not contain; where there are any, another text is made.
    """

    def __init__(self, seed: int, avoid: Callable[[str], Collection[str]] | None = None) -> None:
        self._chance = Random(seed)  # noqa: S311 - the same turns each time
        self._avoid: Callable[[str], Collection[str]] = avoid or (lambda _: ())
        self._calls = 0

    def turn(self) -> list[Message]:
        """One turn: a request, one or two calls with their results, and an answer."""
        return [{"role": "user", "content": self._clean(self._request)}, *self.work()]

    def work(self) -> list[Message]:
        """What follows a request: one or two calls with their results, and an answer."""
        done: list[Message] = []
        for _ in range(self._chance.choice((1, 1, 2))):
            done += self._call()
        return [*done, {"role": "assistant", "content": self._clean(self._answer)}]

    def _call(self) -> list[Message]:
        self._calls += 1
        name = self._chance.choice(TOOLS)
        arguments = json.dumps({"target": self._path(), "of": f"{self._function()}"})
        call = {"id": f"call_{self._calls:04d}", "type": "function"}
        result = self._clean(self._chance.choice(self._kinds()))
        return [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{**call, "function": {"name": name, "arguments": arguments}}],
            },
            {"role": "tool", "tool_call_id": call["id"], "content": result},
        ]

    def _clean(self, make: Callable[[], str]) -> str:
        text = make()
        for _ in range(100):
            if not self._avoid(text):
                return text
            text = make()
        raise ValueError(
            f"work talk always has {sorted(self._avoid(text))}: word that item otherwise"
        )

    def _kinds(self) -> tuple[Callable[[], str], ...]:
        return (
            self._code,
            self._listing,
            self._tests,
            self._log,
            self._json,
            self._diff,
            self._hits,
            self._table,
            self._trace,
        )

    def _request(self) -> str:
        return self._chance.choice(REQUESTS).format_map(self._slots())

    def _answer(self) -> str:
        return self._chance.choice(ANSWERS).format_map(self._slots())

    def _slots(self) -> dict[str, str]:
        return {
            "path": self._path(),
            "function": self._function(),
            "other": self._function(),
            "module": self._chance.choice(NOUNS) + "s",
            "noun": self._chance.choice(NOUNS),
            "folder": self._chance.choice(FOLDERS),
            "error": self._chance.choice(ERRORS),
            "test": f"test_{self._function()}",
        }

    def _function(self) -> str:
        return f"{self._chance.choice(VERBS)}_{self._chance.choice(NOUNS)}"

    def _path(self) -> str:
        return f"{self._chance.choice(FOLDERS)}/{self._function()}.py"

    def _number(self) -> int:
        return self._chance.randrange(1000, 99999)

    def _rows(self, least: int, most: int) -> Iterator[int]:
        first = self._number()
        return iter(range(first, first + self._chance.randrange(least, most)))

    def _code(self) -> str:
        lines = (
            "def {function}({noun}: {type}) -> {type}:",
            '    """{verb} the {noun} of one {other}."""',
            "    {noun} = {function}({other}, size={number})",
            "    if not {noun}:",
            "        raise {error}(f'no {noun}: {{{other}!r}}')",
            "    for {other} in sorted({noun}s):",
            "        self._{noun}s[{other}] = {function}({noun})",
            "    return {function}({noun})[:{number}]",
            "",
            "    log.debug('{verb} %s', {noun})",
        )
        return "\n".join(f"{n:6d}\t{self._filled(lines)}" for n in self._rows(14, 50))

    def _listing(self) -> str:
        line = "-rw-r--r-- {number} build {number} {noun}_{other}_{number}.{type}"
        return "\n".join(self._filled((line,)) for _ in self._rows(8, 30))

    def _tests(self) -> str:
        lines = ("tests/{noun}/test_{function}.py::test_{verb}_{other} PASSED",) * 6
        body = [
            self._filled((*lines, lines[0].replace("PASSED", "FAILED"))) for _ in self._rows(8, 30)
        ]
        end = ("E   {error}: {noun} {number} is not a {type}", "E   assert {number} == {number}")
        return "\n".join(["test session starts", *body, self._filled(end), "short summary above"])

    def _log(self) -> str:
        line = "{number} {level} worker.{noun}: {verb} {other} id={number} bytes={number}"
        return "\n".join(self._filled((line,)) for _ in self._rows(10, 34))

    def _json(self) -> str:
        rows = [
            {
                "id": self._number(),
                "kind": self._chance.choice(NOUNS),
                "state": self._chance.choice(("open", "done", "failed")),
                "bytes": self._number(),
            }
            for _ in self._rows(5, 24)
        ]
        return json.dumps({"items": rows, "cursor": self._number()}, indent=1)

    def _diff(self) -> str:
        lines = (
            " {noun} = {function}({other})",
            "-    {noun} = {function}({other}, {number})",
            "+    {noun} = {function}({other}, limit={number})",
            "+    if {noun} is None: raise {error}",
        )
        path = self._path()
        body = (self._filled(lines) for _ in self._rows(8, 36))
        return "\n".join([f"--- a/{path}", f"+++ b/{path}", *body])

    def _hits(self) -> str:
        line = "{folder}/{function}.py:{number}: {noun} = {function}({other})"
        return "\n".join(self._filled((line,)) for _ in self._rows(5, 26))

    def _table(self) -> str:
        line = "| {number} | {noun} | {other} | {number} |"
        rows = (self._filled((line,)) for _ in self._rows(8, 36))
        return "\n".join(["| id | kind | owner | bytes |", "|---|---|---|---|", *rows])

    def _trace(self) -> str:
        line = '  File "{folder}/{function}.py", line {number}, in {verb}_{noun}\n    {noun} = {function}({other})'
        rows = (self._filled((line,)) for _ in self._rows(4, 14))
        end = "{error}: {noun} {number} of {other}"
        return "\n".join(["Traceback (latest call at the end):", *rows, self._filled((end,))])

    def _filled(self, lines: Collection[str]) -> str:
        line = self._chance.choice(tuple(lines))
        parts = line.split("{number}")
        line = "".join(f"{part}{self._number()}" for part in parts[:-1]) + parts[-1]
        pick = self._chance.choice
        return line.format(
            function=self._function(),
            noun=pick(NOUNS),
            other=pick(NOUNS),
            verb=pick(VERBS),
            type=pick(TYPES),
            error=pick(ERRORS),
            folder=pick(FOLDERS),
            level=pick(LEVELS),
        )
