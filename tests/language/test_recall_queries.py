"""What a person asks for: learned from labelled queries, these among them."""

import json
from pathlib import Path

import pytest

from autogen_context.language.query import END_CHARS, QueryKind, kind_of

Labelled = dict[str, dict[str, dict[QueryKind, list[str]]]]
LABELLED: Labelled = json.loads((Path(__file__).parent / "recall_queries.json").read_text("utf-8"))
RECALL_WORDS = (
    "remember what did when did you mentioned we talked about last time again summarise so far"
)


def precision_and_recall(half: str, kind: QueryKind) -> tuple[float, float]:
    """Of those found, how many are of the kind; of those of the kind, how many are found."""
    pairs = [
        (label == kind, kind_of(query)[0] == kind)
        for kinds in LABELLED[half].values()
        for label, listed in kinds.items()
        for query in listed
    ]
    right = pairs.count((True, True))
    return right / sum(found for _, found in pairs), right / sum(label for label, _ in pairs)


@pytest.mark.parametrize("half", ["tuned", "held"])
@pytest.mark.parametrize("kind", ["recall", "summary"])
def test_nine_of_ten_at_least(half: str, kind: QueryKind) -> None:
    """On both halves, precision and recall are 0.9 or more; docs/decisions/0009-recall.md has those of queries that nothing was fitted to."""
    assert min(precision_and_recall(half, kind)) >= 0.9


KINDS: dict[str, QueryKind] = {
    "Remember that cheese project?": "recall",  # F25
    "Tell me about our food discussions": "recall",  # F25
    "Recall the port number": "recall",  # F25
    "remind me what a monad is": "casual",  # F25
    "I like it when it rains": "casual",
    "I restarted my phone like you said, but it still fails.": "casual",  # a report of what was done
    "Here's what I found: the VPN is off.": "casual",
    'When I ran it, it said "No." What next?': "casual",
    "Let's go with option 1: change of plan.": "casual",
    "Translate 'we talked about it' into Welsh": "casual",
    "What different ways are there?": "casual",
    "The dog remembered its owner.": "casual",
    "What did you say the port was?": "recall",
    "Do you remember my dog's name?": "recall",
    "Remember to run the tests": "casual",
    "remember that I like tea": "casual",
    "When did the Berlin Wall fall?": "casual",
    'Translate "Do you remember me?" into French': "casual",
    "Summarise this article": "casual",
    "Summarise what we did": "summary",
    "Quick recap please. What did I say about the port?": "recall",
    "What\u2019s my dog\u2019s name?": "recall",
    "Which films am I fond of?": "recall",  # G21, as the next three
    "What did I cook on the third of June?": "recall",
    "I once told you about a novel, what was it called?": "recall",
    '"What did I say about the port?"': "recall",
    "": "casual",
}


@pytest.mark.parametrize(("query", "kind"), KINDS.items(), ids=KINDS)
def test_what_is_told_apart(query: str, kind: QueryKind) -> None:
    """Words are shared, meanings are not."""
    assert kind_of(query)[0] == kind


def test_both_ends_of_a_long_text_are_read() -> None:
    """People ask before or behind what they paste; what stands between is not looked at."""
    pasted = "log line. " * END_CHARS
    assert kind_of(f"What did I say? {pasted}")[0] == "recall"
    assert kind_of(f"{pasted} What did I say?")[0] == "recall"
    assert kind_of(f"{pasted} What did I say? {pasted}")[0] == "casual"
