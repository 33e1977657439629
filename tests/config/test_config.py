"""The laws of ``ContextConfig``: a config that exists is valid, and what is wrong is said at once and in full."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from autogen_context import IncrementalContextManager
from autogen_context.config import ContextConfig
from autogen_context.errors import ContextWindowExceeded
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
    "orphans": ("keep", None, 1),
    "alternate_roles": ("maybe", None),
    "single_system": (2,),
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
}
WRONG_ROWS = [(key, value) for key, values in WRONG.items() for value in values]


@given(st.sets(st.sampled_from(sorted(WRONG)), min_size=1), st.booleans())
def test_all_that_is_wrong_is_in_one_error(keys: set[str], unknown: bool) -> None:  # noqa: FBT001  # drawn, not called
    """Wrong values and unknown keys are reported together."""
    extra: Settings = {"windw_tokens": 1} if unknown else {}
    with pytest.raises(ValidationError) as caught:
        made(**{key: WRONG[key][0] for key in keys}, **extra)
    assert {line["loc"][0] for line in caught.value.errors()} == keys | extra.keys()


@pytest.mark.parametrize(("key", "value"), WRONG_ROWS, ids=[f"{k}={v!r}" for k, v in WRONG_ROWS])
def test_a_value_out_of_range_is_an_error_with_setting_value_and_way_out(
    key: str, value: object
) -> None:
    """The error says which setting, what it was given, what it should be and what the default is."""
    default: object = ContextConfig.model_fields[key].default
    with pytest.raises(ValidationError) as caught:
        made(**{key: value})
    assert caught.value.error_count() == 1
    assert caught.value.errors()[0]["loc"] == (key,)
    said = rf"'{key}' is {re.escape(repr(value))}: (Input|String) .+; the default is {default!r}"
    assert re.search(said, str(caught.value))


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
    ],
)
def test_what_is_wrong_is_named(wrong: Settings, said: str) -> None:
    """Of settings that do not go together both, of several values the one that is wrong, once."""
    with pytest.raises(ValidationError, match=re.escape(said)) as caught:
        made(**wrong)
    assert caught.value.error_count() == 1


def test_a_config_is_a_value() -> None:
    """Frozen and hashable, its schema without room for unknown keys; validation hands it back and takes nothing else."""
    config = ContextConfig(model="m")
    assert ContextConfig.model_validate(config) == config
    assert hash(config) == hash(ContextConfig(model="m"))
    assert ContextConfig.model_json_schema()["additionalProperties"] is False
    with pytest.raises(ValidationError):
        ContextConfig.model_validate(5)
    with pytest.raises(ValidationError):
        config.model = "other"  # pyright: ignore[reportAttributeAccessIssue]  # the law under test


def test_the_constructor_reads_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only ``load`` looks at the variables of the process."""
    monkeypatch.setenv("AUTOGEN_CONTEXT_WINDOW_TOKENS", "77")
    assert ContextConfig() == made()
    assert ContextConfig().window_tokens is None
    assert ContextConfig.load().window_tokens == 77


def test_the_page_lists_every_setting_as_it_is() -> None:
    """Name, default and description are those of the model, in its order."""
    page = DOCS.read_text(encoding="utf-8").split("## Settings\n")[1].split("\n## ")[0]
    assert [line for line in page.splitlines() if line.startswith("| `")] == [
        f"| `{name}` | {shown(field.default)} | {' '.join((field.description or '').split())} |"
        for name, field in ContextConfig.model_fields.items()
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


def test_a_reserve_above_the_models_window() -> None:
    """Is told at the first turn, with the way out."""
    keeper = IncrementalContextManager(model="gpt-4", reserve_tokens=10_000)
    with pytest.raises(ContextWindowExceeded, match=r"the limit is -\d+ .*lower reserve_tokens"):
        keeper.prepare_nowait([{"role": "user", "content": "hi"}])


@settings(max_examples=25)
@given(broken_transcripts(max_repeats=20))
def test_disabled_it_passes_everything_through(messages: list[ChatMessage]) -> None:
    """The same objects, measured as far as they can be read."""
    config = ContextConfig(window_tokens=50, enabled=False)
    keeper = IncrementalContextManager(config=config, counter=EstimateCounter())
    keeper.observe(messages)
    turn = keeper.prepare_nowait(messages)
    assert list(map(id, turn.messages)) == list(map(id, messages))
    assert (turn.decisions, turn.compacted) == ((), False)
    assert turn.certificate.counted_tokens > 0
