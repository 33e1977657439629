"""IncrementalContextManager: the public interface of one conversation inside its window.

Promise: what ``prepare`` returns fits the window, keeps tool calls with their results, and contains all protected messages; a
turn costs what is new in it. All promises: docs/promises.md.
"""

import asyncio
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack, cast
from weakref import WeakMethod, WeakValueDictionary

from autogen_context.argument import (
    listed,
    require_kind,
    require_number,
    require_path,
    require_text,
)
from autogen_context.config.config import ContextConfig
from autogen_context.errors import ManagerClosed
from autogen_context.manager.change import ContextChange, UpdatedContext
from autogen_context.manager.parts import ManagerOptions, setup_of
from autogen_context.manager.prefetch import discovered
from autogen_context.manager.prepared import Payload, Prepared
from autogen_context.manager.providers import providers_of
from autogen_context.manager.runner import ToolSchemas, TurnRunner, counter_of
from autogen_context.manager.state import State, dump, load, read_state, write_state
from autogen_context.messages.message import HostFormat, Message
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.tool_schema import as_text, schemas_in
from autogen_context.models.background import Background
from autogen_context.tokens.message_counter import load_tokenizer
from autogen_context.view.conversation import digest_of
from autogen_context.view.versions import Version, VersionDiff
from autogen_context.view.view import BilledUsage

if TYPE_CHECKING:
    from autogen_context.prioritizer.selection import Explanation

MANY_NEW = 20  # new messages above which a turn is prepared in a thread
MESSAGES = "the whole history as a list of messages"


