"""Rules that a person gives to who buys and writes for them: how they are worded, how they are understood, and what follows.

Promise: what ``rules_in`` reads in a wording of ``WORDINGS`` is the rule that was worded; a text without a rule has none. What
follows from rules is the same for who judges as for who reads them.

A rule is understood sentence by sentence, wherever it stands. A sentence that points back ("them", "there") is read with the one
before. Of two rules about the same thing the newer holds, and one for a unit of the house goes before one for all.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tasks.shop import BUILDINGS, DAYS, DEPARTMENTS, SUPPLIERS, UNITS, Offer

PLACES = (
    "loading dock", "porter's lodge", "goods entrance", "north gate", "mail room", "back yard", "kitchen door", "cellar ramp",
)  # fmt: skip
GENERAL = "general"  # cost centre of what no rule is about


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What holds from when it was said.

    Attributes:
        kind: supplier, limit, place, day, centre (orders), copy or reference (mails).
        about: the supplier, building, day, unit or department; nothing for a limit.
        value: the limit, place, cost centre, name or reference; ``allowed`` where an exception lifts a ban.
        unit: for whom alone it holds; empty for all.
    """

    kind: str
    about: str
    value: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What somebody wants to have bought."""

    item: str
    quantity: int
    unit: str
    building: str
    room: str
    day: str
    months: int  # of warranty, at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """How it is bought; the fields are named as the kinds of rules that decide them."""

    supplier: int  # offer that is taken
    limit: bool  # whether it is a draft
    place: str
    day: str
    centre: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Courtesy:
    """How a mail is written; the fields are named as the kinds of rules that decide them."""

    copy: str
    reference: str


OF_MAILS = ("copy", "reference")
ALLOWED = "allowed"
WORDINGS: Mapping[str, Sequence[str]] = {
    "supplier": (
        "From now on never order anything from {about}.",
        "Nothing from {about} any more, please, whatever it costs elsewhere.",
        "I have had it with {about}, third wrong delivery in a month, so we buy elsewhere from today.",
        "{about} is off our list until further notice.",
        "Please keep away from {about}, even when they are the cheapest.",
        "Purchasing has blocked {about}: do not use them.",
        "{about} sent us damaged goods again. No more orders to them.",
        "Whatever {about} offers, we take somebody else.",
        "If {about} turns up in a search, skip them, always.",
    ),
    "supplier for a unit": (
        "An exception: for the {unit} you may order from {about}.",
        "What I said about {about} does not go for the {unit}, they are allowed there.",
        "{about} is all right for the {unit} after all, and for nobody else.",
        "The {unit} has a contract with {about}, so there they are fine.",
    ),
    "limit": (
        "Above {value} EUR ask me first: make a draft instead of an order.",
        "Orders over {value} euros need my OK, so only draft those.",
        "Whatever comes to more than {value} EUR is put up for approval and not ordered.",
        "I do not want to be surprised by bills again, so beyond {value} EUR I see a draft first.",
        "Up to {value} EUR you are free, everything dearer I approve myself.",
        "An order that exceeds {value} euros goes to me as a draft.",
        "Somebody spent a fortune last month. Check with me on all that costs more than {value} EUR.",
        "Anything past {value} EUR in total waits for my approval, please.",
        "No order above {value} EUR without asking me, drafts are fine.",
    ),
    "limit for a unit": (
        "For the {unit} alone the limit is {value} EUR before you ask me.",
        "The {unit} is an exception: you need my approval only above {value} EUR there.",
        "Only what is for the {unit} may go up to {value} euros without asking me.",
        "With the {unit} ask me when it is over {value} EUR, their budget is another one.",
    ),
    "limit instead": (
        "Make the limit {value} EUR instead of {old} EUR, above that you still ask me.",
        "I was too strict: ask me first above {value} EUR, not above {old} EUR.",
        "Drafts for approval are needed only above {value} EUR from now on, no longer above {old} EUR.",
        "The board has raised my limit, so what needs my OK begins at {value} euros.",
    ),
    "place": (
        "Everything for building {about} goes to the {value}, not to the rooms.",
        "Whatever is for building {about} is delivered to the {value}.",
        "The stairs of building {about} are a mess again, drivers have to use the {value} for all that goes there.",
        "Deliveries to building {about}: always to the {value}.",
        "They keep leaving parcels in the corridors of building {about}. From today all of it goes to the {value} there.",
        "In building {about} the only place for goods is the {value}, whatever room is named.",
        "Send what is ordered for building {about} to its {value}, please, every time.",
        "Nobody can get up to the rooms of building {about}, so have things left at the {value}.",
    ),
    "place for a unit": (
        "Only the {unit} gets its things for building {about} at the {value}.",
        "In building {about} there is one exception, the {unit}: to the {value}, not the {old}.",
        "What the {unit} orders for building {about} goes to the {value} instead of the {old}.",
        "For the {unit} in building {about} the right place is the {value}.",
    ),
    "place instead": (
        "For building {about} it is the {value} from now on, not the {old}.",
        "The {old} is being rebuilt, so goods for building {about} go to the {value} instead of the {old}.",
        "Building {about} has a new door: all deliveries to the {value}, no longer to the {old}.",
        "Change of plan for building {about}, everything goes to the {value}.",
    ),
    "day": (
        "Deliveries never on {about}s.",
        "Nobody is at the door on {about}s, so no deliveries then.",
        "On {about}s we are closed for drivers: nothing may be delivered.",
        "Last week a pallet stood in the rain all {about}. Do not have anything delivered on that day.",
        "If a delivery would fall on a {about}, do not take that day.",
        "Keep {about}s free of deliveries, always, the yard is not manned.",
        "No parcels and no pallets on {about}s, whoever asks for it.",
        "Avoid {about} as a day of delivery, even when somebody wants it.",
    ),
    "day for a unit": (
        "The {unit} may have deliveries on {about}s, as the only ones.",
        "An exception for {about}s: deliveries for the {unit} are allowed.",
        "It is all right to deliver to the {unit} on {about}s after all.",
        "What I said of {about}s does not go for the {unit}, they are there to take deliveries.",
    ),
    "centre": (
        "Charge whatever the {about} orders to cost centre {value}.",
        "The {about} pays for itself: cost centre {value}.",
        "All orders for the {about} run on cost centre {value}.",
        "Somebody booked the {about} on the general budget again, it has its own cost centre, {value}.",
        "When something is for the {about}, put cost centre {value} on it.",
        "For the {about} it is always cost centre {value}.",
        "Please remember that the {about} has cost centre {value}.",
        "The auditors complain about the {about}. Its orders belong on cost centre {value}.",
    ),
    "centre instead": (
        "The {about} has a new cost centre: {value}, no longer {old}.",
        "From now on the {about} is booked on cost centre {value} instead of {old}.",
        "Finance merged some budgets, so for the {about} take cost centre {value}.",
        "Cost centre {old} is closed, so the {about} goes on cost centre {value}.",
    ),
    "copy": (
        "Always copy {value} on mails to {about}.",
        "When you write to {about}, put {value} in copy.",
        "{value} wants a copy of every mail to {about}.",
        "Mails to {about} go in copy to {value}, all of them.",
        "Again {value} heard of it last. Whatever goes to {about} by mail goes in copy to them.",
        "Keep {value} in copy whenever a mail goes to {about}.",
        "Nothing is mailed to {about} without a copy to {value}.",
        "Please cc {value} on anything for {about}.",
    ),
    "copy instead": (
        "It is {value} who is copied on mails to {about} now, not {old}.",
        "{old} has left us, so from now on copies of mails to {about} go to {value} instead of {old}.",
        "For mails to {about} the copy goes to {value}.",
        "With mails to {about}, cc {value} instead of {old}.",
    ),
    "reference": (
        "Mails to {about} carry our reference {value} in the subject.",
        "Put reference {value} into the subject of all that goes to {about}.",
        "Things for {about} got lost again, so write the reference {value} in the subject of each mail to them.",
        "Every mail to {about} has the subject begin with our reference, {value}.",
        "{value} is our reference with {about}, it belongs in every subject.",
        "The subject of a mail to {about} always names the reference {value}.",
        "Without the reference {value} in the subject {about} does not read our mails.",
        "When you write to {about}, the reference is {value}, in the subject please.",
    ),
}  # fmt: skip

BANS = re.compile(
    r"(?i)\b(?:never|nothing|no|not|n't|nobody|elsewhere|off (?:our|the|my) list|(?:keep|stay) away|avoid|block(?:ed)?|skip|bans?|bann?ed|forbid\w*|forbidden|prohibited|boycott\w*|"
    r"(?:somebody|someone|anyone|anybody) else|stop|without|closed|free of|ruled out|excluded?|refuse)\b"
)
MAY = re.compile(
    r"(?i)\b(?:exception|except|may|allowed|all right|fine|okay|does not (?:go|apply|hold))\b"
)
POINTS_BACK = re.compile(r"(?i)\b(?:them|they|there|that|those|its?|all of it|costs)\b")
MONEY = re.compile(r"(?i)(?:(?:\u20ac|EUR) ?(\d[\d.,]*\d)|(\d[\d.,]*\d) ?(?:EUR|euros?|\u20ac))")
ASKS = re.compile(
    r"(?i)\b(?:ask(?:s|ed|ing)?|drafts?|OK|okay|approv\w+|check with|confirm\w*|limit|sign)\b"
)
CENTRE = re.compile(r"(?i)\bcost cent(?:re|er)s?\b\D{0,30}?(\d{4})\b")
DELIVERS = re.compile(r"(?i)\b(?:deliver\w*|parcels?|pallets?|goods|arriv\w+)\b")
COPIES = re.compile(r"(?i)\b(?:cop(?:y|ied|ies)|cc)\b")
REFERENCE = re.compile(r"\b[A-Z]{2}-\d{3}\b")
NAME = re.compile(r"\b(?:Mr|Mrs|Ms|Dr)\.? ([A-Z]\w+)")
OLD = re.compile(
    r"(?i)\b(?:instead of|rather than|no longer|not)(?: (?:above|over|to|at|on|the|cost centre))* "
    rf"(?:(?:Mr|Mrs|Ms|Dr)\.? \w+|\d[\d.,]* (?:EUR|euros?)|\d{{4}}\b|(?:{'|'.join(PLACES)}))"
)
SENTENCES = re.compile(r"(?<=[.!?])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)\s+|\n+")
DEPARTMENT_WORDS = tuple(name.removeprefix("the ") for name in DEPARTMENTS)


def one_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern of these words."""
    return re.compile(r"(?i)\b(?:" + "|".join(map(re.escape, words)) + r")\b")


