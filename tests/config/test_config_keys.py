"""The laws of the keys: each one is a setting, a warning or an error, and none is passed over in silence."""

import json
import re
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.config import ContextConfig
from autogen_context.config.config import RENAMED, WITHOUT_EFFECT

Settings = dict[str, object]

DOCS = Path(__file__).parents[2] / "docs" / "configuration.md"
SETTINGS = tuple(ContextConfig.model_fields)
ROWS = [row for row in RENAMED.items() if row[1] != "discovery_url"]
SERVER = "http://127.0.0.1:8000/v1"
OTHER = "http://127.0.0.1:9000/v1"
BASE = {"OPENAI_BASE_URL": SERVER}
VALUES: Mapping[str, tuple[object, object]] = {  # two valid values of each setting that was renamed
    "compact_at_fraction": (0.8, 0.9),
    "compact_to_fraction": (0.3, 0.4),
    "default_window_tokens": (4000, 8000),
    "limits_file": ("a.json", "b.json"),
    "limits_ttl_s": (60, 120),
    "discovery_timeout_s": (1, 2),
    "fallback_turns": (5, 10),
}


def made(**given_settings: object) -> ContextConfig:
    """The constructor, for keys that a type checker would refuse."""
    return ContextConfig.model_validate(given_settings)


def variables(kept: Mapping[str, object]) -> dict[str, str]:
    """The settings as variables of the environment."""
    return {f"AUTOGEN_CONTEXT_{key.upper()}": str(value) for key, value in kept.items()}


def loaded(settings: Settings, *, environ: Mapping[str, str]) -> ContextConfig:
    """What ``load`` makes of a file with these settings."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "settings.json"
        path.write_text(json.dumps(settings), encoding="utf-8")
        return ContextConfig.load(path, environ=environ)


unknown_keys = st.from_regex(r"[a-z][a-z_]{0,15}", fullmatch=True).filter(
    lambda key: key not in {*SETTINGS, *RENAMED, *WITHOUT_EFFECT}
)


@given(unknown_keys)
def test_an_unknown_key_is_an_error_that_names_it_and_its_place(key: str) -> None:
    """As argument, variable and in a file; and its value, which may be a secret, is not repeated."""
    variable = f"AUTOGEN_CONTEXT_{key.upper()}"
    places: list[tuple[str, Callable[[], ContextConfig]]] = [
        (f"'{key}'", lambda: made(**{key: "sk-1"})),
        (variable, lambda: ContextConfig.load(environ={variable: "sk-1"})),
        ("settings.json", lambda: loaded({key: "sk-1"}, environ={})),
    ]
    for named, make in places:
        with pytest.raises(ValueError, match=f"unknown setting .*{named}") as caught:
            make()
        assert "sk-1" not in str(caught.value)
        assert "input_value" not in str(caught.value)


@given(st.sampled_from(SETTINGS), st.data())
def test_a_slip_of_one_letter_gets_a_suggestion(name: str, data: st.DataObject) -> None:
    """A missing letter leads back to the setting, or to one that is as near, such as its twin ``…_at_…``."""
    at = data.draw(st.integers(0, len(name) - 1))
    slip = name[:at] + name[at + 1 :]
    with pytest.raises(ValueError, match="did you mean") as caught:
        made(**{slip: 1})
    near = re.findall(r"did you mean '(\w+)'", str(caught.value))[0]
    assert likeness(near, slip) >= likeness(name, slip)


def likeness(one: str, other: str) -> float:
    """As difflib ranks suggestions; 1 is equal."""
    return SequenceMatcher(None, other, one).ratio()


def test_a_key_like_none_gets_the_list() -> None:
    """Where nothing is near, the error names all settings."""
    with pytest.raises(
        ValueError, match=r"the settings are model, window_tokens, .*originals_bytes"
    ):
        made(zzz=1)


@pytest.mark.parametrize(("name", "becomes"), ROWS)
def test_a_renamed_key_means_its_setting_everywhere(name: str, becomes: str) -> None:
    """As argument, variable and in a file; two keys in one place must agree, and a later place wins with either key."""
    one, other = VALUES[becomes]
    expected = made(**{becomes: one})
    assert made(**{name: one}) == made(**{name: one, becomes: one}) == expected
    assert ContextConfig.load(environ=variables({name: one})) == expected
    assert loaded({name: one}, environ={}) == expected
    for below, above in ((name, becomes), (becomes, name)):
        assert loaded({below: other}, environ=variables({above: one})) == expected
        with pytest.raises(ValueError, match="keep one") as caught:
            made(**{below: one, above: other})
        for said in (f"'{name}'", f"'{becomes}'", repr(one), repr(other)):
            assert said in str(caught.value)


@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_a_key_without_effect_warns_once_and_changes_nothing(name: str) -> None:
    """At the caller's line, by the name that stands there: the key, or the variable."""
    with pytest.warns(UserWarning, match=f"^'{name}' has no effect: a compaction") as caught:
        assert ContextConfig(**{name: 1}) == ContextConfig()  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # not a setting of today
    with pytest.warns(UserWarning, match=f"^AUTOGEN_CONTEXT_{name.upper()} has no") as also:
        assert ContextConfig.load(environ=variables({name: 1})) == ContextConfig()
    assert [warning.filename for warning in (*caught, *also)] == [__file__] * 2


