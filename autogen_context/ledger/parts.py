"""Take a statement apart: what it speaks of, how, and what it says of it.

Promise: pure; one of a few forms for each sentence, tried in a fixed order. Time in proportion to the sentence, which is
short.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from autogen_context.ledger.cue import Cue, Sieve, group, words
from autogen_context.ledger.english import FIRST_WORDS

Form = Literal["owner", "moved", "ordered", "limit", "used", "rule", "is", "listed", "does", ""]

NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'.\u00c0-\u024f-]*(?: (?:(?:de|van|von|da|del|al) )?[A-Z][\w'.\u00c0-\u024f-]*){0,3}"
ADVERB = r"(?:now |currently |still |also |already |only |always |usually |since then |will |is |are |was |has |have |been |be |'s )*"
MODAL = r"(?:must|may|might not|can|cannot|should|shall|has to|have to|needs? to|is to|are to|will)"
NOT = r"(?: ?not|n't| never)?"
OWNING = (
    r"(?:owns?|handles?|handling|leads?|leading|runs?|takes? over|taking over|took over|taken over|signs off(?: on)?"
    r"|manages?|managing|covers?|covering|in charge of|responsible for|looks after|looking after|takes? care of"
    r"|taking care of|reviews|approves|owner of|heads)"
)
BELONGING = (
    r"(?:belongs? to|owned by|handled by|led by|managed by|run by|approved by|reviewed by|assigned to|passed to|passes to"
    r"|handed (?:over )?to|given by|done by|taken over by|covered by|with)"
)
MOVING = (
    r"(?:moved|changed|raised|lowered|switched|set|pushed(?: back)?|postponed|bumped|increased|decreased|reduced|cut|slipped"
    r"|extended|shifted|delayed|brought forward|adjusted|updated|corrected|renamed|rescheduled|scheduled|booked|planned|due"
    r"|went up|went down|goes up|goes down|rose|fell|dropped|grew|migrated|upgraded|downgraded)"
)
ORDERING = (
    r"(?:(?:we|i|they|you)(?:'re|'ve|'ll| are| have| had| will| can| should| may)? (?:now |just |also )*)?"
    r"(?:chang(?:e|ed|ing)|set(?:ting)?|rais(?:e|ed|ing)|lower(?:ed|ing)?|increas(?:e|ed|ing)|reduc(?:e|ed|ing)|cut(?:ting)?"
    r"|mov(?:e|ed|ing)|push(?:ed|ing)?|switch(?:ed|ing)?|updat(?:e|ed|ing)|bump(?:ed|ing)?|extend(?:ed|ing)?|make|renam(?:e|ed|ing)"
    r"|limit(?:ed|ing)?|keep(?:ing)?|hold|cap(?:ped)?|reschedul(?:e|ed|ing)|postpon(?:e|ed|ing))"
)
DOING_WORDS = """
run runs ran use uses used live lives lived leave leaves start starts started begin begins began end ends ended cost costs weigh
weighs measure measures take takes took come comes came go goes went work works worked listen listens return returns returned
expect expects expected contain contains hold holds has have had need needs require requires support supports meet meets met
arrive arrives depart departs expire expires open opens close closes pay pays paid ship ships sit sits stand stands point points
depend depends rely relies serve serves store stores stored write writes wrote read reads fail fails failed pass passes passed
crash crashes crashed get gets got receive received buy bought order ordered book booked send sent land lands happen happens
happened suspect suspects check checks fix fixed add added remove removed create created install installed deploy deployed merge
merged release released rotate rotates rotated rebased spend spends speak speaks study studies studied join joins joined signed
visit visits talk talks keep keeps kept make makes made give gives gave see sees saw find finds found report reports reported
show shows showed cover covers include includes
"""
DOING = "(?:" + "|".join(DOING_WORDS.split()) + ")"
MODAL_WORDS = "must mustn't may mayn't might can can't cannot should shouldn't shall shan't has have need needs is are will"
MOVING_WORDS = (
    "moved changed raised lowered switched set pushed postponed bumped increased decreased reduced cut slipped extended shifted"
    " delayed brought adjusted updated corrected renamed rescheduled scheduled booked planned due went goes rose fell dropped grew"
    " migrated upgraded downgraded"
)


OWNING_WORDS = """
own owns handle handles handling lead leads leading run runs take takes taking took taken signs manage manages managing cover
covers covering charge responsible looks looking reviews approves owner heads
"""
ORDERING_WORDS = """
change changed changing set setting raise raised raising lower lowered lowering increase increased increasing reduce reduced
reducing cut cutting move moved moving push pushed pushing switch switched switching update updated updating bump bumped bumping
extend extended extending make rename renamed renaming limit limited limiting keep keeping hold cap capped reschedule rescheduled
rescheduling postpone postponed postponing
"""


def row(
    form: Form, pattern: str, words: str = "", *, first: str = "", cased: bool = False
) -> tuple[Form, Cue]:
    """A form of sentence, and words of which it has one, or begins with one."""
    signs = (":", "=", "\u2192", "->") if form == "listed" else ()
    return form, Cue(pattern, words, first=first, signs=signs, cased=cased)


PATTERNS = (
    row(
        "owner", rf"(?P<value>{NAME}),? {ADVERB}{OWNING} (?P<subject>.+)", OWNING_WORDS, cased=True
    ),
    row(
        "owner",
        rf"(?=.*(?:by|to|with) [A-Z])(?P<subject>.{{2,100}}?) {ADVERB}{BELONGING} (?P<value>{NAME})(?: .*)?",
        "belong belongs by to with",
        cased=True,
    ),
    row(
        "owner",
        rf"(?P<value>{NAME}(?: [\d.]*\d)?) (?:is|will be|becomes?|became|serves as|acts as|remains)(?: now)? (?:the|our|my|an?) (?P<subject>.+)",
        "is will become becomes became serves acts remains",
        cased=True,
    ),
    row(
        "moved",
        rf"(?P<subject>.{{2,100}}?) {ADVERB}(?:got )?{MOVING}(?: from (?P<old>.+?))?"
        r"(?: (?:to|for|on|by|until|at|as|=)|[:,;] (?:it's|it is|to|now|they're)) (?P<value>.+)",
        MOVING_WORDS,
    ),
    row(
        "ordered",
        rf"{ORDERING} (?P<subject>(?!to |from ).{{2,80}}?)"
        r" (?:to|at|below|under|within|until|for|into|=|at most|up to) (?P<value>.+)",
        ORDERING_WORDS,
    ),
    row(
        "limit",
        rf"(?P<subject>.{{2,100}}?) {MODAL}{NOT} (?:exceed|(?:stay|remain|take|last|cost|weigh|fit|(?=(?:go|be) (?:over|above|under|below|within|between|at|no|more|less|longer|larger|greater|higher|lower|fewer|smaller|up))(?:go|be)) ?(?:over|above|under|below"
        r"|within|between|at or below|at most|at least|no \w+ than|(?:more|less|longer|larger|greater|higher|lower|fewer|smaller) than"
        r"|up to)?) (?P<value>.*\d.*)",
        MODAL_WORDS,
    ),
    row(
        "used",
        r"(?:send|save|export|write|return|deliver|format|store|print) (?P<subject>.+?) (?:as|in) (?P<value>.+)",
        first="send save export write return deliver format store print",
    ),
    row("used", r"(?:we |i )?use (?P<value>.+?) (?:for|in|as|when|with) (?P<subject>.+)", "use"),
    row(
        "rule",
        r"(?P<subject>)(?:never|always|only|do not|don't|no|nobody|avoid|make sure|ensure)\b (?P<value>.+)",
        first="never always only do don't no nobody avoid make ensure",
    ),
    row(
        "listed",
        r"(?P<subject>[\w\"(][^:=]{1,60}?) ?(?::(?= )|=(?= ?[\w\"'$/.-])|\u2192|->) ?(?P<value>\S.*)",
        cased=True,
    ),
    row(
        "is",
        rf"(?P<subject>.{{1,120}}?) (?:(?:is|are|was|were|equals?|means|reads|has been|have been)|{MODAL} (?:be|stay|remain)|stays?"
        r"|remains?|becomes?|became) (?:now |currently |called |named |set to |still |always |at )*(?P<value>.+)",
        "is are was were equal equals means reads been be stay stays remain remains become becomes became",
    ),
    row(
        "is",
        r"(?P<subject>(?:the |our |my )?[a-z][\w-]*(?: [\w-]+){0,3})'s (?:now |due |open |set )?(?P<value>(?:on|at|in|from|until|by|to|going to be) .+)",
        "on at in from until by to going",
    ),
    row("rule", rf"(?P<subject>.{{1,120}}?) (?!will ){MODAL}{NOT} (?P<value>.+)", MODAL_WORDS),
    row("does", rf"(?P<subject>.{{1,80}}?) {ADVERB}(?P<verb>{DOING})\b(?P<value>.*)", DOING_WORDS),
)
OWNERS = tuple(cue for form, cue in PATTERNS if form == "owner")  # the first rows
SIEVE = Sieve(*(cue for _, cue in PATTERNS))
BEGINNINGS = words(FIRST_WORDS)
FRONTED = Cue(
    r"(?:after|since|for|in|from|as of|with|on|at|during|of|by) .{1,60}?(?:, |(?= (?:the|our|my|we|it|i|dr|mr|mrs|ms)\b) )",
    first="after since for in from as with on at during of by",
)


@dataclass(frozen=True, slots=True)
class Parts:
    """A statement taken apart.

    Attributes:
        form: of the statement; empty where none fits.
        subject: what it speaks of; empty where only the whole sentence tells.
        value: what it says of it.
        verb: of what something does.
    """

    form: Form
    subject: str
    value: str
    verb: str = ""


@lru_cache(4_096)
def parts_of(sentence: str) -> Parts:
    """The parts of a sentence."""
    may = SIEVE.through(sentence)
    for form, cue in PATTERNS:
        match = cue.fullmatch(sentence) if cue in may else None
        if match and not (form == "owner" and begins_only(match["value"])):
            subject = group(match, "subject", sentence).strip()
            fronted = FRONTED.match(subject)
            verb = match["verb"] if form == "does" else ""
            value = group(match, "value", sentence).strip()
            return Parts(form, subject[fronted.end() :] if fronted else subject, value, verb)
    return Parts("", "", sentence)


def is_owned(sentence: str) -> bool:
    """Whether it says who owns or does something."""
    for cue in OWNERS:
        match = cue.fullmatch(sentence)
        if match and not begins_only(match["value"]):
            return True
    return False


def begins_only(name: str) -> bool:
    """Whether it has a capital only because a sentence begins there."""
    return name.split(" ", 1)[0].lower() in BEGINNINGS
