"""The passages of a folder's pages, searched by words and, with an embedding model, by meaning.

Promise: what is found stood in the files when they were last looked at, and ``is_current`` says whether it still does. An unchanged folder
is not read again, with a cache not even in a later process. A folder that cannot be read has no pages; an embedding model that
fails leaves the words.
"""

import asyncio
import glob
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypedDict

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.fingerprint import FileReading, FingerprintReader, state_of
from autogen_context.documents.pages import Page, SkippedFile, read_pages
from autogen_context.errors import EmbeddingFailed
from autogen_context.language.terms import terms
from autogen_context.models.embedder import Vectors
from autogen_context.models.relatedness import Relatedness
from autogen_context.prioritizer.attention import fused, relevances
from autogen_context.prioritizer.passage_index import PassageIndex
from autogen_context.text.memo import Memo
from autogen_context.text.part import TextPart, parts_of
from autogen_context.text.quote import bracketed
from autogen_context.text.work import ends_of

logger = logging.getLogger(__name__)

FORM = "documents 1"  # of what is kept in a cache
NAMED_SKIPPED = 8  # files named in one warning
SOURCE_HEADING_CHARS = 60  # of a heading in a source


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What decides which passages a question gets; set by hand, 2026-11-29: docs/decisions/0031-passages.md."""

    least_score: float = 0.15  # 0..1; passages below are unrelated to the question
    least_terms: float = 1.5  # of a long question, which are enough
    near_fraction: float = 0.5  # of the best score; passages below are not selected
    neighbour_fraction: float = 0.6  # of the best score, for the passages beside the best
    most_passages: int = 40  # ranked for a question
    wording_weight: float = 0.8  # of scores for an alternative wording
    # Of an earlier question's passage to a follow-up: least relevance; a follow-up has few terms, and the other few pages.
    goes_on_score: float = 0.3
    goes_on_terms: int = 4
    goes_on_pages: int = 3
    query_chars: int = 2_000  # at each end of a message; the middle is a paste
    most_embedded: int = 2_000  # passages; of more, only those nearest by words are embedded
    embedded_near: int = 64  # of these


SELECTION = Selection()


class PagePassage(NamedTuple):
    """A passage of a page: its position among all, its page, and where it stands there."""

    at: int
    page: Page
    part: TextPart
    is_alone: bool  # the page has no other

    @property
    def path(self) -> tuple[str, ...]:
        """The title and the headings above it, the outermost first."""
        title = () if self.part.headings and self.page.is_untitled else (self.page.title,)
        return tuple(dict.fromkeys([*title, *self.part.headings]))

    @property
    def text(self) -> str:
        """Its text below its headings."""
        return self.page.text[self.part.body : self.part.end].strip("\n")

    @property
    def written(self) -> str:
        """What stands above it, and its text."""
        return "\n".join([*self.path, self.text])

    @property
    def source(self) -> str:
        """How it is cited: the file and, of several passages, the heading."""
        if self.is_alone or not self.part.headings:
            return bracketed(self.page.source)
        heading = " ".join(self.part.headings[-1].split())[:SOURCE_HEADING_CHARS].strip()
        return bracketed(f"{self.page.source} § {heading}")


class FoundPassage(NamedTuple):
    """A passage with its relevance to a question, 0..1."""

    passage: PagePassage
    score: float


class _Kept(TypedDict):
    """What the cache keeps of a folder."""

    pages: list[tuple[str, str, str, bool]]
    parts: list[list[tuple[int, int, list[str], int]]]
    skipped: list[tuple[str, str]]
    lengths: list[int]
    postings: dict[str, list[int]]


class DocumentIndex:
    """The pages of a folder, cut into passages, with an index of their words.

    Args:
        folder: the folder; ``None`` for no pages.
        cache: keeps what was read and indexed for later processes.
        vectors: computes and stores embeddings, such as a ``VectorStore``.
    """

    def __init__(
        self, folder: Path | None, cache: ContextCache | None = None, vectors: Vectors | None = None
    ) -> None:
        self.folder = None if folder is None else folder.resolve()
        self.pages: list[Page] = []
        self.passages: list[PagePassage] = []
        self.skipped: list[SkippedFile] = []
        self.sources: frozenset[str] = frozenset()  # as answers may cite them
        self.fault = ""  # why there are no embeddings, if the model failed
        self._cache, self._vectors = cache, vectors
        self._related = None if vectors is None else Relatedness(vectors)
        self._index = PassageIndex()
        self._texts: list[str] = []  # of the passages
        self._titles: list[str] = []
        self._sources: list[str] = []  # of their pages
        self._meanings: dict[int, Sequence[float]] = {}  # vectors by passage
        self._files = FingerprintReader()
        self._seen: FileReading | None = None  # the files, as they were read
        self._times: Mapping[str, str] = {}

    async def refresh(self) -> None:
        """Update the passages to the current files; an unchanged folder is not read again."""
        if self.folder is None:
            return
        if self._seen is None or not await asyncio.to_thread(self._files.proves, self._seen):
            files = [f"{glob.escape(str(self.folder))}/**"]
            seen = await asyncio.to_thread(self._files.read, files)
            read = partial(kept_of, str(self.folder))
            if self._cache is None:
                found = await asyncio.to_thread(read)
            else:
                key = f"{FORM}: {self.folder}"
                found = await self._cache.get_or_build(key, read, depends_on=files)
            await asyncio.to_thread(self._take, found)
            self._seen = seen
            self._times = {path: state.times for path, state in seen.states[0].files}
        if len(self.passages) <= SELECTION.most_embedded:
            await self._embed(range(len(self.passages)))

    def _take(self, found: _Kept) -> None:
        """Replace the passages, unless the files were only touched."""
        pages = [Page(*each) for each in found["pages"]]
        skipped = [SkippedFile(*each) for each in found["skipped"]]
        if skipped != self.skipped:
            warn_of(skipped, str(self.folder))
        self.skipped = skipped
        if pages == self.pages:
            return
        passages: list[PagePassage] = []
        for page, parts in zip(pages, found["parts"], strict=True):
            for start, end, headings, body in parts:
                part = TextPart(start, end, tuple(headings), body)
                passages.append(PagePassage(len(passages), page, part, len(parts) == 1))
        self.pages, self.passages, self._meanings, self.fault = pages, passages, {}, ""
        files = (bracketed(page.source) for page in pages)
        self.sources = frozenset((*files, *(each.source for each in passages)))
        self._texts = [each.text for each in passages]
        self._titles = [
            "\n".join([each.page.file.rpartition(".")[0], *each.path]) for each in passages
        ]
        self._sources = [each.page.source for each in passages]
        self._index = PassageIndex(found["lengths"], found["postings"])

    async def prepare(self, question: str) -> None:
        """Compute the embeddings that the search for a question needs; on failure it is searched by words alone."""
        if self._vectors is None or not self.passages or not question or self.fault:
            return
        question = shown_ends(question)
        if len(self.passages) > SELECTION.most_embedded:
            scores = await asyncio.to_thread(self._by_words, question)
            best = sorted(scores, key=lambda at: (-scores[at], at))[: SELECTION.embedded_near]
            await self._embed(best)
        try:
            await self._vectors.vectors([question])
        except EmbeddingFailed as error:
            logger.info("a question is searched by its words", extra={"reason": str(error)})

    async def _embed(self, positions: Iterable[int]) -> None:
        due = [at for at in positions if at not in self._meanings]
        if self._vectors is None or self._related is None or not due or self.fault:
            return
        texts = [self.passages[at].written for at in due]
        try:
            await self._related.prepare()
            found = await self._vectors.vectors(texts)
        except EmbeddingFailed as error:
            self.fault = f"Words alone decide which passages are used: {error}"
            return
        self._meanings |= zip(due, found, strict=True)

    def is_current(self, passage: PagePassage) -> bool:
        """Return True if the file of a passage is as it was read, at a glance."""
        path = f"{self.folder}/{passage.page.file}"
        return self._times.get(path) == state_of(path).times

    def select(
        self, question: str, earlier: Sequence[str] = (), wordings: Sequence[str] = ()
    ) -> list[FoundPassage]:
        """Return the passages relevant to a question, best first; ``wordings`` are others of it.

        A short question that matches no page or many may follow up on one of the ``earlier`` ones (newest first). Relevant passages
        of that one then come in their place.
        """
        near = self._near(question, wordings)
        scores = near
        if len(self._pages(near)) != 1 and len(set(terms(question))) <= SELECTION.goes_on_terms:
            meant = self._followed_up(question, earlier)
            few = 0 < len(self._pages(near)) <= SELECTION.goes_on_pages
            scores = near if few or not meant else {at: near.get(at, meant[at]) for at in meant}
            first = meant
        else:
            first = dict[int, float]()
        ranked = sorted(scores, key=lambda at: (at not in first, -scores[at], at))
        return [
            FoundPassage(self.passages[at], scores[at]) for at in ranked[: SELECTION.most_passages]
        ]

    def _pages(self, positions: Iterable[int]) -> set[str]:
        return {self._sources[at] for at in positions}

    def _followed_up(self, question: str, earlier: Sequence[str]) -> dict[int, float]:
        """Return the passages of the newest of the earlier questions that has few pages, as far as they are relevant."""
        for before in earlier:
            found = [*self._near(before)]
            if 0 < len(self._pages(found)) <= SELECTION.goes_on_pages:
                texts = [self.passages[at].written for at in found]
                scored = zip(found, relevances(shown_ends(question), texts), strict=True)
                return {at: score for at, score in scored if score >= SELECTION.goes_on_score}
        return {}

    def _by_words(self, question: str) -> dict[int, float]:
        return self._index.scores(question, self._texts, self._sources, self._titles)

    def _near(self, question: str, wordings: Sequence[str] = ()) -> dict[int, float]:
        """Return the scores of the passages nearly as relevant to a question as the best one, and of those beside that."""
        question = shown_ends(question)
        scores = Memo().run(self._by_words, question)
        for wording in wordings:
            for at, score in Memo().run(self._by_words, wording).items():
                scores[at] = max(scores.get(at, 0.0), SELECTION.wording_weight * score)
        meaning = self._vectors.ready(question) if self._vectors and self._meanings else None
        if meaning is not None and self._related is not None:
            known = [*self._meanings]
            meanings = self._related.scores(meaning, [self._meanings[at] for at in known])
            words = [scores.get(at, 0.0) for at in known]
            scores |= zip(known, fused(words, meanings), strict=True)
        best = max(scores, key=lambda at: (scores[at], -at), default=-1)
        if best < 0:
            return {}
        asked = len(set(terms(question))) or 1
        least = min(SELECTION.least_score, SELECTION.least_terms / asked)
        least = max(least, SELECTION.near_fraction * scores[best])
        if scores[best] >= least:
            for at in (best - 1, best + 1):
                is_of_page = self._sources[max(0, at) : at + 1] == [self._sources[best]]
                if at >= 0 and is_of_page:
                    score = SELECTION.neighbour_fraction * scores[best]
                    scores[at] = max(scores.get(at, 0.0), score)
        return {at: score for at, score in scores.items() if score >= least}


def kept_of(folder: str) -> _Kept:
    """Read and index the pages below a folder."""
    read = read_pages(folder)
    index, parts = PassageIndex(), list[list[tuple[int, int, list[str], int]]]()
    with Memo().in_use():
        for page in read.pages:
            cut = parts_of(page.text)
            parts.append([(each.start, each.end, [*each.headings], each.body) for each in cut])
            for part in cut:
                titles = (page.file.rpartition(".")[0], page.title, *part.headings)
                index.add(page.text[part.body : part.end], titles=dict.fromkeys(titles))
    return {
        "pages": [(p.source, p.title, p.text, p.is_untitled) for p in read.pages],
        "parts": parts,
        "skipped": [(each.source, each.reason) for each in read.skipped],
        "lengths": index.words.lengths,
        "postings": index.words.postings,
    }


def warn_of(skipped: Sequence[SkippedFile], folder: str) -> None:
    """Log once which files of a folder are not searched."""
    if skipped:
        named = "; ".join(map(str, skipped[:NAMED_SKIPPED]))
        more = f"; and {len(skipped) - NAMED_SKIPPED} more" if len(skipped) > NAMED_SKIPPED else ""
        logger.warning("not searched in %s: %s%s", folder, named, more)


def shown_ends(text: str) -> str:
    """Return both ends of a long text: people put a question before or after what they paste."""
    return ends_of(text, SELECTION.query_chars)
