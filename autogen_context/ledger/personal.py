"""Find what a person states about themselves and about what must hold, sentence by sentence.

Promise: what two statements are about is the same exactly when their keys are equal, so a newer one takes the place of
an older one. A question, a condition and quoted or fenced text state nothing. Time in proportion to the text.

It rather misses a statement than makes one up: a rule reads a whole clause of a known form.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from autogen_context.ledger.cue import words
from autogen_context.ledger.sentences import sentences

StatementKind = Literal["identity", "preference", "constraint"]

EXPLAINED = re.compile(r" (?:if|because|since|although|which|who|from) .*$", re.IGNORECASE)
PASSING = frozenset(
    [
        "the",
        "a",
        "an",
        "my",
        "an",
        "our",
        "your",
        "this",
        "that",
        "new",
        "current",
        "total",
        "exact",
        "own",
        "very",
        "really",
    ]
)

PERSONAL = (
    r"(?:name|nickname|birthday|birth ?date|date of birth|age|pronouns|title|e-?mail(?: address)?|phone(?: number)?|number"
    r"|(?:home |shipping |postal )?address|zip(?: code)?|postcode|city|country|time ?zone|native language|mother tongue"
    r"|job|profession|occupation|role|employer|company|team|boss|manager|school|university|user ?name|user ?id|account(?: number)?"
    r"|wife|husband|partner|girlfriend|boyfriend|son|daughter|child|children|kids|mother|mum|mom|father|dad|sister|brother"
    r"|uncle|aunt|cousin|friend|flatmate|neighbou?r|doctor|dentist|dog|cat|pet|car|hobby|diet|religion|nationality|shoe size|size)"
)
DOING = r"(?:use|run|edit|change|write|read|answer|reply|touch|work|call|send|install|buy|book|speak|respond|commit|deploy|eat)\b"
IDLE = (
    r"(?:worry|you|know|think|forget|mind|bother|hesitate|get|understand|see|i|we|have|be (?:afraid|so|shy|sorry)|care|need|want"
    r"|like|remember|believe|feel|give up|give in|miss|lose|a|an|the|in|on|so)"
)
SETTLED = (
    r"(?:budget|deadline|due date|limit|maximum|max|minimum|min|port|timeout|target|quota|capacity|region|currency|language"
    r"|time ?zone|database|branch|version|price|rate|size|number of \w+|head ?count|style|format|framework)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something stated.

    Attributes:
        kind: about who the person is, what they like, or what must hold.
        key: what it is about; a later statement of this kind with this key replaces it.
        text: what is stated, on one line.
    """

    kind: StatementKind
    key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form of sentence that states something.

    Attributes:
        kind: of what it states.
        pattern: of the whole sentence; case does not matter.
        read: key and text of a match.
        personal: whether it speaks of "me", which only a person does; what is no more than a rule may stand in a system
            prompt as well.
    """

    kind: StatementKind
    pattern: str
    read: Callable[[re.Match[str]], tuple[str, str]]
    personal: bool = True


def statements(text: str, *, of_a_person: bool = True) -> Iterator[Statement]:
    """What a text states, in order.

    Args:
        text: what was said.
        of_a_person: whether a person said it; from a system prompt only rules are read.
    """
    for sentence in sentences(text):
        found = statement_in(sentence.text, of_a_person=of_a_person)
        if found is not None:
            yield found


def statement_in(sentence: str, *, of_a_person: bool = True) -> Statement | None:
    """What one sentence states."""
    if sentence.split(" ", 1)[0].lower() not in FIRST_WORDS:
        return None
    for form in FORMS:
        match = compiled(form.pattern).fullmatch(sentence)
        if match and (of_a_person or not form.personal):
            key, stated = form.read(match)
            return Statement(kind=form.kind, key=key, text=stated)
    return None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of the table, compiled when it is first used."""
    return re.compile(pattern, re.IGNORECASE)


def about(phrase: str) -> str:
    """What a phrase is about: its words in lower case, without articles and the like."""
    return " ".join(word for word in phrase.lower().split() if word not in PASSING)


def value_of(match: re.Match[str]) -> str:
    """The value that is stated, without what explains it."""
    return EXPLAINED.sub("", match["value"])


def attribute(match: re.Match[str]) -> tuple[str, str]:
    """``my dog's name is Rex`` is about ``dog's name``."""
    key = about(match["what"])
    return key, f"{key}: {value_of(match)}"


def named(key: str) -> Callable[[re.Match[str]], tuple[str, str]]:
    """A form that is always about the same."""
    return lambda match: (key, f"{key}: {value_of(match)}")