@pytest.mark.parametrize(
    ("in_file", "environ", "url"),
    [
        ({"enable_api_discovery": True}, {}, SERVER),
        ({"enable_api_discovery": False}, {}, None),
        ({}, {}, None),
        ({"enable_api_discovery": True, "discovery_url": OTHER}, {}, OTHER),
        ({"discovery_url": OTHER}, {"enable_api_discovery": "no"}, None),
        ({"enable_api_discovery": False}, {"discovery_url": OTHER}, OTHER),
        ({}, {"enable_api_discovery": "1"}, SERVER),
    ],
    ids=["on, server known", "off", "not given", "on, named", "switched off later", "named later", "by variable"],
)  # fmt: skip  # ids in a row
def test_the_switch_of_discovery_becomes_a_server(
    in_file: Settings, environ: Mapping[str, str], url: str | None
) -> None:
    """On: the server named beside it, else ``OPENAI_BASE_URL``; off: none."""
    assert loaded(in_file, environ=variables(environ) | BASE).discovery_url == url


def test_discovery_without_a_server_warns_and_changes_nothing() -> None:
    """The switch names no server; the warning says what does, and a server named elsewhere stays."""
    with pytest.warns(UserWarning, match="set discovery_url, or OPENAI_BASE_URL"):
        assert made(enable_api_discovery=True) == ContextConfig()
    with pytest.warns(UserWarning, match="ENABLE_API_DISCOVERY .* has no effect by itself"):
        found = loaded({"discovery_url": OTHER}, environ=variables({"enable_api_discovery": True}))
    assert found.discovery_url == OTHER


def test_a_switch_of_discovery_that_says_nothing_is_an_error() -> None:
    """It is neither guessed at nor overruled."""
    with pytest.raises(ValueError, match=r"'enable_api_discovery'.*should be true or false"):
        made(enable_api_discovery="maybe")
    with pytest.raises(ValueError, match=r"'enable_api_discovery'.*keep one"):
        made(enable_api_discovery=False, discovery_url=OTHER)


def test_the_page_lists_every_key_of_the_original() -> None:
    """With what it became, or what it waits for."""
    page = DOCS.read_text(encoding="utf-8").split("## Keys of the original\n")[1]
    assert [line for line in page.splitlines() if line.startswith("| `")] == [
        *(f"| `{name}` | `{becomes}` |" for name, becomes in RENAMED.items()),
        *(f"| `{name}` | warns: {instead} |" for name, instead in WITHOUT_EFFECT.items()),
    ]
