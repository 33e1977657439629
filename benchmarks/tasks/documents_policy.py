"""How a model goes about ``documents``: it reads on while it is told to, and answers from what the request shows.

Promise: a function of one request; what a text states is found the same way whoever wrote it.

What texts say is read in ``documents_text``. A change goes before what it changes; a section that is changed has to be the one under
which the value stood. What holds for a branch does not hold for the book. A term without a value of its own has that of the group that a text puts it in.

It notes nothing of what it reads on the way. Where a value had to be got back, it says with the next call what it has so far, and asks
once for what changes it: by a look-up, or else by the pages of changes if a text in sight tells them. Where the value is nowhere in sight: the policy looks it up once by measure and term, and once by measure and group if a text tells the
group; then it reads the page again that some text (a table of contents, headings) gives for the term, the group, the definitions or a
table; then it goes through the book from the start, once for a question (from the supplement on, where the question is about a
branch); then it says that it cannot. Where the question itself is gone in the middle of that, it says so. Where no instruction is in
sight while it reads part by part, it reads on.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, count

from autogen_context.testing import Call, Say, Step
from tasks.accounts import sentences_of
from tasks.documents_text import (
    BRANCH,
    HEAD_OF_PAGE,
    MEASURE,
    SUBJECT,
    Parsed,
    Statement,
    parsed_text,
)
from tasks.documents_words import PARTS
from tasks.people import people_said
from tasks.sight import Sight, content_of

AT_ONCE = 2  # questions that people ask in one message
SCANNING = "I go through the book from here."
READ = re.compile(r"(?i)\bpart (one|two|three|four)\b")
QUESTION = re.compile(r"(?i)\bquestion (\d+)\b")
ANSWERED = re.compile(  # by a call
    r"\banswer\b\W.{0,20}?\bquestion(?:=|\W{2,5})(\d+)|\banswer\(\W{0,3}(\d+)"
)
SAID_ANSWERED = re.compile(r"(?i)\banswered\b|[\u2705\u2713\u2714]|\[x\]")
NOT_ANSWERED = re.compile(
    r"(?i)\bnot (?:yet )?(?:been )?answered|\bunanswered|\bto be answered|\bcould not\b|\[ \]"
)
SEVERAL = re.compile(
    r"(?i)\bquestions? (\d+)((?:(?:, and|,| and|&|-| to| through|\u2013)? ?\d+\b)*)"
)
OF_USER = re.compile(  # before the number of a question
    r"(?im)^(\W*)(?:the )?(?:(?:user|person|customer|human)\b|(?:current|open|pending|active|latest)\b)[^:\n]{0,40}:?[^:\n]{0,20}?\b(question \d+)\b:?"
)
PART_ENDS = re.compile(r"(?i)\bpart \w+ of the book ends here|\bthis was the last page\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person wants to know."""

    number: str
    term: str
    measure: str
    branch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a person wants now: questions answered, or, without any, a part read."""

    at: int
    questions: tuple[Question, ...] = ()


Placed = tuple[int, Statement]
"""A statement and the position of its text in the request."""


class Reading:
    """A request as a reader of the book sees it."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.asked = self._asked()
        self._at = self.asked.at if self.asked else -1

    @cached_property
    def parsed(self) -> list[tuple[int, Parsed]]:
        """What each text says, and where in the request it stands."""
        return [(seen.at, parsed_text(seen.text)) for seen in self.sight.texts]

    @cached_property
    def places(self) -> dict[str, int]:
        """The pages that texts give for titles; of several the first page."""
        places: dict[str, int] = {}
        for title, page in chain.from_iterable(parsed.places for _, parsed in self.parsed):
            places[title] = min(page, places.get(title, page))
        return places

    def _asked(self) -> Asked | None:
        """The newest instruction of a person; of accounts of them that which goes on furthest."""
        best: Asked | None = None
        last, part = 0, 0  # question and part that it mentions
        for seen in reversed(self.sight.texts):
            questions = asked_in(seen.text, seen.role)
            if questions is None or (best is not None and seen.role == "user"):
                continue
            if seen.role == "user":
                return Asked(at=seen.at, questions=questions[-AT_ONCE:])
            said = " ".join(people_said(OF_USER.sub(r"\1User: \2,", seen.text), seen.role))
            number = max(map(int, QUESTION.findall(said)), default=0)
            reads = [PARTS.index(each.lower()) + 1 for each in READ.findall(said)]
            goes_on = number > last and (last > 0 or max(reads, default=0) >= part)
            if best is None or goes_on:
                best = Asked(at=seen.at, questions=questions[-AT_ONCE:])
                last, part = number, max(reads, default=0)
        return best

    def step(self) -> Step:
        """What to do next."""
        if self.asked is not None and self.asked.questions:
            return self._answered(self.asked.questions)
        calls = [call for call in self.sight.calls if self.asked is None or call.at > self.asked.at]
        if calls and calls[-1].name != "read_on" and self.asked is None:
            return Say("I no longer see what I was asked.")
        if calls and PART_ENDS.search(calls[-1].result or ""):
            return Say("I have read this part.")
        return Call("read_on")

    # ---- questions

    def _answered(self, questions: Sequence[Question]) -> Step:
        """Answer what is known, then go on with the first question that is open."""
        answered = {n for seen in self.sight.texts for n in answered_in(seen.text, seen.role)}
        left = [question for question in questions if question.number not in answered]
        if not left:
            return Say("That is answered.")
        known = {question: found for question in left if (found := self._found(question))}
        sure = [(q, self._value(found)) for q, found in known.items() if not self._is_open(found)]
        if sure:
            return [Call("answer", {"question": int(q.number), "value": v}) for q, v in sure]
        one = next(
            (each for each in left if each in known), left[0]
        )  # what is found is not lost over another
        step = (
            self._checked(known[one]) if one in known else self._looked(one) or self._sought(left)
        )
        if step is None:
            value = self._value(known[one])
            return Call("answer", {"question": int(one.number), "value": value})
        notes = self._notes(one)
        return [Say(notes), step] if notes and isinstance(step, Call) else step

    def _looked(self, question: Question) -> Step | None:
        """Look a question up; None where that was done, as on the way through the book."""
        if self._is_leafing:
            return None
        where = f" {question.branch}" if question.branch else ""
        looks = (
            self.sight.look_up(f"{question.measure} {subject}{where}")
            for subject in self._subjects(question)
        )
        return next((look for look in looks if look), None)

    def _notes(self, question: Question) -> str:
        """What is known of a question that is not answered yet, as a model says it between calls."""
        term, *groups = self._subjects(question)
        notes = [f"The {term} is one of {group}." for group in groups]
        for _, each in self._found(question)[-1:]:
            notes.append(f"Section {each.section} gives" if each.section else "So far it says")
            notes[-1] += f" {each.value} as the {each.measure} of {each.subject}."
        return " ".join(notes)

    def _found(self, question: Question) -> Sequence[Placed]:
        """What the texts give for a question, changes alone where there are any."""
        for subject in self._subjects(question):
            wanted = (subject, question.measure, question.branch)
            found = [
                (at, each)
                for at, parsed in self.parsed
                for each in parsed.statements
                if (each.subject, each.measure, each.branch) == wanted
            ]
            if found:
                return [(at, each) for at, each in found if each.is_change] or found
        return ()

    def _value(self, found: Sequence[Placed]) -> str:
        """The newest of these values, or what another page puts in the place of one of them."""
        return self._replaced(found) or found[-1][1].value

    def _replaced(self, found: Sequence[Placed]) -> str:
        """What another page puts in the place of one of these values; empty where none does."""
        known = {(each.section, each.value) for _, each in found if not each.is_change}
        for section, old, new in chain.from_iterable(parsed.replaced for _, parsed in self.parsed):
            if (section, old) in known:
                return new
        return ""

    def _is_open(self, found: Sequence[Placed]) -> bool:
        """Whether a value had to be got back, and what changes it may still be out of sight."""
        at = found[0][0]
        return not (
            (at < self._at and at not in self.sight.given_back)
            or found[0][1].is_change
            or found[0][1].branch
            or self._replaced(found)
        )

    def _checked(self, found: Sequence[Placed]) -> Call | None:
        """What tells whether a value that was got back still holds; None where that was asked already."""
        one = found[-1][1]
        # Without the unit: answers may quote these words, and they should not say that something is so.
        where = f" section {one.section} {one.value.split(' ')[0]}" if one.section else ""
        words = f"changed {one.measure} {one.subject}{where}"
        if self.sight.look_up_tool:
            return self.sight.look_up(words)
        pages = [page for title, page in self.places.items() if title.startswith("changes")]
        return self._again(pages)

    def _subjects(self, question: Question) -> list[str]:
        """The term of a question, and the group that a text puts it in."""
        groups = [
            g for _, parsed in self.parsed for term, g in parsed.groups if term == question.term
        ]
        return [question.term, *groups[-1:]]

    # ---- pages again

    @cached_property
    def _pages_again(self) -> list[tuple[int, bool]]:
        """The pages that were read again for these questions, and whether on the way through the book."""
        return [
            (
                page if isinstance(page := call.arguments.get("page"), int) else 0,
                SCANNING in content_of(self.sight.messages[call.at]),
            )
            for call in self.sight.calls_of("read_page")
            if call.at > self._at
        ]

    @property
    def _is_leafing(self) -> bool:
        """Whether the newest call was one on the way through the book."""
        last = self.sight.calls[-1:]
        return bool(last) and SCANNING in content_of(self.sight.messages[last[0].at])

    def _again(self, pages: Sequence[int]) -> Call | None:
        """Read the first of these pages that is not in sight as a whole and was not read again yet."""
        again = {page for page, _ in self._pages_again} | {parsed.page for _, parsed in self.parsed}
        return next(
            (Call("read_page", {"page": page}) for page in pages if page not in again), None
        )

    def _sought(self, left: Sequence[Question]) -> Step:
        """Read the page again that a text gives for the first question, else go through the book."""
        for question in left:
            if again := self._again(list(self._pages(question))):
                return again
        return self._leafed(left[0].branch) or Say(
            f"I cannot find the answer to question {' and '.join(question.number for question in left)}."
        )

    def _leafed(self, branch: str) -> Step | None:
        """The next page on the way through the book, or the supplement from its beginning; None at the end."""
        known = [page for title, page in self.places.items() if branch and branch in title]
        seen = [
            page
            for _, parsed in self.parsed
            for name, page in parsed.supplements
            if branch and name == branch
        ]
        if seen and not known and (back := self._again([min(seen) - 1])):
            return back
        start = max(
            [
                0,
                *(page for page, is_scan in self._pages_again if is_scan),
                *(page - 1 for page in known or seen),
            ]
        )
        last = [int(head[2]) for head in self.sight.found(HEAD_OF_PAGE)]
        there = {page for page, _ in self._pages_again} | {parsed.page for _, parsed in self.parsed}
        page = next(page for page in count(start + 1) if page not in there)
        return (
            [Say(SCANNING), Call("read_page", {"page": page})]
            if not last or page <= last[-1]
            else None
        )

    def _pages(self, question: Question) -> Iterator[int]:
        """The pages that texts give for a question of the whole book, the best first."""
        if question.branch:
            return
        subjects = self._subjects(question)
        for wanted in (*subjects, *(() if len(subjects) > 1 else ("definitions",)), "table"):
            for title, page in self.places.items():
                if wanted == title or (wanted == "table" and title.startswith("table ")):
                    yield page


