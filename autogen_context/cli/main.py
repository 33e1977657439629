"""The ``autogen-context`` command: its subcommands with their options.

Promise: the exit code is 0, 1 if a check found damage, a broken prefix or a lost statement, 2 for an error that the user can fix, or 130 for Ctrl-C, without a
traceback. A subcommand's dependencies are imported only when it runs, so that the command starts fast.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, cast

from autogen_context import __version__
from autogen_context.cli import remark, remarks_shown
from autogen_context.errors import ContextError, MissingExtra

try:
    from typer import Argument, Exit, Option, Typer, TyperException, echo
    from typer.main import get_command
except ImportError:  # the command exists without the cli extra: name the extra
    remark("error", str(MissingExtra("cli", needed_for="the command line")))
    sys.exit(2)

Action = Callable[[], int | None]  # runs after parsing; returns the exit code, if it is not 0
AsJson = Annotated[bool, Option("--json", help="As JSON, for programs.")]
EventLog = Annotated[Path, Argument(metavar="RUN", help="The event log.")]

app = Typer(
    help="Keeps AutoGen agents inside their context window.",
    epilog="Exit codes: 0 done, 1 a check found something, 2 something to put right, 130 Ctrl-C.",
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run() -> None:
    """Run the command with the process's arguments and exit."""
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code; ``argv`` defaults to the process's arguments."""
    try:
        read = get_command(app).main(argv, prog_name="autogen-context", standalone_mode=False)
        # --help, --version and completion return an exit code, a subcommand the action to run.
        with remarks_shown():
            code = read if isinstance(read, int) else cast(Action, read)() or 0
        sys.stdout.flush()  # a closed pipe shows here, not at exit
    except BrokenPipeError:  # e.g. ``head``: the flush at exit must not fail too
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except TyperException as error:
        remark("error", f"{error.format_message()} (see autogen-context --help)")
        return 2
    except (ContextError, ValueError, OSError) as error:
        remark("error", text_of(error))
        return 2
    return code


def text_of(error: Exception) -> str:
    """Return an error's message; for invalid settings, only what is wrong with each."""
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        return "; ".join(each["msg"] for each in error.errors())
    return str(error)


