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
from autogen_context.config.keys import ORIGINAL_KEYS, OriginalKey

Settings = dict[str, object]

DOCS = Path(__file__).parents[2] / "docs" / "configuration.md"
SETTINGS = tuple(ContextConfig.model_fields)
RENAMED = [row for row in ORIGINAL_KEYS if row.becomes and row.becomes != "discovery_url"]
WITHOUT_EFFECT = [row.name for row in ORIGINAL_KEYS if row.instead]
SERVER = "http://127.0.0.1:8000/v1"
OTHER = "http://127.0.0.1:9000/v1"
BASE = {"OPENAI_BASE_URL": SERVER}
VALUES: Mapping[str, tuple[object, object]] = {  # two valid values of each setting that was renamed
    "compact_at_share": (0.8, 0.9),
    "compact_to_share": (0.3, 0.4),
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
    lambda key: key not in SETTINGS and key not in {row.name for row in ORIGINAL_KEYS}
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


@pytest.mark.parametrize("row", RENAMED, ids=lambda row: str(row.name))
def test_a_renamed_key_means_its_setting_everywhere(row: OriginalKey) -> None:
    """As argument, variable and in a file, without a warning."""
    value = VALUES[row.becomes][0]
    expected = made(**{row.becomes: value})
    assert made(**{row.name: value}) == expected
    assert ContextConfig.load(environ=variables({row.name: value})) == expected
    assert loaded({row.name: value}, environ={}) == expected


@pytest.mark.parametrize("row", RENAMED, ids=lambda row: str(row.name))
def test_both_keys_in_one_place_must_agree(row: OriginalKey) -> None:
    """Equal values are one; different ones are an error that names both keys and values."""
    one, other = VALUES[row.becomes]
    assert made(**{row.name: one, row.becomes: one}) == made(**{row.becomes: one})
    for clash in ({row.name: one, row.becomes: other}, {row.becomes: other, row.name: one}):
        with pytest.raises(ValueError, match="keep one") as caught:
            made(**clash)
        for said in (f"'{row.name}'", f"'{row.becomes}'", repr(one), repr(other)):
            assert said in str(caught.value)


@pytest.mark.parametrize("row", RENAMED, ids=lambda row: str(row.name))
def test_precedence_holds_between_an_original_key_and_its_setting(row: OriginalKey) -> None:
    """The place decides, not the spelling: a later place wins with either key."""
    low, high = VALUES[row.becomes]
    for below, above in ((row.name, row.becomes), (row.becomes, row.name)):
        found = loaded({below: low}, environ=variables({above: high}))
        assert found == made(**{row.becomes: high})


@pytest.mark.parametrize("name", WITHOUT_EFFECT)
@given(value=st.booleans() | st.floats(0, 1) | st.integers(0, 100))
def test_a_key_without_effect_warns_once_and_changes_nothing(name: str, value: float) -> None:
    """One warning, at the caller's line, that names the key and says that it has no effect."""
    with pytest.warns(UserWarning, match=f"^'{name}' has no effect: a compaction") as caught:
        assert ContextConfig(**{name: value}) == ContextConfig()  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # not a setting of today
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_a_warning_names_the_variable(name: str) -> None:
    """From the environment, the key is named as it stands there; the line is that of the call to ``load``."""
    with pytest.warns(UserWarning, match=f"^AUTOGEN_CONTEXT_{name.upper()} has no") as caught:
        assert ContextConfig.load(environ=variables({name: 1})) == ContextConfig()
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    ("in_file", "environ", "url"),
    [
        pytest.param({"enable_api_discovery": True}, BASE, SERVER, id="on, server known"),
        pytest.param({"enable_api_discovery": False}, BASE, None, id="off"),
        pytest.param({}, BASE, None, id="not given"),
        pytest.param(
            {"enable_api_discovery": True, "discovery_url": OTHER}, BASE, OTHER, id="on, named"
        ),
        pytest.param(
            {"discovery_url": OTHER},
            {"AUTOGEN_CONTEXT_ENABLE_API_DISCOVERY": "no"},
            None,
            id="switched off later",
        ),
        pytest.param(
            {"enable_api_discovery": False},
            {"AUTOGEN_CONTEXT_DISCOVERY_URL": OTHER},
            OTHER,
            id="named later",
        ),
        pytest.param(
            {}, {**BASE, "AUTOGEN_CONTEXT_ENABLE_API_DISCOVERY": "1"}, SERVER, id="by variable"
        ),
    ],
)
def test_the_switch_of_discovery_becomes_a_server(
    in_file: Settings, environ: Mapping[str, str], url: str | None
) -> None:
    """On: the server named beside it, else ``OPENAI_BASE_URL``; off: none."""
    assert loaded(in_file, environ=environ).discovery_url == url


def test_discovery_without_a_server_warns_and_changes_nothing() -> None:
    """The switch names no server; the warning says what does, and a server named elsewhere stays."""
    with pytest.warns(UserWarning, match="set discovery_url, or OPENAI_BASE_URL"):
        assert made(enable_api_discovery=True) == ContextConfig()
    with pytest.warns(UserWarning, match="ENABLE_API_DISCOVERY .* has no effect by itself"):
        found = loaded({"discovery_url": OTHER}, environ=variables({"enable_api_discovery": True}))
    assert found.discovery_url == OTHER


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param({"enable_api_discovery": "maybe"}, "should be true or false", id="no switch"),
        pytest.param(
            {"enable_api_discovery": False, "discovery_url": OTHER}, "keep one", id="off and named"
        ),
    ],
)
def test_a_switch_of_discovery_that_says_nothing_is_an_error(wrong: Settings, said: str) -> None:
    """It is neither guessed at nor overruled."""
    with pytest.raises(ValueError, match=f"'enable_api_discovery'.*{said}"):
        made(**wrong)


def test_the_page_lists_every_key_of_the_original() -> None:
    """With what it became, or what it waits for."""
    page = DOCS.read_text(encoding="utf-8").split("## Keys of the original\n")[1]
    assert [line for line in page.splitlines() if line.startswith("| `")] == [
        f"| `{row.name}` | {f'`{row.becomes}`' if row.becomes else f'warns: {row.instead}'} |"
        for row in ORIGINAL_KEYS
    ]
