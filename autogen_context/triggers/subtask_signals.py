"""What tells that a subtask is complete, and how sure that is: data for ``triggers.subtask``.

Promise: every signal has a row, and nothing but these rows and words is language or number in the rules.

Phrases are regular expressions, looked for in one clause in lower case, without code, quotes and questions. Where a
clause has a word of ``DOUBT``, nothing is claimed in it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from autogen_context.triggers.checks import check_share

SignalName = Literal[
    "tests_passed", "said_done", "worked_through", "edits_in_a_row", "moving_on", "quiet"
]
Level = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """How sure a sign of completion is.

    Attributes:
        level: in words.
        confidence: that a developer would call the subtask complete, 0..1.

    Raises:
        ValueError: the confidence is not in 0..1.
    """

    level: Level
    confidence: float

    def __post_init__(self) -> None:
        """Check the confidence."""
        check_share("confidence", self.confidence)


SIGNALS: Mapping[SignalName, Signal] = {
    "tests_passed": Signal(level="high", confidence=0.90),  # after a change
    "said_done": Signal(level="high", confidence=0.85),  # by the agent
    "worked_through": Signal(level="medium", confidence=0.70),  # read, changed, run without trouble
    "edits_in_a_row": Signal(level="medium", confidence=0.65),  # that went well, and then something else
    "moving_on": Signal(level="medium", confidence=0.60),  # to other work: "now I'll …"
    "quiet": Signal(level="low", confidence=0.40),  # nothing changed for some turns
}  # fmt: skip  # a comment a row

EDITS_IN_A_ROW = 3
QUIET_TURNS = 8


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases))


_LATELY = r"(?:(?:now|all|both|also|fully|successfully|properly|correctly|just|already|finally) )*"
_PARTICIPLE = r"\w+(?:ed|[^\W\d]en|done|put|set|built|sent|made|kept|cut)\b"
_LOOKING_UP = (  # finding out is no work done
    r"(?:retrieved|checked|looked|reviewed|seen|found|read|noticed|examined|analy[sz]ed|searched|located|received|understood|noted"
    r"|identified|calculated|reproduced|confirmed|tried|attempted|wondered|decided|learned|started|failed|needed|opened|explored)\b"
)

_WORK = (  # that can be complete; not a part of the code
    r"(?:sub-?task|task|step|part|phase|item|requirement|milestone|stage|todo|implementation|feature|fix|bug(?: ?fix)?|issue|problem|work|refactoring"
    r"|migration|integration|documentation|setup|assignment|changes|goal|objective)s?"
)
_MAKING = (  # is done with the work; reading and looking are not
    r"(?:implement|fix|writ|add|creat|build|updat|refactor|migrat|document|renam|remov|convert|port|integrat|install|deploy|develop|cod"
    r"|replac|mov|configur|clean|resolv|solv|rewrit|wir|extract|mak|appl)y?ing"
)

DOUBT = re.compile(
    r"n't\b|\b(?:not|no longer|never|once|when|if|until|unless|after|before|whether|almost|nearly|partly|half|should|would|could|might"
    r"|may|must|can|will|'ll|to be|need|needs|needed|let me|let's|check|verify|ensure|make sure|to see|still|only|except|remaining|part of"
    r"|far from|yet|supposed|expect|seems|hopefully|unable|sorry)\b"
)

# Said in any turn, of what lies behind it: with the first words of a clause, or anywhere in it.
DONE_FIRST = _any(
    r"^(?:(?:all |it'?s |that'?s |we'?re |i'?m |i am |we are |everything(?:'s| is) )?(?:now )?(?:all )?)(?:done|finished)\b(?! \w+ing\b)",
    rf"^\W{{0,4}}(?:(?:the|this|that|all|both|our|my) (?:[\w'/_-]+ ){{0,3}})?(?:(?:code|feature|test|docs?) )?{_WORK} (?:#?\d+ )?{_LATELY}"
    r"(?:done|complete|completed|finished|accomplished|implemented|fixed|resolved|solved)(?: successfully| now)?\W*$",
    rf"^\W{{0,4}}{_LATELY}completed?(?: successfully)?\W*$",
    rf"^(?:that|this|it) {_LATELY}(?:completes|concludes|finishes|wraps up) (?:the |this |that |my |our |your |all )*(?:[\w'/_-]+ ){{0,3}}{_WORK}\b",
    rf"^(?:(?:i|we)(?:'ve|'m|'re| have| am| are)? )?{_LATELY}(?:finished|completed|done(?: with)?) (?:{_MAKING}|(?:the |this |that |my |our |all |your )+(?:[\w'/_-]+ ){{0,3}}{_WORK})\b",
    rf"^(?:the |this |that |both |all |our |my |everything )(?:[\w'/_-]+ ){{0,6}}(?:is|are|has been|have been) {_LATELY}"
    r"(?:done|complete|completed|finished|in place|fixed|resolved|solved)\b",
    rf"^(?:the |our |my |this |that |it |everything |all )(?:[\w'/_-]+ ){{0,4}}(?:{_LATELY}works?|is {_LATELY}working)"
    r"(?: as (?:expected|intended|desired)| correctly| properly| now| fine| well| perfectly)*\W*$",
    r"^(?:the |my |our )?(?:bug|issue|problem|error) is gone\b",
    r"^that(?:'s| is) (?:everything|all (?:you asked|of it|that was))",
)  # fmt: skip  # a phrase a row
DONE = _any(
    rf"\b(?:sub-?task|task|step|part|phase|item|requirement|milestone|stage|todo) ?#?\w{{0,12}} (?:is|are|has been) {_LATELY}"
    r"(?:done|complete|completed|finished|implemented|in place)\b",
    r"\ball (?:of )?(?:the |our |my |\d+ )*(?:\w+ ){0,2}(?:tests|checks|cases|assertions) (?:now |are |all |have )*(?:pass|passed|passing|succeed)\b",
    r"\bsuccessfully (?:implemented|fixed|completed|resolved|finished|solved)\b",
)  # fmt: skip  # a phrase a row

# Said first, of what ran just before.
PRAISE = re.compile(
    r"\W*(?:(?:thought|ok|okay|now|the output (?:is|shows))\W+){0,3}(?:great|perfect|excellent|wonderful|awesome|fantastic|good|nice|success|hooray|everything (?:works|passes)"
    r"|(?:it|that|this|the (?:fix|change|script|reproduction|test|output|solution|code|issue|bug)(?: \w+)?) (?:now )?(?:is |has been |looks )?(?:now )?(?:works?|passe[sd]|verified|confirmed|fixed|resolved|solved|correct|runs|good|as expected)"
    r"|verified|confirmed|all (?:\w+ ){0,3}(?:pass|passed|correct|good|work))\b",
    re.IGNORECASE,
)
# Where one of these is said on the way to something else, what ran or was changed is not praised.
DENIED = re.compile(
    r"\b(?:still|fail(?:s|ed|ing|ures?)?|wait|however|wrong|unexpected|hmm+|oops|unfortunately|apologi[sz]e|mistake|issues? to fix|reproduced?"
    r"|not (?:quite|yet|done|fixed|work|working|correct|what)|isn't|doesn't|didn't|problem (?:is|remains)|confirm(?:s|ed) the (?:\w+ )?(?:issue|bug|problem|error))\b",
    re.IGNORECASE,
)

# Said where nothing else is done in the turn: a report.
REPORTED = _any(
    rf"^(?:i|we)(?:'ve| have)? {_LATELY}(?!{_LOOKING_UP}){_PARTICIPLE}",
    rf"\b(?:has|have) {_LATELY}been {_LATELY}(?!{_LOOKING_UP}){_PARTICIPLE}",
    r"\b(?:is|are|was|were) (?:now |successfully |all )*(?:booked|cancelled|canceled|updated|changed|added|removed|sent|created|saved|stored)\b",
    r"\bsuccessfully \w+ed\b",
    r"^the (?:[\w'-]+ ){1,5}now (?:\w+s|have|are|do)\b",
    r"^(?:in )?summary\b|^here(?:'s| is) (?:a |the )?(?:summary|what (?:i|we|was) (?:changed|did|done))",
)  # fmt: skip  # a phrase a row
# Who goes on to say what comes next reports nothing.
PLANNED = re.compile(
    r"^(?:now,? |next,? |then,? |instead,? |first,? |therefore,? |maybe )*(?:let's|let me|i'll|i will|i should|i need to|i have to|i must|i'm going to|we need to|we should)\b"
)
LAST_WORDS = re.compile(r"\bTERMINATE\b|\bTASK[_ ]COMPLETED?\b")  # to the host, in capitals

# Said of what comes next.
OTHER_WORK = _any(
    r"\bmoving on\b|\bmove on to\b|\bturn(?:ing)? to the (?:next|other|second|third|last)\b",
    r"^(?:now )?(?:for|on to|onto) the (?:next|other|second|third|last)\b|^next (?:step|task|up|item|requirement|part)\b",
    r"^(?:now )?(?:step|task|part|phase) (?:\d+|two|three|four|five)\b",
    r"^now that .{3,80}\b(?:done|fixed|works?|in place|implemented|complete|finished|ready|pass|passes|right|resolved)\b",
    r"^with (?:that|this|these|the \w+) (?:done|fixed|in place|out of the way|complete|working|implemented|finished|resolved)\b",
)  # fmt: skip  # a phrase a row
NOW = re.compile(
    r"^(?:now|next|then|finally|lastly),? (?:i'?ll|i will|i'?m going to|let'?s|let me|let us|i can|i (?:also )?need to|we need to|we'?ll|we will|i should|we should|the \w+ needs?)\b"
    r"|^(?:let'?s|let me|let us|i'?ll|i will|we'?ll|we will|i can|we can|i'?m|we'?re)(?: going to)? (?:now|next)\b"
)
