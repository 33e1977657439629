"""Hold a model's summary against its source, when it is made and whenever it is loaded.

Promise: no sentence of a faithful summary names a value, a name or a number that the source does not have, denies what the source
says or the other way round, gives an order, states a rule but as a person did, or has a person say what that person did not say.
Sentences are compared by their terms, each denied or not in its clause. Linear in source and summary. What a sentence makes up of
the source's own words is not seen: that takes a reader.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Literal, NamedTuple

from autogen_context.compressor.concepts import Concept, flattened, sense_of, without
from autogen_context.compressor.passage import authority_of
from autogen_context.language.phrases import PhraseMatch, phrases
from autogen_context.language.terms import irregular, stop_words, terms
from autogen_context.ledger import Ledger, StatementKind
from autogen_context.ledger.reader import cues_in
from autogen_context.text.passage import Passage, joined

RULES: frozenset[StatementKind] = frozenset({"safety rule", "constraint", "preference"})
NEGATING = ("denies", "negates", "forbid", "no_longer")
DIGITS = re.compile(r"\d+")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
BREAK = re.compile(r"[,;:()\u2013\u2014](?=\s|\Z)|\s-\s")  # between clauses
NAME = re.compile(r"\b[A-Z][a-z]\w+")
WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
LEAST_SHARED = 2  # terms of which two sentences about the same have in common
WHOLE = 0.8  # of a sentence's terms: the other one says all of it
HALF = 0.5  # of a sentence's terms: the other one says a part of it
SAID = 0.6  # of what a person is said to have said, in one sentence of people
LEAST_ALIKE = 3  # terms of a sentence that another one says with one more
LOOKED_AT = 24  # sentences that are compared with one
STATED = ("ed", "s", "ing")  # endings of a first word that is no order

CARRIED = "it carries instructions"
INVENTED = "it names what is not in the text"
MISPLACED = "it gives a number to what has another one"
MADE_RULE = "it states a rule that nobody gave"
ORDERED = "it gives an order"
REVERSED = "it says the reverse of the text"
SUPPOSED = "it has a person say what nobody said"


Speaking = Literal["person", "assistant", "tool", "call"]


class Claim(NamedTuple):
    """What a sentence says."""

    order: tuple[str, ...]  # its terms and numbers, in order
    denied: frozenset[str]  # the terms of clauses that deny something
    plain: frozenset[str]  # the terms of the other clauses
    names: tuple[str, ...] = ()  # words with a capital, in order
    is_sequence: bool = False  # whether it says what comes before what, or how much of what
    by: Speaking = "assistant"  # who says it; a call of a tool is nobody's sentence
    text: str = ""  # the sentence itself

    @property
    def terms(self) -> frozenset[str]:
        """All of its terms."""
        return self.denied | self.plain

    @property
    def numbers(self) -> frozenset[str]:
        """Its numbers."""
        return frozenset(filter(str.isdecimal, self.order))

    @property
    def amounts(self) -> frozenset[tuple[str, str]]:
        """Its numbers, each with the term behind it, of which it is."""
        behind = pairwise(self.order)
        return frozenset(
            (one, two) for one, two in behind if one.isdecimal() and not two.isdecimal()
        )

    def shares(self, other: "Claim", fraction: float) -> bool:
        """Return True if another sentence has at least this fraction of its terms."""
        return len(self.terms & other.terms) >= fraction * len(self.terms)

    def adds_a_name_to(self, other: "Claim") -> bool:
        """Return True if it says what another sentence says with one more term: whom a pronoun there stands for."""
        more, shared = self.terms - other.terms, len(self.terms & other.terms)
        return len(more) <= 1 and LEAST_ALIKE <= shared == len(other.terms)

    def passes_on(self, order: "Claim") -> bool:
        """Return True if it has all of another sentence, which is an order or a rule, in the forms of its words there."""
        here = frozenset(WORD.findall(self.text.lower()))
        words = [
            w for w in WORD.findall(order.text.lower()) if not order.terms.isdisjoint(terms(w))
        ]
        if not words or sum(word in here for word in words) < WHOLE * len(words):
            return False
        text = order.text.lstrip("> ")
        return is_order(text) or any(rules_in(text))

    def contradicts(self, other: "Claim") -> bool:
        """Return True if a term that both have is denied in one of them alone."""
        one, two = self.denied - self.plain, other.denied - other.plain
        return bool(one & (other.plain - other.denied) or two & (self.plain - self.denied))

    def reorders(self, other: "Claim") -> bool:
        """Return True if it has other numbers of the same, or what both have in another order where that matters: of steps, of names."""
        if self.is_sequence and other.is_sequence and common(self.order, other.order):
            return True
        of_what = {term for _, term in other.amounts}
        is_other = any(term in of_what for _, term in self.amounts - other.amounts)
        return is_other or common(self.names, other.names)

    def repeats(self, other: "Claim") -> bool:
        """Return True if it says all that another sentence says, and no more."""
        whole = self.shares(other, WHOLE) and other.shares(self, WHOLE)
        same = whole and self.numbers == other.numbers and not self.reorders(other)
        return same and not self.contradicts(other)


def common(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return True if what two sequences have in common stands in another order in one of them."""
    shared = set(one) & set(other)
    return [each for each in one if each in shared] != [each for each in other if each in shared]


