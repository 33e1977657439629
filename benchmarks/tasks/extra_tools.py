"""Tools that a task does not need: an office's, five for each of twenty-four things, as long as those of large tool servers are.

Promise: the same number gives the same tools. Each has about 250 tokens, names a thing and an act, and does nothing but say so. They
were written for this, so what is found among them is no evidence of how well real tools are found.
"""

from collections.abc import Callable, Iterator, Mapping

OfficeTool = Callable[..., str]

THINGS: Mapping[str, str] = {
    "invoice": "a bill sent to a customer, with lines, tax and a due date",
    "contract": "an agreement with another company, with its parties, term and notice period",
    "ticket": "a customer's complaint or question, with its channel and priority",
    "employee": "a person on the payroll, with position, manager and start date",
    "shipment": "parcels under way, with carrier, weight and delivery window",
    "meeting": "an appointment of several people, with room, agenda and invitations",
    "campaign": "a series of advertisements, with audience, budget and channels",
    "customer": "a company or person that buys, with addresses and credit limit",
    "product": "an article of the catalogue, with variants, price and description",
    "payment": "money received or sent, with bank, reference and value date",
    "warehouse": "a place where stock is kept, with shelves and opening hours",
    "vehicle": "a car or truck of the fleet, with licence plate and next inspection",
    "project": "work with a goal and a deadline, with phases, members and hours",
    "supplier": "a company that delivers, with rating, terms and certificates",
    "refund": "money given back, with the reason and who approved it",
    "subscription": "a service paid for each month, with plan, seats and renewal",
    "claim": "damage reported to an insurer, with photos and an estimate",
    "lead": "somebody who may buy, with source, score and next contact",
    "survey": "questions sent to many people, with answers and closing date",
    "licence": "the right to use software, with seats, keys and expiry",
    "training": "a course for the staff, with dates, places and trainer",
    "budget": "the money of a department for a year, with items and forecasts",
    "machine": "equipment of a plant, with maintenance plan and meter readings",
    "patent": "a protected invention, with countries, fees and inventors",
}
ACTS: Mapping[str, tuple[str, str]] = {  # what the tool does, and how people ask for that
    "create": ("Creates a new {thing} and returns its number", "Set up a new {thing} for {what}."),
    "search": (
        "Finds each {thing} that matches the given words and filters",
        "Look up the {thing} of {what}.",
    ),
    "update": ("Changes fields of an existing {thing}", "Change the {thing} of {what}."),
    "cancel": ("Cancels a {thing}, with the reason", "Call off the {thing} of {what}."),
    "export": (
        "Exports each {thing} of a period as a spreadsheet",
        "I need a spreadsheet with the {thing} of {what}.",
    ),
}
RULES = (
    "Use this tool only when the person asks for it in so many words, and after the number of the record is known. The caller needs "
    "the permission of the department that owns the record; without it the call fails with the code PERMISSION_DENIED and nothing is "
    "changed. Dates are written as YYYY-MM-DD in the time zone of the head office. Amounts are in euros with two decimals, without "
    "separators of thousands. At most one hundred records are handled by one call; of more the first hundred are taken and the answer "
    "says how many were left out. Repeating a call with the same arguments within a minute gives the same answer and has no further "
    "effect. Every call is logged with the name of the caller."
)


def office_tools(number: int, *, done: list[str] | None = None) -> list[OfficeTool]:
    """So many different tools, at most 120; ``done`` notes each call, with what it was for."""
    return [tool for tool, _ in zip(all_tools(done), range(number), strict=False)]


def all_tools(done: list[str] | None) -> Iterator[OfficeTool]:
    """All tools, thing by thing."""
    for thing, means in THINGS.items():
        for act, (says, _) in ACTS.items():
            name = f"{thing}_{act}"
            doc = f"{says.format(thing=thing)}. A {thing} is {means}. {RULES}"
            yield office_tool(name, doc, done)


def office_tool(name: str, doc: str, done: list[str] | None) -> OfficeTool:
    """One tool."""

    def use(record: str, fields: str = "", reason: str = "", on_date: str = "") -> str:
        if done is not None:
            done.append(f"{name} {record}")
        said = " ".join(filter(None, (fields, reason, on_date)))
        return f"{name} of {record} is done. {said}" + " ".join(
            f"Line {n}: entry {n * 7919 % 9973} was booked, checked by office {n * 31 % 17}."
            for n in range(24)
        )

    use.__name__ = use.__qualname__ = name
    use.__doc__ = doc
    return use
