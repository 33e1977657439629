"""The picture of what stays at which price."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from curve import drawn

SVG = "{http://www.w3.org/2000/svg}"
POINTS: list[dict[str, object]] = [
    {"set": "runs <of> & 1", "window": window, "manager": manager, "grounded": found, "cost": cost}
    for window, manager, found, cost in [
        (4_000, "ours & more", 50.0, 0.6),
        (8_000, "ours & more", 80.0, 0.7),
        (64_000, "ours & more", float("nan"), 0.9),
        (4_000, "another", 40.0, 0.5),
        (8_000, "another", 60.0, 1.1),
    ]
]


def test_it_is_one_picture_with_words_for_those_who_cannot_see_it() -> None:
    """It has a title and a description, its texts are escaped, and the same lines give the same bytes; other lines are refused."""
    lines = "\n".join(map(json.dumps, POINTS))
    assert drawn(lines) == drawn(lines)
    root = ET.fromstring(drawn(lines))  # noqa: S314 - our own text
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title") is not None
    assert root.find(f"{SVG}desc") is not None
    texts = "".join(root.itertext())
    for said in ("runs <of> & 1", "ours & more", "4k"):
        assert said in texts
    assert "64k" not in texts  # nothing was lost there, so there is no point
    with pytest.raises(ValueError, match="line"):
        drawn('{"set": "x"}')
    docs = Path(__file__).parents[2] / "docs" / "curve.svg"
    assert ET.fromstring(docs.read_text("utf-8")).tag == f"{SVG}svg"  # noqa: S314 - our own text
