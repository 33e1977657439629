"""How many tokens a model accepts: the first source that knows.

Promise: a look-up always answers, says where the answer is from, and never waits for the network. The order
is cache, environment, the user's files, discovery if on, the known table, inference from the name, default.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from autogen_context.tokens.limit_discovered import Discovered
from autogen_context.tokens.limit_names import squash
from autogen_context.tokens.limit_sources import (
    Default,
    Environment,
    Inferred,
    Known,
    LimitSource,
    Step,
    UserFile,
    known_rows,
    variable_for,
)
from autogen_context.tokens.limit_table import ModelLimit, Row

if TYPE_CHECKING:  # only who asks an endpoint pays for what talks to it
    from autogen_context.tokens.discovery import Discovery

__all__ = [
    "ModelLimit",
    "ModelLimits",
    "Row",
    "Step",
    "known_rows",
    "standard_files",
    "variable_for",
]


def standard_files() -> tuple[Path, ...]:
    """Where a user's own limits are looked for, the nearest first."""
    name = "model_limits.json"
    try:
        home = [Path.home() / ".autogen" / name]
    except RuntimeError:  # a user without a home, as in some containers
        home = []
    return (Path(name), *home, Path("/etc/autogen") / name)


class ModelLimits:
    """The limits of models, from whoever knows them first.

    Args:
        files: tables of limits; the first that knows a model wins. Left out: ``standard_files()``. Where a
            file is none of those, that it does not exist is worth a warning.
        environ: variables to look in. Left out: the process's, as they are at the time.
        discovery: an endpoint to ask. Only ``alookup`` asks it; ``lookup`` uses what it found.
        default_tokens: what is assumed where nobody knows.
        ttl_s: how long an answer is kept, in seconds.
        clock: seconds that only go up.

    Raises:
        ValueError: ``default_tokens`` or ``ttl_s`` is out of range, or ``files`` a single path.
    """

    def __init__(
        self,
        *,
        files: Sequence[str | PathLike[str]] | None = None,
        environ: Mapping[str, str] | None = None,
        discovery: "Discovery | None" = None,
        default_tokens: int = 8192,
        ttl_s: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if default_tokens < 1:
            raise ValueError(f"default_tokens={default_tokens}: give a positive number of tokens")
        if not ttl_s >= 0:
            raise ValueError(f"ttl_s={ttl_s}: give the seconds to keep an answer, or 0")
        self._ttl_s = ttl_s
        self._clock = clock
        self._kept: dict[str, tuple[ModelLimit, float]] = {}
        self._discovered = Discovered(discovery, ttl_s=ttl_s, clock=clock)
        self._own: tuple[LimitSource, ...] = (Environment(environ), *_user_files(files))
        rest = (self._discovered, Known(), Inferred(), Default(default_tokens))
        self._sources: tuple[LimitSource, ...] = (*self._own, *rest)

    def lookup(self, model: str) -> ModelLimit:
        """The limits of a model, at once and without the network.

        Raises:
            ValueError: ``model`` is no name.
        """
        _check(model)
        kept = self._kept.get(model)
        if kept is not None and self._clock() < kept[1]:
            return kept[0]
        limit = next(_answers(self._sources, model))
        self._kept[model] = (limit, self._clock() + self._ttl_s)
        return limit

    async def alookup(self, model: str) -> ModelLimit:
        """The limits of a model; where discovery is on and comes next, its endpoint is asked first.

        It waits for as long as the discovery's time limit at most, and not at all while an answer of the
        endpoint is fresh, or when the environment or a file of the user knows the model.

        Raises:
            ValueError: ``model`` is no name.
        """
        _check(model)
        is_due = self._discovered.is_due(model) and not any(_answers(self._own, model))
        if is_due and await self._discovered.refresh(model):
            self._kept.clear()
        return self.lookup(model)

    def trace(self, model: str) -> list[Step]:
        """What each source says of a model, in the order in which they are asked; the first answer wins.

        Raises:
            ValueError: ``model`` is no name.
        """
        _check(model)
        return [self._cache_step(model), *(source.ask(model) for source in self._sources)]

    def _cache_step(self, model: str) -> Step:
        limit, until = self._kept.get(model, (None, 0.0))
        left_s = until - self._clock()
        if limit is None or left_s <= 0:
            return Step(source="cache", note="empty")
        return Step(source="cache", limit=limit, note=f"{limit.source}, for another {left_s:.0f} s")


def _user_files(files: Sequence[str | PathLike[str]] | None) -> Iterator[UserFile]:
    if isinstance(files, str | PathLike):
        raise ValueError(f"files={str(files)!r}: give several, such as [{str(files)!r}]")  # noqa: TRY004 - a wrong argument is a ValueError here
    standard = standard_files()
    for path in standard if files is None else map(Path, files):
        yield UserFile(path, required=path not in standard)


def _answers(sources: Sequence[LimitSource], model: str) -> Iterator[ModelLimit]:
    return (step.limit for source in sources if (step := source.ask(model)).limit)


def _check(model: object) -> None:
    if not isinstance(model, str):
        raise ValueError(f"model={model!r:.80}: give the model's name, a string")  # noqa: TRY004 - a wrong argument is a ValueError here
    if not squash(model):
        raise ValueError(f"model={model!r:.80}: give the model's name, such as 'gpt-4o'")
