"""A config that exists is valid, what is wrong is said at once, each place is read, and no key is passed over in silence."""

import json
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from autogen_context import IncrementalContextManager, SemanticHybridTrigger, TokenBudgetManager
from autogen_context.config import ContextConfig
from autogen_context.config.config import RENAMED, WITHOUT_EFFECT
from autogen_context.errors import ContextWindowExceeded, MissingExtra
from autogen_context.prioritizer.attention import AttentionScore, ContextPart
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import broken_transcripts
from autogen_context.tokens.measure import EstimateCounter

Settings = dict[str, object]

DOCS = Path(__file__).parents[2] / "docs" / "configuration.md"


def made(**given_settings: object) -> ContextConfig:
    """The constructor, for keys that a type checker would refuse."""
    return ContextConfig.model_validate(given_settings)


WRONG = {
    "window_tokens": (0, -1, 1.5, "many", True),
    "reserve_tokens": (-1, None, False),
    "compact_at_fraction": (0, 1.01, -0.5, 80, float("nan"), True),
    "compact_to_fraction": (0, 1, 1.5),
    "prepare_at_fraction": (0, 1.1, None),
    "summary_timeout_s": (-1, float("nan")),
    "reduce": ("always", True),
    "tools": ("peek", ["peek"], 5),
    "people": ("Alice", {"Alice": 1}, None, 5),
    "program_output": ("<output>", {"a": 1}, None, 5),
    "orphans": ("keep", None, 1),
    "alternate_roles": ("maybe", None),
    "single_system": (2,),
    "volatile": ("move", True, None),
    "enabled": ("", None),
    "default_window_tokens": (0, None),
    "limits_file": (5,),
    "limits_ttl_s": (-1, float("inf"), None, True),
    "discovery_url": ("localhost:8000", "ftp://x", "see http://x", "", "http://a b"),
    "discovery_timeout_s": (0, -1, float("nan")),
    "prefill_tokens_per_s": (0, -1, True, float("nan")),
    "tokenizer_timeout_s": (-0.1, float("inf")),
    "originals_bytes": (-1, "64 MiB"),
    "originals_directory": (5,),
    "originals_disk_bytes": (0, None),
    "originals_ttl_s": (-1, float("inf")),
    "tenant": (None,),
    "agent": (5,),
    "model": (None, 4),
    "store_key": ("too short", 5),
}
WRONG_ROWS = [(key, value) for key, values in WRONG.items() for value in values]


@pytest.mark.parametrize(("key", "value"), WRONG_ROWS, ids=[f"{k}={v!r}" for k, v in WRONG_ROWS])
def test_all_that_is_wrong_is_in_one_error_with_setting_value_and_way_out(
    key: str, value: object
) -> None:
    """Of each value out of range: which setting, what it was given, what it should be, the default; with unknown keys."""
    default: object = ContextConfig.model_fields[key].default
    shown = "…" if key == "store_key" else re.escape(repr(value))  # a secret
    said = rf"'{key}' is {shown}: (Input|String) .+; the default is {default!r}"
    other = next(name for name in WRONG if name != key)
    for more in ({}, {"windw_tokens": 1, other: WRONG[other][0]}):
        with pytest.raises(ValidationError, match=said) as caught:
            made(**{key: value}, **more)
        assert sorted(str(line["loc"][0]) for line in caught.value.errors()) == sorted([key, *more])


