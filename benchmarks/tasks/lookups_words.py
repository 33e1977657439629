"""What the service desks of ``lookups`` call things, what people say there, and what stands in records and logs.

Promise: nothing here depends on a task; a task draws from it by its seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

SURNAMES = (
    "Brandt", "Olsen", "Quist", "Hansen", "Hanssen", "Meier", "Meyer", "Castel", "Dufour", "Ekberg", "Farrow", "Gallo",
    "Hartog", "Ivanic", "Jansen", "Janssen", "Kessler", "Lindqvist", "Marek", "Novak", "Okafor", "Petit", "Rossi", "Sato",
)  # fmt: skip
TRADES = (
    "Bakery", "Print", "Dental", "Motors", "Florist", "Textiles", "Cycles", "Optics", "Foods", "Joinery", "Laundry", "Press",
)  # fmt: skip
DISTRICTS = (
    "Hafen", "Altmarkt", "Northgate", "Riverside", "Ostend", "Weststad", "Kilnfield", "Lindenhof", "Saltmarsh", "Bellevue",
)  # fmt: skip
STREETS = ("Harbour Street", "Mill Lane", "Station Road", "Kiln Row", "Linden Avenue", "Quay Side")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What one desk calls things. Each kind of value has its label; ``labels`` goes by kind."""

    desk: str
    read: str  # name of the tool that reads a value once and sets it back
    order: str  # name of the tool that gives a code once
    thing: str  # what is read
    visit: str  # what is ordered
    unit: str
    stopped: str  # what a log says of the fault that counts
    labels: dict[str, str]
    contract: str  # form of a number of a contract

    def new_contract(self, random: Random) -> str:
        """A new number of a contract."""
        return self.contract.format(
            year=random.randrange(11, 29), number=random.randrange(10_000, 99_999), letter=random.choice("ABDKRT")
        )  # fmt: skip


DESKS = (
    Words(
        desk="the service desk of a power company",
        read="take_reading", order="order_visit", thing="Meter", visit="visit", unit="kWh",
        stopped="tripped and stopped",
        contract="K-{year}-{number}",
        labels={"code": "confirmation code", "reading": "meter reading", "fault": "fault code", "contract": "contract number"},
    ),
    Words(
        desk="the service desk of a hosting company",
        read="take_counter", order="order_window", thing="Counter", visit="window", unit="GB",
        stopped="halted, service stopped",
        contract="LIC-{number}{letter}",
        labels={"code": "approval code", "reading": "counter reading", "fault": "error code", "contract": "license number"},
    ),
    Words(
        desk="the gate desk of a freight terminal",
        read="take_weighing", order="order_slot", thing="Scale", visit="slot", unit="kg",
        stopped="gate stopped the unit",
        contract="FT{year}.{number}",
        labels={"code": "release code", "reading": "scale reading", "fault": "exception code", "contract": "contract number"},
    ),
)  # fmt: skip

