"""What a person says who plans with a clerk, and what mails and calendars say of the same things.

Promise: every statement names its person in the same sentence; each kind has at least eight framings.
"""

DEADLINE, BUDGET, PLACE = "deadline", "budget", "place"
FIRST = {
    DEADLINE: (
        "{name}'s report is due on {value}.", "{name} hands in the report on {value}.", "The deadline of {name} is {value}.",
        "{name} has until {value} for the report.", "We agreed on {value} as {name}'s deadline.",
        "For {name} the deadline is {value}.", "I expect the report from {name} on {value}.",
        "{value} is when {name} delivers the report.", "Report of {name}: due {value}.",
    ),
    BUDGET: (
        "{name}'s budget is {value}.", "{name} can spend {value}.", "The budget for {name} is {value}.",
        "I gave {name} {value} to spend.", "{name} works with a budget of {value}.", "There is {value} for {name}.",
        "Put {name} down for {value}.", "{value} goes to {name}.",
    ),
    PLACE: (
        "{name} meets us in the {value}.", "The review with {name} is in the {value}.", "For {name}'s review take the {value}.",
        "{name} wants the {value} for the review.", "We see {name} in the {value}.", "Place for {name}: the {value}.",
        "{name} and I sit in the {value}.", "The {value} is where {name} presents.",
    ),
}  # fmt: skip
MOVED = {
    DEADLINE: (
        "{name}'s report is now due on {value}, not {old}.", "{name} got more time: the deadline is {value} now.",
        "I was wrong about {name}, the report is due {value} instead of {old}.", "The deadline of {name} moved to {value}.",
        "{name} called, the report comes on {value} rather than {old}.", "Change for {name}: deadline {value}.",
        "Make that {value} for {name}'s deadline, please.", "{last} delivers the report on {value} now.",
        "New date for the report of {name}: {value}, no longer {old}.",
    ),
    BUDGET: (
        "{name} gets {value} now, not {old}.", "The budget of {name} changed to {value}.", "Correction, {name} can spend {value}.",
        "{name}'s budget is {value} instead of {old}.", "I mixed something up, for {name} it is {value} after all.",
        "Finance says {value} for {name}, no longer {old}.", "Make it {value} for {name}.", "For {last} the budget is now {value}.",
    ),
    PLACE: (
        "{name} moves to the {value}.", "The review with {name} is in the {value} instead of the {old}.",
        "{name} cannot be in the {old}, take the {value}.", "Change of place for {name}: the {value}.",
        "We see {name} in the {value} now, not the {old}.", "For {name} it should be the {value} after all.",
        "{last} would rather sit in the {value}.", "Make that the {value} for {name}.",
    ),
}  # fmt: skip
UNDONE = (
    "No, back to the first {thing} for {name}.", "Forget the change for {name}, the {thing} stays as it was at first.",
    "{name} takes the first {thing} after all.", "I take it back: for {name} the original {thing} holds.",
    "Undo that for {name}, the {thing} is the one I gave you first.", "With {name} we return to the original {thing}.",
    "The new {thing} of {name} is off, it is the first one again.", "{name}'s {thing}: as at the beginning, please.",
)  # fmt: skip
UNDONE_WITH_VALUE = (
    "No, back to {value} as {thing} for {name}.", "For {name} the {thing} is {value} again, forget the change.",
)  # fmt: skip
IN_PASSING = (
    "Oh, and before I forget:", "By the way:", "While I think of it:", "One more thing.", "Something else.", "I just heard:",
    "In passing:", "And note this.",
)  # fmt: skip
READ = (
    "Please read the pack {pack} from the first mail to the last.", "Next comes the pack {pack}, read all of it.",
    "Go through the mails of the pack {pack} now.", "The pack {pack} arrived, would you read it to its end?",
    "Then the pack {pack}, every mail of it please.", "Have a look at the whole pack {pack}.",
    "I need you to go through the pack {pack}.", "Read on with the pack {pack}.",
)  # fmt: skip
THEN = (
    "Tell me when you are through.", "A word when it is done is enough.", "No summary needed.", "I only need to know that it is read.",
    "Take your time.", "Nobody has looked at it yet.", "It is dull, I know.", "Thanks!",
)  # fmt: skip
BEGIN = (
    "Good morning, some things to keep in mind.", "Let us plan the reviews.", "Here is what I know so far.", "A few facts first.",
    "Morning! This is for later today.", "Please keep this for the reviews.", "For your notes.", "We have these people to look after.",
)  # fmt: skip
BOOK = (
    "Now book the reviews of {names}: each on the day before the report is due.",
    "Time for the reviews. Book one for each of {names}, always the day before the deadline.",
    "Please put the reviews into the calendar: {names}, each one day ahead of the deadline.",
    "Book the reviews now, a day before each one's deadline: {names}.",
    "The reviews, please: {names}. One day before the report each.",
    "Could you book the reviews? It is {names}, and the day is the one before the deadline.",
    "We fix the reviews today. {names}: one each, on the eve of the deadline.",
    "Enter a review for each of {names}, the day before the report comes.",
)  # fmt: skip
RESERVE = (
    "Then reserve the places of the reviews for {names}.", "Please reserve the place for each of {names}, as I told you.",
    "Now the places: reserve them for {names}.", "And reserve where they sit: {names}.",
    "Reserve each one's place next, {names}.", "The places have to be reserved as well, for {names}.",
    "Would you reserve the places of {names} now?", "Next reserve the places that I named: {names}.",
)  # fmt: skip
WRITE = (
    "Last, write to each of {names} what their budget is.", "Now mail {names}, each with the budget that is theirs.",
    "Then write to {names} about the budget, one mail each.", "Please send {names} a mail with their budgets.",
    "Each of {names} should hear the budget: write to them.", "Finally a mail to {names}, with each one's budget.",
    "Write the budgets to {names}, each only the own one.", "And mail the budgets: {names}, one mail for each.",
)  # fmt: skip
OLD = {
    DEADLINE: (
        "As we wrote in March, the report of {name} is due on {value}.", "In the minutes of the kick-off {name}'s deadline is {value}.",
        "In the plan of the spring {name} has until {value} for the report.",
    ),
    BUDGET: (
        "As we wrote in March, {name} can spend {value}.", "In the minutes of the kick-off {name}'s budget is {value}.",
        "In the list of finance {name} stands with {value}.",
    ),
    PLACE: (
        "As we wrote in March, the review with {name} is in the {value}.", "In the minutes of the kick-off {name} meets us in the {value}.",
        "In the plan of the spring {name} has the {value}.",
    ),
}  # fmt: skip
OF_ANOTHER = {
    DEADLINE: "For project {project} the report of {name} is due on {value}.",
    BUDGET: "For project {project} {name} can spend {value}.",
    PLACE: "For project {project} the review with {name} is in the {value}.",
}
PLACES = tuple(
    f"{first} {second}"
    for first in ("Harbour", "Linden", "Mill", "Castle", "Garden", "North", "River", "Market", "Chapel", "Quarry", "Orchard", "Tower")
    for second in ("Room", "Hall", "House", "Studio")
)  # fmt: skip
