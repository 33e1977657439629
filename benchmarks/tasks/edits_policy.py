"""What the model of the edits family does, by what a request shows.

Promise: spellings, exceptions and progress are read from any text that states them; file contents state none of these.

A file is done where the request shows that it was edited, or shows it whole without an old spelling, or shows that it was read and
that work went on elsewhere. What the policy does where something is gone: it lists the files again, and goes on behind the newest
one that it sees worked on. At the end of its packages it reads again those that it cannot see as done, unless the newest that it
sees needed nothing. A spelling that it does not see is looked up once, then made after the one that it knows; exceptions are looked
up once where it sees none, and then there are none. Where no instruction is in sight it goes on with what it was doing, over all
packages. A file that it cannot name stays as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, takewhile

from autogen_context.testing import Call, Say, Step
from tasks.edits_text import (
    TOP,
    Event,
    Instruction,
    Words,
    joined,
    parsed_text,
    spelled_all,
    spelled_in,
    words_of,
)
from tasks.sight import Sight

AT_ONCE = 2  # files read, or packages tested, in one answer
SURE_AFTER = 2  # files in a row that needed nothing: then the list was gone over
GIVES_UP_AFTER = 6  # failures of the same file
DONE, WAITING = "Those are done.", "I do not see which file that is."


@dataclass(slots=True)
class Seen:
    """What the request shows of one file; numbers are places in the order of events, -1 is never."""

    read: int = -1
    edited: int = -1
    failed: int = -1
    failures: int = 0
    content: int = -1
    text: str = ""
    every: str = ""  # all texts of it in sight, also from before it was edited
    whole: bool = False

    @property
    def newest(self) -> int:
        """Where it was last met."""
        return max(self.read, self.edited, self.content)


@dataclass(slots=True)
class Notes:
    """All that the request states, the newer over the older."""

    seen: dict[str, Seen] = field(default_factory=dict[str, Seen])
    total: int = 0
    listed: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    spellings: dict[str, str] = field(default_factory=dict[str, str])
    alone: dict[str, str] = field(default_factory=dict[str, str])
    tested: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])
    instruction: Instruction | None = None
    begun: int = -1  # the place of the instruction in the order of events


class Reading:
    """A request as who carries a rename through files reads it."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.notes = notes = Notes()
        lasting: dict[str, str] = {}
        clock = self._answered = 0  # the clock at the newest answer with calls or text
        for seen in sight.texts:
            parsed = parsed_text(seen.text)
            self._answered = clock if seen.role == "assistant" else self._answered
            notes.total = parsed.total or notes.total
            for path, before in parsed.listed:
                notes.listed.setdefault(path, set()).add(before)
            notes.spellings.update({old: new for old, new, _ in parsed.spellings})
            lasting.update({old: new for old, new, lasts in parsed.spellings if lasts})
            notes.alone.update(
                {path: team or notes.alone.get(path, "") for path, team in parsed.alone}
            )
            for clock, event in enumerate(parsed.events, clock + 1):  # noqa: B020 - it goes on counting
                self._note(event, clock)
            for package, failures in parsed.tested:
                clock += 1
                notes.tested.append((clock, package, failures))
            if parsed.instructions and seen.role != "tool":
                notes.instruction, notes.begun = parsed.instructions[-1], clock
        notes.spellings.update(lasting)

    def _note(self, event: Event, clock: int) -> None:
        seen = self.notes.seen.setdefault(event.path, Seen())
        if event.kind == "content":
            seen.every = f"{seen.every}\n{event.content}"
            older = "" if event.whole or seen.edited > seen.content else seen.text
            seen.content, seen.text = clock, f"{event.content}\n{older}"
            seen.whole = event.whole or (bool(older) and seen.whole)
        elif event.kind == "failed":
            seen.failed, seen.failures = clock, seen.failures + 1
        elif event.kind == "edited":
            seen.edited = clock
        else:
            seen.read = clock

    @cached_property
    def old(self) -> Words | None:
        """The words of the old name: those of which most spellings are in sight."""
        counted: dict[Words, int] = {}
        for name in self.notes.spellings:
            if words := words_of(name):
                counted[words] = counted.get(words, 0) + 1
        return max(counted, key=lambda words: counted[words]) if counted else None

    def step(self) -> Step:
        """What comes next."""
        old = self.old
        if old is None:
            return self.sight.look_up("rename") or Say("I do not see what is to be renamed.")
        if not self.notes.alone and (look := self.sight.look_up("leave alone")):
            return look
        asked = self.notes.instruction
        if asked is None:
            newest = max((seen.newest for seen in self.notes.seen.values()), default=-1)
            testing = bool(self.notes.tested) and self.notes.tested[-1][0] > newest
            asked = Instruction(kind="tests" if testing else "rename")
        packages = asked.packages or tuple(
            dict.fromkeys(path.split("/")[0] for path in sorted(self.notes.listed))
        )
        if asked.kind == "release":
            return self._released(asked.team, old)
        if asked.kind == "tests":
            return self._tested(packages, old)
        return self._swept(packages, old)

    def _swept(self, packages: Sequence[str], old: Words) -> Step:
        """Go on with the files of these packages."""
        here = [
            path for path in {**self.notes.listed, **self.notes.seen}
            if (not packages or path.split("/")[0] in packages) and not self._is_left_alone(path)
        ]  # fmt: skip
        open_ones = sorted(
            (path for path in here if self._is_open(path, old)),
            key=lambda path: -self._seen(path).content,
        )
        if edits := self._edits(open_ones, old):
            return edits
        paths = sorted(path for path in here if path in self.notes.listed)
        met = [path for path in here if self._seen(path).newest >= 0]
        newest = max(met, key=lambda path: self._seen(path).newest, default="")
        wanted = [path for path in paths if path > newest and not self._is_done(path)]
        if self._has_gap(
            newest or min(packages, default=""), wanted[0] if wanted else "", packages
        ):
            return Call("list_files")
        if not wanted and not self._is_gone_over(met):
            wanted = [path for path in paths if not self._is_done(path)]
        return self._read(wanted) if wanted else Say(DONE)

    def _has_gap(self, start: str, end: str, packages: Sequence[str]) -> bool:
        """Whether the listing in sight lacks lines from here to there; not where it was just listed."""
        listed = self.notes.listed
        last = self.sight.calls[-1:]
        if self.sight.newest.role == "tool" and last and last[0].name == "list_files":
            return False
        if listed and len(listed) >= self.notes.total > 0:
            return False
        order = sorted(listed)
        beyond = [path for path in order if path > start and path.split("/")[0] not in packages]
        end = end or next(iter(beyond), "")
        if not end:
            return True
        before = max((path for path in order if path <= start), default=TOP)
        chain = [before, *(path for path in order if before < path <= end)]
        return any(one not in listed[other] for one, other in pairwise(chain))

    def _tested(self, packages: Sequence[str], old: Words) -> Step:
        """Test these packages in order, and mend what fails before going on."""
        newest: dict[str, tuple[int, int]] = {
            package: (at, failures)
            for at, package, failures in self.notes.tested
            if at > self.notes.begun and package in packages
        }
        again: list[str] = []
        for package, (at, failures) in newest.items():
            failed = [
                path for path, seen in self.notes.seen.items()
                if path.startswith(f"{package}/") and self.notes.begun < seen.failed <= at
            ]  # fmt: skip
            if not failures:
                continue
            if mending := self._mended(failed, old):
                return mending
            if any(self._seen(path).edited > self._seen(path).failed for path in failed):
                again.append(package)
        if again:
            return [Call("run_tests", {"package": package}) for package in again[:AT_ONCE]]
        last = max((packages.index(package) for package in newest), default=-1)
        ahead = packages[last + 1 : last + 1 + AT_ONCE]
        return [Call("run_tests", {"package": package}) for package in ahead] or Say(
            "That is all that the tests show."
        )

    def _mended(self, failed: Sequence[str], old: Words) -> Step | None:
        """Look again at files that fail, and replace what is left of the old name there; None where nothing can be done."""
        left = [
            path for path in failed
            if self._seen(path).edited < self._seen(path).failed
            and self._seen(path).failures < GIVES_UP_AFTER
        ]  # fmt: skip
        looked_at = [path for path in left if self._seen(path).content > self._seen(path).failed]
        unread = [path for path in left if path not in looked_at]
        return self._edits(looked_at, old) or (self._read(unread) if unread else None)

    def _released(self, team: str, old: Words) -> Step:
        """Rename in the file that waited for this team."""
        words = f"old name {team}"
        path = next((path for path, its in self.notes.alone.items() if its == team), None)
        if path is None:
            return self.sight.look_up(words) or Say(WAITING)
        seen = self._seen(path)
        if self._is_open(path, old):
            return self._edits([path], old) or Say(DONE)
        return Say(DONE) if seen.whole or seen.edited >= 0 else self._read([path])

    def _seen(self, path: str) -> Seen:
        return self.notes.seen.get(path) or Seen()

    def _is_left_alone(self, path: str) -> bool:
        return any(path.startswith(alone) for alone in self.notes.alone)

    def _is_open(self, path: str, old: Words) -> bool:
        """Whether the request shows this file with an old spelling, and no edit of it, or it was read just now."""
        seen = self._seen(path)
        just_read = seen.content > max(seen.edited, self._answered)
        return (just_read or (seen.content >= 0 and seen.edited < 0)) and bool(
            self._spelled(path, old)
        )

    def _is_done(self, path: str) -> bool:
        seen = self._seen(path)
        if seen.edited >= 0 or (seen.content >= 0 and seen.whole):
            return True
        newest = max(each.newest for each in self.notes.seen.values()) if self.notes.seen else -1
        return 0 <= seen.newest < newest - AT_ONCE

    def _is_gone_over(self, met: Sequence[str]) -> bool:
        """Whether the newest files that were met needed nothing: then all of the list was gone over a second time."""
        order = sorted(met, key=lambda path: self._seen(path).newest, reverse=True)[:SURE_AFTER]
        needless = list(
            takewhile(lambda path: self._seen(path).newest > self._seen(path).edited, order)
        )
        return len(order) > 1 and len(needless) == len(order)

    def _read(self, paths: Sequence[str]) -> Step:
        """Read the next of these."""
        batch = [f"packages/{path}" for path in paths[:AT_ONCE]]
        last = self.sight.calls[-AT_ONCE:]
        just_read = {str(call.arguments.get("path")) for call in last if call.name == "read_file"}
        if self.sight.newest.role == "tool" and set(batch) <= just_read:
            return Say(f"I cannot see what is in {batch[0]}.")
        return [Call("read_file", {"path": path}) for path in batch]

    def _edits(self, paths: Sequence[str], old: Words) -> Step | None:
        """Replace the old spellings in these files; None where there are none."""
        calls: list[Call] = []
        for path in paths[:AT_ONCE]:
            for written, style in self._spelled(path, old):
                new = self.notes.spellings.get(joined(old, style))
                if new is None and (look := self.sight.look_up(f"`{joined(old, style)}` becomes")):
                    return look
                new = new or self._made_up(old, style)
                quoted = f'"{new}"' if written.startswith('"') else new
                arguments = {"path": f"packages/{path}", "old": written, "new": quoted}
                calls.append(Call("replace_text", arguments))
        return calls or None

    def _spelled(self, path: str, old: Words) -> Sequence[tuple[str, str]]:
        """The old spellings that a file shows; those in two pieces where it failed, which no edit of others has changed."""
        seen = self._seen(path)
        if seen.failed < 0 or seen.whole:
            return spelled_in(seen.text, old, pieces=seen.failed >= 0)
        pieces = [each for each in spelled_in(seen.every, old, pieces=True) if '"' in each[0]]
        return [*spelled_in(seen.text, old, pieces=False), *pieces]

    def _made_up(self, old: Words, style: str) -> str:
        """A new spelling after one that is known; one is, or there would be no old name."""
        known = (self.notes.spellings.get(spelled) for spelled in spelled_all(old).values())
        words = next((words for new in known if new and (words := words_of(new))), old)
        return joined(words, style)
