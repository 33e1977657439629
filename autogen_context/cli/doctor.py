"""``autogen-context doctor FILE``: what broke the prompt cache, in which turn, what it cost, and what to do about it.

Promise: only the file is read and nobody is asked; the same file gives the same lines. The exit code is 1 if something that can be avoided
broke a prefix, so that a check can run it on recorded requests.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path

from autogen_context.cli import print_json, print_lines
from autogen_context.cli.explain import runs_in
from autogen_context.cli.recording import STANDARD_INPUT
from autogen_context.cli.requests import read_requests
from autogen_context.report.breaks import breaks_in
from autogen_context.report.events import DAMAGED, read_event
from autogen_context.report.table import in_dollars, print_table
from autogen_context.tokens.prefix import ADVICE, PrefixBreak, diagnose

HEADERS = ("turn", "cause", "tokens no\nlonger cached", "dollars", "what, and where")
SEVERAL = ("request", "conver-\nsation", *HEADERS)
UNKNOWN = "-"
FEW = 2  # numbers that stand in a row one by one


def show_diagnosis(
    file: str, *, min_tokens: int, min_cost: float, ignored: Collection[str], as_json: bool
) -> int:
    """Print what broke the prefixes in a file; return 1 if something avoidable did.

    Findings below ``min_tokens`` lost tokens or ``min_cost`` dollars, and those of an ignored cause, are left out.
    """
    if unknown := [cause for cause in ignored if cause not in ADVICE]:
        raise ValueError(f"--ignore {unknown[0]}: it is no cause; give one of {', '.join(ADVICE)}")
    requests, every = diagnosed(file)
    found = [
        each
        for each in every
        if each.lost_tokens >= min_tokens
        and (each.dollars is None or each.dollars >= min_cost)
        and each.cause not in ignored
    ]
    name = "standard input" if file == STANDARD_INPUT else Path(file).name
    if as_json:
        print_json(facts(requests, found))
    else:
        print_diagnosis(name, requests, found)
    return int(any(each.is_avoidable for each in found))


def diagnosed(file: str) -> tuple[int, list[PrefixBreak]]:
    """Return how many requests a file has, and what broke their prefixes; ``ValueError`` if it has none."""
    if file != STANDARD_INPUT and is_log(Path(file)):
        runs = [run for run in runs_in(Path(file)) if run.turns]
        return sum(len(run.turns) for run in runs), breaks_in(runs)
    prompts = read_requests(file)
    return len(prompts), diagnose(prompts)


def is_log(file: Path) -> bool:
    """Whether a file begins as an event log does."""
    if not file.is_file():
        return False
    with file.open("rb") as lines:
        event = read_event(lines.readline())
    return event is not None and event["event"] != DAMAGED and "run" in event


def print_diagnosis(name: str, requests: int, found: Sequence[PrefixBreak]) -> None:
    """Print the findings as a table, a row for each cause and place, with one line of advice for each cause."""
    count = f"{requests:,} request{'s' if requests != 1 else ''}"
    if not found:
        print_lines(f"{name}: {count}; nothing broke the prefix of an earlier one.")
        return
    print_lines(f"{name}: {count}, of which {len(found):,} broke the prefix of an earlier one")
    several = any(each.conversation > 1 or each.number != each.turn for each in found)
    rows = [row_of(each)[0 if several else 2 :] for each in repeats_in(found)]
    print_table(SEVERAL if several else HEADERS, rows, texts=("what, and where",))
    lost, dollars = sum(each.lost_tokens for each in found), total_dollars(found)
    cost = "" if dollars is None else f", ${in_dollars(dollars)}"
    print_lines("", f"{lost:,} tokens no longer cached{cost}. What to do:")
    print_lines(*dict.fromkeys(f"- {each.cause}: {each.advice}" for each in found))


def repeats_in(found: Sequence[PrefixBreak]) -> list[list[PrefixBreak]]:
    """Return the findings in rows: what one cause did at one place of a conversation is one of them."""
    rows: dict[tuple[int, str, str], list[PrefixBreak]] = {}
    for each in found:
        place = each.evidence.partition(": ")[0]
        rows.setdefault((each.conversation, each.cause, place), []).append(each)
    return list(rows.values())


def row_of(found: Sequence[PrefixBreak]) -> Sequence[str]:
    """Return the cells of a row: the requests and their conversation, then what stands in each table."""
    first, total = found[0], total_dollars(found)
    dollars = UNKNOWN if total is None else in_dollars(total)
    lost = sum(each.lost_tokens for each in found)
    again = sum(each.again_tokens for each in found)
    few = f" ({again:,} tokens were sent again, too few to be cached)"
    evidence = "; also: ".join([first.evidence + few * (not lost), *first.also])
    numbers = span_of([each.number for each in found])
    turns = span_of([each.turn for each in found])
    return numbers, f"{first.conversation:,}", turns, first.cause, f"{lost:,}", dollars, evidence


def span_of(numbers: Sequence[int]) -> str:
    """Return requests or turns in words: "7", "2, 5", "2 to 24" for all of these, "2 ... 26 (9)" for nine of them."""
    first, last, times = numbers[0], numbers[-1], len(numbers)
    if times <= FEW:
        return ", ".join(f"{number:,}" for number in numbers)
    return (
        f"{first:,} to {last:,}"
        if times == last - first + 1
        else f"{first:,} ... {last:,} ({times:,})"
    )


def total_dollars(found: Sequence[PrefixBreak]) -> float | None:
    """Return what all findings cost; ``None`` if that of one is unknown."""
    known = [each.dollars for each in found if each.dollars is not None]
    return sum(known) if len(known) == len(found) else None


def facts(requests: int, found: Sequence[PrefixBreak]) -> dict[str, object]:
    """Return the findings as JSON data."""
    rows = [
        {**asdict(each), "advice": each.advice, "is_avoidable": each.is_avoidable} for each in found
    ]
    return {
        "requests": requests,
        "findings": rows,
        "lost_tokens": sum(each.lost_tokens for each in found),
        "dollars": total_dollars(found),
    }
