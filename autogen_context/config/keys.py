"""The keys that may be given: the settings of today, and the keys of the original.

Promise: each key that was given becomes a setting, a warning or a problem; none is passed over in silence.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value that was given for a key, and where.

    Attributes:
        key: the setting that it is for.
        value: as it was given, not yet checked.
        name: the key as the user wrote it and where that was, for messages.
    """

    key: str
    value: object
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why something given cannot be used, and the way out."""

    key: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A key that is understood and has no effect."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that was given, understood.

    Attributes:
        given: by setting, each from the last layer that gives it.
        problems: what cannot be used.
        warnings: one text for each key that has no effect.
    """

    given: Mapping[str, Given]
    problems: Sequence[Problem]
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalKey:
    """A key of the original: the setting it became, or what does its work without one."""

    name: str
    becomes: str = ""
    instead: str = ""


SWITCH_OF_DISCOVERY = "enable_api_discovery"  # was a yes or no; what is needed is a URL
DISCOVERY = "discovery_url"

FILTERED = "a compaction keeps what is worth most; parts of your own go through attention_filter()"

ORIGINAL_KEYS = (
    OriginalKey(name="compression_threshold", becomes="compact_at_share"),
    OriginalKey(name="compression_ratio", becomes="compact_to_share"),  # both: what is left
    OriginalKey(name="default_token_limit", becomes="default_window_tokens"),
    OriginalKey(name="model_limits_config_path", becomes="limits_file"),
    OriginalKey(name="model_limit_cache_ttl", becomes="limits_ttl_s"),
    OriginalKey(name=SWITCH_OF_DISCOVERY, becomes=DISCOVERY),
    OriginalKey(name="api_discovery_timeout", becomes="discovery_timeout_s"),
    OriginalKey(name="use_attention_context", instead=FILTERED),
    OriginalKey(
        name="adaptive_compression", instead="a compaction always keeps what is worth most"
    ),
    OriginalKey(name="masking_window", becomes="fallback_turns"),
)
BY_NAME = {row.name: row for row in ORIGINAL_KEYS}
TRUTH = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


def read(
    layers: Sequence[Sequence[Given]], *, settings: Collection[str], server_url: str | None
) -> Reading:
    """Understand what was given in several places.

    Args:
        layers: what each place gives; a later one has precedence.
        settings: the names of the settings of today.
        server_url: the server to ask where discovery is switched on without naming one.

    Returns:
        The settings given, and what is to be said of the rest. Values are not checked, but two in one layer must agree.
    """
    found = [
        meaning
        for layer in layers
        for meaning in meanings(layer, settings=settings, server_url=server_url)
    ]
    return Reading(
        given={one.key: one for one in found if isinstance(one, Given)},
        problems=[one for one in found if isinstance(one, Problem)],
        warnings=[one.message for one in found if isinstance(one, Warned)],
    )


def meanings(
    layer: Sequence[Given], *, settings: Collection[str], server_url: str | None
) -> Iterator[Given | Problem | Warned]:
    """What each key of a layer says, and where two of them disagree."""
    named = (given.value for given in layer if given.key == DISCOVERY and given.value)
    to_ask = next(named, server_url)
    seen: dict[str, Given] = {}
    for given in layer:
        meaning = meaning_of(given, settings=settings, server_url=to_ask)
        yield meaning
        if isinstance(meaning, Given):
            first = seen.setdefault(meaning.key, meaning)
            if first is not meaning and first.value != meaning.value:
                yield disagreement(first, meaning)


def meaning_of(
    given: Given, *, settings: Collection[str], server_url: object
) -> Given | Problem | Warned:
    """What one key says."""
    if given.key in settings:
        return given
    row = BY_NAME.get(given.key)
    if row is None:
        return Problem(key=given.key, message=unknown(given, settings))
    if row.instead:
        return Warned(message=f"{given.name} has no effect: {row.instead}")
    renamed = replace(given, key=row.becomes, name=f"{given.name} (now '{row.becomes}')")
    return switched(renamed, server_url) if row.name == SWITCH_OF_DISCOVERY else renamed


def unknown(given: Given, settings: Collection[str]) -> str:
    """Name the key that was probably meant; where none is near, all settings."""
    near = get_close_matches(given.key, [*settings, *BY_NAME], n=1)
    way_out = f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(settings)}"
    return f"unknown setting {given.name}; {way_out}"


def switched(switch: Given, server_url: object) -> Given | Problem | Warned:
    """Discovery switched off, or on with the server there is to ask."""
    on = TRUTH.get(str(switch.value).lower())
    if on is None:
        return Problem(key=switch.key, message=f"{switch.name} should be true or false")
    if on and not server_url:
        return Warned(
            message=f"{switch.name} has no effect by itself: discovery needs a server; "
            f"set {DISCOVERY}, or OPENAI_BASE_URL where ContextConfig.load reads the environment"
        )
    return replace(switch, value=server_url if on else None)


def disagreement(first: Given, second: Given) -> Problem:
    """Two keys of one place that mean the same setting and differ."""
    message = f"{first.name} is {first.value!r} and {second.name} is {second.value!r}; keep one"
    return Problem(key=first.key, message=message)
