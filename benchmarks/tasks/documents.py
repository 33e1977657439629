"""Documents: a handbook, terms or a manual is read page by page, and asked about in between and at the end.

Promise: each question has one right answer; a page can be read again, which is counted. Values stand in sentences, under headings and
in tables; some hold for a group that other pages define, some are changed later, by name or by section; older editions and
supplements for branches have others. The policy is in ``documents_policy``, with what it does where something is gone.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

from typing_extensions import override

from autogen_context.testing import Step
from tasks import documents_words as words
from tasks.documents_book import Book, Fact
from tasks.documents_policy import Reading
from tasks.sight import Sight
from tasks.task import Said, Task, Tool, Verdict

AT_THE_END = (
    "stated",
    "heading",
    "table",
    "group",
    "group",
    "changed",
    "replaced",
    "older",
    "branch",
)
BETWEEN = ("stated", "heading", "table")  # as the other questions they are about early pages


class Documents(Task):
    """A book in four parts, with questions between them and nine or more at the end."""

    family: ClassVar[str] = "documents"
    prompt: ClassVar[str] = (
        "You read a book for somebody, page by page with read_on, and answer questions with the tool answer: the number of the question "
        "and the value with its unit. What is changed on later pages holds; supplements hold for their branch alone, older editions not at "
        "all. Look up what you need and no longer see; read_page has any page again. Do not guess."
    )

    most_requests: ClassVar[int] = 260  # the whole history takes some 105

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._book = Book(self.random)
        self._read = Counter[int]()
        self._bookmark = 0
        self._asked: list[Fact] = []
        self._answers: list[tuple[str, str]] = []
        self.said = [Said(text=text) for text in self._texts()]

    def _texts(self) -> Iterator[str]:
        """What people say: a part, a question or two, and so on."""
        random, ends = self.random, self._book.ends
        forms = list(AT_THE_END) + random.choices(AT_THE_END, k=random.randrange(2))
        random.shuffle(forms)
        for number, part in enumerate(words.PARTS):
            yield random.choice(words.READ).format(part=part)
            if number < len(words.PARTS) - 1:
                pages = ends[0] if number < 2 else ends[1]
                yield self._questions(
                    [
                        self._fact(form, pages)
                        for form in random.sample(BETWEEN, random.choice((1, 2)))
                    ]
                )
        while forms:
            many = random.choice((1, 1, 2))
            yield self._questions([self._fact(form, ends[-1]) for form in forms[:many]])
            del forms[:many]

    def _fact(self, form: str, last_page: int) -> Fact:
        """Something to ask, on a page up to this one; nothing twice."""
        open_ones = [f for f in self._book.facts if f.page <= last_page and f not in self._asked]
        known = [f for f in open_ones if f.form == form] or [
            f for f in open_ones if f.form in BETWEEN
        ]
        fact = self.random.choice(known)
        self._asked.append(fact)
        return fact

    def _questions(self, facts: Sequence[Fact]) -> str:
        first = len(self._asked) - len(facts) + 1
        return "\n".join(
            f"Question {number}: "
            + self.random.choice(words.ASKED).format(
                measure=fact.measure.name,
                term=fact.term,
                where=f" at the {fact.branch} {self._book.kind.branch}" if fact.branch else "",
            )
            for number, fact in enumerate(facts, start=first)
        )

    @override
    def tools(self, agent: str) -> Sequence[Tool]:
        def read_on() -> str:
            """Read the page behind the bookmark, which moves on."""
            if self._bookmark == len(self._book.pages):
                return "This was the last page."
            self._bookmark += 1
            return self._page(self._bookmark)

        def read_page(page: int) -> str:
            """Read any page; the bookmark stays."""
            return self._page(page)

        def answer(question: int, value: str) -> str:
            """Answer a question: its number, and the value with its unit."""
            self._answers.append((str(question), " ".join(value.split())))
            return f"Answer {len(self._answers)} is passed on."

        return [read_on, read_page, answer]

    def _page(self, page: int) -> str:
        if not 1 <= page <= len(self._book.pages):
            return f"There are pages 1 to {len(self._book.pages)}."
        self._read[page] += 1
        return self._book.pages[page - 1]

    @staticmethod
    @override
    def decide(sight: Sight) -> Step:
        return Reading(sight).step()

    @override
    def verdict(self) -> Verdict:
        given = dict(self._answers)
        right = {str(number): fact for number, fact in enumerate(self._asked, start=1)}
        wrong = [
            number
            for number, fact in right.items()
            if number in given and given[number] != fact.value
        ]
        missing = [number for number in right if number not in given]
        repeated = sum(times - 1 for times in self._read.values()) + len(self._answers) - len(given)
        unread = len(self._book.pages) - len(self._read)
        whys = (
            [
                f"question {n} ({right[n].form}) answered {given[n]}, not {right[n].value}"
                for n in wrong[:1]
            ],
            [f"question {n} ({right[n].form}) not answered" for n in missing[:1]],
            [f"{len(wrong) + len(missing)} of {len(right)} wrong or missing"]
            if wrong or missing
            else [],
            [f"{unread} pages never read"] if unread else [],
        )
        why = "; ".join(text for each in whys for text in each)
        return Verdict(solved=not why, repeated=repeated, why=why)
