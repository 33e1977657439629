"""The pages: what they show works, what they link to is there, and every public name has its entry."""

import ast
import inspect
import json
import re
import shlex
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import autogen_context
from autogen_context import IncrementalContextManager
from autogen_context.cli.main import main
from autogen_context.manager.event_log import EventLog
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.segment import segment
from autogen_context.testing import LoopbackServer, Say, ScriptedModel
from autogen_context.testing.conversation import conversation

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {
    str(page.relative_to(ROOT)): page.read_text("utf-8")
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))
}
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
# Pages whose Python a test of their own room runs, with what it prints.
ELSEWHERE = {
    **dict.fromkeys(("compress", "folding", "reduce"), "compressor/test_guides.py"),
    **dict.fromkeys(("cache", "originals", "shared"), "cache/test_cache_docs.py"),
    **dict.fromkeys(("recall", "relevance"), "recall/test_recaller.py"),
    **dict.fromkeys(("files", "project"), "project/test_files.py"),
    "agentchat": "adapters/test_agentchat.py",
    "budgets": "budget/test_budget_manager.py",
    "changes": "manager/test_changes.py",
    "classic": "adapters/test_classic_run.py",
    "embeddings": "models/test_embedder.py",
    "migration": "adapters/test_migration.py",
    "openai": "manager/test_openai_list.py",
    "testing": "testing/test_testing_server.py",
    "triggers": "triggers/test_triggers.py",
}
HERE = sorted(
    name for name, page in PAGES.items() if PYTHON.search(page) and Path(name).stem not in ELSEWHERE
)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the pages name: a log of 45 turns, recordings, a cache, notes, settings; and a key that opens nothing."""
    messages = conversation(turns=45, tokens_per_turn=300)
    log = EventLog(tmp_path / "run.jsonl")
    manager = IncrementalContextManager("gpt-4o", window_tokens=4_000, events=log)
    for stop in range(2, len(messages) + 1, 2):
        manager.prepare_nowait(messages[:stop])
    assert log.flush()
    for name in ("conversation.jsonl", "run.json"):
        tmp_path.joinpath(name).write_text(json.dumps(messages))
    sent = [json.dumps({"messages": messages[: 2 * n]}) for n in range(1, 6)]
    tmp_path.joinpath("requests.jsonl").write_text("\n".join(sent))
    tmp_path.joinpath("notes").mkdir()
    tmp_path.joinpath("notes", "pump.md").write_text("# The pump\n\nIt costs 7 euros.\n")
    tmp_path.joinpath(".git").mkdir()
    tmp_path.joinpath(".git", "HEAD").write_text("ref: refs/heads/main\n")
    settings = re.findall(r"```toml\n(.*?)```", PAGES["docs/configuration.md"], re.DOTALL)
    tmp_path.joinpath("settings.toml").write_text(settings[0])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return tmp_path


def given() -> dict[str, object]:
    """What pages take for granted: a conversation, its manager and its units."""
    messages = conversation(turns=20)
    manager = IncrementalContextManager("gpt-4o", window_tokens=3_000)
    manager.prepare_nowait(messages)
    return {
        "__name__": "page",
        "manager": manager,
        "messages": messages,
        "units": segment(map(OpenAIChat().read, messages)),
    }


@pytest.mark.parametrize("name", HERE)
@pytest.mark.usefixtures("work")
async def test_the_python_of_a_page_runs(name: str) -> None:
    """As one program, from top to bottom."""
    with LoopbackServer(ScriptedModel([Say("yes")]), model_names=["my-model"]) as server:
        names = given()
        for block in PYTHON.findall(PAGES[name]):
            text = block.replace("http://127.0.0.1:8000/v1", server.base_url)
            if "asyncio.run(" in text:
                text = text.replace("asyncio.run(main())", "await main()")
            code = compile(text, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            if code.co_flags & inspect.CO_COROUTINE:
                await types.FunctionType(code, names)()
            else:
                exec(code, names)  # noqa: S102 - our own text


def test_the_first_program_has_types() -> None:
    """It stands in a file of its own, which the strictest checks of types take as a user's editor sees it (D12)."""
    first = PYTHON.findall(PAGES["docs/quickstart.md"])[0]
    assert DOCS.joinpath("quickstart.py").read_text("utf-8").partition("\n\n")[2] == first


@pytest.mark.parametrize("stem", ELSEWHERE)
def test_the_python_of_other_pages_runs_in_their_rooms(stem: str) -> None:
    """The test that is named here takes the page and runs it."""
    text = ROOT.joinpath("tests", ELSEWHERE[stem]).read_text("utf-8")
    assert re.search(rf"\b{stem}\b", text)
    assert "exec(" in text or "compile(" in text


COMMANDS = sorted(
    {
        line.partition("#")[0].removeprefix("$ ").strip()
        for page in PAGES.values()
        for block in re.findall(r"```(?:console|sh)\n(.*?)```", page, re.DOTALL)
        for line in block.splitlines()
        if re.match(r"(?:\$ )?autogen-context ", line)
    }
)


ENDLESS = [each for each in COMMANDS if " chat" in each or "--follow" in each]


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - set(ENDLESS)))
@pytest.mark.usefixtures("work")
def test_a_command_of_a_page_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As it stands there; servers that it asks are tested elsewhere."""
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("command", ENDLESS)
def test_a_command_that_goes_on_is_spelt_right(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its options are known; what it does until Ctrl-C is tested in its room."""
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    assert main([command.split()[1], "--help"]) == 0
    assert set(re.findall(r"--[\w-]+", command)) <= set(
        re.findall(r"--[\w-]+", capsys.readouterr().out)
    )


def anchors(page: str) -> set[str]:
    """What can be linked to on a page."""
    heads = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", head) for head in heads)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in plain}


def links(name: str) -> Iterator[str]:
    """What a page links to on this machine."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", PAGES[name], flags=re.DOTALL)
    yield from (to for to in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in to)


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    """To a file, or a heading in one."""
    for link in links(name):
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent.joinpath(path).resolve() if path else ROOT / name
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text("utf-8")), link


def test_every_page_is_found() -> None:
    """In the table of contents, and, but for decisions, on the page of pages."""
    pages = {name.removeprefix("docs/") for name in PAGES if name.startswith("docs/")}
    pages -= {name for name in pages if name.startswith("decisions/")}
    contents = ROOT.joinpath("mkdocs.yml").read_text("utf-8")
    assert sorted(page for page in pages if page not in contents) == []
    linked = set(links("docs/index.md")) | {"index.md"}
    assert sorted(pages - linked) == []


def test_every_public_name_has_an_entry() -> None:
    """In the reference, once."""
    entries = re.findall(r"^::: autogen_context\.(\w+)$", PAGES["docs/reference.md"], re.MULTILINE)
    assert sorted(entries) == sorted(autogen_context.__all__)
    for name in autogen_context.__all__:
        assert inspect.getdoc(getattr(autogen_context, name))


def test_the_glossary_is_short() -> None:
    """A word that needs an entry is one too many."""
    table = PAGES["docs/pipeline.md"].partition("## Glossary")[2]
    assert 10 < len(re.findall(r"^\| (?!word|---)", table, re.MULTILINE)) <= 25
