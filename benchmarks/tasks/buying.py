"""How a model buys and writes for somebody: what is asked for, in many wordings, and the steps until it is done.

Promise: a wish is read from one sentence, wherever it stands. The steps depend on the request alone: it searches, reads all offers for
the thing, and takes the cheapest that will do by the rules that it is given; a mail is read before it is answered.

Where offers are gone from sight it reads them again. Where no wish is in sight it says so.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from autogen_context.testing import Call, Say, Step
from tasks.house_rules import (
    BUILDING,
    DEPARTMENT,
    UNIT,
    Courtesy,
    Need,
    Purchase,
    day_in,
    first,
    rules_of,
    sentences_of,
)
from tasks.shop import DEPARTMENTS, QUALITIES, THINGS, Offer
from tasks.sight import Sight
from tasks.whose import words_of_people

AT_ONCE = 3  # offers read in one answer
WISHES = (
    "The {unit} needs {quantity} {item}, building {building}, room {room}, on {day}, with at least {months} months of warranty.",
    "Please order {quantity} {item} for the {unit} (building {building}, room {room}), delivery on {day}, warranty {months} months or more.",
    "Could you get {quantity} {item} for room {room} in building {building}, that is the {unit}, by {day}, {months} months of warranty at least?",
    "{quantity} {item} for the {unit}, please: building {building}, room {room}, {day}, minimum warranty {months} months.",
    "I need {quantity} {item} in building {building}, room {room}, on {day}, for the {unit}, and the warranty should be {months} months or longer.",
    "Buy {quantity} {item} with {months} months of warranty or more for the {unit}, to building {building}, room {room}, on {day}.",
    "Next: {day}, building {building}, room {room}, the {unit} would like {quantity} {item}, {months} months of warranty or better.",
    "The {unit} has asked for {quantity} {item}, warranty at least {months} months, delivered {day} to room {room}, building {building}.",
    "For the {unit}: {quantity} {item}, {months} months of warranty as a minimum, {day}, building {building} room {room}.",
    "Can we have {quantity} {item} on {day} in room {room}, building {building}, warranty from {months} months, for the {unit}?",
)
LETTERS = (
    "Write to {department} that {text}.",
    "Tell {department} by mail that {text}.",
    "Please let {department} know by mail that {text}.",
    "A mail to {department}, please, saying that {text}.",
    "Inform {department} that {text}.",
    "Could you mail {department} that {text}?",
    "{Department} should hear from us that {text}.",
    "Send {department} a line that {text}.",
)
REPLIES = (
    "Mail {mail} came from {department}: answer that {text}.",
    "Please answer mail {mail} of {department}, namely that {text}.",
    "{Department} wrote, it is mail {mail}, so reply that {text}.",
    "Have a look at mail {mail} and tell {department} that {text}.",
    "There is mail {mail} from {department}, write back that {text}.",
    "Reply to mail {mail} ({department}) that {text}.",
    "Mail {mail} is still open, let {department} know that {text}.",
    "Read mail {mail} and inform {department} that {text}.",
)
MESSAGES = (
    "the invoice of the {n}th is settled", "we take the second proposal of page {n}", "the meeting moves to room {n}",
    "form {n} is on its way", "we need {n} more days for the list", "the contract of file {n} may be signed",
    "the count came to {n} pieces", "nobody objects to point {n}", "the visit of the {n}th is confirmed",
    "shelf {n} has been emptied", "the report will have {n} pages", "key number {n} was found",
)  # fmt: skip
TALK = (
    "", "", "", "Thanks, that went well.", "Good, next one.", "Sorry, me again.", "I am in meetings until noon.",
    "The heating makes odd sounds today.", "One more.", "Half of the house is at the trade fair.",
    "The last ones look good, by the way.", "It rains into the garage again, but that is for later.", "Coffee first, then this.",
    "I promised it to them yesterday.", "They have waited for a while.", "Lovely weather for once.", "Where were we?",
)  # fmt: skip

WISH = re.compile(rf"(?i)\b(\d+) ((?:{'|'.join(QUALITIES)}) (?:{'|'.join(THINGS)}))\b")
ROOM = re.compile(r"(?i)\broom (\d+)\b")
WARRANTY = re.compile(r"(?i)\b(\d+) months\b")
LETTER = re.compile(
    r"(?i)\b(?:writ\w+|mail|tell|let|inform|answer|reply|hear|send)\b.*?\b(?:that) (.+?)[.?!]*$"
)
CALL = re.compile(r"\w\(\{|\"text\":")
MAIL = re.compile(r"(?i)\bmail (M\d{3,})\b")
OFFERED = re.compile(r"\bOffer (\d{5}) \| ([^|\n]+?) \| ([^|\n]+)")
DETAILED = re.compile(r"\bOffer (\d{5}): ([^\n]+)\n(?:.*\n)*?Supplier: ([^\n]+)")
PRICE = re.compile(r"\bPrice: (\d+)\.(\d\d) EUR")
SUBJECT = re.compile(r"(?m)^Subject: (.+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A mail that somebody wants to have written."""

    department: str
    text: str
    mail: str = ""  # that it answers