def liking(match: re.Match[str]) -> tuple[str, str]:
    """``I like tea`` and ``I don't like tea`` are about ``tea``."""
    verb = " ".join(match["verb"].lower().split())
    return about(match["what"]), f"I {verb} {match['what']}"


def choice(match: re.Match[str]) -> tuple[str, str]:
    """``tabs over spaces`` and ``spaces over tabs`` are about the same two."""
    pair = sorted((about(match["what"]), about(match["other"])))
    return " or ".join(pair), f"I prefer {match['what']} to {match['other']}"


def ruling(match: re.Match[str]) -> tuple[str, str]:
    """``never push to main`` and ``always push to main`` are about ``push to main``."""
    return about(match["what"]), match.group()


def allergy(match: re.Match[str]) -> tuple[str, str]:
    """Each allergy is one of its own."""
    return f"allergic to {about(match['value'])}", match.group()


FORMS = (
    Form(
        kind="identity",
        pattern=r"(?:my (?:full |first )?name is|call me|i am called|i'm called|i go by) (?P<value>[\w.' -]{1,60})",
        read=named("name"),
    ),
    Form(
        kind="identity",
        pattern=r"i(?:'ve| have)? (?:now |currently |just )*(?:live|living|moved|am based|'m based|based) (?:in|to) (?P<value>[^,]{1,60})(?:,.*)?",
        read=named("home"),
    ),
    Form(
        kind="identity",
        pattern=r"i (?:now |currently )?work (?:at|for) (?P<value>[^,]{1,60}?)(?:(?:,| as ).*)?",
        read=named("employer"),
    ),
    Form(
        kind="identity",
        pattern=r"i (?:now |currently )?work as (?:an? )?(?P<value>[^,]{1,60})(?:,.*)?",
        read=named("occupation"),
    ),
    Form(
        kind="constraint",
        pattern=r"(?:i am|i'm|we are|we're) (?:severely |very )?allergic to (?P<value>[^,]{1,60})(?:,.*)?",
        read=allergy,
    ),
    Form(
        kind="preference",
        pattern=r"my (?:favou?rite|preferred) (?P<what>[\w' -]{1,40}?) (?:is|are) (?P<value>[^,]{1,80})(?:,.*)?",
        read=lambda m: (
            f"favourite {about(m['what'])}",
            f"favourite {about(m['what'])}: {m['value']}",
        ),
    ),
    Form(
        kind="preference",
        pattern=r"i(?:'d| would)? (?:really |much |strongly )*prefer (?P<what>[^,]{1,60}?) (?:to|over|rather than|instead of) (?P<other>[^,]{1,60})(?:,.*)?",
        read=choice,
    ),
    Form(
        kind="preference",
        pattern=r"i(?:'d| would) (?P<verb>prefer) (?P<what>(?!to |if |it|that|not)[^,]{1,80})(?:,.*)?",
        read=liking,
    ),
    Form(
        kind="preference",
        pattern=r"i (?:really |absolutely |just |also )*(?P<verb>(?:(?:do not|don't) (?:really )?)?(?:like|love|enjoy|prefer)|hate|dislike|can't stand) (?P<what>(?!(?:to be|not|it|that|this|these|those|how|what|when|your|you|the (?:way|idea))\b)[^,]{1,80})(?:,.*)?",
        read=liking,
    ),
    Form(
        kind="constraint",
        pattern=rf"(?:the|our|my) (?P<what>(?:[\w'-]+ ){{0,3}}{SETTLED}(?: for (?:the )?[\w' -]{{1,30}}?)?) (?:is|are|must be|should be|has to be|was (?:raised|lowered|changed|moved|set) to|= ?|:) ?(?:now |set to |at most |at least )*(?P<value>[^,]{{1,80}})(?:,.*)?",
        read=attribute,
        personal=False,
    ),
    Form(
        kind="identity",
        pattern=rf"my (?P<what>(?:[\w'-]+ ){{0,2}}{PERSONAL}(?: (?:id|number|name))?) (?:is|are) (?:now |called |named )*(?P<value>(?!(?:not|too|very|so|on|in|at|still|to|that|already|the same|broken|gone|late|\w+ing)\b)[^,]{{1,80}})(?:,.*)?",
        read=attribute,
    ),
    Form(
        kind="constraint",
        pattern=rf"(?:(?:you |we )?(?:(?:must|may|can)(?: not|n't)|must|are not allowed to)|never|always|only (?={DOING})|do not|don't) (?P<what>(?!{IDLE}\b|\w+(?:ed|ing)\b|\w+ (?:it|this|that|them)$)[a-z].{{2,160}})",
        read=ruling,
        personal=False,
    ),
)
FIRST_WORDS = words(
    """
    i i'm i've i'd my our the call we we're you must may mustn't can can't never always only do don't
    """
)
