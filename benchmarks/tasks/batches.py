"""Batches: three hundred invoices or tickets, each done once, some of them out of turn, some again because they were rejected.

Promise: what is paid twice or forgotten is seen in the books; the bank takes a second payment like the first, as banks do.

What the policy does where something is gone: it lists a page again (this can be told again). Where the list says nothing of how
far it was, it goes on behind the newest one that the request shows as done, and looks for its page from the first page on. One that
people asked for out of turn, and that no text shows as done, it looks up; without a tool for that, or without an answer, it trusts
that what was asked for was done. Told to do again what was rejected, it looks once for what was, and takes those it sees.
Where no instruction is in sight, it goes through the list.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from long_work import NOUNS, VERBS
from typing_extensions import override

from autogen_context.testing import Call, Say, Step
from tasks.sight import Sight
from tasks.task import Said, Task, Tool, Verdict

ITEMS, ON_PAGE = 300, 30
PAGES = ITEMS // ON_PAGE
AT_ONCE = 6  # calls in one answer
REJECTED = 9  # of all
SEARCHING = "I look for where I was."
SUPPLIERS = (
    "Nordwind", "Halvorsen", "Quay Foods", "Brandt & Sons", "Lumen Print", "Osprey Air", "Castel", "Tessera",
    "Mirador", "Kestrel Tools", "Polder Gas", "Vela Textiles",
)  # fmt: skip

NAME = re.compile(r"\b(?:INV|TCK)-[0-9A-Z]{4}\b")
SPAN = re.compile(
    r"\b((?:INV|TCK)-\d{4})\b(?: ?(?:to|-|\u2013|\u2026|\.\.\.?|through) ?)\b((?:INV|TCK)-\d{4})\b"
)
CUT = re.compile("\u2026|\\.\\.\\.")  # a page that has this is not whole
PAGE = re.compile(r"Page (\d+) of \d+\n((?:.+\n?)*)")
ROW = re.compile(r"((?:INV|TCK)-[0-9A-Z]{4}) +(\S.*)")
KEY = re.compile(
    r"((?:INV|TCK)-[0-9A-Z]{4})\b(?:(?!INV-|TCK-)[\s\S]){0,600}?\b(?:account|code)\W{1,4}(\w{8,})"
    r"(?:(?!INV-|TCK-)[\s\S]){0,400}?\b(?:total|weight)\W{1,4}(\d+)"
)
DONE = re.compile(
    r"(?i)\b(?:paid|closed|pay_invoice|close_ticket|done|settled|processed|completed)\b"
)
NOT_DONE = re.compile(r"(?i)\b(?:reject\w*|refus\w+|failed|blocked)\b")
ASKED = re.compile(
    r"(?i)\b(?:before|first|ahead|urgent\w*|cannot wait|can't wait|quick one|right away|in between)\b"
)
AGAIN = re.compile(
    r"(?i)\breject\w*\b.*\b(?:again|now|retry|once more)\b|\b(?:again|retry|once more)\b.*\breject\w*"
)
BULLET = re.compile(r"\s*(?:[-*\u2022]|\d+[.)])\s")
HEADING = re.compile(r"#+ |\*\*|.{2,60}:\W{0,3}$")
CALLED = re.compile(r"(?i)[({]|\bread|\b(?:pay|close|list)_|\?")  # says itself what was done
SENTENCE_END = re.compile(r"(?<=[.!?;]) +")
RANGE = re.compile(r"(?i)\bpages? (\d+) (?:to|-|through) (\d+)\b")
FROM = re.compile(r"\bfrom (" + "|".join(map(re.escape, SUPPLIERS)) + r")\b")
REST = re.compile(
    r"(?i)\b(?:the rest|the others|remaining|what is left|go on with the list|everything else)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What one kind of batch calls things."""

    noun: str
    prefix: str
    act: str
    acted: str
    key: str  # argument that has to be read first
    size: str