Wish = Need | Letter


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A wish and where in the request it stands."""

    at: int
    wish: Wish


def worded(random: Random, wish: Wish) -> str:
    """A sentence that asks for this."""
    if isinstance(wish, Need):
        text = random.choice(WISHES).format(
            quantity=wish.quantity, item=wish.item, unit=wish.unit, building=wish.building, room=wish.room, day=wish.day,
            months=wish.months,
        )  # fmt: skip
    else:
        department = in_full(wish.department)
        text = random.choice(REPLIES if wish.mail else LETTERS).format(
            mail=wish.mail, text=wish.text, department=department, Department=department[0].upper() + department[1:]
        )  # fmt: skip
    return text[0].upper() + text[1:]


def in_full(department: str) -> str:
    """A department as one writes it in a sentence."""
    return next(name for name in DEPARTMENTS if name.endswith(department))


@lru_cache(maxsize=20_000)
def wish_in(text: str) -> Wish | None:
    """The last wish that a text states."""
    wishes = [wish for sentence in sentences_of(text) if (wish := wish_of(sentence))]
    return wishes[-1] if wishes else None


def wish_of(sentence: str) -> Wish | None:
    """The wish that a sentence states."""
    if CALL.search(sentence):
        return None
    if thing := WISH.search(sentence):
        building, room = BUILDING.search(sentence), ROOM.search(sentence)
        warranty = WARRANTY.search(sentence)
        if building and room and warranty and (day := day_in(sentence)):
            return Need(
                item=thing[2].lower(), quantity=int(thing[1]), unit=first(UNIT, sentence), building=building[1], room=room[1], day=day,
                months=int(warranty[1]),
            )  # fmt: skip
        return None
    said, department = LETTER.search(sentence), first(DEPARTMENT, sentence)
    if said and department and not rules_of(sentence):
        mail = MAIL.search(sentence)
        return Letter(department=department, text=said[1], mail=mail[1] if mail else "")
    return None


class Buyer:
    """A request as who buys and writes reads it."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.asked = self._asked()
        self.calls = [c for c in sight.calls if self.asked and c.at > self.asked.at]

    def _asked(self) -> Asked | None:
        """The newest wish of a person; where none of theirs is in sight, what other texts say that they wished."""
        for roles in (("user",), ("system", "assistant")):
            for seen in reversed(self.sight.texts):
                words = words_of_people(seen.text, seen.role) if seen.role in roles else ""
                if wish := wish_in(words):
                    return Asked(at=seen.at, wish=wish)
        return None

    @property
    def is_done(self) -> bool:
        """Whether what was asked for last is done."""
        wish = self.asked.wish if self.asked else None
        if isinstance(wish, Need):
            return any(
                call.name == "order" and call.arguments.get("quantity") == wish.quantity
                for call in self.calls
            )
        return any(call.name == "send_mail" for call in self.calls)

    @property
    def is_beginning(self) -> bool:
        """Whether nothing was read yet for what was asked for last."""
        return not any(
            call.name in ("search_shop", "read_offer", "read_mail") for call in self.calls
        )

    def prepared(self, wish: Wish) -> Step | None:
        """What has to be read before it can be done; None when all is."""
        if isinstance(wish, Letter):
            read = [c for c in self.calls if c.name == "read_mail"]
            return Call("read_mail", {"mail": wish.mail}) if wish.mail and not read else None
        rows = self._rows(wish.item)
        if not rows:
            searched = [c for c in self.calls if c.name == "search_shop"]
            if searched:
                return Say(f"I find no {wish.item}.")
            return Call("search_shop", {"item": wish.item})
        known = {offer.number for offer in self.offers(wish.item)}
        tried = [c.arguments.get("number") for c in self.calls if c.name == "read_offer"]
        unread = [number for number in rows if number not in known and tried.count(number) < 2]
        return [Call("read_offer", {"number": number}) for number in unread[:AT_ONCE]] or None

    def _rows(self, item: str) -> list[int]:
        """The offers for a thing that the search for it named."""
        return [
            int(found[1])
            for call in self.calls
            if call.name == "search_shop" and call.arguments.get("item") == item
            for found in OFFERED.finditer(call.result or "")
            if found[3].strip().lower() == item
        ]

    def offers(self, item: str) -> list[Offer]:
        """The offers for a thing, as far as they are in sight."""
        found = (
            offer
            for seen in self.sight.texts
            for offer in offers_in(seen.text)
            if offer.item == item
        )
        return list({offer.number: offer for offer in found}.values())

    def order(self, need: Need, purchase: Purchase) -> Call:
        """The call that buys."""
        arguments: Mapping[str, object] = {
            "offer": purchase.supplier,
            "quantity": need.quantity,
            "place": purchase.place,
            "day": purchase.day,
            "cost_centre": purchase.centre,
            "draft": purchase.limit,
        }
        return Call("order", arguments)

    def mail(self, letter: Letter, courtesy: Courtesy) -> Call:
        """The call that writes."""
        subject = "About your question" if letter.mail else "For your information"
        for call in self.calls:
            if call.name == "read_mail" and (found := SUBJECT.search(call.result or "")):
                subject = f"Re: {found[1]}"
        reference = f" ({courtesy.reference})" if courtesy.reference else ""
        arguments = {
            "to": letter.department,
            "copy_to": courtesy.copy,
            "subject": subject + reference,
            "text": f"We would like to tell you that {letter.text}.",
        }
        return Call("send_mail", arguments)


@lru_cache(maxsize=20_000)
def offers_in(text: str) -> Sequence[Offer]:
    """The offers that a text describes."""
    if not (PRICE.search(text) and WARRANTY.search(text)):
        return ()
    found: list[Offer] = []
    for part in re.split(r"(?=\bOffer \d{5}:)", text):
        head, price, warranty = DETAILED.search(part), PRICE.search(part), WARRANTY.search(part)
        if head and price and warranty:
            found.append(
                Offer(number=int(head[1]), item=head[2].strip().lower(), supplier=head[3].strip(), cents=int(price[1] + price[2]),
                      months=int(warranty[1]))
            )  # fmt: skip
    return tuple(found)
