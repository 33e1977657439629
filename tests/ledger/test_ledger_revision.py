"""A value given anew in quite other words takes the place of the old one; what may be another thing stays beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.ledger import Ledger
from autogen_context.ledger.measures import measures_of

REVISED = [
    ("Dr. Lund told me her first visits take 35 minutes.", "After a trial week Dr. Lund wants 50 minutes per new patient from now on."),
    ("We keep raw files for 45 days and then they're gone.", "Raw files are to be retained for 120 days."),
    ("A shooting day may not exceed 11 hours.", "New agreement from today on: at most 10 hours per shooting day."),
    ("We limit wheel speed to 5,200 rpm.", "The wheels may only turn at 4,500 rpm at most till further notice."),
    ("one loaf of the farmhouse bread costs 5.80", "energy's gone up again, so he set the farmhouse loaf to 6.20"),
    ("the horse costs us 680 a day, handler included", "with the vet's visits included the horse is now 745 a day"),
    ("The dish gets stowed when the wind goes over 22 m/s.", "After the inspection the dish has to be stowed from 17 m/s of wind."),
    ("Every ward gets 4 tablets for rounds.", "They found another pallet, so it's 7 tablets for each ward."),
    ("The new policy wants passwords of at least 10 characters.", "From the first of next month a password needs 14 characters or more."),
    ("Save the flu afternoon for October 17.", "The vaccines are late. So the flu afternoon can't happen before November 7."),
    ("Limit the backfill to 5 workers.", "Their backfill crawls. Give it 9 workers as of now."),
    ("The mask of a pass is 15 degrees because of the ridge.", "Passes below 18 degrees of mask shouldn't be scheduled any longer."),
    ("The lab system goes down for two hours.", "The lab system is down for five hours these days."),
    ("The choir rehearses at 18:30.", "There's been a change, the choir meets at 19:15 instead."),
]  # fmt: skip
APART = [
    ("The marketing budget is 300 euros.", "The travel budget is now 500 euros."),
    ("The parser timeout is 30 seconds.", "The parser retry interval is now 5 seconds."),
    ("The lab is on extension 212.", "Radiology picks up on extension 231 now."),
    ("The downlink of LYRA-2 is on 2245.5 MHz.", "The downlink of LYRA-1 is on 2262.0 MHz now."),
    ("Dr. Lund takes 35 minutes for a visit.", "Dr. Brandt takes 15 minutes for a visit now."),
    ("Invoice 881 is paid since 3 May.", "Invoice 882 is paid since 9 May now."),
    ("The claims hotline is 7301.", "We limit claims to 5,200 euros from now on."),
    ("The demo has 5 levels.", "The demo now takes 40 minutes."),
    ("Ann works on Mondays, Bo on Tuesdays.", "Bo works on Fridays instead of Tuesdays."),
    ("The office is open from 8:00 to 18:00 for all.", "The office canteen serves until 14:00 these days."),
    ("Room 12 is free from 9:00 to 11:00.", "Pupils have no more than 6 lessons a day from now on."),
    ("The truck weighs 9 tons.", "Loading is only for trucks under 12 tons."),
    ("The deadline of PROJ-12 is 3 May.", "The deadline of PROJ-14 is 9 May now."),
    ("The budget for room 4 is 300 euros.", "The budget for room 7 is now 500 euros."),
    ("Two tickets cost 40 euros.", "There are 611 commits by 57 people."),
]  # fmt: skip


def stated(*texts: str) -> list[str]:
    """What a ledger holds of what a person said."""
    ledger = Ledger()
    for text in texts:
        ledger.learn_text(text)
    return [entry.text for entry in ledger]


@pytest.mark.parametrize(("old", "new"), REVISED, ids=[new[:40] for _, new in REVISED])
def test_what_is_given_anew(old: str, new: str) -> None:
    """The old value stands nowhere, the new one does, whatever else is known."""
    others = ["The printer needs 3 cartridges.", "Lunch is at 12:45.", "The rent is 900 euros."]
    known, both = stated(old, *others), stated(old, *others, new)
    assert known[0] not in both
    assert set(known[1:]) < set(both)


@pytest.mark.parametrize(("one", "other"), APART, ids=[one[:40] for one, _ in APART])
def test_what_may_be_another_thing(one: str, other: str) -> None:
    """Both stand."""
    assert set(stated(one)) | set(stated(other)) == set(stated(one, other))
    assert stated(one)


def test_of_two_that_are_as_near_none_is_meant() -> None:
    """All three stand; with the word that tells, the one that is meant goes."""
    known = ["The north gate opens for 20 minutes.", "The south gate opens for 35 minutes."]
    assert len(stated(*known, "From today on that gate thing takes 50 minutes.")) == 3
    clear = stated(*known, "From today on the south gate thing takes 50 minutes.")
    assert [text for text in clear if "south" in text] == [
        "From today on the south gate thing takes 50 minutes"
    ]
    assert any("20 minutes" in text for text in clear)


def test_the_less_it_says_that_something_changed_the_more_it_must_share() -> None:
    """One word does where it says so, two where it does not, and what was said just before counts for a pronoun."""
    old = "The glacier tour takes 90 minutes."
    assert len(stated(old, "The glacier bus needs 40 minutes.")) == 2
    assert len(stated(old, "These days 80 minutes of glacier must do.")) == 1
    assert len(stated(old, "Touring the glacier needs 80 minutes.")) == 1
    assert len(stated(old, "I asked about the glacier. They need 80 minutes these days.")) == 1
    assert len(stated(old, "I asked about the weather. They need 80 minutes these days.")) == 2


def test_nobody_revises_what_somebody_with_more_say_stated() -> None:
    """An assistant's word leaves a person's."""
    ledger = Ledger()
    ledger.learn_text("We keep raw files for 45 days.")
    ledger.learn_text("Raw files are retained until day 120.", author="assistant")
    assert next(iter(ledger)).author == "person"
    ledger.learn_text("Raw files are to be retained for 120 days.")
    assert not any("45" in entry.text for entry in ledger)


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        ("It takes 35 minutes.", ("hours",)),
        ("It takes three days.", ("hours",)),
        ("It is 5,200 rpm.", ("rpm",)),
        ("It costs 5.80.", ("amount",)),
        ("It costs $5.80 for 3 rolls.", ("amount", "count rol")),
        ("It is 745 a day.", ("amount",)),
        ("It gets 2,200 these days.", ("amount",)),
        ("It has 800 GPU hours.", ("hours",)),
        ("It starts at 7 in the morning, on 3 May.", ("time", "date")),
        ("Call us on channel 9.", ("channel",)),
        ("Invoice 881 is paid.", ()),
        ("We met Ann at `x`.", ()),
        ("It is 98% done.", ("percent",)),
    ],
)
def test_in_what_a_value_is_measured(text: str, measures: tuple[str, ...]) -> None:
    """By its unit, by what it counts, by what it numbers."""
    assert measures_of(text.rstrip(".")) == measures


WORDS = st.sampled_from(
    ["the north gate", "the south", "gate", "now", "takes", "needs", "opens", "20 minutes", "35", "5 rolls", "on Friday", "Ann"]
)  # fmt: skip


@given(st.lists(st.lists(WORDS, min_size=3, max_size=9).map(" ".join), min_size=1, max_size=8))
def test_learning_one_by_one_equals_learning_at_once(texts: list[str]) -> None:
    """Whatever is revised on the way, and what was learnt last of all stands if it states anything."""
    at_once = Ledger()
    at_once.learn_text("\n".join(f"{text}." for text in texts))
    assert [entry.text for entry in at_once] == stated(*(f"{text}." for text in texts))
    alone = stated(f"{texts[-1]}.")
    assert set(alone) <= set(stated(*(f"{text}." for text in texts)))
