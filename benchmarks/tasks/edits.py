"""Edits: a function, a class or a key is renamed in some sixty files, in another form where it stands in settings or in a manual.

Promise: what must be in each file at the end follows from what people said and from nothing else. The tests of a package find
wrong code, and nothing of settings, manuals and files that were to be left alone.

What the policy does is in ``edits_policy``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from autogen_context.testing import Step
from tasks.edits_policy import Reading
from tasks.edits_text import TEAMS, joined, spelled_all
from tasks.files import Files
from tasks.sight import Sight
from tasks.sources import MODULES, PACKAGES, THINGS, WRITERS
from tasks.task import Said, Task, Tool, Verdict

FEWEST_PACKAGES, MOST_PACKAGES = 10, 12
IN_PACKAGE = ("py", "py", "py", "py", "ts", "yaml", "md")
WITHOUT = 0.15  # of the files do not have the old name
SPLIT_FIRST, SPLIT_LATER = 3, 2  # files that have the old name in two pieces, which tests find
OLD = {
    "snake": (("fetch", "rates"), ("probe", "quotes"), ("resolve", "tolls"), ("derive", "quota"), ("retry", "limit"), ("poll", "interval")),
    "pascal": (("rate", "client"), ("quota", "keeper"), ("toll", "broker"), ("ticket", "router"), ("vault", "gateway")),
}  # fmt: skip
NEW_FIRST = (
    "obtain", "harbor", "signal", "beacon", "summit", "canyon", "meadow", "anchor", "copper", "walnut", "lantern", "orchid",
)  # fmt: skip
NEW_LAST = (
    "figures", "source", "desk", "feed", "registry", "ceiling", "cadence", "keeper", "window", "portal", "board", "pulse",
)  # fmt: skip
STYLES = ("dashed", "phrase", "camel")
WHERE = {
    "dashed": "wherever it is written with a dash, in settings, metrics and log lines",
    "phrase": "in running text",
    "camel": "in TypeScript",
}
FOLDERS = ("compat", "bundle", "mirror", "upstream", "imported", "snapshot")
OPENERS = (
    "We rename `{old}`: `{old}` becomes `{new}` everywhere.",
    "Please rename something for me all over the repository: `{old}` to `{new}`.",
    "A rename today. The name `{old}` becomes `{new}`.",
    "`{old}` has been a bad name for years; rename `{old}` to `{new}` please.",
    "Would you rename `{old}` to `{new}`? In every file that has it.",
    "The review decided that `{old}` is called `{new}`, so let us rename it.",
    "Rename: `{old}` to `{new}`. It is all over the place.",
    "From the naming round: `{old}` is now `{new}`. Please carry that through all files.",
)
FORMS = (
    "{where}: `{old}` becomes `{new}`.",
    "{where} it is another one: `{old}` to `{new}`.",
    "Mind that {where} `{old}` becomes `{new}`.",
    "And {where} `{old}` is `{new}`.",
)
FOLDER = (
    "Leave alone all of {path}, it is vendored.",
    "Do not touch anything under {path}: that is a copy of somebody else's code.",
    "Hands off {path} please, we take it over as it is.",
    "{path} is vendored and must stay as it is.",
)
ALIAS = (
    "{path} keeps the old name, customers import it from there.",
    "Do not touch {path}: it is the public alias and must stay.",
    "Leave alone {path} too, that one is public.",
    "In {path} the old name must stay; we promised it to customers.",
)
HALF = (
    "For now only the packages {packages}, then wait.",
    "Begin with the packages {packages}; say when they are done.",
    "Start with packages {packages} and stop there.",
    "Today just the packages {packages}.",
    "First the packages {packages}, I want to look at them before you go on.",
    "Only the packages {packages} at first.",
    "Take the packages {packages} to begin with.",
    "Do the packages {packages} and report back.",
)
TESTS = (
    "Now run the tests of the packages {packages} and mend what they show.",
    "Good. Tests next, for the packages {packages}: mend whatever fails.",
    "Can you run the tests of packages {packages}, and repair what is left?",
    "Let us see the tests of the packages {packages}; go back to files that fail.",
    "Then the tests of packages {packages} please, until they pass.",
    "Run each of the tests of the packages {packages} and look again at what fails.",
    "Before we go on: tests for the packages {packages}. They have to pass.",
    "Next I would like green tests in the packages {packages}.",
)
REST = (
    "Go on with the packages {packages}.",
    "Now the other half, packages {packages}.",
    "Thanks. Next are the packages {packages}.",
    "Looks fine to me. Now the packages {packages}.",
    "Continue with the packages {packages} please.",
    "On to the packages {packages}.",
    "The packages {packages} can be done as well now.",
    "And now the packages {packages}, the same way.",
)
CHANGED = (
    "One change from here on, what is done may stay: {where} `{old}` is `{new}` instead.",
    "The writers changed their mind. From here on {where} `{old}` becomes `{new}`, earlier ones are fine.",
    "From now on {where} `{old}` becomes `{new}`; do not go back for the others.",
    "In these packages, from now on, {where} `{old}` to `{new}`. Leave what you have done.",
)
KEPT = (
    "Leave alone {path}: the {team} still calls it by the old name.",
    "Do not touch {path} before the {team} is ready.",
    "{path} keeps the old name for the {team}.",
    "The {team} needs the old name in {path}, so hands off that one.",
)
RELEASED = (
    "The {team} is ready now: the file that I asked you to keep for them can be renamed too.",
    "Good news from the {team}. Please rename the one you left for them.",
    "Last thing: the {team} has moved, so their file can be renamed as well.",
    "The {team} says go. The file you kept back for them can be done now.",
    "We no longer have to wait for the {team}; their file can follow.",
    "And the one we held back for the {team}? It can be renamed now.",
    "The {team} released today, so do the file that had to wait for them.",
    "One more: what waited for the {team} can be renamed, please do that file.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The old spellings with what each becomes, by style; ``name`` is the style of the name in code."""

    name: str
    old: Mapping[str, str]
    new: Mapping[str, str]


