"""The policy of teams: how one of them works through the list, hands over, and goes on with somebody's report.

Promise: it reads lines and sentences, whoever laid them out; a report counts as what the person passed on.

What the policy does where something is gone: it lists a page again, and goes on behind the item that it opened last. Where no task is in
sight it goes through the whole list. Where no rule is in sight it looks up the rules before it acts, and without an answer acts as if there
were none. An item that it cannot read it opens once more, alone, then looks it up, else leaves it. When it hands over and sees fewer done than its own count says, it looks up once what is done, what gave no answer and the
rules. Where it then knows of none that were done out of turn, its report lists what it sees and says that it is not complete; who
goes on with such a report reads the log of each item first, and does what no log tells of.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from autogen_context.testing import Call, Say, Step
from tasks.accounts import sentences_of, states_in
from tasks.office import NOTE, PERSON, TOOL, VOICES, spoken
from tasks.sight import SeenCall, Sight, content_of, legible
from tasks.teams_words import CITIES, PLURALS, SECTORS, TIERS
from tasks.whose import OF_PERSON, SAYS
from tasks.whose import PERSON as OF_USER

AT_ONCE = 2  # calls in one answer
EVERYTHING = 99  # pages, where nobody says how many
ID = re.compile(r"\b(?:CU|LF|CT|ST)-\d{4}\b")
ACT = re.compile(r"\b(?:call|inspect|renew|book)_\w+")
OTHER_CALL = re.compile(r"\b(?:open_item|read_log|list_page)\b")
DONE = re.compile(
    r"(?i)\b(?:called|inspected|renewed|booked|done|completed|finished|reached)\b|[\u2705\u2713\u2714]|\[x\]"
)
SILENT = re.compile(
    r"(?i)\b(?:no (?:answer|response|reply)|without (?:an )?(?:answer|response|reply)|did(?: not|n['\u2019]t) (?:answer|respond|reply|pick up)"
    r"|unanswered|unreachable|(?:not|never)(?: be| been)? reached|open)\b"
)
TO_DO = re.compile(
    r"(?i)\b(?:not (?:yet )?(?:been )?(?:called|inspected|renewed|booked|done|tried|opened)|(?:still|yet) to|to be (?:called|inspected|renewed|booked|done)"
    r"|pending|remaining|to do|todo|neither|(?:must|should|may|will)(?: not| never)? be)\b|\[ \]|^\W*(?:before|if|once|until|when)\b"
)
OUT_OF_TURN = re.compile(r"(?i)\bout of turn|\burgent")
REPORTED = re.compile(r"(?i)\bout of turn\b")
URGENT = re.compile(r"(?i)\b(?:first|before|right away|cannot wait|can't wait|urgent|quick one)\b")
HAND_OVER = re.compile(r"(?i)\bhand(?:s|ed|ing)? over\b")
RETRY = re.compile(
    r"(?i)\banswer\b.*\b(?:again|once more|retry)\b|\b(?:again|once more|retry)\b.*\banswer\b"
)
RANGE = re.compile(r"(?i)\bpages? (\d+)\b(?! of \d)(?: (?:to|-|through) (\d+)\b)?")
WORKED = re.compile(r"(?i)\b(?:worked|finished|done)\b")
NOT_ALL = re.compile(r"(?i)\bmay not be complete\b|\bincomplete\b")
COUNT = re.compile(r"\bthat makes (\d+) by you\b")
PAGE = re.compile(r"\bPage (\d+) of \d+\n((?:[A-Z]{2}-\d{4}\n?)+)")
OPENED = re.compile(r"\b([A-Z]{2}-\d{4}), on page (\d+)")
FIELD = re.compile(r"\b(city|tier|sector): (\w+)")
KEY = re.compile(r"\b\w+ of ([A-Z]{2}-\d{4}): (\d{9})\b")
FORBIDS = re.compile(
    r"(?i)\b(?:no|not|cannot|nothing|nobody|none|never|leave|left|skip\w*|off|away|without|except|avoid\w*|exclu\w+|exempt\w*|forbid\w*"
    r"|forbidden|prohibit\w*|spared?|omit\w*|ban|banned|\w+n['\u2019]t)\b"
)
SPARES = re.compile(  # a heading of what is not to be touched
    r"(?i)\b(?:do not|never|skip|exclu\w+|exempt\w*|forbid\w*|forbidden|prohibit\w*|avoid|not to|must not|leave (?:out|alone)|off-limits"
    r"|to be spared|ban|banned|\w+n['\u2019]t)\b"
)
SPARED = {word.lower(): word for word in (*CITIES, *TIERS, *SECTORS)} | {
    plural: sector for sector, plural in PLURALS.items()
}
SPARE = re.compile(rf"(?i)\b({'|'.join(SPARED)})\b")
FIELDS = ("page", "city", "tier", "sector", "key")
RULES, SILENCE = "rules for the whole list", "gave no answer"
LEFT = (
    "done out of turn",
    SILENCE,
    RULES,
)  # what is looked up for a report, in words of the prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody asks for."""

    kind: str = "pages"  # pages, named, again, report
    at: int = -1
    first: int = 1
    last: int = EVERYTHING
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a text says."""

    status: tuple[tuple[str, str], ...]  # item, and done or silent; in order
    out_of_turn: tuple[str, ...]
    reported: tuple[str, ...]  # done by others, as reports say
    rules: tuple[tuple[str, str], ...]  # what is spared, and the sentence
    wish: Wish | None
    fields: tuple[tuple[str, str, str], ...]  # item, and what of it is what
    pages: tuple[tuple[int, tuple[str, ...]], ...]
    count: int  # of what was done by who reads it
    is_partial: bool


class Reading:
    """A request as one of the team reads it."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.status: dict[str, str] = {}
        self.reported: set[str] = set()  # by others
        self.out_of_turn: dict[str, None] = {}
        self.rules: dict[str, str] = {}
        self.items: dict[str, dict[str, str]] = {}  # what each field of an item says
        self.pages: dict[int, tuple[str, ...]] = {}
        self.wish = Wish()
        self.count = 0
        self.is_partial = False
        answers = {
            call.result
            for call in sight.calls
            if sight.look_up_tool and call.name == sight.look_up_tool[0]
        }
        acts: dict[int, list[str]] = {}
        for call in sight.calls:
            if ACT.match(call.name):
                acts.setdefault(call.at, []).append(str(call.arguments.get("item")))
        for at, message in enumerate(sight.messages):
            self.status.update(dict.fromkeys(acts.get(at, ()), "done"))
            if content := content_of(message):
                role = str(message["role"])
                is_answer = role == "tool" and content in answers
                text = content if role == "tool" else legible(content)
                self._read(at, text, "answer" if is_answer else role)
        self.since = [call for call in sight.calls if call.at > self.wish.at]
        if self.wish.kind == "named" and sight.newest.role == "tool" and not self.is_for_named():
            self.wish = Wish(at=self.wish.at)

    def is_for_named(self) -> bool:
        """Whether the newest call is about those that were named; else a later task is no longer in sight."""
        calls = [call for call in self.since if call.name in {"open_item", "list_page"}]
        return not calls or item_of(calls[-1]) in self.wish.names

    def _read(self, at: int, text: str, role: str) -> None:
        parsed = parsed_text(text, VOICES.get(role, NOTE))
        self.status.update(parsed.status)
        for name, field, value in parsed.fields:
            self.items.setdefault(name, {})[field] = value
        self.pages.update(parsed.pages)
        self.rules.update(parsed.rules)
        self.out_of_turn.update(dict.fromkeys(parsed.out_of_turn))
        if role == "answer":
            return
        self.count = max(self.count, parsed.count)
        if role != "tool":
            self.is_partial |= parsed.is_partial
            self.reported |= set(parsed.reported)
        if wish := parsed.wish:
            self.wish = Wish(
                kind=wish.kind, at=at, first=wish.first, last=wish.last, names=wish.names
            )

    @property
    def step(self) -> Step:
        """What to do next."""
        newest, wish = self.sight.newest, self.wish
        if newest.role == "user" and wish.at < newest.at:
            return Say("Understood.")
        if wish.kind == "report":
            return self.handed_over()
        if calls := self.pending():
            return calls
        return self.swept() if wish.kind == "pages" else self.one_by_one()

    def one_by_one(self) -> Step:
        """Go on with those that were named, or with those that gave no answer."""
        if self.wish.kind == "named":
            left = [name for name in self.wish.names if self.status.get(name) != "done"]
            return self.opened(left) or Say("That is done.")
        if not self.since and (look := self.sight.look_up(SILENCE)):
            return look
        silent = [name for name, what in self.status.items() if what == "silent"]
        return self.opened(silent) or Say("Those are tried again.")

    def opened(self, names: Sequence[str]) -> list[Call]:
        """Open the next of these, behind the last one that was opened."""
        touched = [item_of(call) for call in self.since if call.name == "open_item"]
        left = [name for name in names if name not in touched]
        return [Call("open_item", {"item": name}) for name in left[:AT_ONCE]]

    def swept(self) -> Step:
        """Go on with the pages that were asked for."""
        wish, page = self.wish, self.wish.first
        behind = ""
        for call in reversed(self.since):
            if call.name == "list_page":
                page = int(str(call.arguments.get("page")))
                break
            if call.name == "open_item" and (found := self.page_of(item_of(call))):
                page, behind = found, item_of(call)
                break
        rows = self.pages.get(page)
        if rows is None:
            is_asked = self.since and self.since[-1].name == "list_page"
            is_over = is_asked and self.sight.newest.role == "tool"
            return Say("That was the list.") if is_over else Call("list_page", {"page": page})
        behind = self.touched_in(rows) or behind
        left = rows[rows.index(behind) + 1 :] if behind in rows else rows
        calls = self.opened([n for n in left if n not in self.status and n not in self.out_of_turn])
        if calls:
            return calls
        return (
            Call("list_page", {"page": page + 1})
            if page < wish.last
            else Say("These pages are done.")
        )

    def touched_in(self, rows: Sequence[str]) -> str:
        """The last one of a page that was opened for this task."""
        touched = [item_of(call) for call in self.since if call.name == "open_item"]
        return next((name for name in reversed(touched) if name in rows), "")

    def page_of(self, name: str) -> int:
        """The page of an item, as far as a text in sight tells; 0 else."""
        if page := self.items.get(name, {}).get("page"):
            return int(page)
        return next((page for page, rows in self.pages.items() if name in rows), 0)

    def pending(self) -> list[Call]:
        """Act on those that were opened last; what cannot be read is opened once more, alone."""
        opens = [call for call in self.since if call.name == "open_item"]
        batch = [item_of(call) for call in opens if call.at == opens[-1].at]
        after = [call for call in self.since if opens and call.at > opens[-1].at]
        acted = {item_of(call) for call in after if ACT.match(call.name)}
        left = [name for name in batch if name not in acted]
        if not left:
            return []
        if not self.rules and not self.just_asked(RULES) and (look := self.sight.look_up(RULES)):
            return [look]
        known = [name for name in left if len(self.items.get(name, ())) == len(FIELDS)]
        if not known:
            if len(batch) > 1:
                return [Call("open_item", {"item": left[0]})]
            look = None if self.just_asked(left[0]) else self.sight.look_up(left[0])
            return [look] if look else []
        known = [name for name in known if not self.rules.keys() & self.items[name].values()]
        if self.is_partial and self.wish.kind == "pages":
            read = {item_of(call) for call in after if call.name == "read_log"}
            if unread := [name for name in known if name not in read]:
                return [Call("read_log", {"item": name}) for name in unread]
            known = [name for name in known if name not in self.status]
        act = next(name for name in sorted(self.sight.tool_names) if ACT.match(name))
        return [Call(act, {"item": name, "key": self.items[name]["key"]}) for name in known]

    def just_asked(self, words: str) -> bool:
        """Whether the newest call in sight looks these words up."""
        calls, tool = self.sight.calls, self.sight.look_up_tool
        return bool(
            calls
            and tool
            and calls[-1].name == tool[0]
            and calls[-1].arguments.get(tool[1]) == words
        )

    def handed_over(self) -> Step:
        """Look up what is no longer in sight, then write the report."""
        done = [name for name, what in self.status.items() if what == "done"]
        own = [name for name in done if name not in self.reported]
        is_short = self.count > len(own)
        if is_short or not self.rules:
            at = next((n + 1 for n, words in enumerate(LEFT) if self.just_asked(words)), 0)
            for words in LEFT[at:]:
                if look := self.sight.look_up(words):
                    return look
        silent = [name for name, what in self.status.items() if what == "silent"]
        named = [*self.out_of_turn] or (done if is_short else [])
        lines = [
            "Report.",
            *([f"Done out of turn: {', '.join(named)}."] if named else []),
            *([f"No answer so far: {', '.join(silent)}."] if silent else []),
            "Rules of our person:",
            *(f"- {text}" for text in dict.fromkeys(self.rules.values())),
        ]
        if self.is_partial or (is_short and not self.out_of_turn):
            lines.append("This may not be complete, I no longer see all that was done.")
        return Say("\n".join(lines))


