"""The limits of models: the order of the sources, names, user's tables, and the table that ships."""

import json
import logging
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.tokens.limits import (
    ModelLimit,
    ModelLimits,
    known_rows,
    read_table,
    shipped_text,
    squash,
    standard_files,
)
from support.entries import Clock

KNOWN = known_rows()
PROVIDERS = ["OpenAI", "Anthropic", "Google", "Mistral", "Meta", "DeepSeek", "Qwen", "xAI", "Cohere"]  # fmt: skip
FIELDS = {"provider", "input_tokens", "output_tokens", "window_tokens", "source", "checked"}
HOUR_S = 3600.0

names = st.sampled_from([row.model for row in KNOWN.values()])
sizes = st.integers(1, 10**8)


def limits(*files: Path, environ: Mapping[str, str] | None = None) -> ModelLimits:
    """Limits that see nothing of the machine they run on."""
    return ModelLimits(files=files, environ=environ or {})


def written(path: Path, content: object) -> Path:
    """The path, after its file was written: text as it is, anything else as JSON."""
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was warned of so far."""
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


def test_the_table_is_large_and_each_row_of_it_is_whole() -> None:
    """120 models, several of each provider; three numbers apart, source and date; sorted, a row on a line."""
    rows = list(KNOWN.values())
    assert len(rows) >= 120
    counts = {p: sum(row.provider == p for row in rows) for p in PROVIDERS}
    assert min(counts.values()) >= 10, counts
    document = json.loads(shipped_text())
    assert read_table(shipped_text())[1] == []
    assert len({squash(name) for name in document}) == len(document)
    for name, row in document.items():
        assert set(row) == FIELDS, name
        assert 1024 <= row["input_tokens"] <= row["window_tokens"] <= 10_000_000, name
        assert 512 <= row["output_tokens"] <= row["window_tokens"], name
        assert row["source"]
        assert row["provider"]
        assert date.fromisoformat(row["checked"]) >= date(2026, 11, 21), name
    blocks = list(dict.fromkeys(row.provider for row in rows))
    assert rows == sorted(rows, key=lambda row: (blocks.index(row.provider), row.model))
    assert sum(line.startswith('  "') for line in shipped_text().splitlines()) == len(rows)


@pytest.mark.parametrize("layout", ["wheel", "editable", "incomplete"])
def test_the_table_is_found_in_either_installation(layout: str, tmp_path: Path) -> None:
    """In the package as a wheel has it, or one folder up; in neither place, an error says so."""
    package = tmp_path / "autogen_context"
    package.mkdir()
    if layout == "incomplete":
        with pytest.raises(FileNotFoundError, match="without its table"):
            shipped_text(package)
        return
    written((package if layout == "wheel" else tmp_path) / "model_limits.json", {"m": 5})
    assert json.loads(shipped_text(package)) == {"m": 5}


@given(names, st.sampled_from("-_. :"))
def test_a_known_name_matches_in_any_spelling(name: str, mark: str) -> None:
    """Punctuation and case are no part of a name."""
    respelled = "".join(c if c.isalnum() else mark for c in name).swapcase()
    found = limits().lookup(respelled)
    assert (found.source, found.input_tokens) == ("known", KNOWN[squash(name)].input_tokens)


@settings(max_examples=10)  # each example looks every model up
@given(names, sizes)
def test_an_environment_variable_holds_for_its_model_alone(name: str, tokens: int) -> None:
    """``MODEL_LIMIT_<NAME>`` answers for that model, taken as it is, and for no other known model."""
    variable = "MODEL_LIMIT_" + "".join(c if c.isalnum() else "_" for c in name).upper()
    subject = limits(environ={variable: str(tokens)})
    found = subject.lookup(name)
    assert (found.input_tokens, found.prompt_tokens) == (tokens, tokens)
    assert found.source == f"environment {variable}"
    others = [row.model for row in KNOWN.values() if row.model != name]
    assert {subject.lookup(other).source for other in others} == {"known"}


@pytest.mark.parametrize(
    ("variable", "model", "matches"),
    [
        ("MODEL_LIMIT_GPT4", "gpt-4", True),
        ("MODEL_LIMIT_GEMINI_2_0_FLASH", "gemini-2.0-flash", True),
        ("MODEL_LIMIT_GPT_4O", "openai/gpt-4o", True),
        ("MODEL_LIMIT_llama3_1_70b", "ollama/llama3.1:70b", True),
        *(("MODEL_LIMIT_GPT4", m, False) for m in ("gpt-4-32k", "gpt-4.1", "gpt-45", "gpt-4-0613")),
    ],
)
def test_the_names_that_variables_match(variable: str, model: str, *, matches: bool) -> None:
    """However the variable is spelled, and whatever route stands before the name; no longer name."""
    assert (limits(environ={variable: "777"}).lookup(model).input_tokens == 777) == matches


@pytest.mark.parametrize("value", ["", "0", "8k", "8192.0"])
def test_a_variable_that_is_no_positive_integer_is_named_once_and_ignored(
    value: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning with the variable and its value, and the next source answers; underscores are read as in Python."""
    subject = ModelLimits(files=(), environ={"MODEL_LIMIT_GPT4": value}, ttl_s=0)
    assert subject.lookup("gpt-4") == subject.lookup("gpt-4")
    assert subject.lookup("gpt-4").source == "known"
    (warning,) = warnings(caplog)
    assert "MODEL_LIMIT_GPT4" in warning
    assert repr(value) in warning
    as_python = limits(environ={"MODEL_LIMIT_GPT4": " 1_048_576 "})
    assert as_python.lookup("gpt-4").input_tokens == 1_048_576


