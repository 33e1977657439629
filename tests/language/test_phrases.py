"""Words of people are data: one file a language."""

from pathlib import Path

import pytest

from autogen_context.language.phrases import Phrases, phrases

LANGUAGES = {
    "de": "Erinnerst du dich an den Fehler?",
    "en": "Do you remember the bug?",
    "es": "\u00bfRecuerdas el error?",
    "fr": "Te souviens-tu de l'erreur ?",
    "it": "Ti ricordi l'errore?",
    "pt": "Voc\u00ea se lembra do erro?",
}


@pytest.mark.parametrize("text", LANGUAGES.values(), ids=LANGUAGES)
def test_language_of_the_package(text: str) -> None:
    """Each language has phrases."""
    assert "recall" in phrases("gate").labels(text)


def test_language_is_added_by_a_file(tmp_path: Path) -> None:
    """A file more is a language more, of all topics that it has."""
    (tmp_path / "nl.toml").write_text(
        '[words]\nwij = "wij|we"\nallen = "{wij}|ik"\n'
        '[gate]\nrecall = ["(herinner|weet) je (je|nog)", "wat hebben {allen} ... gezegd"]\n',
        encoding="utf-8",
    )
    (tmp_path / "notes.txt").write_text("[", encoding="utf-8")
    dutch = Phrases([tmp_path]).matcher("gate")
    assert dutch.labels("Weet je nog hoe het heette?") == {"recall"}
    assert dutch.labels("Wat hebben we daarover gezegd?") == {"recall"}
    assert "recall" not in phrases("gate").labels("Weet je nog hoe het heette?")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[gate", "xx.toml"),
        ("[gate]\nrecall = 'do you'", "xx.toml"),
        ("gate = 3", "xx.toml"),
        ("[gate]\nrecall = ['{who} said']", "xx.toml.*who"),
    ],
)
def test_unreadable_file_is_named(tmp_path: Path, text: str, reason: str) -> None:
    """A file that cannot be read is an error with its name."""
    (tmp_path / "xx.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"(?s){reason}"):
        Phrases([tmp_path]).matcher("gate")


def test_unknown_topic_names_the_known() -> None:
    """A topic that no language has is an error that lists what there is."""
    with pytest.raises(ValueError, match=r"gaet.*gate"):
        phrases("gaet")


def test_phrases_are_read_once() -> None:
    """The same topic is the same matcher."""
    assert phrases("gate") is phrases("gate")
