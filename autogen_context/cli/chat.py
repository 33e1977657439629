"""``autogen-context chat``: chat with an agent that answers from a knowledge folder within a hard token limit.

Promise: settings come from arguments, else the environment, else ``.env`` in the working directory, else the defaults.
"""

import asyncio
import logging
import os
import warnings
from pathlib import Path

from dotenv import dotenv_values

from autogen_context.chat.settings import DEFAULT_LIMIT, DEFAULT_MODEL, ChatSettings
from autogen_context.chat.terminal import Terminal


def run_chat(
    *,
    load: str,
    knowledge: Path | None,
    model: str | None,
    base_url: str | None,
    limit: int | None,
    embeddings: str,
    expand: bool,
) -> int:
    """Run the chat and return the exit code; ``ValueError`` for an invalid setting."""
    variables = {**dotenv_values(".env"), **os.environ}
    said = variables.get("MAX_TOKENS") or str(DEFAULT_LIMIT)
    if limit is None and not said.isdecimal():
        raise ValueError(
            f"MAX_TOKENS={said}: give a whole number of tokens, such as {DEFAULT_LIMIT}"
        )
    settings = ChatSettings(
        model=model or variables.get("OPENAI_MODEL") or DEFAULT_MODEL,
        base_url=base_url or variables.get("OPENAI_BASE_URL") or "",
        api_key=variables.get("OPENAI_API_KEY") or "",
        limit_tokens=int(said) if limit is None else limit,
        knowledge=knowledge,
        embeddings=embeddings,
        expand=expand,
    )
    if variables.get("DEBUG") in (None, "", "0", "false"):
        warnings.simplefilter("ignore")
        logging.getLogger().addHandler(logging.StreamHandler())
        logging.getLogger().setLevel(logging.CRITICAL)
        logging.getLogger("autogen_context.chat.knowledge").setLevel(logging.WARNING)
    else:
        logging.basicConfig(filename="chat_debug.log", level=logging.DEBUG)
    return asyncio.run(Terminal(settings).run(load=load))
