"""A shop to buy in and a house with a mailbox: the world of tasks in which somebody buys and writes for a person.

Promise: what was ordered, drafted and sent is in the books, with what each tool was given; nothing else is. The same random numbers make
the same offers and mails.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from tasks.task import Tool

SUPPLIERS = (
    "Nordwind", "Halvorsen", "Quay Foods", "Brandt & Sons", "Lumen Print", "Osprey Air", "Castel", "Tessera",
    "Mirador", "Kestrel Tools", "Polder Supplies", "Vela Textiles",
)  # fmt: skip
UNITS = ("canteen", "workshop", "laboratory", "nursery", "reception", "archive", "library")
DEPARTMENTS = ("accounting", "legal", "personnel", "security", "the press office", "the registry")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
BUILDINGS = "ABCDEF"
MONTHS = (12, 24, 36)
QUALITIES = (
    "grey", "folding", "heavy", "cordless", "stackable", "oak", "steel", "waterproof", "narrow", "padded", "tall", "sealed",
)  # fmt: skip
THINGS = (
    "desk lamps", "chairs", "ladders", "coat racks", "bins", "notice boards", "trolleys", "heaters", "filing boxes", "shelves",
    "door mats", "fans", "label printers", "stools", "cable drums", "first aid kits", "wall clocks", "benches", "crates",
    "whiteboards",
)  # fmt: skip
MATERIALS = (
    "powder-coated steel", "beech plywood", "recycled ABS", "aluminium", "glass fibre", "brushed nickel",
)  # fmt: skip
REMARKS = (
    "Solid, a little heavier than we had thought.", "Came in two parcels on two days, but complete.",
    "We have had {n} of them since spring and would buy them again.", "The manual is in four languages, the Dutch one is the best.",
    "One screw was missing; a bag of {n} came by post two days later.", "Colour differs a little from the picture.",
    "Assembly took {n} minutes with two people.", "Good value. Packaging could be smaller.",
    "Used daily by about {n} people, holds up well.", "The surface marks easily, a felt pad helps.",
    "Ordered on a Sunday night, tracking number {m}{n} came the next morning.", "The edges are rounded, which our safety officer liked.",
    "Smells of varnish for about {n} hours, then no more.", "Article {m} of the same series fits as well, we mix both.",
    "Ours stands in a damp cellar since {n} weeks and shows no rust.", "The feet could be {n} mm longer on uneven floors.",
    "We compared it with series {m} and kept this one.", "It took {n} minutes to reach the service line, then all was settled.",
    "A label with number {m} is stuck on the front and hard to get off.", "Quieter than the old one by a good deal.",
)  # fmt: skip
SERVICES = (
    "Spare parts are kept for {n} years after the series ends.", "Delivery in {n} working days to one address, kerbside or indoors.",
    "Returns within {n} days, unused and in the original box.", "A pallet holds {n} pieces; smaller lots travel as parcels.",
    "Certified by test house report {m} of last year.", "Carton {n} x {o} x 40 cm, gross weight {n} kg.",
    "Article {m} of the catalogue, customs tariff {m}{n}.", "Service line on working days from 8 to 17, ask for desk {n}.",
    "Series {m}, in production since 20{n:02d}, successor of series {o}.", "Tested to {m} cycles at {o} degrees.",
    "Load up to {n}{o} kg when fixed to a wall, {n} kg when free standing.",
    "Tolerance of all dimensions {o} mm, drawing {m} on demand.", "Surface treated in bath {m}, free of solvents, tested for {n} hours of salt spray.",
    "Fits the rails of series {m} and {n}{o} with adapter set {o}.", "Packed with {n} sheets of recycled board, box number {m}.",
    "Declared by the maker under file {m}-{n}, valid until the {o}th.", "Screws M{o}, dowels and a key are in bag {n}.",
    "Colour code {m} of the house fan, deviations of up to {o} points are possible.", "Sold in lots from one piece; article {m} holds {n} of them.",
)  # fmt: skip
THREADS = (
    "The figures of last week are in the folder, sheet {n}, row {m}.", "The room for the meeting has changed to {m}.",
    "Ticket {m} is closed, the other one is still being looked at.", "The minutes of the last round run to {n} pages this time.",
    "We moved {n} boxes to the cellar, they are labelled {m} and up.", "The scanner on floor {n} works again, reference {m}.",
    "Two colleagues of team {n} are away until the {o}th.", "The forms of series {m} are used up, new ones are being printed.",
    "Your note of the {n}th arrived, it is filed under {m}.", "The lift in wing {n} is serviced on the {o}th.",
    "Somebody left a grey umbrella in room {m}.", "We count {n} visitors a day on average, {m} since January.",
    "Please find the list of {n} names in the usual place, file {m}.", "The old badges run out on the {o}th, {m} of them are still about.", "The survey has {m} answers so far, which is more than last year.",
)  # fmt: skip
SURNAMES = (
    "Nowak", "Ito", "Berger", "Okafor", "Lindqvist", "Duarte", "Haddad", "Meyer", "Costa", "Virtanen",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a supplier asks for a thing."""

    number: int
    item: str
    supplier: str
    cents: int  # each
    months: int  # of warranty


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """An order, or the draft of one, as the shop took it."""

    offer: int
    quantity: int
    place: str
    day: str
    cost_centre: str
    draft: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A mail that went out."""

    to: str
    copy_to: str
    subject: str
    text: str


class Shop:
    """The shop and the mailbox.

    Attributes:
        ordered: orders and drafts, in order.
        sent: mails that went out, in order.
    """

    def __init__(self, random: Random, offers: Iterable[Offer]) -> None:
        self._random = random
        self._offers = {offer.number: offer for offer in offers}
        self._texts = {offer.number: self._described(offer) for offer in self._offers.values()}
        self._rows = {
            item: self._listed(item) for item in {o.item: 0 for o in self._offers.values()}
        }
        self._mails: dict[str, str] = {}
        self.ordered: list[Ordered] = []
        self.sent: list[Sent] = []

    def noise(self, lines: Sequence[str], count: int) -> list[str]:
        """So many lines, each filled with other numbers."""
        random = self._random
        return [
            line.format(
                n=random.randrange(2, 60),
                m=random.randrange(1_000, 9_999),
                o=random.randrange(4, 31),
            )
            for line in random.sample(lines, count)
        ]

    def _described(self, offer: Offer) -> str:
        random = self._random
        facts = [f"Price: {euros(offer.cents)} EUR each", f"Warranty: {offer.months} months"]
        facts += self.noise(SERVICES, random.randrange(9, 13))
        facts.append(f"Material: {random.choice(MATERIALS)}, {random.randrange(2, 90)} % recycled")
        random.shuffle(facts)
        remarks = [
            f"{random.choice(SURNAMES)}, {random.randrange(1, 6)} of 5: {remark}"
            for remark in self.noise(REMARKS, random.randrange(11, 16))
        ]
        return "\n".join(
            [f"Offer {offer.number}: {offer.item}", f"Supplier: {offer.supplier}", *facts, "", "What buyers say", *remarks]
        )  # fmt: skip

    def _listed(self, item: str) -> str:
        random = self._random
        rows = [
            row(offer.number, offer.supplier, item)
            for offer in self._offers.values()
            if offer.item == item
        ]
        for _ in range(6):
            other = f"{random.choice(QUALITIES)} {random.choice(THINGS)}"
            if other != item:
                rows.append(row(random.randrange(10_000, 40_000), random.choice(SUPPLIERS), other))
        random.shuffle(rows)
        return "\n".join([f"{len(rows)} offers near '{item}'", *rows])

    def receive(self, mail: str, sender: str, subject: str, text: str) -> None:
        """Put a mail into the mailbox."""
        before, after = self.noise(THREADS, 9), self.noise(THREADS, 9)
        self._mails[mail] = "\n".join(
            [f"Mail {mail}", f"From: {sender}", f"Subject: {subject}", "", *before, text, *after]
        )

    def change_offer(self, number: int, text: str) -> None:
        """Put a text into the middle of an offer's description."""
        lines = self._texts[number].split("\n")
        lines.insert(self._random.randrange(3, len(lines)), text)
        self._texts[number] = "\n".join(lines)

    def change_mail(self, mail: str, text: str) -> None:
        """Put a text into the middle of a mail."""
        lines = self._mails[mail].split("\n")
        lines.insert(self._random.randrange(4, len(lines)), text)
        self._mails[mail] = "\n".join(lines)

    def item_of(self, number: int) -> str:
        """What an offer is of."""
        return self._offers[number].item

    def tools(self) -> list[Tool]:
        """The tools of the agent."""

        def search_shop(item: str) -> str:
            """Search the shop."""
            return self._rows.get(item, f"There are no offers for '{item}'.")

        def read_offer(number: int) -> str:
            """Read an offer."""
            return self._texts.get(number, f"There is no offer {number}.")

        def order(
            offer: int,
            quantity: int,
            place: str,
            day: str,
            cost_centre: str,
            draft: bool,  # noqa: FBT001 - tools are called by name
        ) -> str:
            """Order, or put up a draft for approval."""
            if offer not in self._offers:
                return f"There is no offer {offer}."
            self.ordered.append(
                Ordered(offer=offer, quantity=quantity, place=place, day=day, cost_centre=cost_centre, draft=draft)
            )  # fmt: skip
            number = 7_000 + len(self.ordered)
            return f"Draft D{number} waits for approval." if draft else f"Ordered: O{number}."

        def read_mail(mail: str) -> str:
            """Read a mail."""
            return self._mails.get(mail, f"There is no mail {mail}.")

        def send_mail(to: str, copy_to: str, subject: str, text: str) -> str:
            """Send a mail."""
            self.sent.append(Sent(to=to, copy_to=copy_to, subject=subject, text=text))
            return f"Sent to {to}."

        return [search_shop, read_offer, order, read_mail, send_mail]


def euros(cents: int) -> str:
    """An amount as shops write it."""
    return f"{cents / 100:.2f}"


def row(number: int, supplier: str, item: str) -> str:
    """A line of a search."""
    return f"Offer {number} | {supplier} | {item}"
