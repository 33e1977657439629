"""Decode a file whose encoding nobody has named.

Promise: UTF-8 and what has a byte order mark are never guessed; of anything else the likeliest encoding in use, or ``None`` for what is
no text. Why charset-normalizer, and why not all of its encodings: docs/decisions/0031-passages.md.
"""

import codecs

MOST_ZEROS_FRACTION = 0.01  # of the bytes of a text; Info files have some
# Those that people's files have, the likeliest first; with all of them short texts of Western Europe are taken for others.
IN_USE = [
    *("cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("gb18030", "cp932", "euc_jp", "cp949", "big5", "utf_16_le", "utf_16_be"),
]
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def decoded(data: bytes) -> str | None:
    """Return the text of a file, with line feeds at the ends of lines; ``None`` if it is none."""
    marked = next((name for mark, name in MARKS.items() if data.startswith(mark)), "")
    has_zeros = data.count(b"\0") > MOST_ZEROS_FRACTION * len(data)
    try:
        text = None if has_zeros and not marked else data.decode(marked or "utf-8")
    except UnicodeDecodeError:
        text = None
    if text is None:
        text = guessed(data, IN_USE[-2:] if has_zeros else IN_USE)
    return (
        None if text is None else text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    )


def guessed(data: bytes, encodings: list[str]) -> str | None:
    """Return the text in the encoding that gives the least mess and the most of a language; of equals the first named."""
    from charset_normalizer import from_bytes  # noqa: PLC0415 - slow to import, and rarely needed

    found = min(
        from_bytes(data, cp_isolation=encodings),
        key=lambda each: (each.chaos, -each.coherence, encodings.index(each.encoding)),
        default=None,
    )
    return None if found is None else str(found)
