"""Work done before a turn needs it: embeddings, summaries, advice, intents, and the discovery of limits.

Promise: nothing here decides anything; a turn uses what is ready. Work is done on values that were taken from the conversation
in its turn, so that the next turn may go on meanwhile. Background work ends with its owner, and a failure costs only its own
result.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.summaries import (
    REFUSED,
    Span,
    Summaries,
    Summarises,
    require_faithful,
)
from autogen_context.config.config import ContextConfig
from autogen_context.manager.parts import Setup
from autogen_context.manager.room import RequestRoom
from autogen_context.manager.state import State
from autogen_context.messages.message import Message, joined_text
from autogen_context.models.completion import Complete, complete_of
from autogen_context.models.embedder import ForgetsTexts
from autogen_context.recall.embedding import EmbeddingsDue, VectorPrefetch
from autogen_context.recall.recaller import Recaller
from autogen_context.tokens.limits import ModelLimits
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.conversation import Conversation

if TYPE_CHECKING:  # modules that ask models are imported on demand
    from autogen_context.prioritizer.advice import Advice, Advising
    from autogen_context.triggers.intent import IntentModel
    from autogen_context.triggers.turn import Turn

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefetchPlan:
    """What to work on before a turn and for later ones; what is empty needs no work.

    Attributes:
        embeddings: texts to embed.
        spans: ranges of units to summarise.
        waits: whether the turn needs the summaries, since it is likely to compact.
        task: what people want, to ask for advice on.
        newest: a turn of the agent, to ask for its intent.
    """

    embeddings: EmbeddingsDue | None = None
    spans: tuple[Span, ...] = ()
    waits: bool = False
    task: str = ""
    newest: "Turn | None" = None


class Prefetcher:
    """Does such work for one conversation.

    Attributes:
        memory: for recall; with semantic search if there are vectors.
        summaries: a model's summaries of spans, by key; filled in the background.
        intents: a model's intents of turns; the same.
    """

    def __init__(self, setup: Setup, counter: MessageCounter, state: State) -> None:
        self._setup, vectors = setup, setup.options.get("vectors")
        self._embedding = None if vectors is None else VectorPrefetch(vectors, setup.background)
        meanings = self._embedding.meanings if self._embedding else None
        self.memory = Recaller(meanings, shorten=setup.compressor.shorten)
        self._summaries = summaries_of(setup, counter, state.summaries)
        self.summaries = self._summaries.known if self._summaries else dict(state.summaries)
        self._loaded = set(state.summaries)  # not compared with their texts yet
        self._advising = advising_of(setup, state.advice)
        self._advice: Mapping[str, Advice] = state.advice
        self.intents = intents_of(setup)
        helpers = (self._embedding, self._summaries, self._advising, self.intents)
        self.is_idle = not any(helpers)  # nothing to prefetch in any turn

    @property
    def advice(self) -> "Mapping[str, Advice]":
        """A model's advice on tasks, by key; it comes in the background."""
        return self._advising.known if self._advising else self._advice

    def ready(self, spans: Iterable[Span]) -> dict[Span, str]:
        """Return the summaries that there are of spans; a loaded one that its text does not hold up is forgotten."""
        found = {span: self.summaries[span.key] for span in spans if span.key in self.summaries}
        for span in [span for span in found if span.key in self._loaded]:
            compressor = self._setup.options.get("compressor") or SemanticCompressor()
            try:
                require_faithful(compressor, found[span], span.text)
            except Exception as error:  # noqa: BLE001 - a compressor of the user's own may raise anything
                logger.warning(REFUSED, getattr(error, "reason", type(error).__name__))
                del found[span], self.summaries[span.key]
            self._loaded.discard(span.key)
        return found

    def forget(self, messages: Sequence[Message], spans: Collection[str]) -> None:
        """Delete what was made of these messages, and of the spans with these keys."""
        if self._summaries:
            self._summaries.forget(spans)
        else:
            self.summaries = {k: v for k, v in self.summaries.items() if k not in spans}
        self._advice = {}  # it is of one task, the newest
        if self._advising:
            self._advising.forget(message.text.strip() for message in messages)
        vectors = self._setup.options.get("vectors")
        if isinstance(vectors, ForgetsTexts):
            vectors.forget(text for message in messages if (text := joined_text([message])))

    def is_full(self, room: RequestRoom) -> bool:
        """Whether a compaction is near enough to have summaries and advice made for it."""
        config = self._setup.config
        full = min(config.compact_at_fraction, config.prepare_at_fraction)
        return room.used_tokens >= full * room.tokens

    def summarises(self, room: RequestRoom) -> bool:
        """Whether to have summaries made of what will leave first."""
        return bool(self._summaries) and self.is_full(room)

    def advises(self, room: RequestRoom) -> bool:
        """Whether to ask for advice on what people want."""
        return bool(self._advising) and self.is_full(room)

    def plan(
        self,
        conversation: Conversation,
        room: RequestRoom,
        leaving: Iterable[Span],
        task: str = "",
    ) -> PrefetchPlan:
        """Return what to work on; called in a turn, of which nothing else is read later.

        ``leaving`` are the spans to summarise, ``task`` is what to ask for advice on.
        """
        intents, spans = self.intents, tuple(leaving)
        known, embeddings = self.ready(spans), None
        if self._embedding:
            conversation.index.follow(self._embedding)
            embeddings = self._embedding.due(*conversation.messages[-1:])
        return PrefetchPlan(
            embeddings=embeddings,
            spans=tuple(span for span in spans if span not in known),
            waits=room.used_tokens >= self._setup.config.compact_at_fraction * room.tokens,
            task=task,
            newest=intents.due(conversation.candidates, self._setup.kinds) if intents else None,
        )

    async def before_turn(self, plan: PrefetchPlan) -> None:
        """Await embeddings and summaries for this turn, and start those for later ones."""
        config, background = self._setup.config, self._setup.background
        if self._embedding and plan.embeddings:
            await self._embedding.embed(plan.embeddings, timeout_s=config.embedding_timeout_s)
        if self._summaries and plan.spans:
            timeout_s = config.summary_timeout_s if plan.waits else 0.0
            await self._summaries.make(plan.spans, timeout_s=timeout_s)
        if self._advising and plan.task:
            self._advising.ask(plan.task)
        if self.intents and plan.newest:
            background.start(self.intents.ask(plan.newest), name="intent")


