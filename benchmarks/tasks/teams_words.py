"""What people say to a team that works through a list, and the words of each kind of work.

Promise: each kind of sentence has at least eight framings; a rule names what it spares in its own sentence.
"""

from dataclasses import dataclass

CITIES = (
    "Lyon", "Porto", "Gdansk", "Bergen", "Graz", "Leeds", "Ghent", "Turin", "Malaga", "Aarhus", "Cork", "Basel",
)  # fmt: skip
TIERS = ("premium", "partner", "trial", "legacy")
SECTORS = ("hotel", "school", "bakery", "clinic", "museum", "garage", "theatre", "nursery")
PLURALS = {sector: f"{sector}s" for sector in SECTORS} | {
    "bakery": "bakeries",
    "nursery": "nurseries",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What one kind of work calls things."""

    noun: str
    prefix: str
    act: str
    acted: str
    key: str  # what has to be read first


KINDS = (
    Words(noun="customer", prefix="CU", act="call", acted="called", key="phone"),
    Words(noun="lift", prefix="LF", act="inspect", acted="inspected", key="permit"),
    Words(noun="contract", prefix="CT", act="renew", acted="renewed", key="account"),
    Words(noun="site", prefix="ST", act="book", acted="booked", key="desk"),
)
OF_CITY = (
    "No {noun} in {city} is to be {acted}, there is a dispute.", "Nothing in {city} may be {acted}, please.", "Leave {city} out entirely.",
    "Never {act} anyone or anything in {city}.", "{city} is not ours any more, skip it.", "Keep your hands off {city}.",
    "We do not {act} in {city}, whatever the list says.", "Those in {city} must not be {acted}.",
)  # fmt: skip
OF_TIER = (
    "Leave the {tier} ones to Ines.", "The {tier} ones are not yours, Ines looks after them.", "Skip everything that is {tier}, Ines does these.",
    "Do not {act} a {tier} one, they belong to Ines.", "Hands off the {tier} ones.", "Whatever is {tier} must not be {acted} by us.",
    "The {tier} ones are never {acted} from the list.", "No {tier} ones please, Ines keeps them.",
)  # fmt: skip
OF_SECTOR = (
    "No {sectors}, they have their own contact.", "Leave out the {sectors}.", "Never {act} {sectors} this week.",
    "The {sectors} must not be {acted}.", "Skip all {sectors}.", "We do not {act} {sectors}.", "Keep away from the {sectors}, please.",
    "{Sectors} are not to be {acted}.",
)  # fmt: skip
BEGIN = (
    "Good morning.", "Here we go.", "A long list today.", "Hello, new list.", "We start with the spring list.", "Morning, thanks for helping.",
    "The list is in, finally.", "Let us begin.",
)  # fmt: skip
PASSING = (
    "Oh, and one thing:", "By the way.", "Before I forget:", "I was just told this.", "While you are at it:", "Keep in mind as well:",
    "And something that matters.", "A word from the office.",
)  # fmt: skip
NAMED = (
    "First {act} {items}, they cannot wait.", "Before the list, {act} {items} right away.", "{items} are urgent, {act} them first.",
    "Right away please: {act} {items}.", "Could you {act} {items} before anything else?", "{items} cannot wait, {act} these now.",
    "Quick one, right away: {items}.", "Somebody waits for these, so {act} them first: {items}.",
)  # fmt: skip
PAGES = (
    "Then work through pages {first} to {last} of the list.", "Now pages {first} to {last}, each {noun} once.",
    "Go through pages {first} to {last}, please.", "Your part: pages {first} to {last}.", "Next, pages {first} to {last} of the list.",
    "Would you do pages {first} to {last}?", "Please {act} what is on pages {first} to {last}.", "Pages {first} to {last}, if you would.",
)  # fmt: skip
HAND_OVER = (
    "That is it for you. Please hand over: write down what is done, what is open and what {name} has to know.",
    "{name} goes on from here, hand over with all that counts.", "Stop here and hand over to {name}: done, open, rules.",
    "Time to hand over. {name} knows nothing yet.", "Please hand over to {name}, who was not here.",
    "Enough for today, hand over so that {name} can go on.", "Now hand over to {name} in a few lines.",
    "Would you hand over to {name}? Nothing may be lost.",
)  # fmt: skip
TAKE_OVER = (
    "You go on with a list. This is what I got:\n{answer}\n", "Somebody else began this list and wrote:\n{answer}\n",
    "Please continue. The report of before:\n{answer}\n", "Here is where we stand:\n{answer}\n",
    "The last shift left this:\n{answer}\n", "You are next. I was given this:\n{answer}\n", "This came from the one before you:\n{answer}\n",
    "Read this first, it is the report:\n{answer}\n",
)  # fmt: skip
AGAIN = (
    "Last, try those again that gave no answer.", "Now once more those without an answer.", "Try again what gave no answer before.",
    "Where there was no answer, try again now.", "The ones without an answer, once more please.", "Please retry all that gave no answer.",
    "At the end try all those again that had no answer.", "Then those again that gave no answer before, please, all of them.",
)  # fmt: skip