ROWS: dict[str, tuple[object, tuple[int, int | None, int, int]]] = {
    "integer": (16384, (16384, None, 16384, 16384)),
    "input": ({"input_tokens": 900}, (900, None, 900, 900)),
    "window": ({"window_tokens": 1000}, (1000, 1000, 1000, 750)),
    "shared": ({"window_tokens": 1000, "output_tokens": 100}, (1000, 100, 1000, 900)),
    "apart": ({"input_tokens": 900, "output_tokens": 300}, (900, 300, 1200, 900)),
    "whole": ({"input_tokens": 272, "output_tokens": 128, "window_tokens": 400}, (272, 128, 400, 272)),
    "null": ({"input_tokens": 9, "output_tokens": None, "window_tokens": 9}, (9, None, 9, 9)),
}  # fmt: skip


@pytest.mark.parametrize(("row", "expected"), ROWS.values(), ids=ROWS)
def test_what_a_users_row_means(
    row: object, expected: tuple[int, int | None, int, int], tmp_path: Path
) -> None:
    """Input, output, window, and what is used of the input, from whatever the row gives; a byte order mark and a route are skipped."""
    path = written(tmp_path / "own.json", f"\ufeff{json.dumps({'company-model': row})}")
    found = limits(path).lookup("our-route/company-model")
    got = (found.input_tokens, found.output_tokens, found.window_tokens, found.prompt_tokens)
    assert got == expected
    assert found.source == f"file {path}"


BAD_ROWS: list[object] = [
    *[0, True, 8192.0, "8192", {}, {"output_tokens": 5}, {"input_tokens": "9"}],
    *[{"input_tokens": 9, "window_tokens": 8}, {"output_tokens": 9, "window_tokens": 8}],
]
BROKEN: dict[str, tuple[str, int, int]] = {  # text, line of the trouble, what is read of "a"
    **{
        f"row {row}": (json.dumps({"a": 5, "gpt-4": row, "b": 6}, indent=1), 3, 5)
        for row in BAD_ROWS
    },
    "syntax": ('{\n "a": 5,\n oops\n}', 3, 7),
    "deep": ("[" * 100_000, 1, 7),
    "huge number": ('{"a": ' + "9" * 5000 + "}", 1, 7),
    "no name": ('{"--": 5}', 1, 7),
}