KINDS = (
    Words(noun="invoice", prefix="INV", act="pay", acted="Paid", key="account", size="total"),
    Words(noun="ticket", prefix="TCK", act="close", acted="Closed", key="code", size="weight"),
)
NAMED = (
    "Before anything else {act} these, they cannot wait: {items}.",
    "Morning! Could you first of all {act} {items}? The others can wait.",
    "{items} are urgent, somebody is on the phone about them. {act} them right away please, nothing else yet.",
    "Ahead of the list: {act} {items}.",
)
OF_ONE = (
    "First {act} all the {noun}s from {supplier}, wherever they are on the list. They have waited long enough.",
    "Those from {supplier} come before all others, would you {act} them? Look through the whole list.",
    "I promised that the {noun}s from {supplier} are done first. Go through the list and {act} them.",
)
SOME = (
    "Now the list itself, in its order, each {noun} once: {act} pages {first} to {last} for now.",
    "Good. Then work through pages {first} to {last} of the list and {act} each {noun} there, once.",
    "Thanks. Pages {first} to {last} next. No {noun} twice please, we had that last month.",
)
BETWEEN = (
    "Quick one in between: {act} {items}, then wait.",
    "Something came up: {items} right away please, just these.",
    "Sorry to interrupt. {items} cannot wait any longer.",
)
LAST = (
    "The ones that were rejected go through now. {act} them again please, just those.",
    "Can you retry everything that was rejected? It should work now.",
    "One more thing. What was rejected, once more please: the block is lifted.",
)