def summaries_of(
    setup: Setup, counter: MessageCounter, known: Mapping[str, str]
) -> Summaries | None:
    """Return who has summaries made, by a compressor with a client or the user's own; ``None`` if no model is asked."""
    compressor = setup.options.get("compressor") or SemanticCompressor()
    if isinstance(compressor, SemanticCompressor):
        compressor = compressor.completed(client=client_of(setup, "summary"), counter=counter)
        if not compressor.asks_model:
            return None
    if not isinstance(compressor, Summarises):
        return None
    report = setup.log.summary if setup.log else None
    return Summaries(compressor, counter, known, setup.background, setup.cache, report)


def advising_of(setup: Setup, known: "Mapping[str, Advice]") -> "Advising | None":
    """Return who asks a model for advice; ``None`` without a model."""
    client = client_of(setup, "advice")
    if client is None:
        return None
    from autogen_context.prioritizer.advice import Advising  # noqa: PLC0415 - imported on demand

    return Advising(client, known, setup.background, setup.cache)


def intents_of(setup: Setup) -> "IntentModel | None":
    """Return the model that is asked for intents, where triggers look for finished work; ``None`` without one."""
    triggers, client = setup.options.get("triggers"), client_of(setup, "intent")
    asks = setup.judges_finished and setup.config.enable_intent_detection
    if not asks or (triggers is None and client is None):
        return None
    from autogen_context.triggers.intent import IntentModel  # noqa: PLC0415 - as above

    if triggers is None and client is not None:
        return IntentModel(client, cache=setup.cache)
    model: object = getattr(triggers, "known", None)
    return model if isinstance(model, IntentModel) else None


def client_of(setup: Setup, what: str) -> Complete | None:
    """Return the model client; the event log has its calls."""
    client = setup.options.get("model_client")
    if client is None:
        return None
    return setup.log.timed(complete_of(client), what) if setup.log else complete_of(client)


async def discovered(
    config: ContextConfig,
    limits: ModelLimits,
    resize: Callable[[], Callable[[int], None] | None],
) -> None:
    """Use the endpoint's limit unless the user gave a window; ``resize`` returns ``None`` once its owner is gone."""
    limit = await limits.alookup(config.model)
    owned = resize()
    if owned is not None and not config.window_tokens:
        owned(limit.prompt_tokens)
