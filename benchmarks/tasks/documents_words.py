"""What the books of ``documents`` are about: terms, what is said of them, and the sentences around that.

Promise: nothing here depends on a task; a task draws from it by its seed. No sentence that only fills has a value with a unit.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What is said of a term: its name, unit, and from where to where its values go."""

    name: str
    unit: str
    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of book."""

    title: str
    branch: str  # what the supplements are for
    group: str  # what terms are put together as; with a letter
    terms: tuple[str, ...]
    measures: tuple[Measure, ...]


KINDS = (
    Kind(
        title="Building handbook", branch="branch", group="class {} rooms",
        terms=(
            "boiler room", "archive", "loft", "canteen", "print room", "bicycle cellar", "post room", "server room", "workshop",
            "loading bay", "terrace", "meeting hall", "library", "first aid room", "paint store", "laundry room", "roof garden",
            "drying room", "porter's lodge", "music room", "cold store", "waste room", "battery room", "photo studio", "gym",
            "prayer room", "model room", "sample store", "kitchen", "parking deck", "lift motor room", "map room", "seminar room",
            "tool store", "tank room", "visitors' lounge",
        ),
        measures=(
            Measure(name="notice period", unit="days", low=3, high=90),
            Measure(name="deposit", unit="EUR", low=20, high=950),
            Measure(name="cleaning charge", unit="EUR", low=20, high=950),
            Measure(name="inspection interval", unit="weeks", low=2, high=60),
            Measure(name="floor load", unit="kg", low=150, high=2_500),
            Measure(name="longest stay", unit="hours", low=1, high=40),
        ),
    ),
    Kind(
        title="Insurance terms", branch="agency", group="group {} covers",
        terms=(
            "water damage", "bicycle theft", "glass breakage", "storm damage", "frost damage", "hail damage", "lightning strike",
            "burst pipe", "key loss", "burglary", "vandalism", "travel delay", "luggage loss", "dental work", "hotel stay",
            "legal advice", "towing", "windscreen repair", "rental car", "marten bite", "battery failure", "flood", "landslide",
            "snow load", "garden furniture", "musical instruments", "sports gear", "pet surgery", "boat transport", "trailer",
            "roof rack", "solar panels", "heat pump", "greenhouse", "fence", "tree removal",
        ),
        measures=(
            Measure(name="waiting period", unit="days", low=3, high=90),
            Measure(name="deductible", unit="EUR", low=20, high=950),
            Measure(name="handling fee", unit="EUR", low=20, high=950),
            Measure(name="reporting limit", unit="hours", low=4, high=96),
            Measure(name="longest cover", unit="weeks", low=2, high=60),
            Measure(name="no-claim bonus", unit="percent", low=3, high=45),
        ),
    ),
    Kind(
        title="Operating manual", branch="plant", group="category {} parts",
        terms=(
            "feed pump", "spindle", "gearbox", "drive belt", "coolant tank", "guide rail", "chuck", "tailstock", "tool magazine",
            "air filter", "brake disc", "clutch", "control valve", "dust hood", "exhaust fan", "flywheel", "heat exchanger",
            "hose reel", "idler pulley", "intake valve", "lead screw", "lift table", "main bearing", "oil cooler", "safety gate",
            "pressure switch", "pump motor", "return spring", "roller chain", "rotary joint", "servo drive", "slide way",
            "sump", "swivel arm", "turret", "vacuum cup",
        ),
        measures=(
            Measure(name="oil change interval", unit="hours", low=20, high=950),
            Measure(name="running-in time", unit="hours", low=20, high=950),
            Measure(name="test pressure", unit="bar", low=2, high=90),
            Measure(name="tightening torque", unit="Nm", low=4, high=400),
            Measure(name="wear limit", unit="mm", low=2, high=60),
            Measure(name="storage life", unit="weeks", low=4, high=150),
        ),
    ),
)  # fmt: skip
GROUP_LETTERS = "ABC"
BRANCHES = ("Ostend", "Tampere", "Gdansk", "Braga", "Cork", "Malmo")
PARTS = ("one", "two", "three", "four")

STATED = (
    "The {measure} of the {term} is {value}.",
    "For the {term} the {measure} is {value}.",
    "As {measure} of the {term}, {value} are set.",
    "In the case of the {term} the {measure} comes to {value}.",
    "With the {term}, {value} count as the {measure}.",
    "The {term} has a {measure} of {value}.",
    "The {measure} for the {term} has been set at {value}.",
    "{value} are the {measure} of the {term}.",
)
UNDER_HEADING = (
    "The {measure} is {value}.",
    "The {measure} comes to {value} here.",
    "Its {measure} is set at {value}.",
    "Here {value} count as the {measure}.",
    "A {measure} of {value} applies.",
    "The {measure} has been set at {value}.",
    "{value} are the {measure}.",
    "What applies as {measure} here: {value}.",
)
CHANGED = (
    "The {measure} of the {term} is changed to {value}.",
    "For the {term} the {measure} becomes {value} instead of {old}.",
    "The {measure} of the {term} now is {value}, no longer {old}.",
    "From now on the {term} has a {measure} of {value}.",
    "The {measure} for the {term} is amended to {value}.",
    "With the {term}, the {measure} is amended to read {value} instead of {old}.",
    "The {measure} of the {term} has been changed from {old} to {value}.",
    "From now on {value} are the {measure} of the {term}.",
)
REPLACED = (
    "In section {section}, {old} is replaced by {value}.",
    "Section {section} now reads {value} instead of {old}.",
    "In section {section} read {value} instead of {old}.",
    "Section {section}: {old} is replaced by {value}.",
    "What section {section} gives as {old} is replaced by {value}.",
    "In section {section} it is now {value}, no longer {old}.",
    "Section {section} is amended: {value} instead of {old}.",
    "The figure in section {section} is changed from {old} to {value}.",
)
OLDER = (
    "In the edition of {year} the {measure} of the {term} was {value}.",
    "Until {year} the {term} had a {measure} of {value}.",
    "Readers of the {year} edition will remember {value} as the {measure} of the {term}.",
    "The {measure} of the {term} used to be {value}.",
    "The draft of {year} gave {value} as the {measure} of the {term}.",
    "Formerly the {term} had a {measure} of {value}.",
    "A {measure} of {value} for the {term} was dropped in {year}.",
    "The print of {year} wrongly had {value} as the {measure} of the {term}.",
)
AT_BRANCH = (
    "At this {branch} the {measure} of the {term} is {value}.",
    "At the {name} {branch} the {measure} of the {term} is {value}.",
    "The {term} has a {measure} of {value} at this {branch}.",
    "At this {branch}, {value} are the {measure} of the {term}.",
    "The {name} {branch} has set {value} as {measure} of the {term}.",
    "With the {term}, {value} count as the {measure} at the {name} {branch}.",
    "For the {term} the {measure} is {value} at this {branch}.",
    "At the {name} {branch}, the {term} has a {measure} of {value}.",
)
DEFINED = (
    '"{group}" means the {members}.',
    "By {group} this book understands the {members}.",
    "The {members} are {group}.",
    "{group} are the {members}.",
)

READ = (
    "Please read part {part} of the book, page by page, until it ends.",
    "Next is part {part}. Read all of it please.",
    "Could you read part {part} now? Stop where it ends.",
    "Read on with part {part}, to its end.",
    "Now part {part}, every page of it.",
    "Go through part {part} please. I will ask about it later.",
    "We need part {part} too; read it from its first to its last page.",
    "Part {part} now please. Read it carefully, there are traps in it.",
)
ASKED = (
    "what is the {measure} of the {term}{where}?",
    "which {measure} does the {term} have{where}?",
    "how much is the {measure} for the {term}{where}?",
    "please tell me the {measure} of the {term}{where}.",
    "somebody wants to know the {measure} of the {term}{where}.",
    "I need the {measure} that holds for the {term}{where}.",
    "the {term}{where}: what does the book give as {measure}?",
    "what applies as {measure} to the {term}{where} today?",
)

TITLES = (
    "Keys and access", "Who is in charge", "Forms and signatures", "Working hours", "Visitors", "Complaints", "Language", "Records",
    "Noise", "Lighting", "Signs and labels", "Photographs", "Deliveries", "Emergencies", "Training", "Cleaning", "Lost property",
    "Contractors", "Reports", "Mail and parcels", "Data and privacy", "Committees", "Weather", "Green rules", "Handover", "Tests",
)  # fmt: skip
ROLES = (
    "the office", "the caretaker", "the head of service", "a trained person", "the board", "the duty manager", "the safety officer",
    "the clerk in charge", "an outside expert", "the first person on site",
)  # fmt: skip
PLACES = (
    "the front desk",
    "the intranet",
    "the red folder",
    "room 114",
    "the notice board",
    "the portal",
    "cabinet 7",
    "the lobby",
)
DOCUMENTS = ("form", "sheet", "list", "certificate", "protocol", "letter", "record", "plan")
TIMES = (
    "in the morning",
    "before noon",
    "once a quarter",
    "in the first week of spring",
    "after each holiday",
    "without delay",
    "on request",
)
FILLERS = (
    "{Role} keeps {document} {n} at {place} and renews it {time}.",
    "Whoever is in doubt asks {role} first; what was agreed is put down on {document} {n}.",
    "Copies of {document} {n} are kept at {place}, the original stays with {role}.",
    "Exceptions are granted by {role} {time}, never by word of mouth.",
    "If {role} cannot be reached, {role2} decides and reports it {time}.",
    "Figure {n} shows the way from {place} to the nearest exit.",
    "It is not enough to leave a note at {place}; {role} has to sign {document} {n}.",
    "{Role} and {role2} go through {document} {n} together {time}.",
    "What is said here holds for guests as well, unless {role} says otherwise.",
    "Numbers in brackets refer to {document} {n}, which hangs at {place}.",
    "A second opinion of {role2} may be asked for, at one's own expense.",
    "Nothing in this paragraph frees {role} from the duty to look for oneself.",
    "Questions that come up often are answered on page {n} of the leaflet at {place}.",
    "The last word lies with {role}, who hears {role2} before.",
    "Older {document}s stay valid until {role} calls them back.",
    "{Role} is told {time} if something is missing, broken or not where it belongs.",
    "Where two rules meet, the stricter one is followed, and {role} is told.",
    "Tape with the number {n} marks what {role} has checked.",
    "The code word of the year is known to {role} and stands in no {document}.",
    "Photos of the state are taken {time} and stored under number {n}.",
    "Those who come after hours ring twice at {place} and wait for {role}.",
    "{Role} may hand this task to {role2} in writing, on {document} {n}.",
    "This was put in at the wish of {role2} and is looked at again {time}.",
    "A list of names is at {place}; it is nobody's business outside.",
)
MENTIONS = (
    "The {term} is looked after by {role}.",
    "For questions about the {term} see {document} {n} at {place}.",
    "{Role} walks by the {term} {time} and notes what is unusual.",
    "Signs at the {term} are renewed by {role2}.",
    "Nobody works alone on the {term} {time}, as {role} has decided.",
    "More on the {term} stands on {document} {n}.",
)
# Sentences put together: who, does, what, when or how, and something behind that.
DOES = (
    "collects", "checks", "signs", "files", "hands out", "renews", "counts", "stamps", "locks away", "compares", "orders", "returns",
    "explains", "draws up", "corrects", "passes on", "weeds out", "numbers", "copies", "archives",
)  # fmt: skip
WHAT = (
    "the badges of guests", "all spare keys", "the seals of the cabinets", "complaints of neighbours", "the plan of the exits",
    "offers of suppliers", "lists of those present", "the stock of gloves", "labels that have come off", "the logbook of the night",
    "the minutes of the round table", "letters without a sender", "the drawings of the last repair", "photographs of the site",
    "the rota for the holidays", "samples from the last delivery", "the address book", "tickets for the car park",
    "the proof of training", "notes of the handover", "unpaid reminders", "the cards for the fire drill",
)  # fmt: skip
HOW = (
    "together with {role2}", "as soon as somebody asks", "on the first working day of the month", "when the light is good",
    "in two copies", "without charge", "behind closed doors", "after a call to {role2}", "by hand", "as laid down in section {n}.{k}",
    "in the presence of a witness", "under the number of the case", "in the order in which they came in", "before the shift changes",
    "if the portal is down", "as far as the law allows",
)  # fmt: skip
TAILS = (
    "so that nobody can say later it was not known", "which takes longer than one thinks", "unless {role2} has done so before",
    "and leaves a word at {place}", "even where that means a second visit", "because it went wrong in the past",
    "and keeps the rest for the next meeting", "as {role2} may see at any time", "and marks it on {document} {n}",
    "for which there is a drawer at {place}", "but not on days on which the house is closed", "whatever the reason may be",
)  # fmt: skip
COMPOSED = (
    "{Role} {does} {what} {how}, {tail}.",
    "{How}, {role} {does} {what}.",
    "It is {role} who {does} {what}, {tail}.",
    "{Role} {does} {what} {how}.",
    "Where {role} {does} {what}, {role2} is told {time}.",
    "{Role} {does} {what}, {tail}; see also section {n}.{k}.",
)
