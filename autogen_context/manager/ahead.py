"""What is done before a turn needs it: a tokenizer fetched, limits asked for, questions embedded, spans summarised, advice.

Promise: nothing here decides anything; a turn takes what is there. What runs in the background ends with its owner, and
whatever fails costs its result and nothing else.
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
from autogen_context.manager.parts import Given, cuts_finished, limits_of
from autogen_context.manager.state import State
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.models.background import Background
from autogen_context.models.completion import Complete, ModelClient, complete_of
from autogen_context.recall.recaller import Prefetch, Recaller
from autogen_context.tokens.measure import EstimateCounter, TokenCounter
from autogen_context.tokens.message_counter import load_tokenizer
from autogen_context.view.view import ContextView

if TYPE_CHECKING:  # what asks models is loaded for those who have one
    from autogen_context.cache.values import Cache
    from autogen_context.manager.engine import Engine
    from autogen_context.manager.events import TurnLog
    from autogen_context.prioritizer.advice import Advice, Advising
    from autogen_context.triggers.intent import Intents
    from autogen_context.triggers.turn import Trigger


class Ahead:
    """Works ahead for one manager."""

    def __init__(self, given: Given, events: "TurnLog | None" = None) -> None:
        config, vectors, cache = given.config, given.vectors, given.cache
        self._config = config
        self._background = Background(self)
        self._events = events
        self._embedding = Prefetch(vectors) if vectors is not None else None
        self.compressor = given.compressor or SemanticCompressor()
        self._model_client = None if given.model_client is None else complete_of(given.model_client)
        self._summarises = (
            summarizing(self.compressor, self._model_client, EstimateCounter()) is not None
        )
        self._intents = intents_of(config, given.triggers, self._background)
        self._given_cache = cache
        if cache is not None and events is not None:
            events.follow(cache)
        if cache is not None and isinstance(vectors, TakesCache):
            vectors.keep_in(cache)
        self._summaries: list[Summaries] = []  # the last belong to the conversation
        self._advising: list[Advising] = []  # the same
        helpers = (self._embedding, self._model_client, self._intents)
        # Whether there is nothing to do for a turn.
        self.is_idle = all(each is None for each in helpers) and not self._summarises

    def memory(self) -> Recaller:
        """A memory that goes by meaning as well, where there are vectors."""
        return Recaller(self._embedding.cosines) if self._embedding else Recaller()

    def summaries(self, counter: TokenCounter, state: State) -> dict[str, str]:
        """The summaries of a conversation, which grow while it goes on."""
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
                None if self._events is None else self._events.summary,
            )
        )
        return self._summaries[-1].known

    def advice(self, state: State) -> "Mapping[str, Advice]":
        """What a model advises on the task of a conversation, which changes while it goes on."""
        client = self._client("advice")
        if client is None:
            return state.advice
        from autogen_context.prioritizer.advice import Advising  # noqa: PLC0415 - as above

        self._advising.append(Advising(client, state.advice, self._background, self._cache))
        return self._advising[-1].known

    def _client(self, what: str) -> Complete | None:
        """The model to ask; its calls are told to the event log."""
        client = self._model_client
        return self._events.timed(client, what) if client and self._events else client

    @cached_property
    def _cache(self) -> "Cache":
        from autogen_context.cache.cache import ContextCache  # noqa: PLC0415 - for who has a model
        from autogen_context.cache.values import Guarded  # noqa: PLC0415 - as above

        if self._given_cache is not None:
            return Guarded(self._given_cache)
        own = ContextCache()
        if self._events is not None:
            self._events.follow(own)
        return Guarded(own)

    async def load_tokenizer(self) -> None:
        """Have the model's tokenizer at hand, within the time that is set."""
        await load_tokenizer(self._config.model, timeout_s=self._config.tokenizer_timeout_s)

    def discover(self, resize: Callable[[int], None]) -> None:
        """Ask the endpoint for the model's limit; ``resize`` gets what it says."""
        config = self._config
        if config.discovery_url and config.model:
            self._background.start(discovered(config, WeakMethod(resize)), name="discovery")

    async def before_turn(self, engine: "Engine", view: ContextView, fixed_tokens: int) -> None:
        """Do what the next turn, or later ones, will need of models."""
        config = self._config
        if self._embedding is not None:
            said = engine.conversation.messages
            await self._embedding.embed(said, timeout_s=config.embedding_timeout_s)
        if self._summaries:
            going = engine.spans_due(view, fixed_tokens, at_fraction=config.compact_at_fraction)
            due = going or engine.spans_due(
                view, fixed_tokens, at_fraction=config.prepare_at_fraction
            )
            timeout_s = config.summary_timeout_s if going else 0.0
            await self._summaries[-1].make(due, timeout_s=timeout_s)
        if self._advising and engine.is_full(
            view, fixed_tokens, at_fraction=config.prepare_at_fraction
        ):
            self._advising[-1].ask(engine.conversation.newest_request)
        if self._intents is not None:
            self._intents.ask(engine.conversation.candidates)

    async def aclose(self) -> None:
        """End what is still under way, within the time limit of ``Background``."""
        await self._background.aclose()


async def discovered(
    config: ContextConfig, resize: Callable[[], Callable[[int], None] | None]
) -> None:
    """Have the window that the endpoint names, unless the user named one; ``resize`` is gone with its owner."""
    limit = await limits_of(config).alookup(config.model)
    owned = resize()
    if owned is not None and not config.window_tokens:
        owned(limit.prompt_tokens)


def summarizing(
    compressor: Compressor, client: ModelClient | None, counter: CountsText
) -> Summarises | None:
    """Who makes summaries ahead: a compressor with a client, or one in a way of its own; nobody where no model is asked."""
    if isinstance(compressor, SemanticCompressor):
        complete = compressor.completed(client=client, counter=counter)
        return complete if complete.asks_model else None
    return compressor if isinstance(compressor, Summarises) else None


def intents_of(
    config: ContextConfig, triggers: "Trigger | None", background: Background
) -> "Intents | None":
    """Who has a model asked what an agent is at, where triggers look at it."""
    if triggers is None or not (cuts_finished(config, triggers) or config.dry_run):
        return None
    from autogen_context.triggers.intent import IntentModel, Intents  # noqa: PLC0415 - as above

    model: object = getattr(triggers, "known", None)
    kinds = ToolKinds(named=config.tools)
    return Intents(model, kinds, background) if isinstance(model, IntentModel) else None
