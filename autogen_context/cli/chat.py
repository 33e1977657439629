"""``autogen-context chat``: chat with an agent that answers from a knowledge folder within a hard token limit.

Promise: settings come from arguments, else the environment, else ``.env`` in the working directory, else the defaults. A URL
from ``.env``, which may be somebody else's, is used with the key of that file alone, never instead of an endpoint that the
environment names, and never while the environment has what a client would send along; the chat says so.
"""

import asyncio
import logging
import os
import stat
import warnings
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from dotenv import dotenv_values

from autogen_context.argument import require_address
from autogen_context.cache.files import read_regular
from autogen_context.chat.settings import DEFAULT_LIMIT, DEFAULT_MODEL, ChatSettings
from autogen_context.chat.terminal import Terminal
from autogen_context.cli import remark

ENV_FILE = ".env"
MOST_BYTES = 64 * 1024  # of it
LOG = "chat_debug.log"
URL, KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
# Variables whose values its client sends nowhere; of others (keys, headers, an organization) nothing is known.
SENT_NOWHERE = frozenset({URL, "OPENAI_MODEL", "OPENAI_LOG"})


class Endpoint(NamedTuple):
    """Where the model is asked: URL, empty for OpenAI's own, key, and the files that named the URL and the key."""

    base_url: str
    api_key: str
    file: str = ""
    key_file: str = ""


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
    in_file = settings_in(Path(ENV_FILE))
    endpoint = endpoint_of(base_url, os.environ, in_file)
    variables = {**in_file, **os.environ}
    said = variables.get("MAX_TOKENS") or str(DEFAULT_LIMIT)
    if limit is None and not said.isdecimal():
        give = f"give a whole number of tokens, such as {DEFAULT_LIMIT}"
        raise ValueError(f"MAX_TOKENS={said}: {give}")
    settings = ChatSettings(
        model=model or variables.get("OPENAI_MODEL") or DEFAULT_MODEL,
        base_url=endpoint.base_url,
        base_url_file=endpoint.file,
        key_file=endpoint.key_file,
        api_key=endpoint.api_key,
        limit_tokens=int(said) if limit is None else limit,
        knowledge=knowledge,
        embeddings=embeddings,
        expand=expand,
    )
    if variables.get("DEBUG") in (None, "", "0", "false"):
        warnings.simplefilter("ignore")
        logging.getLogger().setLevel(logging.CRITICAL)
        logging.getLogger("autogen_context.documents").setLevel(logging.WARNING)
    else:
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
        log = os.fdopen(os.open(LOG, flags, 0o600), "a", encoding="utf-8")
        logging.basicConfig(stream=log, level=logging.DEBUG)
    return asyncio.run(Terminal(settings).run(load=load))


def settings_in(file: Path) -> Mapping[str, str]:
    """Return the settings in a ``.env`` file; none, and a warning, if it is a link or others may write it.

    Its values are taken as they stand: ``${NAME}`` would fetch what the environment keeps for itself.
    """
    try:
        text = read_regular(file, most_bytes=MOST_BYTES).decode("utf-8", "replace")
        found = file.lstat()
    except FileNotFoundError:
        return {}
    except OSError as error:
        remark("warning", f"{file} is not used: {error.strerror}")
        return {}
    own = getattr(os, "geteuid", lambda: found.st_uid)()
    if found.st_uid not in (own, 0) or found.st_mode & stat.S_IWOTH:
        remark("warning", f"{file} is not used: it is another user's, or others may write it")
        return {}
    values = dotenv_values(stream=StringIO(text), interpolate=False)
    return {name: value for name, value in values.items() if value}


def endpoint_of(
    base_url: str | None, environ: Mapping[str, str], in_file: Mapping[str, str]
) -> Endpoint:
    """Choose the endpoint from an argument, else the environment, else a file; ``ValueError`` for an invalid URL."""
    key = environ.get(KEY, "")
    if url := base_url or environ.get(URL):
        require_address("--base-url" if base_url else URL, url)
        return with_key(url, key, in_file)
    url = in_file.get(URL, "")
    if not url:
        return with_key("", key, in_file)
    require_address(f"{URL} in {ENV_FILE}", url)
    sent = [name for name, value in environ.items() if name.startswith("OPENAI_") and value]
    if own := sorted({*sent} - SENT_NOWHERE, key=lambda name: (name != KEY, name)):
        why = f"since {own[0]} is set elsewhere; name it with --base-url"
        remark("warning", f"{URL} in {ENV_FILE} is not used, {why}")
        return Endpoint("", key)
    return Endpoint(url, in_file.get(KEY, ""), ENV_FILE)


def with_key(url: str, key: str, in_file: Mapping[str, str]) -> Endpoint:
    """Return the endpoint at a URL that no file named, with a key, or else that of the file."""
    named = "" if key else in_file.get(KEY, "")
    return Endpoint(url, key or named, key_file=ENV_FILE if named else "")
