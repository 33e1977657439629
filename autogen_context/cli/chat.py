"""``autogen-context chat``: chat with an agent that answers from a knowledge folder within a hard token limit.

Promise: settings come from arguments, else the environment, else ``.env`` in the working directory, else the defaults.
"""

import asyncio
import logging
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict, Unpack

from dotenv import dotenv_values

from autogen_context.chat.settings import DEFAULT_LIMIT, DEFAULT_MODEL, ChatSettings
from autogen_context.chat.terminal import Terminal


class Given(TypedDict):
    """The command line options; ``None`` for those not given."""

    knowledge: Path | None
    model: str | None
    base_url: str | None
    limit: int | None
    embeddings: str
    expand: bool


def run_chat(*, load: str, **given: Unpack[Given]) -> int:
    """Run the chat and return the exit code."""
    environ = {**dotenv_values(".env"), **os.environ}
    variables = {key: value or "" for key, value in environ.items()}
    settings = settings_of(variables, **given)
    if variables.get("DEBUG", "") in ("", "0", "false"):
        warnings.simplefilter("ignore")
        logging.getLogger().addHandler(logging.NullHandler())
        logging.getLogger().setLevel(logging.CRITICAL)
    else:
        logging.basicConfig(filename="chat_debug.log", level=logging.DEBUG)
    return asyncio.run(Terminal(settings).run(load=load))


def settings_of(variables: Mapping[str, str], **given: Unpack[Given]) -> ChatSettings:
    """Return the settings, each from the first source that gives it; ``ValueError`` for an invalid one."""
    said, limit, knowledge = variables.get("MAX_TOKENS", ""), given["limit"], given["knowledge"]
    if limit is None and said and not said.isdecimal():
        raise ValueError(
            f"MAX_TOKENS={said}: give a whole number of tokens, such as {DEFAULT_LIMIT}"
        )
    if knowledge is not None and not knowledge.is_dir():
        raise ValueError(f"--knowledge {knowledge}: there is no such folder")
    return ChatSettings(
        model=given["model"] or variables.get("OPENAI_MODEL") or DEFAULT_MODEL,
        base_url=given["base_url"] or variables.get("OPENAI_BASE_URL", ""),
        api_key=variables.get("OPENAI_API_KEY", ""),
        limit_tokens=limit if limit is not None else int(said or DEFAULT_LIMIT),
        knowledge=knowledge,
        embeddings=given["embeddings"],
        expand=given["expand"],
    )