class Batches(Task):
    """A long list, in two stretches, with some out of turn before and between, and the rejected ones at the end."""

    family: ClassVar[str] = "batches"
    prompt: ClassVar[str] = (
        "You work through lists in the back office. Read each item before you act on it, up to six at a time; take account or code from "
        "what you read. Each item is done once and never twice: nobody but you keeps track of it. Rejected ones are left until you are "
        "told. Say when you are done."
    )

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._words = self.random.choice(KINDS)
        self._names = self._ids()
        self._of = {name: self.random.choice(SUPPLIERS) for name in self._names}
        self._keys = {name: f"{self.random.getrandbits(48):012X}" for name in self._names}
        self._sizes = {name: self.random.randrange(20, 99_000) for name in self._names}
        self._done: dict[str, int] = dict.fromkeys(self._names, 0)
        self._wrong = 0
        self._blocked = set[str]()
        self.said = [Said(text=text) for text in self._texts()]
        self._notes = {name: self._note() for name in self._names}

    def _ids(self) -> list[str]:
        prefix = self._words.prefix
        if self.random.random() < 0.5:
            start = self.random.randrange(100, 900)
            return [f"{prefix}-{start + n:04d}" for n in range(ITEMS)]
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
        made: dict[str, None] = {}
        while len(made) < ITEMS:
            made[
                f"{prefix}-{self.random.choice(letters[:24])}{''.join(self.random.choices(letters, k=3))}"
            ] = None
        return list(made)

    def _texts(self) -> Iterator[str]:
        """What the person says; the ones that will be rejected are none of those asked for out of turn."""
        random, words, half = self.random, self._words, self.random.randrange(4, 7)
        supplier = random.choice(SUPPLIERS)
        urgent = random.sample(self._names[3 * ON_PAGE :], 5)
        later = random.sample(sorted(set(self._names[half * ON_PAGE :]) - set(urgent)), 3)
        by_name = random.random() < 0.5
        first = set(urgent) if by_name else {n for n in self._names if self._of[n] == supplier}
        self._blocked = set(random.sample(sorted(set(self._names) - first - set(later)), REJECTED))

        def say(framings: Sequence[str], **values: object) -> str:
            text = random.choice(framings).format(act=words.act, noun=words.noun, **values)
            return text[0].upper() + text[1:]

        yield say(NAMED, items=", ".join(urgent)) if by_name else say(OF_ONE, supplier=supplier)
        yield say(SOME, first=1, last=half)
        yield say(BETWEEN, items=" and ".join(later))
        yield say(SOME, first=half + 1, last=PAGES)
        yield say(LAST)

    def _note(self) -> str:
        """What else stands in an item: some 90 tokens."""
        random = self.random
        lines = [
            f"- {random.choice(VERBS)} {random.choice(NOUNS)} {random.randrange(10_000)}: {random.randrange(9_999)} x {random.randrange(99)}"
            for _ in range(random.randrange(3, 9))
        ]
        return "\n".join(lines)

    @override
    def tools(self, agent: str) -> Sequence[Tool]:
        words = self._words

        def listing(page: int) -> str:
            """List one page of what is open, in the order of the list."""
            if not 1 <= page <= PAGES:
                return f"There are pages 1 to {PAGES}."
            names = self._names[(page - 1) * ON_PAGE : page * ON_PAGE]
            return "\n".join([f"Page {page} of {PAGES}", *(f"{n}  {self._of[n]}" for n in names)])

        def read(item: str) -> str:
            """Read an item of the list."""
            if item not in self._done:
                return f"There is no {item}."
            return (
                f"{item} from {self._of[item]}\n{self._notes[item]}\n{words.key}: {self._keys[item]}\n"
                f"{words.size}: {self._sizes[item]}"
            )

        def act(item: str, key: str) -> str:
            """Do what is to be done with an item; the key is its account or code."""
            if self._keys.get(item) != key:
                self._wrong += 1
                return f"{item} does not belong to {key}."
            if item in self._blocked:  # the first time
                self._blocked.discard(item)
                return f"Rejected: {item} is blocked today."
            self._done[item] += 1
            return f"{words.acted} {item}, reference R{self._sizes[item]:05d}{self._done[item]}."

        listing.__name__, read.__name__ = f"list_{words.noun}s", f"read_{words.noun}"
        act.__name__ = f"{words.act}_{words.noun}"
        return [listing, read, act]

    @staticmethod
    @override
    def decide(sight: Sight) -> Step:
        reading = Reading(sight)
        asked = reading.instruction
        if asked.kind == "named":
            return reading.acted([n for n in asked.names if n not in reading.status])
        if asked.kind == "again":
            return reading.acted_again()
        return reading.swept()

    @override
    def verdict(self) -> Verdict:
        repeated = sum(max(0, times - 1) for times in self._done.values())
        missing = [name for name, times in self._done.items() if not times]
        whys = (
            [f"{len(missing)} not done, such as {missing[0]}"] if missing else [],
            [f"{repeated} done twice"] if repeated else [],
        )
        why = "; ".join(text for each in whys for text in each)
        return Verdict(solved=not why, repeated=repeated, why=why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What a text asks for."""

    kind: str  # named, supplier, pages, again
    at: int = -1  # position in the request; -1 where none is in sight
    names: tuple[str, ...] = ()
    supplier: str = ""
    first: int = 1
    last: int = PAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What one text says."""

    status: tuple[tuple[str, str], ...]  # name, and done, rejected or asked; in order
    pages: tuple[tuple[int, tuple[tuple[str, str], ...]], ...]  # number, rows of name and supplier
    keys: tuple[tuple[str, str], ...]
    instructions: tuple[Instruction, ...]


class Reading:
    """A request as who works through a list reads it."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.status: dict[str, str] = {}
        self.order: list[str] = []  # of those that are done or rejected, the newest last
        self.asked: set[str] = set()
        self.suppliers: set[str] = set()  # that people asked for out of turn
        self.keys: dict[str, str] = {}
        self.pages: list[tuple[int, int, Mapping[str, str]]] = []  # position, number, rows
        self.instruction = Instruction(kind="pages")
        looked_up = [seen for seen in sight.texts if seen.at in sight.given_back]
        for parsed in (parsed_text(seen.text) for seen in looked_up if seen.role == "tool"):
            self._noted(parsed.status)
            self.keys.update(parsed.keys)
        self.order.clear()  # what was looked up says what was done, and nothing of where one is
        for seen in sight.texts:
            if seen.at in sight.given_back:
                continue
            parsed = parsed_text(seen.text)
            self._noted(parsed.status)
            self.keys.update(parsed.keys)
            if CUT.search(seen.text) is None or seen.at == sight.newest.at:
                self.pages += [(seen.at, number, dict(rows)) for number, rows in parsed.pages]
            for each in parsed.instructions if seen.role != "tool" else ():
                self.instruction = Instruction(
                    kind=each.kind, at=seen.at, names=each.names, supplier=each.supplier, first=each.first, last=each.last
                )  # fmt: skip
                self.suppliers |= {each.supplier} - {""}

    def _noted(self, status: Sequence[tuple[str, str]]) -> None:
        for name, what in status:
            if what == "asked":
                self.asked.add(name)
            else:
                self.status[name] = what
                self.order.append(name)

    def tool(self, *beginnings: str) -> str:
        """The tool whose name begins so."""
        return next(name for name in sorted(self.sight.tool_names) if name.startswith(beginnings))

    def acted(self, names: Sequence[str]) -> Step:
        """Read the next of these, or act on those that are read."""
        batch = names[:AT_ONCE]
        if not batch:
            return Say("That is done.")
        if unread := [name for name in batch if name not in self.keys]:
            just_read = {str(call.arguments.get("item")) for call in self.sight.calls[-AT_ONCE:]}
            if self.sight.newest.role == "tool" and set(unread) <= just_read:
                return Say(f"I cannot read {unread[0]}.")
            return [Call(self.tool("read_"), {"item": name}) for name in unread]
        act = self.tool("pay_", "close_")
        return [Call(act, {"item": name, "key": self.keys[name]}) for name in batch]

    def acted_again(self) -> Step:
        """Do what was rejected once more, after one look at what is no longer in sight."""
        if look := self.sight.look_up("rejected"):
            return look
        return self.acted([name for name, what in self.status.items() if what == "rejected"])

    def swept(self) -> Step:
        """Go on with the pages that were asked for."""
        asked = self.instruction
        pages = [page for page in self.pages if page[0] > asked.at]
        if not pages:
            return self._listed(asked.first, searching=asked.at < self.sight.newest.at)
        at, number, rows = pages[-1]
        names = list(rows)
        done = [name for name in self.order if name not in self.asked]
        if done and done[-1] in rows:
            names = names[names.index(done[-1]) + 1 :]
        elif done and self._is_search(at) and is_behind(done[-1], names) and number < asked.last:
            return self._listed(number + 1, searching=True)
        open_ones: list[str] = []
        for name in names:
            if name in self.status or (asked.supplier and rows[name] != asked.supplier):
                continue
            if not asked.supplier and (name in self.asked or rows[name] in self.suppliers):
                if look := self.sight.look_up(f"{self.tool('pay_', 'close_')} {name}"):
                    return look
                continue  # it was asked for, so it was done
            open_ones.append(name)
        if open_ones or number >= asked.last:
            return self.acted(open_ones)
        return self._listed(number + 1, searching=False)

    def _listed(self, page: int, *, searching: bool) -> Step:
        call = Call(self.tool("list_"), {"page": page})
        return [Say(SEARCHING), call] if searching else call

    def _is_search(self, at: int) -> bool:
        """Whether the page at this position was listed to find where one was."""
        before = self.sight.messages[max(0, at - 2) : at]
        return any(SEARCHING in str(message.get("content")) for message in before)


def is_behind(name: str, names: Sequence[str]) -> bool:
    """Whether a name comes behind all of these, as far as one can tell: numbers run on, others say nothing."""
    return not name[4:].isdigit() or not names or name > names[-1]


@lru_cache(maxsize=20_000)
def parsed_text(text: str) -> Parsed:
    """What a text says, the same for the same text."""
    if not (NAME.search(text) or RANGE.search(text) or FROM.search(text) or AGAIN.search(text)):
        return Parsed(status=(), pages=(), keys=(), instructions=())
    pages = [(int(found[1]), tuple(ROW.findall(found[2]))) for found in PAGE.finditer(text)]
    status: list[tuple[str, str]] = []
    instructions: list[Instruction] = []
    for line in lines_of(PAGE.sub("", text)):
        names = names_in(line)
        if what := kind_of(line, names):
            instructions.append(what)
            status += [(name, "asked") for name in names]
        elif NOT_DONE.search(line):
            status += [(name, "rejected") for name in names]
        elif ASKED.search(line):
            status += [(name, "asked") for name in names]
        elif DONE.search(line):
            status += [(name, "done") for name in names]
    return Parsed(
        status=tuple(status),
        pages=tuple(pages),
        keys=tuple((found[1], found[2]) for found in KEY.finditer(text)),
        instructions=tuple(instructions),
    )


def lines_of(text: str) -> list[str]:
    """The sentences of a text; what a bullet does not say itself, its heading says of it."""
    found: list[str] = []
    heading = ""
    for line in text.split("\n"):
        is_bullet = BULLET.match(line) is not None
        if not is_bullet:
            is_heading = HEADING.match(line) is not None and not NAME.search(line)
            heading = line if is_heading else ""
        for sentence in SENTENCE_END.split(line):
            says = is_bullet and (DONE.search(sentence) or NOT_DONE.search(sentence))
            told = heading if is_bullet and not says and not CALLED.search(sentence) else ""
            found.append(f"{told} {sentence}".strip())
    return [line for line in found if line]


def names_in(line: str) -> list[str]:
    """The names in a line, with those between the ends of a span."""
    names = NAME.findall(line)
    for first, last in SPAN.findall(line):
        names += [f"{first[:4]}{n:04d}" for n in range(int(first[4:]) + 1, int(last[4:]))]
    return list(dict.fromkeys(names))


def kind_of(line: str, names: Sequence[str]) -> Instruction | None:
    """The instruction that a line is, or None."""
    if AGAIN.search(line):
        return Instruction(kind="again")
    if found := RANGE.search(line):
        return Instruction(kind="pages", first=int(found[1]), last=int(found[2]))
    if (found := FROM.search(line)) and re.search(r"(?i)\b(?:first|before|list)\b", line):
        return Instruction(kind="supplier", supplier=found[1])
    if names and ASKED.search(line):
        return Instruction(kind="named", names=tuple(names))
    return None