def show_version(*, asked: bool) -> None:
    """Print the version and exit, if asked for."""
    if asked:
        echo(__version__)
        raise Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, Option("--version", callback=show_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    """Define the options that precede a subcommand."""


@app.command()
def limits(
    *,
    model: Annotated[str | None, Argument(help="Such as gpt-4o; left out: the known ones.")] = None,
    discover: Annotated[
        str | None, Option(metavar="URL", help="Ask this endpoint as well.")
    ] = None,
    as_json: AsJson = False,
) -> Action:
    """Show a model's token limits, their source, and the sources tried before it.

    The endpoint is OpenAI-compatible; OPENAI_API_KEY is used if set.
    """
    from autogen_context.cli.limits import show_limits

    return partial(show_limits, model, discover, as_json=as_json)


@app.command()
def replay(  # noqa: PLR0913 - the options
    *,
    file: Annotated[str, Argument(metavar="FILE", help="The recording; - is standard input.")],
    model: Annotated[str | None, Option(help="Such as gpt-4o; left out: the recorded one.")] = None,
    window: Annotated[int | None, Option(metavar="N", help="Input tokens of a request.")] = None,
    reserve: Annotated[int | None, Option(metavar="N", help="Of these, for the host.")] = None,
    config: Annotated[Path | None, Option(metavar="FILE", help="Settings as a file.")] = None,
    conversation: Annotated[str | None, Option(metavar="ID", help="One: id or number.")] = None,
    every: Annotated[
        int | None, Option(metavar="N", min=1, help="Show each N-th quiet turn.")
    ] = None,
    show_all: Annotated[bool, Option("--all", help="Show each turn, not about 40.")] = False,
    as_json: AsJson = False,
    html: Annotated[Path | None, Option(metavar="PAGE", help="Write a page as well.")] = None,
) -> Action:
    """Show what a recorded conversation would have cost, turn by turn.

    Replays it with a configuration: what each turn would have sent, how much of it would be in the prompt cache, and the
    price compared with sending everything. FILE contains OpenAI messages, requests or fine-tuning examples (JSON or JSONL),
    or a state saved by AutoGen; it may be gzipped. AUTOGEN_CONTEXT_* variables apply too.
    """
    from autogen_context.cli.replay import show_replay

    if show_all and every is not None:
        raise ValueError(f"--every {every} and --all say different things; give one of them")
    settings = {"model": model, "window_tokens": window, "reserve_tokens": reserve}
    return partial(
        show_replay,
        file,
        settings,
        config=config,
        conversation=conversation,
        every=1 if show_all else every,
        as_json=as_json,
        page=html,
    )


@app.command()
def probe(  # noqa: PLR0913 - the options
    *,
    file: Annotated[str, Argument(metavar="FILE", help="The recording; - is standard input.")],
    model: Annotated[str | None, Option(help="Such as gpt-4o; left out: the recorded one.")] = None,
    window: Annotated[int | None, Option(metavar="N", help="Input tokens of a request.")] = None,
    reserve: Annotated[int | None, Option(metavar="N", help="Of these, for the host.")] = None,
    config: Annotated[Path | None, Option(metavar="FILE", help="Settings as a file.")] = None,
    conversation: Annotated[str | None, Option(metavar="ID", help="One: id or number.")] = None,
    rules: Annotated[
        bool, Option("--rules", help="List the rules in force at the end instead.")
    ] = False,
    show_all: Annotated[bool, Option("--all", help="Show each turn.")] = False,
    as_json: AsJson = False,
) -> Action:
    """Show which rules and facts of people a recorded conversation would lose, turn by turn.

    Compares what this package would have sent with the newest messages that fit, and with the first message and the newest. FILE is a
    recording as of replay. Exits with 1 if a request of this package lacks something that people stated and that still holds.
    """
    from autogen_context.cli.probe import show_probe

    settings = {"model": model, "window_tokens": window, "reserve_tokens": reserve}
    return partial(
        show_probe,
        file,
        settings,
        config=config,
        conversation=conversation,
        rules=rules,
        show_all=show_all,
        as_json=as_json,
    )


@app.command()
def explain(
    *,
    file: EventLog,
    message: Annotated[int, Option(metavar="N", help="Its place in the list, from 0.")],
    turn: Annotated[int | None, Option(metavar="N", help="From 1; left out: the last one.")] = None,
    run_id: Annotated[str | None, Option("--run", metavar="ID", help="Id, number, agent.")] = None,
    as_json: AsJson = False,
) -> Action:
    """Explain why a message was sent at a turn, or was not.

    Reads the event log of an agent (events='run.jsonl') and shows whether a message is in the request of a turn, since when,
    why, its score, and what keeping it would have cost.
    """
    from autogen_context.cli.explain import show_explanation

    return partial(show_explanation, file, message, turn, run_id, as_json=as_json)


@app.command()
def report(
    *,
    file: EventLog,
    output: Annotated[Path | None, Option("-o", "--output", help="Left out: RUN.html.")] = None,
    follow: Annotated[bool, Option("--follow", help="Serve it while an agent runs.")] = False,
    port: Annotated[int, Option(min=0, max=65_535, help="For --follow; 0: a free one.")] = 0,
    as_json: AsJson = False,
) -> Action:
    """Write one offline HTML page showing what a run sent, what was left out and what it cost."""
    if follow:
        from autogen_context.cli.report import serve_report

        return partial(serve_report, file, port, as_json=as_json)
    from autogen_context.cli.report import make_report

    return partial(make_report, file, output, as_json=as_json)


@app.command()
def doctor(
    *,
    file: Annotated[str, Argument(metavar="FILE", help="Requests as sent; - is standard input.")],
    min_tokens: Annotated[
        int, Option(metavar="N", min=0, help="Leave out what lost fewer tokens.")
    ] = 0,
    min_cost: Annotated[
        float, Option(metavar="USD", min=0, help="Leave out what cost less, where that is known.")
    ] = 0.0,
    ignore: Annotated[
        list[str] | None, Option(metavar="CAUSE", help="Leave out a cause; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> Action:
    """Find what broke the prompt cache: the cause, the turn, the tokens no longer cached, what they cost, what to do.

    FILE contains requests as they were sent (JSON or JSONL; chats of OpenAI, Responses, Messages of Anthropic, with their usage
    and time if known, or a gateway's log of them), or is an event log. Exits with 1 if something that can be avoided broke a prefix; a
    compaction of this package is reported and is none.
    """
    from autogen_context.cli.doctor import show_diagnosis

    return partial(
        show_diagnosis,
        file,
        min_tokens=min_tokens,
        min_cost=min_cost,
        ignored=tuple(ignore or ()),
        as_json=as_json,
    )


@app.command()
def cache(
    *,
    action: Annotated[Literal["stats", "verify", "clear"], Argument(help="What to do.")],
    directory: Annotated[Path | None, Option(metavar="FOLDER", help="Its folder.")] = None,
    as_json: AsJson = False,
) -> Action:
    """Inspect, verify or clear the cache.

    stats: number and size of the entries. verify: check every entry against its files; exits with 1 if one is damaged.
    clear: delete all entries. The folder defaults to this user's cache.
    """
    from autogen_context.cli.cache import do_with_cache

    return partial(do_with_cache, action, directory, as_json=as_json)


@app.command()
def chat(
    *,
    knowledge: Annotated[Path | None, Option(metavar="DIR", help="Markdown, text, JSON.")] = None,
    model: Annotated[str | None, Option(help="Such as gpt-4o-mini.")] = None,
    base_url: Annotated[str | None, Option(metavar="URL", help="OpenAI-compatible.")] = None,
    limit: Annotated[int | None, Option(metavar="N", help="Of a request; 1,500 tokens.")] = None,
    load: Annotated[str, Option(metavar="NAME", help="Go on with a saved conversation.")] = "",
    embeddings: Annotated[str, Option(metavar="MODEL", help="Of the endpoint, or local.")] = "",
    expand: Annotated[bool, Option("--expand", help="Search other wordings as well.")] = False,
) -> Action:
    """Chat with an agent that answers from a knowledge folder within a hard token limit.

    OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL, MAX_TOKENS and DEBUG are read from the environment or .env; without a key
    and a URL, a built-in scripted model answers.
    """
    from autogen_context.cli.chat import run_chat

    return partial(
        run_chat,
        knowledge=knowledge,
        model=model,
        base_url=base_url,
        limit=limit,
        load=load,
        embeddings=embeddings,
        expand=expand,
    )


if __name__ == "__main__":
    run()
