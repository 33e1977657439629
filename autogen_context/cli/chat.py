"""``autogen-context chat``: talk with an agent that answers from a folder of knowledge under one hard limit of tokens.

Promise: settings come from arguments, else the environment, else a file ``.env`` in the working folder, else the defaults.
"""

import argparse
import asyncio
import logging
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from autogen_context.errors import MissingExtra

if TYPE_CHECKING:
    from argparse import _SubParsersAction  # pyright: ignore[reportPrivateUsage] - it has no public name

    from autogen_context.chat.settings import ChatSettings


def add_parser(subparsers: "_SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``chat`` to the command."""
    parser = subparsers.add_parser(
        "chat",
        help="talk with an agent that answers from a folder of knowledge",
        description="Talk with an AutoGen agent that answers from a folder of knowledge under one hard limit of tokens. "
        "OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL, MAX_TOKENS and DEBUG are read from the environment or .env; without "
        "a key and a URL a built-in scripted model answers.",
    )
    add = parser.add_argument
    add("--knowledge", type=Path, metavar="DIR", help="entries: Markdown, text or JSON files")
    add("--model", metavar="NAME", help="such as gpt-4o-mini")
    add("--base-url", metavar="URL", help="an OpenAI-compatible endpoint, a local one too")
    add("--limit", type=int, metavar="N", help="the most tokens a request may have (1,500)")
    add("--load", default="", metavar="NAME", help="go on with a saved conversation")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Chat; the exit code."""
    try:
        from dotenv import dotenv_values  # noqa: PLC0415 - optional

        from autogen_context.chat.terminal import Terminal  # noqa: PLC0415 - likewise
    except ImportError as error:
        raise MissingExtra("cli", needed_for="the chat") from error
    variables = {**dotenv_values(".env"), **os.environ}
    settings = settings_of(arguments, {key: value or "" for key, value in variables.items()})
    if variables.get("DEBUG", "") in (None, "", "0", "false"):
        warnings.simplefilter("ignore")
        logging.getLogger().addHandler(logging.NullHandler())
        logging.getLogger().setLevel(logging.CRITICAL)
    else:
        logging.basicConfig(filename="chat_debug.log", level=logging.DEBUG)
    return asyncio.run(Terminal(settings).run(load=arguments.load))


def settings_of(arguments: argparse.Namespace, variables: Mapping[str, str]) -> "ChatSettings":
    """The settings, each from the first place that gives it."""
    from autogen_context.chat.settings import (  # noqa: PLC0415 - for who chats
        DEFAULT_LIMIT,
        DEFAULT_MODEL,
        ChatSettings,
    )

    limit: int | None = arguments.limit
    said = variables.get("MAX_TOKENS", "")
    if limit is None and said and not said.isdecimal():
        raise ValueError(
            f"MAX_TOKENS={said}: give a whole number of tokens, such as {DEFAULT_LIMIT}"
        )
    knowledge: Path | None = arguments.knowledge
    if knowledge is not None and not knowledge.is_dir():
        raise ValueError(f"--knowledge {knowledge}: there is no such folder")
    return ChatSettings(
        model=arguments.model or variables.get("OPENAI_MODEL") or DEFAULT_MODEL,
        base_url=arguments.base_url or variables.get("OPENAI_BASE_URL", ""),
        api_key=variables.get("OPENAI_API_KEY", ""),
        limit_tokens=limit if limit is not None else int(said or DEFAULT_LIMIT),
        knowledge=knowledge,
    )