SUPPLIER, UNIT, PLACE, DEPARTMENT = map(one_of, (SUPPLIERS, UNITS, PLACES, DEPARTMENT_WORDS))
DAY = re.compile(r"(?i)\b(" + "|".join(DAYS) + r")s?\b")
BUILDING = re.compile(rf"(?i:\bbuilding) ([{BUILDINGS}])\b")


def sentences_of(text: str) -> list[str]:
    """The sentences of a text; a line ends one."""
    return [part.strip() for part in SENTENCES.split(text) if part and part.strip()]


@lru_cache(maxsize=20_000)
def rules_in(text: str) -> tuple[Rule, ...]:
    """The rules that a text states, in order."""
    found: list[Rule] = []
    before = ""
    for sentence in sentences_of(text):
        rules = rules_of(sentence)
        if not rules and POINTS_BACK.search(sentence) and not rules_of(before):
            rules = rules_of(f"{before} {sentence}")
        found += rules
        before = sentence
    return tuple(found)


@lru_cache(maxsize=20_000)
def rules_of(sentence: str) -> tuple[Rule, ...]:
    """The rules that a sentence states."""
    if len(sentence) > 600 or re.search(r"\w\(\{|\"?offer\"?:|\d+ months", sentence):
        return ()  # a call, an offer, a wish
    return (*rules_of_orders(sentence), *rules_of_mails(sentence))