def claim_in(sentence: str, by: Speaking = "assistant") -> Claim:
    """Read a sentence clause by clause; two denials in one clause cancel each other out."""
    cues = cues_in(sentence)
    ended = (sentence[m.start : m.stop] for m in cues.get("no_longer", ()))  # says when, not what
    about = sense_of(sentence).about.difference(*map(terms, ended))
    joints = (
        found.start for found in phrases("clause").find(sentence) if found.label == "condition"
    )
    stops = sorted({*(m.start() for m in BREAK.finditer(sentence)), *joints, len(sentence)})
    denials, reached = list[int](), -1
    for match in sorted(m for label in NEGATING for m in cues.get(label, ())):
        if match.start >= reached:  # a longer phrase holds shorter ones
            denials.append(match.start)
        reached = max(reached, match.stop)
    order, by_sign, start = list[str](), (set[str](), set[str]()), 0
    for stop in stops:
        clause = [term for term in terms(sentence[start:stop]) if term in about]
        for word in sentence[start:stop].split():
            order += numbers_in(word) or (term for term in terms(word) if term in about)
        by_sign[sum(start <= at < stop for at in denials) % 2].update(clause)
        start = stop
    plain, denied = map(frozenset, by_sign)
    names = dict.fromkeys(NAME.findall(sentence))
    return Claim(
        tuple(dict.fromkeys(order)),
        denied,
        plain,
        tuple(names),
        is_sequence="limit" in cues,
        by=by,
        text=sentence,
    )


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers of a text, without thousands separators and leading zeros."""
    return frozenset(
        number.lstrip("0") or "0" for number in DIGITS.findall(THOUSANDS.sub("", text))
    )


class Index:
    """Sentences by their terms, to find those that share most with another one: a bounded number, whatever the text is."""

    def __init__(self, sentences: Iterable[Claim]) -> None:
        self._with_term: defaultdict[str, list[Claim]] = defaultdict(list)
        for claim in sentences:
            for term in claim.terms:
                self._with_term[term].append(claim)

    def near(self, claim: Claim) -> list[Claim]:
        """Return sentences that share terms with one, found by its rarest terms."""
        rows = sorted(
            (self._with_term[term] for term in claim.terms & self._with_term.keys()), key=len
        )
        found = {id(each): each for each in islice(chain.from_iterable(rows), LOOKED_AT)}
        least = min(LEAST_SHARED, len(claim.terms))
        return [each for each in found.values() if len(claim.terms & each.terms) >= least]


class Source:
    """A text that summaries are checked against; what people say is looked up apart, so that no tool can hide it."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        text = joined(passages)
        people = [passage for passage in passages if authority_of(passage)]
        claims = [claim_in(line, speaking(p)) for p in passages for line in p.text.split("\n")]
        rules = (rule for passage in people for rule in rules_in(passage.text))
        self._flat, self._words = flattened(text), frozenset(terms(text))
        self._numbers = numbers_in(text)
        self._rules = Index(claim_in(rule, "person") for rule in rules)
        self._people = Index(each for each in claims if each.by == "person")
        self._others = Index(each for each in claims if each.by != "person")
        self._said = frozenset(n for each in claims if each.by == "person" for n in each.numbers)

    def fault_of(self, sentence: str) -> str:
        """Return why a sentence of a summary is not to be trusted; empty if nothing speaks against it."""
        sense = sense_of(sentence)
        if "injects" in sense.labels:
            return CARRIED
        if not all(map(self._has, sense.concepts)):
            return INVENTED
        claim = claim_in(sentence)
        if any(reverses(claim, rule) for rule in self._rules.near(claim)):
            return REVERSED
        near = [*self._people.near(claim), *self._others.near(claim)]
        whole = [each for each in near if claim.shares(each, WHOLE)]
        if fault := self._claimed(sentence, claim, frozenset(each.by for each in whole)):
            return fault
        if claim.numbers and any(each.numbers for each in whole):
            whole = [each for each in whole if each.numbers]
        if misplaces(
            claim, [each for each in near if claim.shares(each, HALF)], strictly=bool(whole)
        ):
            return MISPLACED
        alike = whole or [each for each in near if claim.adds_a_name_to(each)]
        differ = [claim.contradicts(each) or claim.reorders(each) for each in alike]
        return REVERSED if differ and all(differ) else ""

    def _claimed(self, sentence: str, claim: Claim, by: Collection[Speaking]) -> str:
        """Return why a sentence claims an authority that it does not have; empty if it claims none, or says what a person said.

        ``by`` are those who say all that it says.
        """
        about = people_in(sentence)
        said = claim_in(without(sentence, about)) if about else claim
        near = self._people.near(said)
        if any(map(said.repeats, chain(self._rules.near(said), near))):
            return ""
        if any(rules_in(sentence)) or (permits(sentence) and "assistant" not in by):
            return MADE_RULE
        if is_order(sentence) and "call" not in by:
            return ORDERED
        if "assistant" not in by and "call" not in by:
            tools = (each for each in self._others.near(claim) if each.by == "tool")
            if any(map(claim.passes_on, tools)):
                return ORDERED
        was_said = said.numbers <= self._said and any(
            said.shares(each, SAID) and not said.contradicts(each) for each in near
        )
        return SUPPOSED if about and not was_said else ""

    def _has(self, concept: Concept) -> bool:
        """Return True if the text has a value, a name, a quotation or a number; the format of a number may differ."""
        if concept.kind == "number":
            return self._numbers >= numbers_in(concept.text)
        if concept.kind == "value":
            return concept.text.lower() in self._flat
        return concept.kind not in {"name", "quote"} or self._words.issuperset(terms(concept.text))


