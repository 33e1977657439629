"""What the model of the plans family does, by what a request shows.

Promise: plan, progress and values are read from any text that states them; pages of notes, checks and records state only their own.

It goes on with the furthest step of the plan that the request shows as begun: reads the rest of its notes, runs it, reads its check.
What the policy does where something is gone: a page of notes can be told again, so it reads that again. A plan it looks up once;
without one it takes the order in which the status names the steps. Where it goes on and sees no step begun, it looks up once, then
asks the status once, then begins with the first step of the plan. A value that it does not see it looks up once; else it takes the
newest of the same kind that it sees. Where no instruction is in sight, or one to stop at a step that it has passed since, it goes on
with what it was doing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autogen_context.testing import Call, Say, Step
from tasks.plans_text import Event, Instruction, parsed_text
from tasks.sight import Sight

UNKNOWN = "unknown"  # a value that it cannot name
NOTHING_ODD = "I have read all of it and found nothing odd."


@dataclass(slots=True)
class Progress:
    """What the request shows of one step."""

    at: int = -1  # where it was met last; -1 where a status told of it
    position: int = -1  # of the message where that was
    page: int = 0  # of its notes, the newest
    furthest: int = 0  # page of its notes
    pages: int = 0
    ran: bool = False
    checked: int = 0  # pages of its check
    checks: int = 0  # pages that it has


@dataclass(slots=True)
class Notes:
    """All that the request states, the newer over the older."""

    steps: dict[str, Progress] = field(default_factory=dict[str, Progress])
    follows: dict[str, str] = field(default_factory=dict[str, str])
    first: str = ""
    last: str = ""
    takes: dict[str, tuple[tuple[str, str], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, str], ...]]
    )
    values: dict[str, str] = field(default_factory=dict[str, str])
    of_kind: dict[str, str] = field(default_factory=dict[str, str])
    named: Mapping[str, str] = field(default_factory=dict[str, str])
    records: list[tuple[int, str, int, int]] = field(
        default_factory=list[tuple[int, str, int, int]]
    )
    instruction: Instruction | None = None
    asked_at: int = -1  # position of the instruction
    written_at: int = -1  # and of the plan as this agent wrote it


class Reading:
    """A request as who carries out a plan reads it."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.notes = notes = Notes()
        newer: dict[str, str] = {}
        clock = 0
        for seen in sight.texts:
            parsed = parsed_text(seen.text)
            for event in parsed.events:
                clock += 1
                self._note(event, clock, seen.at)
            notes.follows.update(parsed.follows)
            if parsed.follows and seen.role == "assistant":
                notes.written_at = seen.at
            notes.first = parsed.first or notes.first
            notes.last = parsed.last or notes.last
            notes.takes.update(parsed.takes)
            notes.values.update({what: value for what, value, _ in parsed.values})
            newer.update({what: value for what, value, is_newer in parsed.values if is_newer})
            notes.of_kind.update(parsed.of_kind)
            notes.named = dict(parsed.named) or notes.named
            notes.records += [(seen.at, *record) for record in parsed.records]
            if parsed.instructions and seen.role != "tool":
                notes.instruction, notes.asked_at = parsed.instructions[-1], seen.at
        notes.values.update(newer)

    def _note(self, event: Event, clock: int, position: int) -> None:
        step = self.notes.steps.setdefault(event.step, Progress())
        if event.kind == "told":
            step.ran = True
            return
        step.at, step.position = clock, position
        if event.kind == "notes":
            step.page = event.page or step.page
            step.furthest = max(step.furthest, event.page)
            step.pages = event.pages or step.pages
            return
        step.ran = True
        if event.kind == "check":
            step.checked = max(step.checked, event.page)
            step.checks = event.pages or step.checks

    def step(self) -> Step:
        """What comes next."""
        notes = self.notes
        asked = notes.instruction or Instruction(kind="plan", resumes=True)
        newest = max((step.position for step in notes.steps.values()), default=-1)
        reads_on = bool(notes.records) and notes.records[-1][0] > max(newest, notes.asked_at)
        if asked.kind == "aside" or reads_on:
            return self._aside(asked)
        if asked.kind == "write" and max(newest, notes.written_at) > notes.asked_at:
            asked = Instruction(kind="plan", resumes=True)  # that was done
        order = self._order()
        if asked.kind == "write" and order:
            lines = [f"{number}. {step}" for number, step in enumerate(order, 1)]
            return Say("\n".join([*lines[:-1], f"{lines[-1]} (last)"]))
        return self._carried_on(asked, order)

    def _aside(self, asked: Instruction) -> Step:
        """Read the next page of what people asked about."""
        read = [record[1:] for record in self.notes.records if record[0] > self.notes.asked_at]
        name, page, pages = read[-1] if read else (asked.record, 0, asked.pages)
        if not name or page >= pages:
            return Say(NOTHING_ODD)
        return Call("read_record", {"name": name, "page": page + 1})

    def _plan_again(self) -> Step | None:
        """Look up the plan, else ask the status; None where both were tried."""
        if look := self.sight.look_up("plan"):
            return look
        return None if self.notes.named else Call("status")

    def _order(self) -> list[str]:
        """The steps of the plan in order, as far as it is in sight."""
        follows = self.notes.follows
        begun = [step for step in follows if step not in set(follows.values())]
        begun.sort(key=lambda step: step != self.notes.first)
        order: dict[str, None] = {}
        for step in begun or list(follows)[:1]:
            at: str | None = step
            while at is not None and at not in order:
                order[at] = None
                at = follows.get(at)
        return list(order)

    def _carried_on(self, asked: Instruction, order: Sequence[str]) -> Step:
        """Go on with the furthest step that is begun, or with the one behind it."""
        begun = self.notes.steps
        planned = [step for step in order if step in begun] if self.notes.follows else []
        met = [step for step in begun if begun[step].at >= 0]
        step = planned[-1] if planned else max(met, key=lambda each: begun[each].at, default="")
        if not step:
            return self._begun(asked, order)
        progress = begun[step]
        is_passed = planned and asked.stop in order[: order.index(step)]
        if is_passed and progress.position < self.notes.asked_at:
            return Say(f"{asked.stop} is done.")
        if not progress.ran:
            return self._prepared(step, progress)
        if progress.at >= 0 and not 0 < progress.checks <= progress.checked:
            return Call("check_step", {"step": step, "page": progress.checked + 1})
        if step in {asked.stop, self.notes.last}:
            return Say(f"{step} is done.")
        follower = self.notes.follows.get(step) or next(
            iter(order[order.index(step) + 1 :] if planned else ()), None
        )
        return self._prepared(follower, Progress()) if follower else self._improvised(step)

    def _begun(self, asked: Instruction, order: Sequence[str]) -> Step:
        """Begin the plan; where it was to go on, only after looking for what is done."""
        if not self.notes.follows:
            return self._improvised("")
        if asked.resumes:
            if look := self.sight.look_up("run_step done"):
                return look
            if not self.notes.named:
                return Call("status")
        return self._prepared(order[0], Progress())

    def _improvised(self, step: str) -> Step:
        """Look up the plan, then ask the status, then do what it names behind this step and does not call done."""
        if look := self.sight.look_up("plan"):
            return look
        if not self.notes.named:
            return Call("status")
        behind = [
            name for name, state in self.notes.named.items()
            if not self.notes.steps.get(name, Progress()).ran and (name > step or state == "not begun")
        ]  # fmt: skip
        behind.sort(key=lambda name: name < step)
        return self._prepared(behind[0], Progress()) if behind else Say("I see nothing left to do.")

    def _prepared(self, step: str, progress: Progress) -> Step:
        """Read the notes of a step to their end, then run it with what it takes; back through them where they are gone."""
        at_end = 0 < progress.pages <= progress.furthest
        if not at_end:
            return Call("read_notes", {"step": step, "page": progress.page + 1})
        takes = self.notes.takes.get(step)
        newest = self.sight.calls[-1:]
        just_read = bool(newest) and newest[0].name == "read_notes"
        if takes is None and not just_read:
            return Call("read_notes", {"step": step, "page": progress.pages})
        if takes is None and progress.page > 1:
            return Call("read_notes", {"step": step, "page": progress.page - 1})
        values: list[str] = []
        for kind, of in takes or ():
            value = self.notes.values.get(of or kind)
            if value is None and (look := self.sight.look_up(f"{of} {kind}".strip())):
                return look
            values.append(value or self.notes.of_kind.get(kind, UNKNOWN))
        return Call("run_step", {"step": step, "values": ", ".join(values)})
