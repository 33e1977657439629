"""The laws of the sources: what is kept anywhere is read back, and the place decides what wins."""

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.config import ContextConfig
from autogen_context.errors import MissingExtra

Settings = dict[str, object]

DOCS = Path(__file__).parents[2] / "docs" / "configuration.md"

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)
tokens = st.integers(1, 10**9)
seconds = st.floats(0.001, 1e9)
loose: Mapping[str, st.SearchStrategy[object]] = {  # settings whose range knows no other setting
    "model": words,
    "prepare_at_fraction": st.floats(0.01, 1),
    "summary_timeout_s": st.just(0.0) | seconds,
    "reduce": st.sampled_from(["auto", "off", "lossless", "lossy"]),
    "orphans": st.sampled_from(["repair", "report", "refuse"]),
    "alternate_roles": st.booleans(),
    "single_system": st.booleans(),
    "enabled": st.booleans(),
    "default_window_tokens": tokens,
    "limits_file": words.map(lambda name: str(Path("limits") / name)),
    "limits_ttl_s": st.just(0.0) | seconds,
    "discovery_url": st.sampled_from(["http://127.0.0.1:8000/v1", "https://models.example"]),
    "discovery_timeout_s": seconds,
    "tokenizer_timeout_s": st.just(0.0) | seconds,
    "originals_bytes": st.just(0) | tokens,
    "originals_directory": words.map(lambda name: str(Path("stash") / name)),
    "originals_disk_bytes": tokens,
    "originals_ttl_s": st.just(0.0) | seconds,
    "tenant": words,
    "agent": words,
}


some_loose = st.fixed_dictionaries({}, optional=loose)


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
    "yml": as_yaml,
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


@given(configs())
def test_what_is_dumped_makes_an_equal_config(config: ContextConfig) -> None:
    """``ContextConfig(**dump) == config``, and the dump is JSON."""
    kept = json.loads(json.dumps(config.model_dump(mode="json", exclude_defaults=True)))
    assert ContextConfig(**kept) == config


@pytest.mark.parametrize("suffix", WRITERS)
@given(config=configs())
def test_a_file_keeps_every_setting(suffix: str, config: ContextConfig) -> None:
    """What is written to TOML, JSON or YAML is read back equal."""
    kept = config.model_dump(mode="json", exclude_defaults=True)
    assert loaded(WRITERS[suffix](kept), suffix=suffix) == config


@given(configs())
def test_the_environment_keeps_every_setting(config: ContextConfig) -> None:
    """Every setting can be given as text in a variable."""
    kept = config.model_dump(mode="json", exclude_defaults=True)
    assert ContextConfig.load(environ=variables(kept)) == config


@given(some_loose, some_loose, some_loose)
def test_each_setting_comes_from_the_first_place_that_gives_it(
    in_file: Settings, in_environment: Settings, as_arguments: Settings
) -> None:
    """Arguments before environment before file before defaults, setting by setting; an empty variable gives nothing."""
    environ = variables(in_environment)
    found = loaded(as_toml(in_file), environ=environ, arguments=as_arguments)
    filled = {key: value for key, value in in_environment.items() if value != ""}
    assert found == ContextConfig.model_validate({**in_file, **filled, **as_arguments})


def test_none_as_an_argument_takes_a_setting_back() -> None:
    """An argument wins over a file even where it is none."""
    assert loaded("window_tokens = 5", arguments={"window_tokens": None}).window_tokens is None


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
        pytest.param("toml", "model = 'm'", id="top"),
        pytest.param("toml", "[autogen_context]\nmodel = 'm'\n[other]\nx = 1", id="table"),
        pytest.param("toml", "[tool.autogen_context]\nmodel = 'm'\n[tool.x]\ny = 1", id="tool"),
        pytest.param("toml", "\ufeffmodel = 'm'", id="byte order mark"),
        pytest.param("TOML", "model = 'm'", id="capitals"),
        pytest.param("json", '{"autogen_context": {"model": "m"}}', id="json table"),
        pytest.param("yaml", "autogen_context:\n  model: m", id="yaml table"),
        pytest.param("yaml", "agent:\n  model: m\nother:\n  x: 1", id="F33: the original's table"),
    ],
)
def test_settings_stand_at_the_top_or_in_a_table(suffix: str, text: str) -> None:
    """What belongs to others in the same file is left alone."""
    assert loaded(text, suffix=suffix) == ContextConfig(model="m")


@pytest.mark.parametrize(
    ("suffix", "text"),
    [("toml", ""), ("yaml", "# nothing yet"), ("yaml", "autogen_context:"), ("json", "{}")],
)
def test_an_empty_file_gives_the_defaults(suffix: str, text: str) -> None:
    """Nothing given, nothing wrong."""
    assert loaded(text, suffix=suffix) == ContextConfig()


@pytest.mark.parametrize(
    ("suffix", "text", "said"),
    [
        pytest.param("toml", "model = 'm'\nx = \ny = 1", "line 2", id="toml syntax"),
        pytest.param("json", '{"model":\n}', "line 2", id="json syntax"),
        pytest.param("yaml", "model: m\nx: [", "line 2", id="yaml syntax"),
        pytest.param("yaml", "model: !!python/name:os.getcwd", "line 1", id="yaml object"),
        pytest.param("ini", "model = m", "should end in .toml, .json, .yaml, .yml", id="suffix"),
        pytest.param("json", "[1, 2]", "[1, 2] stands where names and values", id="json list"),
        pytest.param("yaml", "words", "'words' stands where names and values", id="yaml text"),
        pytest.param("toml", "autogen_context = 3", "3 stands where names", id="no table"),
        pytest.param("toml", "[tool.other]\nx = 1", "no table tool.autogen_context", id="tools"),
        pytest.param(
            "toml", "[autogen_context]\n[agent]", "autogen_context and agent; keep one", id="tables"
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(suffix: str, text: str, said: str) -> None:
    """The error names the file, what is wrong in it and the way out."""
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        loaded(text, suffix=suffix)
    assert f"settings.{suffix}" in str(caught.value)


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    """Missing, a folder, or not text: named, with the reason."""
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    for name in ("missing.toml", "folder.toml", "binary.toml"):
        with pytest.raises(ValueError, match=f"cannot read settings from .*{name}: "):
            ContextConfig.load(tmp_path / name)


def test_yaml_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing optional package is not a broken file."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtra, match=r"autogen-context\[yaml\]"):
        loaded("model: m", suffix="yaml")


def test_importing_the_config_reads_no_parser() -> None:
    """What only some programs need is imported when they need it."""
    code = "import autogen_context.config, sys; print({'yaml', 'tomllib'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603  # our own interpreter and code
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("suffix", ["toml", "yaml", "json"])
def test_the_examples_on_the_page_can_be_loaded(suffix: str) -> None:
    """Each sets something, without a warning."""
    page = DOCS.read_text(encoding="utf-8")
    blocks: list[str] = re.findall(rf"```{suffix}\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 1
    with warnings.catch_warnings(action="error"):
        assert loaded(blocks[0], suffix=suffix) != ContextConfig()


def test_tables_and_lists_come_from_anywhere() -> None:
    """Tables and lists in a file, JSON in the environment; a text ``agent`` is a setting and no table."""
    file = 'people = ["Alice"]\nagent = "a"\n[tools]\npeek = "read"\n'
    environ = variables({"people": '["Alice"]', "agent": "a", "tools": '{"peek": "read"}'})
    config = ContextConfig(people=("Alice",), agent="a", tools={"peek": "read"})
    for found in (loaded(file), ContextConfig.load(environ=environ)):
        assert found == config
        assert hash(found) == hash(config)
