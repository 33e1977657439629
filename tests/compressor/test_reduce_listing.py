"""Listings: a folder is written once; what lies less deep stays first."""

import pytest
from hypothesis import given

from autogen_context.compressor.arrival.listing import Listing, with_folders
from support.reducing import NASTY, ROOMS, assert_promises, exact, room_of, texts_of

PATHS = (
    "./src/app/models/user.py",
    "./src/app/models/order.py",
    "./src/app/models/",
    "./src/app/models/ two blanks",
    "./src/app",
    "src/alpha.py",
    "/usr/share/doc",
    "README.md",
    "/",
    "",
)
RECURSIVE = ("./src:", "alpha.py", "beta.py", "", "./src/deep:", "gamma.py")
TEXTS = texts_of(PATHS)
FOUND = "\n".join(
    f"./src/{folder}/handlers/file_{i}.py" for folder in ("shop", "mail") for i in range(40)
)


@given(TEXTS | texts_of(RECURSIVE), ROOMS)
def test_promises(text: str, tokens: int) -> None:
    """Never larger, within the room, the same again, for listings and for what is broken."""
    assert_promises(Listing(), text, tokens)


@given(TEXTS)
def test_paths_can_be_written_again(text: str) -> None:
    """A line that begins with a blank belongs to the folder above."""
    tight = Listing().tighten(text)
    if tight != text:
        lines: list[str] = []
        folder = ""
        for line in tight.split("\n"):
            if line.endswith("/:"):
                folder = line[:-1]
            else:
                lines.append(folder + line[1:] if line.startswith(" ") else line)
        assert "\n".join(lines) == text


@given(TEXTS)
def test_cutting_starts_from_whole_paths(text: str) -> None:
    """What was tightened is written out before anything goes."""
    if not any(nasty in text for nasty in NASTY if "/" in nasty or nasty[:1].isspace()):
        tight = Listing().tighten(text)
        assert "\n".join(with_folders(tight.split("\n"))) == text


def test_a_folder_is_written_once() -> None:
    """Which takes less than two thirds of the tokens."""
    tight = Listing().tighten(FOUND)
    assert tight.startswith("./src/shop/handlers/:\n file_0.py\n file_1.py\n")
    assert exact(tight) < 0.66 * exact(FOUND)


def test_what_ls_writes_stays() -> None:
    """It has its folders once already; a tree has its own form."""
    for text in (
        "\n".join(RECURSIVE),
        "src\n├── a.py\n└── b.py",
        "total 8\n-rw-r--r-- 1 a a 1 a.py",
    ):
        assert Listing().tighten(text) == text


def test_shallow_stays_before_deep() -> None:
    """Though each folder has but one entry."""
    deep = "\n".join(f"./a/b/c/d/e{i}/file.py" for i in range(200))
    short = Listing().cut(f"{deep}\n./setup.py\n./a/main.py\n{deep}", room_of(120))
    assert "./setup.py" in short
    assert "./a/main.py" in short


def test_of_each_folder_something_stays() -> None:
    """Its first entries."""
    text = "\n".join(f"./src/folder_{i // 50}/file_{i % 50}.py" for i in range(400))
    lines = list(with_folders(Listing().cut(text, room_of(160)).split("\n")))
    assert all(f"./src/folder_{i}/file_0.py" in lines for i in range(8))


def test_a_folder_that_costs_little_makes_nothing_longer() -> None:
    """In no room, as found and tightened."""
    text = "\n".join(f"src/{'a' * 60}/{chr(0x691C + i)}" for i in range(30))
    for tokens in range(40, exact(text), 7):
        assert_promises(Listing(), text, tokens)


def test_what_is_asked_for_stays() -> None:
    """Whole, with the folder it lies in."""
    short = Listing().cut(FOUND, room_of(60, "file_27.py"))
    lines = list(with_folders(short.split("\n")))
    assert "./src/shop/handlers/file_27.py" in lines
    assert "./src/mail/handlers/file_27.py" in lines


def test_a_folder_stands_once_above_gaps_as_well() -> None:
    """What went in its middle does not part it."""
    text = FOUND.replace("mail/handlers/", "mail/of/orders/and/invoices/")
    short = Listing().cut(text, room_of(110, "file_17.py", "file_27.py", "file_33.py"))
    assert short.count("mail/of/orders") == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("\n".join(PATHS), True, id="find"),
        pytest.param("\n".join(RECURSIVE * 2), True, id="ls -R"),
        pytest.param(
            "total 8\n" + "-rw-r--r-- 1 root root 397 Nov 21 a b.py\n" * 5, True, id="ls -l"
        ),
        pytest.param("src\n" + "│   ├── alpha.py\n" * 5, True, id="tree"),
        pytest.param(".:\n" + "alpha.py\t beta.py   gamma\n" * 5, True, id="columns"),
        pytest.param("one\ntwo\nthree\nfour\nfive\nsix", False, id="words"),
        pytest.param(f"{'QUJDREVGR0hJ/KTMTU5' * 4}\n" * 9, False, id="base64"),
        pytest.param("https://a.b/c is a page\n" * 9, False, id="prose with links"),
        pytest.param("x = a/b\ny = c.d\n" * 9, False, id="code"),
    ],
)
def test_recognition(text: str, told: bool) -> None:  # noqa: FBT001 - a row of the table
    """Nearly all lines are names, and many of them paths."""
    assert Listing().recognises(text) == told