@lru_cache(maxsize=20_000)
def asked_in(text: str, role: str) -> tuple[Question, ...] | None:
    """The last thing that a person asks for in a text; no questions stand for reading on."""
    found: tuple[Question, ...] | None = None
    for sentence in people_said(OF_USER.sub(r"\1User: \2,", text), role):
        number, measure = QUESTION.search(sentence), MEASURE.search(sentence)
        term, branch = SUBJECT.search(sentence), BRANCH.search(sentence)
        if number and measure and term:
            question = Question(
                number=number[1],
                term=term[0].lower(),
                measure=measure[0].lower(),
                branch=branch[1].lower() if branch else "",
            )
            found = (*(found or ()), question)
        elif READ.search(sentence):
            found = ()
    return found


@lru_cache(maxsize=20_000)
def answered_in(text: str, role: str) -> frozenset[str]:
    """The numbers of the questions that a text says are answered: a call, or an account."""
    found = {call[1] or call[2] for call in ANSWERED.finditer(text)}
    for told in sentences_of(text, QUESTION) if role != "tool" else ():
        says = f"{told.heading} {told.sentence}"
        if SAID_ANSWERED.search(says) and not NOT_ANSWERED.search(says):
            for first, others in SEVERAL.findall(told.sentence):
                numbers = [int(first), *map(int, re.findall(r"\d+", others))]
                is_span = len(numbers) == 2 and re.search(r"-|to|through|\u2013", others)
                numbers = [*range(numbers[0], numbers[1] + 1)] if is_span else numbers
                found.update(map(str, numbers))
    return frozenset(found)