KINDS = "Input should be one of read, write, search, run, test, other, shell"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"window_tokens": 100, "reserve_tokens": 100},
            "'reserve_tokens' is 100: Input should be below window_tokens, which is 100",
        ),
        (
            {"compression_threshold": 0.5, "compression_ratio": 0.7},
            "'compression_ratio' (now 'compact_to_fraction') is 0.7: Input should be below",
        ),
        ({"tools": {"a": "read", "x": "fly"}}, f"'x' of 'tools' is 'fly': {KINDS}; the default"),
        ({"people": ["Ann", 5]}, "item 1 of 'people' is 5: Input should be a valid"),
        (
            {"people": "Alice"},
            """'people' is 'Alice': Input should be a list of names, such as ["Alice"]""",
        ),
        (
            {"profile": "conservative", "compact_to_fraction": 0.5},
            "this profile has its own compact_to_fraction; leave yours out, which is 0.5",
        ),
    ],
)
def test_what_is_wrong_is_named(wrong: Settings, said: str) -> None:
    """Of settings that do not go together both, of several values the one that is wrong, once."""
    with pytest.raises(ValidationError, match=re.escape(said)) as caught:
        made(**wrong)
    assert caught.value.error_count() == 1


def test_a_config_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frozen and hashable, its schema without room for unknown keys; validation hands it back and takes nothing else. Only ``load`` reads the environment."""
    config = ContextConfig(model="m")
    assert ContextConfig.model_validate(config) == config
    assert hash(config) == hash(ContextConfig(model="m"))
    assert ContextConfig.model_json_schema()["additionalProperties"] is False
    with pytest.raises(ValidationError):
        ContextConfig.model_validate(5)
    with pytest.raises(ValidationError):
        config.model = "other"  # pyright: ignore[reportAttributeAccessIssue]  # the law under test
    monkeypatch.setenv("AUTOGEN_CONTEXT_WINDOW_TOKENS", "77")
    assert (ContextConfig().window_tokens, ContextConfig.load().window_tokens) == (None, 77)


def test_the_page_lists_every_setting_and_key_as_it_is() -> None:
    """Name, default and description of the model, in its order; of each key of the original what it became."""
    page = DOCS.read_text(encoding="utf-8").split("## Settings\n")[1]
    of_today, of_the_original = page.split("## Keys of the original\n")
    rows = [
        [line for line in part.splitlines() if line.startswith("| `")]
        for part in (of_today.split("\n## ")[0], of_the_original)
    ]
    assert rows[0] == [
        f"| `{name}` | {shown(field.default)} | {' '.join((field.description or '').split())} |"
        for name, field in ContextConfig.model_fields.items()
    ]
    assert rows[1] == [
        *(f"| `{name}` | `{becomes}` |" for name, becomes in RENAMED.items()),
        *(f"| `{name}` | warns: {instead} |" for name, instead in WITHOUT_EFFECT.items()),
    ]


def shown(default: object) -> str:
    """A default as the page writes it."""
    return "none" if default is None else f"`{json.dumps(default)}`"


def test_the_filter_of_a_configuration() -> None:
    """Its threshold is 0.15 unless it is set; so many of the best take its place."""
    parts = [ContextPart("memory", text) for text in "abc"]
    scores = [
        AttentionScore(part=part, score=score, share=0.3, temperature=0.1, reasons=())
        for part, score in zip(parts, (0.14, 0.15, 0.4), strict=True)
    ]
    assert ContextConfig().attention_filter().filter(scores) == [scores[2], scores[1]]
    best = ContextConfig(attention_threshold=0.5, attention_top_k=1)
    assert best.attention_filter().filter(scores) == [scores[2]]


def test_parts_of_settings_decide_as_the_settings_do() -> None:
    """A manager that has settings, one given their parts, and one given parts with the same arguments decide alike."""
    config = ContextConfig(
        model="gpt-4o", window_tokens=3_000, compaction="cost_based", cached_input_fraction=1.0
    )
    own = config.updated(profile="strict", fallback_turns=4)
    managers = [
        IncrementalContextManager(config=own),
        IncrementalContextManager(
            config=config, budget=own.budget_manager(), triggers=own.hybrid_trigger()
        ),
        IncrementalContextManager(
            config=config,
            budget=TokenBudgetManager(profile="strict"),
            triggers=SemanticHybridTrigger(fallback_turns=4),
        ),
    ]
    messages: list[dict[str, str]] = []
    finished: set[bool] = set()
    for n in range(40):
        messages += [
            {"role": "user", "content": f"What is in file_{n}.py?"},
            {"role": "assistant", "content": f"file_{n}.py has value_{n}. " * 9},
        ]
        first, *others = [manager.prepare_nowait(messages) for manager in managers]
        for other in others:
            assert (first.messages, first.finished) == (other.messages, other.finished)
        finished.add(bool(first.finished and first.finished.is_done))
    assert finished == {True, False}


def test_a_reserve_above_the_models_window() -> None:
    """Is told at the first turn, with the way out."""
    keeper = IncrementalContextManager(model="gpt-4", reserve_tokens=10_000)
    with pytest.raises(ContextWindowExceeded, match=r"the limit is -\d+ .*lower reserve_tokens"):
        keeper.prepare_nowait([{"role": "user", "content": "hi"}])


@settings(max_examples=15)
@given(broken_transcripts(max_repeats=5))
def test_disabled_it_passes_everything_through(messages: list[ChatMessage]) -> None:
    """The same objects, measured as far as they can be read."""
    config = ContextConfig(window_tokens=50, enabled=False)
    keeper = IncrementalContextManager(config=config, counter=EstimateCounter())
    keeper.observe(messages)
    turn = keeper.prepare_nowait(messages)
    assert list(map(id, turn.messages)) == list(map(id, messages))
    assert (turn.decisions, turn.compacted) == ((), False)
    assert turn.certificate.counted_tokens > 0


# Where settings come from

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

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)
tokens = st.integers(1, 10**9)
seconds = st.floats(0.001, 1e9)
paths = words.map(lambda name: str(Path("folder") / name))
some_loose = st.fixed_dictionaries(  # settings whose range knows no other setting
    {},
    optional={
        **dict.fromkeys(("model", "tenant", "agent"), words),
        **dict.fromkeys(("limits_file", "originals_directory"), paths),
        **dict.fromkeys(("default_window_tokens", "originals_disk_bytes"), tokens),
        **dict.fromkeys(("alternate_roles", "single_system", "enabled"), st.booleans()),
        **dict.fromkeys(("limits_ttl_s", "originals_ttl_s"), st.just(0.0) | seconds),
        **dict.fromkeys(("summary_timeout_s", "tokenizer_timeout_s"), st.just(0.0) | seconds),
        "prepare_at_fraction": st.floats(0.01, 1),
        "reduce": st.sampled_from(["auto", "off", "lossless", "lossy"]),
        "orphans": st.sampled_from(["repair", "report", "refuse"]),
        "volatile": st.sampled_from(["report", "behind"]),
        "discovery_url": st.sampled_from([SERVER, "https://models.example"]),
        "discovery_timeout_s": seconds,
        "originals_bytes": st.just(0) | tokens,
    },
)


@st.composite
def configs(draw: st.DrawFn) -> ContextConfig:
    """Any valid config; some have sizes and shares, which must go together."""
    settings: Settings = {**draw(some_loose)}
    if draw(st.booleans()):
        settings["window_tokens"] = window_tokens = draw(tokens)
        settings["reserve_tokens"] = draw(st.integers(0, window_tokens - 1))
        settings["compact_at_fraction"] = at_fraction = draw(st.floats(0.01, 1))
        below = st.floats(0, at_fraction, exclude_min=True, exclude_max=True)
        settings["compact_to_fraction"] = draw(below)
    return ContextConfig.model_validate(settings)


def as_toml(kept: Mapping[str, object]) -> str:
    """A JSON value on one line is a TOML value where nothing is null; a settings file has no more than that."""
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in kept.items()
    )


def as_yaml(kept: Mapping[str, object]) -> str:
    """In block style."""
    return str(yaml.safe_dump(dict(kept), allow_unicode=True))


WRITERS: Mapping[str, Callable[[Mapping[str, object]], str]] = {
    "toml": as_toml,
    "json": json.dumps,
    "yaml": as_yaml,
}


def variables(kept: Mapping[str, object]) -> dict[str, str]:
    """The settings as variables of the environment."""
    return {f"AUTOGEN_CONTEXT_{key.upper()}": str(value) for key, value in kept.items()}


def loaded(
    text: str,
    *,
    suffix: str = "toml",
    environ: Mapping[str, str] | None = None,
    arguments: Settings | None = None,
) -> ContextConfig:
    """What ``load`` makes of a file with this text, of variables and arguments; none of the process."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"settings.{suffix}"
        path.write_text(text, encoding="utf-8")
        return ContextConfig.load(path, environ=environ or {}, **(arguments or {}))


