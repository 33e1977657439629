"""The books of ``documents``: pages made up by seed, with values said once, changed later, quoted from older editions, and elsewhere.

Promise: every pair of a term and what is measured of it has one value that holds for the book, and at most one for each branch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from tasks import documents_words as words
from tasks.documents_words import Kind, Measure

PAGE_CHARS = 3_500
CONTENTS = 2  # pages
IN_TABLES, IN_GROUPS = 12, 10  # terms
BRANCHES, PAGES_OF_BRANCH = 4, 6
CHANGES = 2  # pages at the end of part three
PART_ENDS = "Part {part} of the book ends here."


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What a question may be about, and its right answer."""

    form: str  # stated, heading, table, group, changed, replaced, older, branch
    term: str
    measure: Measure
    value: str
    page: int
    branch: str = ""


@dataclass(slots=True)
class Section:
    """A heading and what stands under it."""

    title: str
    first: list[str] = field(default_factory=list[str])  # sentences in front
    later: list[str] = field(default_factory=list[str])  # sentences among others
    lines: list[str] = field(default_factory=list[str])  # a table
    facts: list[tuple[str, str, Measure, str]] = field(
        default_factory=list[tuple[str, str, Measure, str]]
    )
    number: str = ""
    page: int = 0


class Book:
    """One book.

    Attributes:
        kind: what it is about.
        pages: texts, the first is page 1.
        ends: the last page of each part.
        facts: what may be asked.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self.kind: Kind = random.choice(words.KINDS)
        terms = random.sample(self.kind.terms, len(self.kind.terms))
        self._tabled, self._grouped = terms[:IN_TABLES], terms[IN_TABLES : IN_TABLES + IN_GROUPS]
        self._plain = terms[IN_TABLES + IN_GROUPS :]
        self._values: dict[tuple[str, str], str] = {}
        self.facts: list[Fact] = []
        self.pages: list[str] = []
        self._main = random.randrange(52, 59)  # pages of parts one to three
        self.ends = [
            self._main // 3,
            2 * self._main // 3,
            self._main,
            self._main + BRANCHES * PAGES_OF_BRANCH,
        ]
        self._branches = random.sample(words.BRANCHES, BRANCHES)
        self._write()

    # ---- values

    def _value(self, measure: Measure, *others: str) -> str:
        """A value that is none of these."""
        while True:
            value = f"{self._random.randrange(measure.low, measure.high)} {measure.unit}"
            if value not in others:
                return value

    def _say(self, framings: Sequence[str], **values: str) -> str:
        text = self._random.choice(framings).format(**values)
        return text[0].upper() + text[1:]

    # ---- sections

    def _write(self) -> None:
        """All pages; a section has its number and page before anything refers to it."""
        sections = [*self._of_terms(), *self._of_tables()]
        groups = list(self._of_groups())
        sections += groups[1:]
        places = [
            n
            for page in range(CONTENTS + 1, self._main - CHANGES + 1)
            for n in [page] * self._random.choice((2, 2, 3))
        ]
        for title in self._random.choices(words.TITLES, k=len(places) - len(sections) - 1):
            sections.append(Section(title))
        self._random.shuffle(sections)
        sections.insert(0, groups[0])  # the definitions
        for n, (section, page) in enumerate(zip(sections, places, strict=True)):
            section.number, section.page = f"{n // 9 + 1}.{n % 9 + 1}", page
        self._scatter(sections)
        changes = self._of_changes(sections)
        for each in sections:
            self.facts += [
                Fact(form=form, term=term, measure=measure, value=value, page=each.page)
                for form, term, measure, value in each.facts
            ]
        by_page = [[s for s in sections if s.page == page] for page in range(self._main + 1)]
        by_page[self._main - CHANGES + 1 :] = [[each] for each in changes]
        contents = self._contents([*sections, *changes])
        for page in range(1, self._main + 1):
            body = contents[page - 1] if page <= CONTENTS else self._body(by_page[page])
            self.pages.append(f"{self._head(page)}\n\n{body}{self._foot(page)}")
        for branch in self._branches:
            self._supplement(branch)

    def _of_terms(self) -> Iterator[Section]:
        """A section for each term that has no table, with two or three values."""
        for term in [*self._plain, *self._grouped]:
            section = Section(term[0].upper() + term[1:])
            measures = self.kind.measures[:4] if term in self._grouped else self.kind.measures
            for measure in self._random.sample(measures, self._random.choice((2, 3))):
                value = self._values[term, measure.name] = self._value(measure)
                form = self._random.choice(("stated", "heading"))
                framings = words.STATED if form == "stated" else words.UNDER_HEADING
                said = self._say(framings, measure=measure.name, term=term, value=value)
                (section.first if form == "heading" else section.later).append(said)
                section.facts.append((form, term, measure, value))
            yield section

    def _of_tables(self) -> Iterator[Section]:
        """Two tables, each with half of the terms that have one."""
        half = IN_TABLES // 2
        for number, terms in enumerate((self._tabled[:half], self._tabled[half:]), start=1):
            measures = self._random.sample(self.kind.measures, 4)
            section = Section(f"Table {number}")
            section.lines.append(" | ".join(["", *(measure.name for measure in measures)]).strip())
            for term in terms:
                values = {measure: self._value(measure) for measure in measures}
                self._values.update(
                    {(term, measure.name): value for measure, value in values.items()}
                )
                section.lines.append(" | ".join([term, *values.values()]))
                section.facts += [
                    ("table", term, measure, value) for measure, value in values.items()
                ]
            yield section

    def _of_groups(self) -> Iterator[Section]:
        """The definitions, then a section for each group."""
        definitions = Section("Definitions")
        groups: list[Section] = []
        for n, letter in enumerate(words.GROUP_LETTERS):
            name, members = self.kind.group.format(letter), self._grouped[n::3]
            listed = " and the ".join([", the ".join(members[:-1]), members[-1]])
            definitions.later.append(self._say(words.DEFINED, group=name, members=listed))
            section = Section(name[0].upper() + name[1:])
            for measure in self.kind.measures[4:]:  # their members have none of their own
                value = self._value(measure)
                said = self._say(words.STATED, measure=measure.name, term=name, value=value)
                said = said.replace(f"the {name}", name).replace(f"The {name} has", f"{name} have")
                section.later.append(said[0].upper() + said[1:])
                section.facts += [("group", term, measure, value) for term in members]
            groups.append(section)
        yield from [definitions, *groups]

    def _scatter(self, sections: Sequence[Section]) -> None:
        """Move some values out of the section of their term; quote older editions behind that."""
        titled = [each for each in sections if each.title in words.TITLES]
        for section in sections:
            for form, term, measure, value in list(section.facts):
                if form != "stated" or self._random.random() < 0.6:
                    continue
                said = next(s for s in section.later if measure.name in s and value in s)
                other = self._random.choice(titled)
                if self._random.random() < 0.5:
                    section.later.remove(said)
                    other.later.append(said)
                    section.facts.remove((form, term, measure, value))
                    other.facts.append((form, term, measure, value))
                elif behind := [each for each in titled if each.page > section.page]:
                    old = self._value(measure, value)
                    year = str(self._random.randrange(2009, 2022))
                    quoted = self._say(
                        words.OLDER, measure=measure.name, term=term, value=old, year=year
                    )
                    self._random.choice(behind).later.append(quoted)
                    section.facts[section.facts.index((form, term, measure, value))] = (
                        "older",
                        term,
                        measure,
                        value,
                    )

    def _of_changes(self, sections: Sequence[Section]) -> list[Section]:
        """The last pages of part three: some values hold no longer."""
        early = [s for s in sections if s.page <= self.ends[1]]
        known = [(s, fact) for s in early for fact in s.facts if fact[0] in ("stated", "heading")]
        changes = [Section(f"Changes {n + 1}") for n in range(CHANGES)]
        for n, (section, (form, term, measure, value)) in enumerate(self._random.sample(known, 10)):
            new = self._value(measure, value)
            others = [f[3] for f in section.facts].count(value)
            replaces = n % 2 == 1 and others == 1
            said = self._say(
                words.REPLACED if replaces else words.CHANGED,
                measure=measure.name, term=term, value=new, old=value, section=section.number,
            )  # fmt: skip
            changes[n % CHANGES if not replaces else self._random.randrange(CHANGES)].later.append(
                said
            )
            section.facts[section.facts.index((form, term, measure, value))] = (
                "replaced" if replaces else "changed", term, measure, new,
            )  # fmt: skip
        for n, each in enumerate(changes):
            each.number, each.page = f"90.{n + 1}", self._main - CHANGES + 1 + n
        return changes

    def _supplement(self, branch: str) -> None:
        """Some pages that hold for one branch alone."""
        known = self._random.sample(
            [f for f in self.facts if f.form not in ("group", "branch")], PAGES_OF_BRANCH * 3
        )
        for n in range(PAGES_OF_BRANCH):
            page = len(self.pages) + 1
            sections = [
                Section(title, number=f"{branch[0]}{n + 1}.{k}")
                for k, title in enumerate(self._random.sample(words.TITLES, 2), 1)
            ]
            for fact in known[n * 3 : n * 3 + 3]:
                value = self._value(fact.measure, fact.value)
                said = self._say(
                    words.AT_BRANCH, branch=self.kind.branch, name=branch, measure=fact.measure.name, term=fact.term, value=value
                )  # fmt: skip
                self._random.choice(sections).later.append(said)
                self.facts.append(
                    Fact(
                        form="branch",
                        term=fact.term,
                        measure=fact.measure,
                        value=value,
                        page=page,
                        branch=branch,
                    )
                )
            head = f"{self._head(page)}\nSupplement for the {branch} {self.kind.branch}"
            self.pages.append(f"{head}\n\n{self._body(sections)}{self._foot(page)}")

    # ---- pages

    def _head(self, page: int) -> str:
        return f"{self.kind.title}, page {page} of {self.ends[-1]}"

    def _foot(self, page: int) -> str:
        if page not in self.ends:
            return ""
        return "\n\n" + PART_ENDS.format(part=words.PARTS[self.ends.index(page)])

    def _contents(self, sections: Sequence[Section]) -> list[str]:
        """What stands where, not all of it, on the first pages."""
        listed = [s for s in sections if s.title not in words.TITLES or self._random.random() < 0.3]
        listed = [s for s in listed if s.number.startswith("90") or self._random.random() < 0.85]
        lines = [f"{s.number} {s.title} {'.' * 12} {s.page}" for s in listed]
        lines += [
            f"Supplement for the {name} {self.kind.branch} {'.' * 12} {self._main + 1 + n * PAGES_OF_BRANCH}"
            for n, name in enumerate(self._branches)
        ]
        half = (len(lines) + 1) // 2
        return ["\n".join(["Contents", *part]) for part in (lines[:half], lines[half:])]

    def _body(self, sections: Sequence[Section]) -> str:
        return "\n\n".join(self._section(each, PAGE_CHARS // len(sections)) for each in sections)

    def _section(self, section: Section, characters: int) -> str:
        """A section with its sentences among others, in paragraphs."""
        sentences = list(section.later)
        size = sum(map(len, [*sentences, *section.first, *section.lines])) + 40
        while size < characters - 60:
            added = self._filler()
            sentences.insert(self._random.randrange(len(sentences) + 1), added)
            size += len(added) + 1
        paragraphs: list[str] = []
        while sentences:
            many = self._random.randrange(3, 6)
            paragraphs.append(" ".join(sentences[:many]))
            del sentences[:many]
        first = [" ".join(section.first)] if section.first else []
        table = ["\n".join(section.lines)] if section.lines else []
        return "\n".join([f"{section.number} {section.title}", *first, *table, *paragraphs])

    def _filler(self) -> str:
        """A sentence without any value."""
        random, chance = self._random, self._random.random()
        role, role2 = random.sample(words.ROLES, 2)
        slots = {
            "role": role, "role2": role2, "Role": role[0].upper() + role[1:], "n": random.randrange(2, 90), "k": random.randrange(1, 9),
            "place": random.choice(words.PLACES), "document": random.choice(words.DOCUMENTS), "time": random.choice(words.TIMES),
            "term": random.choice(self.kind.terms),
        }  # fmt: skip
        how, tail = (random.choice(each).format(**slots) for each in (words.HOW, words.TAILS))
        slots |= {
            "does": random.choice(words.DOES),
            "what": random.choice(words.WHAT),
            "how": how,
            "tail": tail,
        }
        framings = (
            words.MENTIONS if chance < 0.15 else words.FILLERS if chance < 0.35 else words.COMPOSED
        )
        return random.choice(framings).format(How=how[0].upper() + how[1:], **slots)
