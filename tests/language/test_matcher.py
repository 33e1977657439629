"""Words of people are data, one file a language; phrases are found as whole words, in time that the length bounds."""

import asyncio
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.language.phrases import PhraseMatcher, package_tables, phrases, tables_of
from support.counting import Characters
from support.work import is_linear


def spans(phrase: str, text: str) -> list[str]:
    """What one phrase covers of a text."""
    found = PhraseMatcher([("it", phrase)]).find(text)
    return [text[each.start : each.stop] for each in found]


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("when i", "When it rains", []),
        ("(i|we) said", "you said, we said", ["we said"]),
        ("(the|(my|our) own) way", "our own way", ["our own way"]),
        ("please (do)? go", "please go. please do go", ["please go", "please do go"]),
        ("remind* me", "reminding me", ["reminding me"]),
        ("what ... say", "what on earth did you say", ["what on earth did you say"]),
        ("what ... say", "what a b c d e say", []),
        ("what ... say", "What? I say", []),
        ("we use", "we\nuse", ["we\nuse"]),
        ("we use", "we\n \nuse", []),
        pytest.param("we use", "we, I hope, use; we (use)", ["we (use"], id="across marks"),
        ("^recall", "Recall it. I recall. \nrecall: recall", ["Recall", "recall", "recall"]),
        ("we said", "we've said", []),
        ("we ('ve)? said", "we\u2019ve said, we said", ["we\u2019ve said", "we said"]),
        ("you can", "you can't", []),
        ("don't", "I DON\u2019T", ["DON\u2019T"]),
        ("(t'|te) ai", "je t'ai, je t ai", ["t'ai"]),
        ("qu'est-ce que", "Qu\u2019est-ce que c'est", ["Qu\u2019est-ce que"]),
        ("ma\u00f1ana", "man\u0303ana, ma\u00f1anas", ["man\u0303ana"]),
        ("id", "id\u00e9e, \u00fcid, id\u0303", []),
        ("stra\u00dfe", "STRASSE", ["STRASSE"]),
        ("\u8fd8\u8bb0\u5f97", "\u4f60\u8fd8\u8bb0\u5f97\u5417", ["\u8fd8\u8bb0\u5f97"]),
        ("a (b)? (a)?", "a b a b a", ["a b a", "a"]),
    ],
)
def test_phrase(phrase: str, text: str, expected: list[str]) -> None:
    """What a phrase covers."""
    assert spans(phrase, text) == expected


@pytest.mark.parametrize(
    ("phrase", "reason"),
    [
        *((phrase, "begin without a word") for phrase in ("", "(a)?", "... a", "a | (|b)")),
        *((phrase, "bracket") for phrase in ("(a", "a)")),
        ("a?", 'behind "\\)"'),
        ("a *", "no word"),
        ("(" * 5_000 + "a" + ")" * 5_000, "recursion"),
    ],
)
def test_unreadable_phrase_is_named(phrase: str, reason: str) -> None:
    """A phrase that cannot be read is an error with its text and what is wrong."""
    with pytest.raises(ValueError, match=reason) as raised:
        PhraseMatcher([("it", phrase)])
    assert repr(phrase[:60])[:-1] in str(raised.value)


WORDS = st.sampled_from(["a", "b", "c", "ab", "\u00e9t\u00e9", "don't", "l'", "A", ".", "\n", ","])
PHRASES = st.sampled_from(
    ["a", "a b", "b* c", "a ... c", "(a|b c) a", "^a b", "a (b)? \u00e9t\u00e9", "l'a"]
)


@given(st.lists(WORDS), st.lists(PHRASES, min_size=1), st.sampled_from(["NFC", "NFD"]))
def test_found_is_found_alone(words: list[str], listed: list[str], form: str) -> None:
    """Each phrase is found as if it were the only one; positions are of the text that was given."""
    text = normalize(form, " ".join(words))  # type: ignore[arg-type]
    together = PhraseMatcher([(phrase, phrase) for phrase in listed]).find(text)
    alone = {phrase: PhraseMatcher([(phrase, phrase)]).find(text) for phrase in listed}
    assert sorted(together, key=str) == sorted(
        (each for found in alone.values() for each in found), key=str
    )
    assert [each.start for each in together] == sorted(each.start for each in together)
    for each in together:
        assert not text[each.start].isspace()
        assert PhraseMatcher([("it", each.label.removeprefix("^"))]).find(
            text[each.start : each.stop]
        )


@pytest.mark.parametrize(
    "line",
    ["what did we ", "a", "n't'", "e\u0301", "." * 500 + "\n" * 500, "\n" + " " * 500],
    ids=["phrases", "one word", "quotes", "accents", "dots and lines", "blanks"],
)
def test_hostile_text_costs_its_length(line: str) -> None:
    """Four times the text costs four times the work."""
    matcher = PhraseMatcher(
        ("it", f"{first} ... (did|{second}) ... we ... {third}*")
        for first in ("what", "did", "we", "a")
        for second in ("we", "what", "n't")
        for third in ("say", "e\u0301", "n")
    )
    assert is_linear(matcher.find, lambda size: (line * size)[:size])


def test_language_is_a_file(tmp_path: Path) -> None:
    """A file is a language, of all topics that it has; what its words name stands in its phrases."""
    (tmp_path / "nl.toml").write_text(
        '[words]\nwij = "wij|we"\nallen = "{wij}|ik"\n'
        '[courtesy]\nfiller = ["(dank|bedankt) je (wel|zeer)", "dat hebben {allen} ... gezien"]\n',
        encoding="utf-8",
    )
    table = tables_of(tmp_path / "nl.toml")["courtesy"]
    dutch = PhraseMatcher((label, phrase) for label, row in table.items() for phrase in row)
    assert dutch.labels("Dank je wel!") == {"filler"}
    assert dutch.labels("Dat hebben we al lang gezien.") == {"filler"}
    assert "filler" not in phrases("courtesy").labels("Dank je wel!")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[task", "xx.toml"),
        ("[task]\ndebug = 'do you'", "xx.toml"),
        ("task = 3", "xx.toml"),
        ("[task]\ndebug = ['{who} said']", "xx.toml.*who"),
    ],
)
def test_unreadable_file_is_named(tmp_path: Path, text: str, reason: str) -> None:
    """A file that cannot be read is an error with its name."""
    (tmp_path / "xx.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"(?s){reason}"):
        tables_of(tmp_path / "xx.toml")


async def test_languages_are_loaded_before_a_turn_needs_them() -> None:
    """From the first awaited turn on, in a thread: a compaction that comes later builds nothing of them."""
    topics = {topic for tables in package_tables() for topic in tables}
    phrases.cache_clear()
    said = [{"role": "user", "content": "Count the houses. Never sleep."}]
    async with IncrementalContextManager(window_tokens=8_000, counter=Characters()) as manager:
        assert not (await manager.prepare(said)).compacted
        await asyncio.gather(*(t for t in asyncio.all_tasks() if t.get_name() == "languages"))
        built = phrases.cache_info().misses
        assert built >= len(topics)
        said += [
            {"role": "assistant", "content": f"House {n} is {n * n} high. "} for n in range(900)
        ]
        assert (await manager.prepare(said)).compacted
    assert phrases.cache_info().misses == built