class Edits(Task):
    """A rename in two halves with tests after each, exceptions, a change on the way, and a file that is released at the end."""

    family: ClassVar[str] = "edits"
    prompt: ClassVar[str] = (
        "You carry a rename through a repository, by the spellings that people tell you. Go through the files in the order of the list, "
        "two at a time: read each once, then replace every spelling that is in it. Some files are left alone: people say which. Where "
        "tests fail, look at the file again: often the old name stands there in two pieces. Look up what you need and no longer see. Say "
        "when you are done."
    )

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        random = self.random
        self._packages = sorted(
            random.sample(PACKAGES, random.randint(FEWEST_PACKAGES, MOST_PACKAGES))
        )
        self._half = len(self._packages) // 2
        self._names = self._spellings()
        changed = random.choice(STYLES)
        self._later = {**self._names.new, changed: self._new_name(changed)}
        self._paths = self._made_paths()
        late = [p for p in self._paths if self._is_late(p) and p.endswith(".py")]
        self._folder = (
            f"packages/{random.choice(self._packages[self._half :])}/{random.choice(FOLDERS)}/"
        )
        vendored = [f"{self._folder}{m}.py" for m in random.sample(MODULES, random.randrange(3, 5))]
        self._alias, self._kept = random.sample(late, 2)
        self._alone = {*vendored, self._alias, self._kept}
        self._split = {
            *random.sample([p for p in self._paths if not self._is_late(p) and p.endswith(".py")], SPLIT_FIRST),
            *random.sample(sorted(set(late) - self._alone), SPLIT_LATER),
        }  # fmt: skip
        texts = {path: self._text(path) for path in [*self._paths, *vendored]}
        self._right = {p: t if p in self._alone - {self._kept} else self._renamed(p, t) for p, t in texts.items()}  # fmt: skip
        self._first = texts
        self._too_early = False
        self._files = Files(texts, self._wrong_line, random)
        self.said = [Said(text=text) for text in self._texts(changed, random.choice(TEAMS))]

    def _spellings(self) -> Names:
        name = self.random.choice(("snake", "snake", "pascal"))
        old = spelled_all(self.random.choice(OLD[name]))
        new = {style: self._new_name(style) for style in (name, *STYLES)}
        return Names(name=name, old={style: old[style] for style in new}, new=new)

    def _new_name(self, style: str) -> str:
        return joined((self.random.choice(NEW_FIRST), self.random.choice(NEW_LAST)), style)

    def _is_late(self, path: str) -> bool:
        return path.split("/")[1] in self._packages[self._half :]

    def _made_paths(self) -> list[str]:
        random = self.random
        return [
            f"packages/{package}/{module}.{kind}"
            for package in self._packages
            for module, kind in zip(random.sample(MODULES, len(IN_PACKAGE)), IN_PACKAGE, strict=True)
        ]  # fmt: skip

    def _text(self, path: str) -> str:
        """A file with the old name in the forms that its kind has."""
        random, kind = self.random, path.rpartition(".")[2]
        name, old = self._names.old[self._names.name], self._names.old
        lines: list[str] = []
        if random.random() > WITHOUT or path in self._alone:
            lines = [
                line for _ in range(random.randrange(1, 4)) for line in [self._line(kind, name)]
            ]
            if kind in {"py", "ts"} and random.random() < 0.4:
                lines.append(f'metrics.count("{old["dashed"]}", {random.randrange(99)})')
            if kind == "md" and random.random() < 0.5:
                lines.append(f"\nSet {random.choice(THINGS)} before you call `{name}`.")
        if path in self._split:
            first, second = halves(name)
            lines.append(f'HANDLERS["{first}" "{second}"] = {random.choice(THINGS)}_handler')
        return WRITERS[kind](random, lines)

    def _line(self, kind: str, name: str) -> str:
        random, old = self.random, self._names.old
        thing, other = random.sample(THINGS, 2)
        number = random.randrange(2, 99)
        if kind == "py":
            return random.choice((
                f"{thing} = {name}({other}, {number})", f"from shop.core import {name}  # for the {thing}",
                f'SETTINGS["{name}"] = {number}', f"EXPORTED = [{name}, {thing}]",
            ))  # fmt: skip
        if kind == "ts":
            return f"const {thing}{number} = {old['camel']}({other});"
        if kind == "yaml":
            return f"{thing}-{old['dashed']}:\n  most: {number}"
        return f"\nThe {old['phrase']} of the {thing} is shown under {other} {number}."

    def _renamed(self, path: str, text: str) -> str:
        """A file as it is to be."""
        new = self._later if self._is_late(path) else self._names.new
        for style, old in self._names.old.items():
            text = text.replace(old, new[style])
        first, second = halves(self._names.old[self._names.name])
        return text.replace(f'"{first}" "{second}"', f'"{new[self._names.name]}"')

    def _wrong_line(self, path: str, text: str) -> int:
        """Where the tests of a file fail: at a line of code that is not as it must be; 0 if nowhere.

        When the tests run, nobody has released the file yet that is kept until the end.
        """
        self._too_early |= path == self._kept and text != self._first[path]
        if not path.endswith(".py") or path in self._alone:
            return 0
        name = self._names.new[self._names.name]
        pairs = zip(self._right[path].split("\n"), text.split("\n"), strict=False)
        return next(
            (n for n, (right, is_) in enumerate(pairs, 1) if name in right and right != is_), 0
        )

    def _texts(self, changed: str, team: str) -> Iterator[str]:
        """What the person says, a line for each thing."""
        random, names = self.random, self._names

        def listed(packages: Sequence[str]) -> str:
            return f"{', '.join(packages[:-1])} and {packages[-1]}"

        def say(framings: Sequence[str], **values: object) -> str:
            text = random.choice(framings).format(**values)
            return text if text.startswith("packages/") else text[0].upper() + text[1:]

        first, rest = self._packages[: self._half], self._packages[self._half :]
        forms = [
            say(FORMS, where=WHERE[style], old=names.old[style], new=names.new[style])
            for style in STYLES
        ]
        alone = [say(FOLDER, path=self._folder), say(ALIAS, path=self._alias)]
        random.shuffle(forms)
        random.shuffle(alone)
        opener = say(OPENERS, old=names.old[names.name], new=names.new[names.name])
        yield "\n".join([opener, *forms, *alone, say(HALF, packages=listed(first))])
        yield say(TESTS, packages=listed(first))
        change = say(
            CHANGED, where=WHERE[changed], old=names.old[changed], new=self._later[changed]
        )
        more = [change, say(KEPT, path=self._kept, team=team)]
        random.shuffle(more)
        yield "\n".join([*more, say(REST, packages=listed(rest))])
        yield say(TESTS, packages=listed(self._packages))
        yield say(RELEASED, team=team)

    @override
    def tools(self, agent: str) -> Sequence[Tool]:
        return self._files.tools()

    @staticmethod
    @override
    def decide(sight: Sight) -> Step:
        return Reading(sight).step()

    @override
    def verdict(self) -> Verdict:
        now = self._files.texts
        touched = [p for p in sorted(self._alone - {self._kept}) if now[p] != self._first[p]]
        wrong = [p for p in sorted(now) if p not in touched and now[p] != self._right[p]]
        touched += [self._kept] * self._too_early
        whys = [f"{p} was to be left alone" for p in touched[:1]]
        whys += [f"{len(wrong)} files are not as they must be, such as {p}" for p in wrong[:1]]
        return Verdict(
            solved=not whys, repeated=self._files.repeated, broken=len(touched), why="; ".join(whys)
        )


def halves(name: str) -> tuple[str, str]:
    """A name in the two pieces in which code builds it."""
    at = re.search(r"_|(?<=[a-z])(?=[A-Z])", name)
    assert at is not None
    return name[: at.start()], name[at.start() :]
