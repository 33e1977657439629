"""Which file a name means.

Promise: pure; what is found does not depend on the order of the files. A name that many define means none of them, unless
it was imported from one.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import PurePosixPath

from autogen_context.project.symbols import Symbols

FOLDER_STEMS = frozenset({"__init__", "index", "mod", "main"})  # a file that stands for its folder
MOST_OWNERS = (
    6  # files that define a name; one that more define says nothing where it is not imported
)

Place = tuple[str, str]  # a file, and a name that it defines; empty where the whole file is meant


class Definers:
    """Who defines what.

    Args:
        files: the symbols of all files by their names.
    """

    def __init__(self, files: Mapping[str, Symbols]) -> None:
        self.outer: defaultdict[str, list[str]] = defaultdict(list)
        self.any: defaultdict[str, list[str]] = defaultdict(list)
        self.modules: defaultdict[str, list[str]] = defaultdict(list)
        for file in sorted(files):
            definitions = files[file].definitions
            for name in sorted({each.name for each in definitions}):
                self.any[name].append(file)
            for name in sorted({each.name for each in definitions if not each.depth}):
                self.outer[name].append(file)
            self.modules[module_of(file)].append(file)

    def places(self, reference: str) -> list[Place]:
        """What a reference can mean; a file without a name where it means the whole."""
        hint, colon, name = reference.partition(":")
        if colon:
            return self._imported(hint, name)
        if reference.startswith("."):
            return self._owned(self.any.get(reference[1:], []), reference[1:])
        return self._owned(self.outer.get(reference, []), reference)

    def _imported(self, hint: str, name: str) -> list[Place]:
        """What is imported from a module of that name, else a module itself, else what a module passes on."""
        owners = self.outer.get(name, [])
        exact = [file for file in owners if module_of(file) == hint]
        if exact:
            return [(file, name) for file in exact]
        if owners:
            return self._owned(owners, name)
        modules = self.modules.get(name, [])
        near = [file for file in modules if folder_of(file) == hint]
        return self._owned(near or modules or self.modules.get(hint, []), "")

    def _owned(self, owners: list[str], name: str) -> list[Place]:
        return [(file, name) for file in owners] if len(owners) <= MOST_OWNERS else []


def module_of(file: str) -> str:
    """The name under which a file is imported."""
    path = PurePosixPath(file)
    return path.parent.name if path.stem in FOLDER_STEMS else path.stem


def folder_of(file: str) -> str:
    """The folder of a module."""
    path = PurePosixPath(file)
    parent = path.parent
    return parent.parent.name if path.stem in FOLDER_STEMS else parent.name