def item_of(call: SeenCall) -> str:
    """The item that a call is about."""
    return str(call.arguments.get("item"))


@lru_cache(maxsize=20_000)
def parsed_text(text: str, voice: str) -> Parsed:
    """What a text says, the same for the same text."""
    status: list[tuple[str, str]] = []
    out_of_turn: list[str] = []
    reported: list[str] = []
    rules: list[tuple[str, str]] = []
    wish: Wish | None = None
    for told in sentences_of(text, ID):
        states = [each for each in states_in(told, ID, status_of) if each[1] in {"done", "silent"}]
        status += states
        if voice != TOOL and OUT_OF_TURN.search(f"{told.heading} {told.sentence}"):
            silent = {name for name, what in states if what == "silent"}
            out_of_turn += [name for name in ID.findall(told.sentence) if name not in silent]
            if REPORTED.search(f"{told.heading} {told.sentence}"):
                reported += [name for name, what in states if what == "done"]
    for told in sentences_of(text, ID) if voice != TOOL else ():
        if SPARES.search(told.heading):
            title = told.heading.strip(" #*:")
            listed = f"{title}: {told.sentence.strip(' -*')}"
            rules += rules_of(listed)
    is_attributed = any(OF_PERSON.match(line) or OF_USER.search(line) for line in text.split("\n"))
    for who, sentence in spoken(text, voice) if voice != TOOL else ():
        if who == TOOL:
            continue
        rules += rules_of(sentence)
        is_persons = who == PERSON or (voice == PERSON and not is_attributed)
        found = wish_of(sentence) if is_persons or SAYS.search(sentence) else None
        if found and found.kind == "named":
            out_of_turn += found.names
        wish = found or wish
    return Parsed(
        status=tuple(status),
        out_of_turn=tuple(out_of_turn),
        reported=tuple(reported),
        rules=tuple(rules),
        wish=wish,
        fields=tuple(fields_in(text)),
        pages=tuple((int(found[1]), tuple(ID.findall(found[2]))) for found in PAGE.finditer(text)),
        count=max((int(number) for number in COUNT.findall(text)), default=0),
        is_partial=NOT_ALL.search(text) is not None,
    )


