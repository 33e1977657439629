"""Tables and picture of outcomes: shares with their ranges, and a price that giving up does not lower."""

from xml.etree.ElementTree import fromstring

import pytest
from task_net import rows_of, worse
from tasks.report import as_text, picture, tables, wilson
from tasks.run import Outcome


def outcome(manager: str = "ours", *, window: int = 4_000, solved: bool = True, cost: int = 1_000, family: str = "edits") -> Outcome:  # fmt: skip
    """An outcome."""
    return Outcome(
        family=family, seed=0, window=window, manager=manager, host="agentchat", solved=solved, repeated=0, broken=0, why="",
        refused=0, requests=10, look_ups=1, largest_tokens=3_000, cost_tokens=cost, summaries=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("solved", "of", "least", "most"),
    [(0, 10, 0.0, 0.278), (5, 10, 0.237, 0.763), (10, 10, 0.722, 1.0), (81, 263, 0.255, 0.366)],
)  # the last is Newcombe's (1998), table I
def test_the_range_of_a_share_is_wilsons(solved: int, of: int, least: float, most: float) -> None:
    """To three digits."""
    assert wilson(solved, of) == pytest.approx((least, most), abs=5e-4)


def test_who_gives_up_early_is_not_cheap() -> None:
    """What all runs cost is divided by what was solved."""
    found = [outcome(cost=10_000), outcome(solved=False, cost=30_000)]
    (_, rows), _ = tables(found)
    assert rows[1][-2:] == ["20", "40"]
    (_, rows), _ = tables(found[1:])
    assert rows[1][-1] == "-"


def test_the_unlimited_one_stands_in_each_window() -> None:
    """Each window has its tables, with the whole history as its first row."""
    found = [outcome("everything", window=0), outcome(window=4_000), outcome(window=12_000)]
    titled = dict(tables(found))
    assert len(titled) == 4
    assert all("everything (agentchat)" in rows[1] for rows in titled.values())
    assert "12,000" in as_text(found)


def test_the_picture_is_a_picture() -> None:
    """Bars as long as the shares, also of names with signs."""
    drawn = fromstring(picture([outcome("a < b"), outcome("a < b", solved=False)]))  # noqa: S314 - ours
    bars = [each for each in drawn.iter() if each.tag.endswith("rect")]
    assert [bar.get("width") for bar in bars] == ["150"]


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (outcome(), []),
        (outcome(cost=1_020), []),
        (outcome(cost=1_100), ["edits/4000/ours: cost 1,100 instead of 1,000"]),
        (outcome(solved=False), ["edits/4000/ours: solved 0 instead of 1"]),
    ],
)
def test_the_net_says_what_is_worse(now: Outcome, said: list[str]) -> None:
    """Less solved, or dearer by more than what is tolerated."""
    assert worse(rows_of([now]), rows_of([outcome()])) == said
