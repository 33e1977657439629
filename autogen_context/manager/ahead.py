"""What is done before a turn needs it: a tokenizer fetched, limits asked for, questions embedded, spans summarised, advice.

Promise: nothing here decides anything; a turn takes what is there. What runs in the background ends with its owner, and
whatever fails costs its result and nothing else.
"""

from asyncio import Task, create_task, gather, get_running_loop
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from autogen_context.cache.values import TakesCache
from autogen_context.config.config import ContextConfig
from autogen_context.manager.state import State
from autogen_context.manager.wiring import limits_of, rules_of
from autogen_context.models.embedder import WarmVectors
from autogen_context.recall.exchanges import newest_request
from autogen_context.recall.recaller import Prefetch, Recaller
from autogen_context.tokens.measure import TokenCounter
from autogen_context.tokens.message_counter import load_tokenizer
from autogen_context.view.view import ContextView

if TYPE_CHECKING:  # what asks models is loaded for those who have one
    from autogen_context.cache.values import Cache
    from autogen_context.compressor.summaries import Summaries
    from autogen_context.compressor.summarizer import Summarize
    from autogen_context.manager.engine import Engine
    from autogen_context.prioritizer.advice import Advice
    from autogen_context.prioritizer.advising import Advise, Advising
    from autogen_context.triggers.decision import Trigger
    from autogen_context.triggers.intent_model import Intents


class Ahead:
    """Works ahead for one manager.

    Args:
        config: all settings.
        vectors: keeps vectors at hand; without it nothing is embedded.
        summarizer: asks a model; without it nothing is summarised.
        advisor: asks a model what matters for a task; without it the rules say so alone.
        triggers: what was handed in to propose what is finished; it may have a model that is asked what the agent is at.
        cache: keeps what models made of a content; one in memory where it is left out.
    """

    def __init__(
        self,
        config: ContextConfig,
        *,
        vectors: WarmVectors | None,
        summarizer: "Summarize | None",
        advisor: "Advise | None",
        triggers: "Trigger | None" = None,
        cache: "Cache | None" = None,
    ) -> None:
        self._config = config
        self._embedding = Prefetch(vectors) if vectors is not None else None
        self._summarizer = summarizer
        self._advisor = advisor
        self._intents = intents_of(config, triggers)
        self._given_cache = cache
        if cache is not None and isinstance(vectors, TakesCache):
            vectors.keep_in(cache)
        self._summaries: list[Summaries] = []  # the last belong to the session
        self._advising: list[Advising] = []  # the same
        self._discovering: Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do for a turn."""
        helpers = (self._embedding, self._summarizer, self._advisor, self._intents)
        return all(helper is None for helper in helpers)

    def memory(self) -> Recaller:
        """A memory that goes by meaning as well, where there are vectors."""
        return Recaller(self._embedding.cosines) if self._embedding else Recaller()

    def summaries(self, counter: TokenCounter, state: State) -> dict[str, str]:
        """The summaries of a conversation, which grow while it goes on."""
        if self._summarizer is None:
            return dict(state.summaries)
        from autogen_context.compressor.summaries import Summaries  # noqa: PLC0415 - as above

        self._summaries.append(Summaries(counter, self._summarizer, state.summaries, self._cache))
        return self._summaries[-1].known

    def advice(self, state: State) -> "Mapping[str, Advice]":
        """What a model advises on the task of a conversation, which changes while it goes on."""
        if self._advisor is None:
            return state.advice
        from autogen_context.prioritizer.advising import Advising  # noqa: PLC0415 - as above

        self._advising.append(Advising(self._advisor, state.advice, self._cache))
        return self._advising[-1].known

    @cached_property
    def _cache(self) -> "Cache":
        from autogen_context.cache.cache import ContextCache  # noqa: PLC0415 - for who has a model
        from autogen_context.cache.values import Guarded  # noqa: PLC0415 - as above

        return Guarded(ContextCache() if self._given_cache is None else self._given_cache)

    async def load_tokenizer(self) -> None:
        """Have the model's tokenizer at hand, within the time that is set."""
        await load_tokenizer(self._config.model, timeout_s=self._config.tokenizer_timeout_s)

    def discover(self, resize: Callable[[int], None]) -> None:
        """Ask the endpoint for the model's limit, once; ``resize`` gets what it says."""
        config = self._config
        if self._discovering is None and config.discovery_url and config.model:
            self._discovering = create_task(self._discover(resize))

    async def before_turn(self, engine: "Engine", view: ContextView, fixed_tokens: int) -> None:
        """Do what the next turn, or later ones, will need of models.

        Args:
            engine: of the conversation; it has read the messages of the turn.
            view: how the conversation is sent.
            fixed_tokens: what the request has beside them.
        """
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
            self._advising[-1].ask(newest_request(engine.conversation.messages))
        if self._intents is not None:
            self._intents.ask(engine.conversation.candidates)

    async def aclose(self) -> None:
        """End what is still under way."""
        discovering = self._discovering
        if discovering is not None and discovering.get_loop() is get_running_loop():
            discovering.cancel()
            await gather(discovering, return_exceptions=True)
        for summaries in self._summaries:
            await summaries.aclose()
        for advising in self._advising:
            await advising.aclose()
        if self._intents is not None:
            await self._intents.aclose()

    async def _discover(self, resize: Callable[[int], None]) -> None:
        limit = await limits_of(self._config).alookup(self._config.model)
        if not self._config.window_tokens:
            resize(limit.prompt_tokens)


def intents_of(config: ContextConfig, triggers: "Trigger | None") -> "Intents | None":
    """Who has a model asked what an agent is at, where triggers look at it."""
    rules = rules_of(config, triggers)
    if triggers is None or not (rules.cuts_finished or rules.dry_run):
        return None
    from autogen_context.triggers.intent_model import Intents, asked_by  # noqa: PLC0415 - as above

    model = asked_by(triggers)
    return None if model is None else Intents(model, rules.kinds)