START = (
    "Good morning. Please work off the queue until it says that nothing is waiting.",
    "Hello! The queue is full again. Take case after case until it is empty.",
    "We start with the queue today: every case, and everything that it says is to do.",
    "Please begin with the queue. Stop when no case is waiting.",
    "The queue first, as always. Do all steps of each case.",
    "Could you take over the queue? Case by case, until none is left.",
    "Morning, the queue has grown over night, please work through it.",
    "Take the queue please. Tell me when nothing waits any more.",
)
GO_ON = (
    "New cases came in, please go on with the queue.",
    "Thanks. The queue has filled up again, carry on.",
    "Good. Now the next ones of the queue.",
    "Well done. Back to the queue please.",
    "The next batch is in the queue, take it as before.",
    "Please continue with the queue until it is empty.",
    "There is more in the queue now. Same as before.",
    "On with the queue, thank you.",
)
ANNOUNCE = (
    "For later: I will need the {label} of {name}.",
    "Keep the {label} of {name} in mind, I shall ask for it in the afternoon.",
    "Remember the {label} of {name} when you come to it, we need it at the end of the day.",
    "Later on I will ask you for the {label} of {name}.",
    "{name} calls back this afternoon, so keep the {label} at hand.",
    "Please remember for later what the {label} of {name} is.",
    "The {label} of {name} will be wanted later today.",
    "I have to give {name} the {label} later, so keep it.",
)
CHANGE = (
    "{name} signed this noon: the new {label} is {value}.",
    "News: {name} has a new {label}, {value}, from today.",
    "The {label} of {name} changed an hour ago, it is {value} now.",
    "Legal sent a new {label} for {name}: {value}.",
    "{name} got a new agreement. From today the {label} is {value}.",
    "Please use {value} as the new {label} of {name} from now on.",
    "The office changed the {label} of {name} to {value}.",
    "As of today {name} runs under a new {label}: {value}.",
)
STRAY = (
    "{name} read a {label} {value} out to me from last week's letter, which is out of date, so never mind it.",
    "A note on my desk says {label} {value} for {name}, but that is last week's.",
    "Somebody left the expired {label} {value} of {name} on my screen, ignore it.",
    "{name} found an outdated {label}, {value}, in the cellar; nobody needs it.",
    "There was a mail of {name} with last week's {label} {value}, I deleted it.",
    "The outdated {label} {value} of {name} still hangs on the board, somebody should take it down.",
    "{name} had last month's {label} {value} on the line, I told them that it is void.",
    "I threw away a slip with the expired {label} {value} of {name}.",
)
CONFIRM = (
    "Please confirm the {visit} of {names} with the {label} from when you ordered it.",
    "{names} said yes. Confirm the {visit} with its {label}.",
    "We can confirm {names} now; give the {label} that the order came back with.",
    "Could you confirm the {visit} for {names}? It takes the {label}.",
    "Confirm {names}, with the exact {label}.",
    "The {visit} of {names} has to be confirmed now with the {label}.",
    "It is time to confirm the {visit} of {names}. Use the {label} that you were given.",
    "{names}: confirm the {visit} with the {label} please.",
)
REPORT = (
    "Write the {label} of {names} into the report please.",
    "For the report: the {label} of {names}.",
    "The auditors want the {label} of {names} in the report.",
    "Put the {label} of {names} into the report, exactly as it was.",
    "Can you write a report line with the {label} of {names}?",
    "The report lacks the {label} of {names}, please write it.",
    "{names} goes into the report with the {label}.",
    "Please write down in the report what the {label} of {names} is.",
)
TAKEN = (  # said of a reading, behind the request
    "I mean the one that you took before it was set back.",
    "As it stood before it went back to zero.",
    "That is the value from before the zero.",
    "Before it was set to zero, of course.",
)

STAFF = ("Ana", "Boris", "Carla", "Dinh", "Emeka", "Freya", "Goran", "Hanna")
REASONS = (
    "unit does not answer since the weekend",
    "bill looks too high, asks for a check",
    "moved into the next building, wants a new date",
    "noise at night, neighbours complain",
    "display stays dark after the storm",
    "yearly check is due",
    "was not there at the last appointment",
    "wants to know why it stopped",
)
NOTES = (
    "called about the deposit, explained the terms, no further question",
    "asked for invoices on paper, set in the portal",
    "key is with the porter, second door on the left",
    "dog in the yard, ring twice",
    "complained about the waiting time, apology sent",
    "new phone of the owner, checked by call back",
    "discount for long standing customers granted until the end of the year",
    "wants mails in two languages, not possible yet",
    "agreed to an inspection every second spring",
    "sent a photo of the unit, the label is hard to read, serial plate was cleaned on site",
    "the neighbour has a spare key and takes parcels in, but is away in August",
    "asked whether the tariff can be split between two shops, sales will answer in writing",
    "paid in two parts by agreement, second part on time, no reminder needed",
    "the back entrance is blocked by works until spring, use the side door",
    "wants to be called before noon only, baker's hours",
)
EVENTS = (
    "heartbeat ok, {n} ms round trip to the gateway",
    "queue flushed, {n} entries written",
    "link quality {n} of 1000, channel changed",
    "cover opened and closed within {n} s",
    "firmware check passed, build {n}",
    "time corrected by {n} ms against the server",
    "buffer at {n} percent of the limit, nothing dropped",
    "remote query from the portal answered in {n} ms",
    "config page {n} stored, checksum as expected",
)
PASSED = (
    "self-test raised {fault}, cleared after {n} s",
    "warning {fault} at start, recovered by itself",
    "{fault} simulated by the fitter, cleared",
)


def listed(names: Sequence[str]) -> str:
    """Names as people list them."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def fault(random: Random) -> str:
    """The code of a fault."""
    return f"E-{random.getrandbits(16):04X}-{random.randrange(100):02d}"


def code(random: Random) -> str:
    """A code that is shown once."""
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    return f"{random.choice(letters)}{random.randrange(10)}{random.choice(letters)}{random.randrange(10)}-{random.randrange(10_000):04d}"