@pytest.mark.parametrize("place", [*WRITERS, "environment"])
@given(config=configs())
def test_every_place_keeps_every_setting(place: str, config: ContextConfig) -> None:
    """What is written to TOML, JSON, YAML, or as text in variables, is read back equal."""
    kept = config.model_dump(mode="json", exclude_defaults=True)
    if place == "environment":
        assert ContextConfig.load(environ=variables(kept)) == config
    else:
        assert loaded(WRITERS[place](kept), suffix=place) == config


@given(some_loose, some_loose, some_loose)
def test_each_setting_comes_from_the_first_place_that_gives_it(
    in_file: Settings, in_environment: Settings, as_arguments: Settings
) -> None:
    """Arguments before environment before file before defaults, setting by setting; an empty variable gives nothing."""
    environ = variables(in_environment)
    found = loaded(as_toml(in_file), environ=environ, arguments=as_arguments)
    filled = {key: value for key, value in in_environment.items() if value != ""}
    assert found == ContextConfig.model_validate({**in_file, **filled, **as_arguments})


def test_a_wrong_value_is_traced_to_its_place() -> None:
    """A variable is named in full, a file by its path, and only the place that won is complained of."""
    with pytest.raises(ValueError, match=r"AUTOGEN_CONTEXT_ORIGINALS_BYTES is 'big': .*") as caught:
        loaded(
            "originals_bytes = -1\nlimits_ttl_s = -2", environ=variables({"originals_bytes": "big"})
        )
    assert re.search(r"'limits_ttl_s' in \S+settings.toml is -2: ", str(caught.value))
    assert "originals_bytes' in" not in str(caught.value)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("toml", "model = 'm'"),
        ("toml", "[autogen_context]\nmodel = 'm'\n[other]\nx = 1"),
        ("toml", "[tool.autogen_context]\nmodel = 'm'\n[tool.x]\ny = 1"),
        ("toml", "\ufeffmodel = 'm'"),
        ("json", '{"autogen_context": {"model": "m"}}'),
        ("yml", "autogen_context:\n  model: m"),
        ("yaml", "agent:\n  model: m\nother:\n  x: 1"),  # F33: the original's table
    ],
)
def test_settings_stand_at_the_top_or_in_a_table(suffix: str, text: str) -> None:
    """What belongs to others in the same file is left alone."""
    assert loaded(text, suffix=suffix) == ContextConfig(model="m")


