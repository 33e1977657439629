"""What a file is decoded as, when nobody says how it was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.text.encoding import decoded

GERMAN = "Die Größe der Tür beträgt drei Meter, und für Übungen müssen Sie öfter prüfen. " * 4
FRENCH = "Le café est fermé à midi, où allez-vous déjeuner? L'été dernier, à l'hôtel. " * 4
RUSSIAN = "Привет, мир! Это длинный русский текст о погоде и природе. " * 4  # noqa: RUF001 - Russian
JAPANESE = "これは日本語の文章です。天気について話しましょう。" * 4


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0\ufeff")))
def test_unicode_is_never_guessed(text: str) -> None:
    """UTF-8, with or without its mark, and what has a mark of its own, come out as they were written."""
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        assert decoded(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "latin-1"),
        (FRENCH, "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        (GERMAN, "utf-16-le"),
    ],
)
def test_encodings_in_use_are_found(text: str, encoding: str) -> None:
    """By their bytes alone."""
    assert decoded(text.encode(encoding)) == text


@pytest.mark.parametrize("data", [bytes(range(256)) * 10, b"\x89PNG\r\n\x1a\n" + bytes(2_000)])
def test_what_is_no_text_is_none(data: bytes) -> None:
    """An image, a program."""
    assert decoded(data) is None


def test_line_ends_are_the_same_everywhere() -> None:
    """Whatever system wrote the file."""
    assert decoded(b"a\r\nb\rc\n") == "a\nb\nc\n"