@pytest.mark.parametrize(("text", "line", "tokens"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_named_with_its_line_and_the_next_is_used(
    text: str, line: int, tokens: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning with file and line, however often the file is asked; the other rows hold, and the next file answers."""
    broken = written(tmp_path / "broken.json", text)
    subject = limits(broken, written(tmp_path / "next.json", {"a": 7, "gpt-4": 4321}))
    assert [subject.lookup(name).input_tokens for name in ("a", "gpt-4")] == [tokens, 4321]
    assert subject.lookup("gpt-4o").source == "known"
    (warning,) = warnings(caplog)
    assert warning.startswith(f"{broken} line {line}: {'row' if tokens == 5 else ''}")
    asked = {step.source: step.note for step in subject.trace("gpt-4o")}
    assert asked[str(broken)] == "no row for it; ignored: 1, see the log"


@given(st.text(max_size=60) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
).map(json.dumps))  # fmt: skip
def test_any_text_is_a_table_or_a_list_of_problems(text: str) -> None:
    """Reading never raises, and each problem has a line of the text."""
    for line, problem in read_table(text)[1]:
        assert 1 <= line <= text.count("\n") + 1
        assert problem


def test_a_file_that_cannot_be_read_is_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No UTF-8, a folder, or missing though it was asked for: a warning each, and the next source."""
    (tmp_path / "latin.json").write_bytes(b'{"\xe9": 5}')
    (tmp_path / "folder.json").mkdir()
    subject = limits(*(tmp_path / f"{name}.json" for name in ("latin", "folder", "missing")))
    assert subject.lookup("gpt-4").source == subject.lookup("gpt-4o").source == "known"
    reasons = ["unreadable (UnicodeDecodeError)", "unreadable (IsADirectoryError)", "no such file"]
    found = warnings(caplog)
    assert len(found) == len(reasons)
    assert all(reason in text for reason, text in zip(reasons, found, strict=True))


def test_the_standard_files_are_looked_for_quietly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder first, then the home; that they are not there is no news."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert ModelLimits(environ={}).lookup("gpt-4").source == "known"
    assert warnings(caplog) == []
    (tmp_path / "home/.autogen").mkdir(parents=True)
    written(tmp_path / "home/.autogen/model_limits.json", {"gpt-4": 22})
    assert ModelLimits(environ={}).lookup("gpt-4").input_tokens == 22
    written(tmp_path / "model_limits.json", {"gpt-4": 11})
    assert ModelLimits(environ={}).lookup("gpt-4").source == "file ./model_limits.json"
    assert str(standard_files()[-1]) == "/etc/autogen/model_limits.json"


def test_the_shipped_table_as_a_file_is_no_users_file(tmp_path: Path) -> None:
    """In a clone ``./model_limits.json`` is the table itself; an edited copy is the user's."""
    path = written(tmp_path / "model_limits.json", shipped_text())
    assert limits(path).lookup("gpt-4").source == "known"
    written(path, shipped_text().replace('"input_tokens": 8192', '"input_tokens": 8000', 1))
    assert limits(path).lookup("gpt-4").source == f"file {path}"


def test_the_order_of_the_sources(tmp_path: Path) -> None:
    """Environment, files in their order, known, inference, default: each hides what comes after it."""
    first = written(tmp_path / "first.json", {"gpt-4o": 2, "a": 2})
    second = written(tmp_path / "second.json", {"gpt-4o": 3, "a": 3, "b": 3})
    subject = limits(first, second, environ={"MODEL_LIMIT_GPT_4O": "1"})
    expected = {
        "gpt-4o": "environment MODEL_LIMIT_GPT_4O",
        "a": f"file {first}",
        "b": f"file {second}",
        "gpt-4.1": "known",
        "gpt-4.1-x": "inferred from gpt-4.1",
        "c": "default",
    }
    assert {model: subject.lookup(model).source for model in expected} == expected


INFERRED = {
    "openai/gpt-4o-2024-11-20": "gpt-4o-2024-11-20",
    "gpt-4o-2031-01-01": "gpt-4o",
    "ft:gpt-4o-mini:org::id": "gpt-4o-mini",
    "bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0": "claude-3-5-sonnet-20241022",
    "claude-opus-4-9": "claude-3-haiku",
    "gemini-2.5-flash-preview-09-2025": "gemini-2.5-flash",
    "ollama/llama3.1:70b": "llama-3.1-70b",
    "meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo": "llama-3.1-405b",
    "accounts/fireworks/models/llama-v3p1-8b-instruct": "llama-3.1-8b",
    "gemini-2.5-pro-03-2031": "gemini-2.5-pro",
    "gemini-1.5-pro-002": "gemini-1.5-pro",  # F32: not the window of gemini-2.0-flash
    "gpt-9": "gpt-5",
}


@pytest.mark.parametrize(("model", "ancestor"), INFERRED.items())
def test_a_variant_has_the_limits_of_its_ancestor(model: str, ancestor: str) -> None:
    """The longest known name at a border, else the family's smallest model."""
    found = limits().lookup(model)
    assert found.source == f"inferred from {ancestor}"
    assert found.input_tokens == KNOWN[squash(ancestor)].input_tokens


@pytest.mark.parametrize("model", ["gpt-45", "gpt-50", "o10", "claudette", "my-model", "mistral/x", "x/"])  # fmt: skip
def test_a_name_that_only_looks_like_a_family_is_not_inferred(model: str) -> None:
    """Letters or digits that go on make another name; a route makes none."""
    default = ModelLimit(model=model, input_tokens=8192, window_tokens=8192, source="default")
    assert limits().lookup(model) == default


def test_the_table_is_asked_before_the_patterns() -> None:
    """No exact name is answered by the shorter one that it begins with; else a window in the name is believed."""
    known = {"gpt-4-32k": 32_768, "gpt-4": 8192, "gpt-5": 272_000, "gpt-4-turbo": 128_000}
    for model, tokens in known.items():
        found = limits().lookup(model)
        assert (found.input_tokens, found.source) == (tokens, "known")
    stated = {"gpt-4-128k": 128_000, "foo-32k": 32_000, "llama3.1:8b-instruct-q4_K_M-8k": 8000}
    for model, tokens in stated.items():
        found = limits().lookup(model)
        assert (found.input_tokens, found.prompt_tokens) == (tokens, tokens - tokens // 4)


DECORATED = ["openai/{}", "a/b/{}", "{}-latest", "{}:free", "{}@20240620", "ft:{}:org::id"]


@given(names, st.sampled_from(DECORATED))
def test_decoration_does_not_change_a_known_model(name: str, decorated: str) -> None:
    """Routes, tags, dates and fine-tuning keep the limits of the model (some decorated names are known too)."""
    found = limits().lookup(decorated.format(name))
    assert found.source in {"known", f"inferred from {name}", f"inferred from {name}-latest"}


@given(st.text(min_size=1, max_size=400) | st.text("gpt-4o.:/@_k", min_size=300), sizes, sizes)
def test_any_name_has_an_answer(name: str, window: int, output: int) -> None:
    """Whatever the name, positive numbers in order, and the same again; a shared window has room for the answer."""
    if squash(name):
        found = limits().lookup(name)
        assert 0 < found.prompt_tokens <= found.input_tokens <= found.window_tokens
        assert found.model == name
        assert limits().lookup(name) == found
    given = {"window_tokens": window, "output_tokens": min(output, window)}
    shared = ModelLimit.model_validate({"model": "m", **given})
    assert window - shared.prompt_tokens == min(output, window // 4)


@pytest.mark.parametrize("model", ["", " ", "--", 5, None, b"gpt-4"], ids=repr)
def test_wrong_arguments_are_named(model: str) -> None:
    """What is no name, with an example; a wrong default or time at construction."""
    for method in (limits().lookup, limits().trace):
        with pytest.raises(ValueError, match="give the model's name"):
            method(model)
    for tokens in (0, -1):
        with pytest.raises(ValueError, match=f"default_tokens={tokens}"):
            ModelLimits(files=(), environ={}, default_tokens=tokens)
    for ttl_s in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="ttl_s="):
            ModelLimits(files=(), environ={}, ttl_s=ttl_s)
    assert ModelLimits(files=(), environ={}, default_tokens=99).lookup("x").input_tokens == 99


def test_the_trace_is_the_chain(tmp_path: Path) -> None:
    """Each source with its answer, in order; the first that knows is what the look-up gives, and keeps for an hour."""
    clock, path = Clock(), written(tmp_path / "own.json", {"m": 1})
    clock.now_s = 0.0
    subject = ModelLimits(files=[path], environ={}, clock=clock)
    chain = ["cache", "environment", str(path), "discovery", "known", "inference", "default"]
    steps = subject.trace("m")
    assert [step.source for step in steps] == chain
    assert next(step.limit for step in steps if step.limit) == subject.lookup("m")
    written(path, {"m": 2})
    for clock.now_s, tokens, note in (
        (600, 1, ", for another 3000 s"),
        (HOUR_S - 1, 1, "1 s"),
        (HOUR_S, 2, "empty"),
    ):
        assert subject.trace("m")[0].note.endswith(note)
        assert subject.lookup("m").input_tokens == tokens