def rules_of_orders(sentence: str) -> list[Rule]:
    """The rules of a sentence about what is ordered and delivered."""
    found: list[Rule] = []
    new = OLD.sub(" ", sentence)  # without what no longer holds
    unit = first(UNIT, sentence)
    for kind, about in (("supplier", first(SUPPLIER, sentence)), ("day", day_in(sentence))):
        if not about or (kind == "day" and not DELIVERS.search(sentence)):
            continue
        if unit and MAY.search(sentence):
            found.append(Rule(kind=kind, about=about, value=ALLOWED, unit=unit))
        elif BANS.search(sentence):
            found.append(Rule(kind=kind, about=about))
    if (money := MONEY.search(new)) and ASKS.search(sentence):
        value = re.sub(r"[.,](?:00$)?", "", money[1] or money[2])
        found.append(Rule(kind="limit", about="", value=value, unit=unit))
    if (building := BUILDING.search(sentence)) and (place := last(PLACE, new)):
        found.append(Rule(kind="place", about=building[1], value=place, unit=unit))
    if unit and (centres := CENTRE.findall(new)):
        found.append(Rule(kind="centre", about=unit, value=centres[-1]))
    return found


def rules_of_mails(sentence: str) -> list[Rule]:
    """The rules of a sentence about mails."""
    found: list[Rule] = []
    if about := first(DEPARTMENT, sentence):
        new = OLD.sub(" ", sentence)
        if COPIES.search(sentence) and (names := NAME.findall(new)):
            found.append(Rule(kind="copy", about=about, value=names[-1]))
        if reference := REFERENCE.search(new):
            found.append(Rule(kind="reference", about=about, value=reference[0]))
    return found