def status_of(sentence: str) -> str:
    """Whether a clause says that its items are done, gave no answer, or are still to do."""
    if OTHER_CALL.search(sentence):
        return ""
    if SILENT.search(sentence):
        return "silent"
    if TO_DO.search(sentence):
        return "to do"
    return "done" if DONE.search(sentence) or ACT.search(sentence) else ""


def rules_of(sentence: str) -> Iterator[tuple[str, str]]:
    """What a sentence spares, if it is a rule."""
    if FORBIDS.search(sentence) and not ID.search(sentence):
        for found in SPARE.finditer(sentence):
            yield SPARED[found[1].lower()], sentence


def wish_of(sentence: str) -> Wish | None:
    """What a sentence asks for."""
    names = tuple(ID.findall(sentence))
    if names:
        asks = URGENT.search(sentence) and not DONE.search(sentence) and not SILENT.search(sentence)
        return Wish(kind="named", names=names) if asks else None
    if HAND_OVER.search(sentence):
        return Wish(kind="report")
    if RETRY.search(sentence):
        return Wish(kind="again")
    if (found := RANGE.search(sentence)) and not WORKED.search(sentence):
        return Wish(first=int(found[1]), last=int(found[2] or found[1]))
    return None


def fields_in(text: str) -> Iterator[tuple[str, str, str]]:
    """Item, field and value of what a text shows of opened items."""
    found = list(OPENED.finditer(text))
    for number, opened in enumerate(found):
        stop = found[number + 1].start() if number + 1 < len(found) else len(text)
        yield opened[1], "page", opened[2]
        for field in FIELD.finditer(text[opened.end() : min(stop, opened.end() + 200)]):
            yield opened[1], field[1], field[2]
    for key in KEY.finditer(text):
        yield key[1], "key", key[2]
