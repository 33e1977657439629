"""Chat settings, importable without loading the engine."""

from dataclasses import dataclass
from pathlib import Path

from autogen_context.models.embedder import MiniLMEmbedder

LEAST_LIMIT = 400  # tokens; below, no question fits with the system prompt
DEFAULT_LIMIT = 1_500  # tokens
DEFAULT_MODEL = "gpt-4o-mini"
LOCAL = "local"  # an embedding model on this machine


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    """The settings of a chat; without a key and a URL, the built-in scripted model answers."""

    model: str = DEFAULT_MODEL
    base_url: str = ""  # of an OpenAI-compatible endpoint; empty for OpenAI's own
    base_url_file: str = ""  # the file that named it
    api_key: str = ""
    key_file: str = ""  # the file that named it, and no URL: whoever wrote it may have an account that is told what is asked
    limit_tokens: int = DEFAULT_LIMIT  # of a request
    knowledge: Path | None = None
    embeddings: str = ""  # embedding model at the endpoint, or LOCAL
    expand: bool = False  # search with alternative wordings too
    folder: Path = Path("saved_conversations")

    def __post_init__(self) -> None:
        """Raise an error if the limit is too small or an option needs a model that is not available."""
        if self.knowledge is not None and not self.knowledge.is_dir():
            raise ValueError(f"--knowledge {self.knowledge}: there is no such folder")
        if self.limit_tokens < LEAST_LIMIT:
            raise ValueError(f"limit {self.limit_tokens}: give {LEAST_LIMIT} tokens or more")
        if self.is_scripted and (self.expand or self.embeddings not in ("", LOCAL)):
            way = "set OPENAI_API_KEY or OPENAI_BASE_URL"
            raise ValueError(f"--expand and --embeddings need a model: {way}")
        if self.embeddings == LOCAL:
            MiniLMEmbedder()  # raises what is missing

    @property
    def is_scripted(self) -> bool:
        """True if the built-in model answers."""
        return not self.api_key and not self.base_url


def shown(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"  # noqa: PLR2004 - leaves room in 80 columns