@pytest.mark.parametrize(
    ("suffix", "text", "said"),
    [
        ("toml", "model = 'm'\nx = \ny = 1", "line 2"),
        ("json", '{"model":\n}', "line 2"),
        ("yaml", "model: m\nx: [", "line 2"),
        ("yaml", "model: !!python/name:os.getcwd", "line 1"),
        ("ini", "model = m", "should end in .toml, .json, .yaml, .yml"),
        ("json", "[1, 2]", "[1, 2] stands where names and values"),
        ("toml", "[tool.other]\nx = 1", "unknown setting 'tool'"),
        ("toml", "[autogen_context]\n[agent]", "autogen_context and agent; keep one"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(suffix: str, text: str, said: str) -> None:
    """The error names the file, what is wrong in it and the way out."""
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        loaded(text, suffix=suffix)
    assert f"settings.{suffix}" in str(caught.value)


def test_a_file_that_cannot_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing, a folder, or not text: named, with the reason; without its package, YAML names the extra."""
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    for name, why in (
        ("missing", "No such"),
        ("folder", "Is a .*; check the"),
        ("binary", "utf-8"),
    ):
        with pytest.raises(ValueError, match=rf"cannot read settings from .*{name}\.toml: .*{why}"):
            ContextConfig.load(tmp_path / f"{name}.toml")
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtra, match=r"autogen-context\[yaml\]"):  # D4
        loaded("model: m", suffix="yaml")


def test_the_examples_on_the_page_can_be_loaded() -> None:
    """Each sets something, without a warning."""
    page = DOCS.read_text(encoding="utf-8")
    for suffix in ("toml", "yaml", "json"):
        [block] = re.findall(rf"```{suffix}\n(.*?)```", page, re.DOTALL)
        with warnings.catch_warnings(action="error"):
            assert loaded(block, suffix=suffix) != ContextConfig()


def test_tables_and_lists_come_from_anywhere() -> None:
    """Tables and lists in a file, JSON in the environment; a text ``agent`` is a setting and no table."""
    file = 'people = ["Alice"]\nagent = "a"\n[tools]\npeek = "read"\n'
    environ = variables({"people": '["Alice"]', "agent": "a", "tools": '{"peek": "read"}'})
    config = ContextConfig(people=("Alice",), agent="a", tools={"peek": "read"})
    for found in (loaded(file), ContextConfig.load(environ=environ)):
        assert found == config
        assert hash(found) == hash(config)


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
        ("settings.json", lambda: loaded(json.dumps({key: "sk-1"}), suffix="json", environ={})),
    ]
    for named, make in places:
        with pytest.raises(ValueError, match=f"unknown setting .*{named}") as caught:
            make()
        assert "sk-1" not in str(caught.value)
        assert "input_value" not in str(caught.value)


@pytest.mark.parametrize(("name", "becomes"), ROWS)
def test_a_renamed_key_means_its_setting_everywhere(name: str, becomes: str) -> None:
    """As argument, variable and in a file; two keys in one place must agree, and a later place wins with either key."""
    one, other = VALUES[becomes]
    expected = made(**{becomes: one})
    assert made(**{name: one}) == made(**{name: one, becomes: one}) == expected
    assert ContextConfig.load(environ=variables({name: one})) == expected
    assert loaded(json.dumps({name: one}), suffix="json", environ={}) == expected
    for below, above in ((name, becomes), (becomes, name)):
        assert (
            loaded(json.dumps({below: other}), suffix="json", environ=variables({above: one}))
            == expected
        )
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
        ({"enable_api_discovery": True, "discovery_url": OTHER}, {}, OTHER),
        ({"discovery_url": OTHER}, {"enable_api_discovery": "no"}, None),
        ({"enable_api_discovery": False}, {"discovery_url": OTHER}, OTHER),
        ({}, {"enable_api_discovery": "1"}, SERVER),
    ],
)
def test_the_switch_of_discovery_becomes_a_server(
    in_file: Settings, environ: Mapping[str, str], url: str | None
) -> None:
    """On: the server named beside it, else ``OPENAI_BASE_URL``; off: none; it is neither guessed at nor overruled."""
    found = loaded(json.dumps(in_file), suffix="json", environ=variables(environ) | BASE)
    assert found.discovery_url == url
    with pytest.raises(ValueError, match=r"'enable_api_discovery'.*should be true or false"):
        made(enable_api_discovery="maybe")
    with pytest.raises(ValueError, match=r"'enable_api_discovery'.*keep one"):
        made(enable_api_discovery=False, discovery_url=OTHER)
