"""Made-up source files: Python, TypeScript, YAML and pages of a manual, each some 600 to 850 tokens.

Promise: the same random numbers give the same text; lines that are to stand somewhere in it stand there unchanged.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")
PACKAGES = (
    "billing", "orders", "ledger", "basket", "refunds", "coupons", "shipping", "customers", "pricing", "stock",
    "returns", "taxes", "mailing", "catalog", "payouts", "quotas", "reports", "loyalty",
)  # fmt: skip
MODULES = (
    "jobs", "models", "views", "store", "queue", "rules", "events", "sync", "parse", "limits", "export", "audit",
    "cache", "routes", "tasks", "client", "schema", "merge", "batch", "inbox",
)  # fmt: skip
THINGS = (
    "account", "address", "amount", "balance", "batch", "carrier", "charge", "column", "country", "cursor", "customer",
    "deposit", "entry", "invoice", "item", "label", "ledger", "letter", "margin", "mandate", "note", "order", "parcel",
    "payer", "price", "region", "report", "reserve", "row", "shelf", "slot", "supplier", "tariff", "tenant", "voucher",
)  # fmt: skip
DEEDS = (
    "accept", "apply", "archive", "assign", "balance", "book", "cancel", "check", "close", "collect", "compare", "count",
    "deliver", "expand", "filter", "group", "hold", "import", "join", "match", "open", "pack", "print", "reject", "round",
    "send", "sort", "split", "store", "trim", "verify", "weigh",
)  # fmt: skip
REASONS = (
    "the bank wants it in this order", "older exports have no header", "two carriers send it twice", "it is late at the end of a month",
    "a tenant may have none", "the printer cuts long ones", "auditors ask for it", "rounding comes last", "empty ones are common in spring",
    "it was measured with three suppliers", "the form has no room for more", "customs return it otherwise",
)  # fmt: skip


def mixed(random: Random, parts: Sequence[str], lines: Sequence[str]) -> str:
    """Paragraphs with these lines between them, in order, not before the first one."""
    places = sorted(random.choices(range(1, len(parts) + 1), k=len(lines)))
    out: list[str] = []
    for at, part in enumerate(parts):
        out += [line for place, line in zip(places, lines, strict=True) if place == at]
        out.append(part)
    out += [line for place, line in zip(places, lines, strict=True) if place == len(parts)]
    return "\n".join(out) + "\n"


def python_text(random: Random, lines: Sequence[str]) -> str:
    """A Python module."""
    parts = [f'"""Deals with the {pick(random, THINGS)} of each {pick(random, THINGS)}."""\n']
    parts += [python_function(random) for _ in range(random.randrange(13, 15))]
    return mixed(random, parts, lines)


def python_function(random: Random) -> str:
    """One function of it."""
    deed, other = random.sample(DEEDS, 2)
    thing, of, third = random.sample(THINGS, 3)
    number, limit = random.randrange(2, 90), random.randrange(100, 9_000)
    bodies = (
        f"    for {third} in {of}.{third}s:\n        if {third}.{thing} > {limit}:  # {pick(random, REASONS)}\n            return {other}({third})",
        f"    found = [{third} for {third} in {of}.{other}() if {third}.{thing}_no]\n    return found[:{number}] if found else []",
        f"    total = sum({third}.{thing} for {third} in {of})\n    # {pick(random, REASONS)}\n    return round(total / {number}, 2)",
        f"    with {of}.{other}ed() as {third}:\n        {third}.{thing} = {limit}\n        return {third}.{deed}(at_most={number})",
    )
    return (
        f"\ndef {deed}_{thing}({of}, *, {third}={number}):\n"
        f'    """{deed.capitalize()} the {thing} of this {of}."""\n{pick(random, bodies)}\n'
    )


def typescript_text(random: Random, lines: Sequence[str]) -> str:
    """A TypeScript module."""
    parts = [f'import {{ {pick(random, THINGS)} }} from "../{pick(random, THINGS)}";\n']
    for _ in range(random.randrange(13, 15)):
        deed, other = random.sample(DEEDS, 2)
        thing, of, third = random.sample(THINGS, 3)
        parts.append(
            f"\nexport function {deed}{thing.capitalize()}({of}: {of.capitalize()}, most = {random.randrange(2, 99)}) {{\n"
            f"  const {third} = {of}.{other}({{ {thing}: {random.randrange(900)}, strict: {pick(random, ('true', 'false'))} }});\n"
            f"  // {pick(random, REASONS)}\n  return {third}.{pick(random, ('slice(0, most)', 'filter(Boolean)', 'at(-1)', 'length'))};\n}}\n"
        )
    return mixed(random, parts, lines)


def yaml_text(random: Random, lines: Sequence[str]) -> str:
    """A file of settings."""
    parts = [f"# Settings of the {pick(random, THINGS)} service"]
    for thing in random.sample(THINGS, random.randrange(15, 18)):
        deed, other = random.sample(DEEDS, 2)
        parts.append(
            f"{thing}-{deed}:  # {pick(random, REASONS)}\n  {other}-after: {random.randrange(5, 900)}s\n"
            f"  most: {random.randrange(10, 9_000)}\n  owner: team-{pick(random, THINGS)}\n  {deed}: {pick(random, ('on', 'off', 'nightly'))}"
        )
    return mixed(random, parts, lines)


def manual_text(random: Random, lines: Sequence[str]) -> str:
    """A page of a manual."""
    parts = [f"# The {pick(random, THINGS)} of a {pick(random, THINGS)}\n"]
    for _ in range(random.randrange(10, 12)):
        deed, other = random.sample(DEEDS, 2)
        thing, of, third = random.sample(THINGS, 3)
        parts.append(
            f"\n## How to {deed} the {thing}\n\nChoose the {of} under *{other.capitalize()}* and give at most {random.randrange(2, 60)} "
            f"{third}s, because {pick(random, REASONS)}. After {random.randrange(2, 30)} minutes the {thing} can be seen in the {of}; "
            f"where it is not, {other} the {third} once more and write to desk {random.randrange(100, 999)}.\n"
        )
    return mixed(random, parts, lines)


WRITERS: dict[str, Callable[[Random, Sequence[str]], str]] = {
    "py": python_text,
    "ts": typescript_text,
    "yaml": yaml_text,
    "md": manual_text,
}


def lines_of_tests(random: Random, many: int) -> list[str]:
    """What a test run prints of tests that pass."""
    return [
        f"tests/test_{pick(random, MODULES)}.py::test_{pick(random, DEEDS)}_{pick(random, THINGS)} PASSED {random.randrange(900) / 100} s"
        for _ in range(many)
    ]


def pick(random: Random, values: Sequence[T]) -> T:
    """One of these."""
    return random.choice(values)