def spelled(pattern: re.Pattern[str], text: str) -> list[str]:
    """The matches as our lists spell them."""
    known = (*SUPPLIERS, *UNITS, *PLACES, *DEPARTMENT_WORDS)
    found = [name.lower() for name in pattern.findall(text)]
    return [word for name in found for word in known if word.lower() == name]


def first(pattern: re.Pattern[str], text: str) -> str:
    """The first match, or nothing; of what a sentence is about."""
    return next(iter(spelled(pattern, text)), "")


def last(pattern: re.Pattern[str], text: str) -> str:
    """The last match, or nothing; what holds now comes after what held."""
    return next(reversed(spelled(pattern, text)), "")


def day_in(text: str) -> str:
    """The day that a text names, or nothing."""
    found = DAY.search(text)
    return found[1].capitalize() if found else ""


def decisive(rules: Iterable[Rule], kind: str, about: str, unit: str = "") -> str | None:
    """The value that holds; None where no rule is about it."""
    values = {rule.unit: rule.value for rule in rules if (rule.kind, rule.about) == (kind, about)}
    return values.get(unit, values.get(""))


def bought(need: Need, offers: Iterable[Offer], rules: Sequence[Rule]) -> Purchase | None:
    """How something is bought by these rules: the cheapest of what will do; None where nothing does."""
    unit = need.unit
    fitting = [
        offer
        for offer in offers
        if offer.months >= need.months and decisive(rules, "supplier", offer.supplier, unit) in (None, ALLOWED)
    ]  # fmt: skip
    if not fitting:
        return None
    taken = min(fitting, key=lambda offer: offer.cents)
    limit = decisive(rules, "limit", "", unit)
    place = decisive(rules, "place", need.building, unit)
    banned = decisive(rules, "day", need.day, unit) == ""
    return Purchase(
        supplier=taken.number,
        limit=limit is not None and taken.cents * need.quantity > int(limit) * 100,
        place=f"building {need.building}, {place or f'room {need.room}'}",
        day=DAYS[(DAYS.index(need.day) + 1) % len(DAYS)] if banned else need.day,
        centre=decisive(rules, "centre", unit) or GENERAL,
    )


def mailed(department: str, rules: Sequence[Rule]) -> Courtesy:
    """How a mail to a department is written by these rules."""
    return Courtesy(
        copy=decisive(rules, "copy", department) or "",
        reference=decisive(rules, "reference", department) or "",
    )
