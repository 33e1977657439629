"""The scripted summariser: what people said is theirs in every layout in which frameworks hand it over."""

import pytest
from tasks.summariser import summarised

RULE = "No deliveries on Fridays."
OFFER = "Offer 40001 of Castel: 20.50 EUR"
LAYOUTS = (
    f"user: {RULE}\nassistant: Done.\ntool: {OFFER}",
    f"[user]\n{RULE}\n[tool] {OFFER}",
    f"1. [user] {RULE}\n2. [assistant] Done.\n3. [tool] function_result: {OFFER}",
    f"The user said:\n- {RULE}\nKnown:\n- {OFFER}",
    f"1. [assistant] The user said:\n- {RULE}\nKnown:\n- {OFFER}\n2. [user] Thanks.",
    f"User: {RULE}\nTool: {OFFER}",
)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_people_said_stays_theirs(layout: str) -> None:
    """In a list of roles, in a numbered one, and in an earlier summary; what a tool told does not become theirs."""
    said, _, known = summarised(layout, 300).partition("Known:")
    assert said.startswith("The user said:")
    assert RULE in said
    assert OFFER not in said
    assert OFFER in known


def test_a_summary_of_summaries_keeps_what_people_said() -> None:
    """As often as it is summarised."""
    text = LAYOUTS[2]
    for _ in range(5):
        text = f"1. [assistant] {summarised(text, 300)}\n2. [user] Thanks.\n3. [tool] {OFFER}"
    assert RULE in summarised(text, 300).partition("Known:")[0]


def test_it_keeps_to_its_words() -> None:
    """The newest of what people said goes first into what there is room for."""
    text = "\n".join(f"user: rule {n} of the house" for n in range(100))
    short = summarised(text, 50)
    assert len(short.split()) <= 60
    assert "rule 99" in short
    assert "rule 1 " not in short