class IncrementalContextManager:
    """Keeps one conversation of one agent inside its window.

    Closing it is optional; ``async with`` or ``aclose`` end background work early.

    Args:
        model: name of the model; it determines limit and tokenizer.
        window_tokens: the most input tokens a request may have; default: the model's limit.
        reserve_tokens: tokens of the window reserved for what the host adds unseen (system prompt, tools).
        people: names under which people write, beside those that the host knows; what others say is no rule.
        program_output: what is a program's output in the user role: names, and beginnings of texts, such as
            ``<returncode>``.
        config: all settings; those above win over it, and it wins over ``AUTOGEN_CONTEXT_*`` in the environment.
        host: message format of the host; default: OpenAI's chat format.
        counter: counts tokens; default: the model's tokenizer.
        budget: divides the window, in each turn and at a compaction; default: a ``TokenBudgetManager`` by the settings
            ``profile``, ``role``, ``compact_at_fraction`` and ``compact_to_fraction``.
        vectors: adds semantic search to recall; a ``VectorStore``, which agents may share.
        prioritizer: scores what matters in a compaction; default: ``ContextPrioritizer()``.
        compressor: shortens texts; default: a ``SemanticCompressor``; any object with the methods of ``Compressor``.
        model_client: asked in the background for summaries of what leaves and for advice on the task: a
            ``CompletionClient`` or an async function of a prompt. A part's own client wins; without any, no model is
            asked.
        triggers: proposes finished work to cut when that pays; a ``SemanticHybridTrigger`` or an object with its method
            ``observe(turn)``, copied for the conversation. With ``compaction="when_full"`` only ``dry_run`` uses it.
        clock: returns seconds since 1970, such as ``time.time``; needed to notice that the provider's cache has expired.
            Without it no decision depends on time.
        original_store: a further store of originals, shared with other agents; a ``RedisOriginals`` or another ``OriginalTier``.
        files: a folder or a ``FileChangeTracker``: changes made by others to files that the conversation shows are
            reported to the agent.
        project: a folder or a ``ProjectContext``: its context is sent after the system prompt, updates before the newest
            message.
        cache: stores what models produced (summaries, advice, embeddings) and what was read of project files; a
            ``ContextCache``, which agents may share, with a folder to keep it for later processes. Default: in memory.
        providers: your own ``ContextProvider`` objects; their context is sent before the newest message.
        events: a file, or an ``EventLog`` that agents may share: records what each turn sent, and why.
        metrics: ``True``, or a ``Metrics`` that agents may share: OpenTelemetry metrics and spans of each turn.

    Raises:
        ValueError: a setting or argument is invalid; the error names it, its value and the way out.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        host: HostFormat | None = None,
        **options: Unpack[ManagerOptions],
    ) -> None:
        self.config = ContextConfig.for_entry(
            options.pop("config", None),
            model=model,
            window_tokens=options.pop("window_tokens", None),
            reserve_tokens=options.pop("reserve_tokens", None),
            people=options.pop("people", None),
            program_output=options.pop("program_output", None),
        )
        self._setup = setup_of(self.config, host or OpenAIChat(), options, Background(self))
        self._lock = threading.RLock()
        self._kept: TurnRunner | None = None
        self._is_looked_up = False
        self._is_closed = False
        self._handed_out: WeakValueDictionary[int, Prepared[object]] = WeakValueDictionary()

    async def prepare(
        self, messages: Sequence[Payload], tools: ToolSchemas | None = ()
    ) -> Prepared[Payload]:
        """Prepare a turn, waiting for what helps it; the first one waits for the tokenizer up to ``tokenizer_timeout_s``.

        With ``vectors`` it waits for the embedding of a question, up to ``embedding_timeout_s``. With a model it has summaries
        made in the background, and a turn that compacts waits for them up to ``summary_timeout_s``. A turn that reads many
        messages or compacts runs in a thread, off the event loop. Arguments, result and errors as of ``prepare_nowait``.
        """
        if self._is_closed:
            raise ManagerClosed
        payloads = listed("messages", messages, give=MESSAGES)
        schemas = schemas_in(tools) if tools else ()
        await self._awaited(payloads, schemas)
        with self._lock:
            if self._is_quick(payloads, schemas):
                return cast("Prepared[Payload]", self._prepared(payloads, schemas, is_read=True))
        return await asyncio.to_thread(self.prepare_nowait, messages, tools)

    async def _awaited(self, payloads: Sequence[object], schemas: ToolSchemas) -> None:
        """Await tokenizer, limits, disk and models as far as this turn or later ones need them, each within its time limit."""
        if not self._is_looked_up:
            await self._look_up()
        if not self.config.enabled:
            return
        with self._lock:
            runner = self._runner
            if not runner.providers.each and runner.prefetcher.is_idle:
                return
            runner.follow(payloads, schemas)
            turn = runner.provider_turn
        await runner.providers.before_turn(turn)
        await runner.prefetcher.before_turn(runner.engine, runner.view)

    def _is_quick(self, payloads: Sequence[object], schemas: ToolSchemas) -> bool:
        """Read the list; return False for the first turn, and for one that reads many messages or is likely to compact."""
        runner, engine = self._runner, self._runner.engine
        if not self.config.enabled:
            engine.for_tools(schemas)
            return True
        known = len(engine.conversation.messages)
        if not known or len(payloads) - known > MANY_NEW:
            return False
        engine.for_tools(schemas)
        runner.read(payloads)
        return not engine.is_due(runner.view)

    def prepare_nowait(
        self, messages: Sequence[Payload], tools: ToolSchemas | None = ()
    ) -> Prepared[Payload]:
        """Prepare a turn with what is ready; never waits.

        Args:
            messages: the whole history, oldest first; messages handed in before must not be edited in place.
            tools: schemas of the tools sent with the request, to be counted; ``None`` means none.

        Returns:
            The list to send, its certificate and the decisions.

        Raises:
            InvalidTranscript: a message cannot be read, or there are orphans and ``orphans="refuse"``.
            ContextWindowExceeded: the protected messages do not fit; nothing is lost, the next turn tries again.
            ManagerClosed: the manager is closed.
            ValueError: ``messages`` or ``tools`` has another type.
        """
        if self._is_closed:
            raise ManagerClosed
        payloads = listed("messages", messages, give=MESSAGES)
        schemas = schemas_in(tools) if tools else ()
        return cast("Prepared[Payload]", self._prepared(payloads, schemas))

    def _prepared(
        self, payloads: Sequence[object], schemas: ToolSchemas, *, is_read: bool = False
    ) -> Prepared[object]:
        """Prepare a turn under the lock."""
        with self._lock:
            prepared = self._runner.turn(payloads, schemas, is_read=is_read)
            self._handed_out[id(prepared)] = prepared
        return prepared

    def observe(self, messages: Sequence[object]) -> None:
        """Read and measure new messages without preparing a turn, for hosts that deliver them early.

        Raises:
            InvalidTranscript: as of ``prepare_nowait``.
            ValueError: ``messages`` is no list.
        """
        payloads = listed("messages", messages, give=MESSAGES)
        with self._lock:
            if self.config.enabled:
                self._runner.read(payloads)

    def record_usage(
        self, prepared: Prepared[Payload], *, prompt_tokens: int, cached_tokens: int = 0
    ) -> None:
        """Calibrate the token count with the provider's bill for a prepared list.

        Args:
            prepared: the result of the turn that was sent.
            prompt_tokens: all input tokens of the bill, cached ones included.
            cached_tokens: of these, the cached ones.

        Raises:
            ValueError: ``prepared`` is not a result of this manager, or a number is invalid.
        """
        require_kind("prepared", prepared, Prepared, give="what prepare returned")
        require_number("prompt_tokens", prompt_tokens, give="the input tokens of the bill")
        require_number("cached_tokens", cached_tokens, give="how many of these were cached, or 0")
        if self._handed_out.get(id(prepared)) is not prepared:
            raise ValueError(
                "prepared: it is another manager's, or a copy; give the very object that this manager's prepare returned"
            )
        with self._lock:
            self._runner.bill(
                prepared.certificate, prompt_tokens=prompt_tokens, cached_tokens=cached_tokens
            )

    @property
    def usage(self) -> BilledUsage:
        """The provider's bills so far."""
        with self._lock:
            return self._runner.view.usage

    def pin(self, message: object) -> None:
        """Keep a message verbatim from now on, together with the tool call or results that belong to it.

        Raises:
            ValueError: it is no message.
        """
        with self._lock:
            self._runner.view = self._runner.view.pinned(digest_of(self._setup.host, message))

    def unpin(self, message: object) -> None:
        """Undo ``pin``; the message may leave at the next compaction."""
        with self._lock:
            self._runner.view = self._runner.view.unpinned(digest_of(self._setup.host, message))

    def explain(self, message: object) -> "Explanation":
        """Explain the decision on a message in the last turn, with its score.

        Raises:
            NotInHistory: the last prepared list does not contain it.
            ValueError: it is no message.
        """
        with self._lock:
            return self._runner.explain(digest_of(self._setup.host, message))

    def recall(self, handle: str) -> tuple[Message, ...]:
        """Return the original messages of a unit that was shortened or dropped.

        Raises:
            OriginalNotFound: they are not in the store (any more).
            ValueError: the handle is no string.
        """
        require_text("handle", handle)
        with self._lock:
            return self._runner.originals.get(handle)

    def recall_context(self, handle: str = "", query: str = "", lines: str = "") -> str:
        """Answer a call of the tool ``recall_context``; the answer is always a text.

        Args:
            handle: handle of an original, as shown in a mark.
            query: search terms, for that original or for all.
            lines: lines of the original: ``"120-180"``, ``"120-"``, ``"-40"`` or ``"150"``.
        """
        with self._lock:
            return self._runner.recall_context(as_text(handle), as_text(query), as_text(lines))

    def save_state(self) -> dict[str, object]:
        """Return the state as JSON data, from which another manager continues to the byte; without the host's messages."""
        with self._lock:
            return dump(self._runner.state)

    def load_state(self, state: Mapping[str, object]) -> None:
        """Continue from a saved state.

        Raises:
            StateError: the state is damaged or of a newer schema; nothing is changed.
        """
        loaded = load(state)
        with self._lock:
            known = self._runner
            providers = known.providers.resumed(loaded.providers)
            self._kept = known.continued(self._setup, loaded, known.counter, providers)

    async def save(self, path: str | os.PathLike[str]) -> None:
        """Put the state into a file, whole or not at all, in a thread: a disk may take its time.

        Raises:
            OSError: the file cannot be written; what was there is there.
            ValueError: it is no path.
        """
        require_path("path", path)
        await asyncio.to_thread(write_state, Path(path), self.save_state())

    async def load(self, path: str | os.PathLike[str]) -> None:
        """Continue from a state in a file, read in a thread.

        Raises:
            StateError: the state is damaged or of a newer schema; nothing is changed.
            OSError: the file cannot be read.
            ValueError: it is no path.
        """
        require_path("path", path)
        self.load_state(await asyncio.to_thread(read_state, Path(path)))

    async def apply_changes(self, changes: Iterable[ContextChange]) -> UpdatedContext:
        """Apply changes of files, tasks, requirements or decisions, all or none; this makes a version.

        Args:
            changes: in the order in which they happened; an empty list makes no version.

        Raises:
            ChangeRefused: a change is invalid or would break the context; nothing is changed.
            ValueError: ``changes`` is no list of changes.
        """
        await self._look_up()
        with self._lock:
            return self._runner.updated(changes)

    @property
    def versions(self) -> tuple[Version, ...]:
        """The kept versions of the context, one per change and compaction, oldest first."""
        with self._lock:
            return tuple(self._runner.versions)

    def diff(self, a: int, b: int) -> VersionDiff:
        """Compare two versions by their numbers.

        Raises:
            ValueError: one of them is not kept.
        """
        with self._lock:
            return self._runner.versions.diff(a, b)

    def roll_back(self, version: int) -> Version:
        """Restore decisions, notices and pins of a version; this makes a new version.

        The host's messages stay as they are: those handed in since then are decided on anew.

        Raises:
            ValueError: the version is not kept.
        """
        with self._lock:
            return self._runner.roll_back(version)

    def branch(self) -> "IncrementalContextManager":
        """Return an independent manager that continues from the current state."""
        options: ManagerOptions = {**self._setup.options, "config": self.config}
        other = IncrementalContextManager(host=self._setup.host, **options)
        with self._lock:
            known, setup = self._runner, other._setup
            state, counter = known.branched(), counter_of(setup)
            providers = known.providers.resumed(state.providers)
            other._kept = known.continued(setup, state, counter, providers)
            other._kept.read(known.engine.conversation.history.payloads)
        return other

    async def aclose(self) -> None:
        """End background work; further turns raise ``ManagerClosed``."""
        self._is_closed = True
        if self._kept is not None:
            await self._kept.providers.aclose()
        await self._setup.background.aclose()
        if self._setup.log is not None:
            await asyncio.to_thread(self._setup.log.log.flush)

    @property
    def _runner(self) -> TurnRunner:
        """The conversation, created on first use."""
        if self._kept is None:
            counter, providers = counter_of(self._setup), providers_of(self._setup, self._count)
            self._kept = TurnRunner(self._setup, counter, providers, State())
        return self._kept

    def _count(self, text: str) -> int:
        """Count a text without caching it."""
        return self._runner.counter.count(text).tokens

    async def _look_up(self) -> None:
        """Load the tokenizer within its time limit and start the discovery of limits; both once."""
        if self._is_looked_up:
            return
        self._is_looked_up = True
        if self._setup.options.get("counter") is None:
            timeout_s = self.config.tokenizer_timeout_s
            await load_tokenizer(self.config.model, timeout_s=timeout_s)
            with self._lock:
                self._count_exactly()
        if self.config.discovery_url and self.config.model:
            discovery = discovered(self.config, WeakMethod(self._resize))
            self._setup.background.start(discovery, name="discovery")

    def _count_exactly(self) -> None:
        """Continue with the exact tokenizer if the conversation began with an estimate."""
        known = self._kept
        if known is not None and known.counter.source == "estimate":
            payloads = known.engine.conversation.history.payloads
            counter = counter_of(self._setup)
            self._kept = known.continued(self._setup, known.state, counter, known.providers)
            if payloads:
                self._kept.read(payloads)
                self._kept.view = self._kept.engine.with_new(self._kept.view)

    def _resize(self, window_tokens: int) -> None:
        """Use this window from the next turn on."""
        with self._lock:
            self._runner.engine.resize(window_tokens)

    async def __aenter__(self) -> Self:
        """Return the manager."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.aclose()