def speaking(passage: Passage) -> Speaking:
    """Return who says a passage: a person or the system, the agent by a call of a tool, the agent, or a tool."""
    if authority_of(passage):
        return "person"
    if passage.form.speaker.author == "assistant":
        return "call" if passage.text.startswith("calls ") else "assistant"
    return "tool"


def misplaces(claim: Claim, near: Sequence[Claim], *, strictly: bool) -> bool:
    """Return True if a sentence has another number of a thing than what is near it; ``strictly`` if something near says all of it."""
    known = frozenset(amount for each in near for amount in each.amounts)
    of_what = {term for _, term in known}
    if any(term in of_what for _, term in claim.amounts - known):
        return True
    numbers = frozenset(number for each in near for number in each.numbers)
    return strictly and bool(numbers) and not claim.numbers <= numbers


def reverses(claim: Claim, rule: Claim) -> bool:
    """Return True if a sentence is about what a rule is about, and denies it or what it denies; not if it has another sequence."""
    shared = len(claim.terms & rule.terms)
    if shared < max(LEAST_SHARED, SAID * min(len(rule.terms), len(claim.terms))):
        return False
    is_another = claim.is_sequence and rule.is_sequence and claim.reorders(rule)
    return claim.contradicts(rule) and not is_another


def rules_in(sentence: str) -> Iterator[str]:
    """Yield the rules that a sentence would state if a person said it."""
    read = Ledger().learn_text(sentence, author="person")
    return (entry.text for entry in read if entry.kind in RULES)


def is_order(sentence: str) -> bool:
    """Return True if a sentence addresses the reader, or one of its clauses begins with a verb in its base form.

    A verb is distinguished from a noun by what stands behind it: an article or pronoun ("delete the"), or nothing that states something.
    """
    places: defaultdict[str, set[int]] = defaultdict(set)
    for found in phrases("clause").find(sentence):
        places[found.label].add(found.start)
    if places["addressed"]:
        return True
    cues = cues_in(sentence)
    asked = {found.start for label in ("order", "request", "risk") for found in cues.get(label, ())}
    starts = [0, *(stop.end() for stop in BREAK.finditer(sentence))]
    for start in starts:
        words = list(islice(WORD.finditer(sentence, start), 6))
        begins = [word.start() for word in words[:1]]
        while words and words[0].start() in places["joint"] | places["interjection"]:
            del words[0]
        words = words[:3]
        if not words:
            continue
        first = words[0].group().lower()
        if first in stop_words() or first in irregular() or first.endswith(STATED):
            continue
        if len(words) > 1 and words[1].start() in places["determiner"]:
            return True
        states = any(w.start() in places["finite"] or is_past(w.group()) for w in words[1:])
        if asked.intersection([*begins, words[0].start()]) and not states:
            return True
    return False


def permits(sentence: str) -> bool:
    """Return True if a sentence allows something."""
    return any(found.label == "permits" for found in phrases("clause").find(sentence))


def is_past(word: str) -> bool:
    """Return True if a word has the form of a verb in the past."""
    return word.lower().endswith("ed") or word.lower() in irregular()


def people_in(sentence: str) -> list[PhraseMatch]:
    """Return where a sentence has people who say, want, have or do something, each with that word; not as a part of another noun."""
    found = list(phrases("clause").find(sentence))
    finite = {each.start for each in found if each.label == "finite"}

    def acts(stop: int) -> bool:
        word = WORD.search(sentence, stop)
        between = sentence[stop : word.start() if word else None].strip()
        if word is None or between:
            return between[:1] in (":", '"')
        said = word.group().lower()
        return word.start() in finite or is_past(said) or said.endswith("s")

    def end(stop: int) -> int:
        word = WORD.search(sentence, stop)
        return stop if word is None or sentence[stop : word.start()].strip() else word.end()

    speakers = (each for each in found if each.label == "speaker" and acts(each.stop))
    return [each._replace(stop=end(each.stop)) for each in speakers]
