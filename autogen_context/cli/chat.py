"""``autogen-context chat``: talk with an agent that answers from a folder of knowledge under one hard limit of tokens.

Promise: settings come from arguments, else the environment, else a file ``.env`` in the working folder, else the defaults.
"""

import asyncio
import logging
import os
import warnings
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values

from autogen_context.chat.settings import DEFAULT_LIMIT, DEFAULT_MODEL, ChatSettings
from autogen_context.chat.terminal import Terminal


def run_chat(
    *,
    knowledge: Path | None,
    model: str | None,
    base_url: str | None,
    limit: int | None,
    load: str,
) -> int:
    """Chat; the exit code."""
    environ = {**dotenv_values(".env"), **os.environ}
    variables = {key: value or "" for key, value in environ.items()}
    settings = settings_of(
        variables, knowledge=knowledge, model=model, base_url=base_url, limit=limit
    )
    if variables.get("DEBUG", "") in ("", "0", "false"):
        warnings.simplefilter("ignore")
        logging.getLogger().addHandler(logging.NullHandler())
        logging.getLogger().setLevel(logging.CRITICAL)
    else:
        logging.basicConfig(filename="chat_debug.log", level=logging.DEBUG)
    return asyncio.run(Terminal(settings).run(load=load))


def settings_of(
    variables: Mapping[str, str],
    *,
    knowledge: Path | None,
    model: str | None,
    base_url: str | None,
    limit: int | None,
) -> ChatSettings:
    """The settings, each from the first place that gives it."""
    said = variables.get("MAX_TOKENS", "")
    if limit is None and said and not said.isdecimal():
        raise ValueError(
            f"MAX_TOKENS={said}: give a whole number of tokens, such as {DEFAULT_LIMIT}"
        )
    if knowledge is not None and not knowledge.is_dir():
        raise ValueError(f"--knowledge {knowledge}: there is no such folder")
    return ChatSettings(
        model=model or variables.get("OPENAI_MODEL") or DEFAULT_MODEL,
        base_url=base_url or variables.get("OPENAI_BASE_URL", ""),
        api_key=variables.get("OPENAI_API_KEY", ""),
        limit_tokens=limit if limit is not None else int(said or DEFAULT_LIMIT),
        knowledge=knowledge,
    )
