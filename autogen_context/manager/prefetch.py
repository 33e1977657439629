"""Work done before a turn needs it: loading the tokenizer, discovery of limits, embeddings, summaries, advice.

Promise: nothing here decides anything; a turn uses what is ready. Background work ends with its owner, and a failure costs
only its own result.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakMethod

from autogen_context.cache.values import TakesCache
from autogen_context.compressor.compressor import (
    Compressor,
    CountsText,
    SemanticCompressor,
)
from autogen_context.compressor.summaries import Summaries, Summarises
from autogen_context.config.config import ContextConfig
from autogen_context.manager.parts import Setup, cuts_finished, limits_of
from autogen_context.manager.state import State
from autogen_context.models.background import Background
from autogen_context.models.completion import Complete, ModelClient, complete_of
from autogen_context.recall.recaller import Prefetch, Recaller
from autogen_context.tokens.measure import EstimateCounter, TokenCounter
from autogen_context.tokens.message_counter import load_tokenizer
from autogen_context.view.view import ContextView

if TYPE_CHECKING:  # modules that ask models are imported on demand
    from autogen_context.cache.values import Cache
    from autogen_context.manager.engine import Engine
    from autogen_context.manager.events import TurnLog
    from autogen_context.prioritizer.advice import Advice, Advising
    from autogen_context.triggers.intent import IntentModel
    from autogen_context.triggers.turn import Trigger


class Prefetcher:
    """Does such work for one manager."""

    def __init__(self, setup: Setup, events: "TurnLog | None" = None) -> None:
        options, self._config = setup.options, setup.config
        self._background = Background(self)
        self.setup, self.events = setup, events
        vectors, cache = options.get("vectors"), options.get("cache")
        self._embedding = Prefetch(vectors, self._background) if vectors is not None else None
        self.compressor = options.get("compressor") or SemanticCompressor()
        client, triggers = options.get("model_client"), options.get("triggers")
        self._model_client = None if client is None else complete_of(client)
        self._summarises = (
            summarizing(self.compressor, self._model_client, EstimateCounter()) is not None
        )
        self._intents = intents_of(setup, triggers)
        self._given_cache = cache
        if cache is not None and events is not None:
            events.follow(cache)
        if cache is not None and isinstance(vectors, TakesCache):
            vectors.keep_in(cache)
        self._summaries: list[Summaries] = []  # the last one is the current conversation's
        self._advising: list[Advising] = []  # the same
        helpers = (self._embedding, self._model_client, self._intents)
        # Whether a turn has nothing to prefetch.
        self.is_idle = all(each is None for each in helpers) and not self._summarises

    def memory(self) -> Recaller:
        """Return the memory for recall, with semantic search if there are vectors."""
        return Recaller(self._embedding.cosines) if self._embedding else Recaller()

    def summaries(self, counter: TokenCounter, state: State) -> dict[str, str]:
        """Return the summaries of a conversation, a mapping that is filled in the background."""
        maker = summarizing(self.compressor, self._client("summary"), counter)
        if maker is None:
            return dict(state.summaries)

        self._summaries.append(
            Summaries(
                maker,
                counter,
                state.summaries,
                self._background,
                self._cache,
                None if self.events is None else self.events.summary,
            )
        )
        return self._summaries[-1].known

    def advice(self, state: State) -> "Mapping[str, Advice]":
        """Return a model's advice on the tasks of a conversation, a mapping that is filled in the background."""
        client = self._client("advice")
        if client is None:
            return state.advice
        from autogen_context.prioritizer.advice import Advising  # noqa: PLC0415 - as above

        self._advising.append(Advising(client, state.advice, self._background, self._cache))
        return self._advising[-1].known

    def _client(self, what: str) -> Complete | None:
        """Return the model client; its calls are recorded in the event log."""
        client = self._model_client
        return self.events.timed(client, what) if client and self.events else client

    @cached_property
    def _cache(self) -> "Cache":
        from autogen_context.cache.cache import ContextCache  # noqa: PLC0415 - for who has a model
        from autogen_context.cache.values import Guarded  # noqa: PLC0415 - as above

        if self._given_cache is not None:
            return Guarded(self._given_cache)
        own = ContextCache()
        if self.events is not None:
            self.events.follow(own)
        return Guarded(own)

    async def load_tokenizer(self) -> None:
        """Load the model's tokenizer within its time limit."""
        await load_tokenizer(self._config.model, timeout_s=self._config.tokenizer_timeout_s)

    def discover(self, resize: Callable[[int], None]) -> None:
        """Ask the endpoint for the model's limit in the background, and pass it to ``resize``."""
        config = self._config
        if config.discovery_url and config.model:
            self._background.start(discovered(config, WeakMethod(resize)), name="discovery")

    async def before_turn(self, engine: "Engine", view: ContextView) -> None:
        """Await embeddings and summaries for this turn, and start those for later ones."""
        config = self._config
        if self._embedding is not None:
            said = engine.conversation.messages
            await self._embedding.embed(said, timeout_s=config.embedding_timeout_s)
        if self._summaries:
            going = engine.spans_due(view, at_fraction=config.compact_at_fraction)
            due = going or engine.spans_due(view, at_fraction=config.prepare_at_fraction)
            timeout_s = config.summary_timeout_s if going else 0.0
            await self._summaries[-1].make(due, timeout_s=timeout_s)
        if self._advising and engine.is_full(view, at_fraction=config.prepare_at_fraction):
            self._advising[-1].ask(engine.conversation.newest_request)
        if self._intents is not None:
            candidates = engine.conversation.candidates
            self._intents.ask_newest(candidates, self.setup.kinds, self._background)

    async def aclose(self) -> None:
        """End background work within the time limit of ``Background``."""
        await self._background.aclose()


async def discovered(
    config: ContextConfig, resize: Callable[[], Callable[[int], None] | None]
) -> None:
    """Use the endpoint's limit unless the user gave a window; ``resize`` returns ``None`` once its owner is gone."""
    limit = await limits_of(config).alookup(config.model)
    owned = resize()
    if owned is not None and not config.window_tokens:
        owned(limit.prompt_tokens)


def summarizing(
    compressor: Compressor, client: ModelClient | None, counter: CountsText
) -> Summarises | None:
    """Return who makes summaries: a compressor with a client, or the user's own; ``None`` if no model is asked."""
    if isinstance(compressor, SemanticCompressor):
        complete = compressor.completed(client=client, counter=counter)
        return complete if complete.asks_model else None
    return compressor if isinstance(compressor, Summarises) else None


def intents_of(setup: Setup, triggers: "Trigger | None") -> "IntentModel | None":
    """Return the model that is asked for intents, if the triggers use one."""
    if triggers is None or not (cuts_finished(setup.config, triggers) or setup.config.dry_run):
        return None
    from autogen_context.triggers.intent import IntentModel  # noqa: PLC0415 - as above

    model: object = getattr(triggers, "known", None)
    return model if isinstance(model, IntentModel) else None
