"""IncrementalContextManager: the face of a conversation that stays inside its window.

Promise: what ``prepare`` returns fits the window, has its pairs closed and holds what must stay; a turn costs what is
new in it. The promises one by one: docs/promises.md.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, cast
from weakref import WeakValueDictionary

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
from autogen_context.manager.parts import Given, events_of, metrics_of, project_of, tracker_of
from autogen_context.manager.prepared import Fixed, Payload, Prepared
from autogen_context.manager.runner import TurnRunner
from autogen_context.manager.state import dump, load, read_state, write_state
from autogen_context.messages.message import HostFormat, Message
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.tool_schema import as_text, schemas_in
from autogen_context.models.completion import ModelClient
from autogen_context.models.embedder import WarmVectors
from autogen_context.tokens.measure import TokenCounter
from autogen_context.view.conversation import digest_of
from autogen_context.view.notice import ContextProvider
from autogen_context.view.versions import Version, VersionDiff, difference
from autogen_context.view.view import Usage

if TYPE_CHECKING:  # loaded for those who ask for it
    from autogen_context.budget.policy import BudgetPolicy
    from autogen_context.cache.originals import OriginalTier
    from autogen_context.cache.values import Cache
    from autogen_context.compressor.compressor import Compressor
    from autogen_context.manager.event_log import EventLog
    from autogen_context.manager.metrics import Metrics
    from autogen_context.prioritizer.prioritizer import Prioritizer
    from autogen_context.prioritizer.selection import Explanation
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext
    from autogen_context.triggers.turn import Trigger

ToolSchemas = Sequence[Mapping[str, object]]
MESSAGES = "the whole history as a list of messages"


class IncrementalContextManager:
    """Keeps one conversation of one agent inside its window.

    It works when nobody closes it; ``async with`` or ``aclose`` end a discovery that is still under way.

    Args:
        model: name of the model; decides limit and tokenizer.
        window_tokens: the most input tokens a request may have; from the model's limits where left out.
        reserve_tokens: of these, what the host adds where it cannot be seen (system prompt, tools).
        config: all settings; the three above win over it, and it wins over ``AUTOGEN_CONTEXT_*`` in the environment.
        host: how the host writes messages; OpenAI's chat format where left out.
        counter: counts tokens; the model's tokenizer where left out.
        budget: says how much of the window is for what, in each turn and at a compaction; by the settings where left out
            (``profile``, ``role``, ``compact_at_fraction``, ``compact_to_fraction``).
        vectors: lets the memory go by meaning as well as by words; a ``VectorStore``, which agents may share.
        prioritizer: says what matters: which parts of the conversation stay; ``ContextPrioritizer()``, or your own.
        compressor: makes every text that is sent shorter than it came; a ``SemanticCompressor``, or one of your own with the
            methods of ``Compressor``.
        model_client: is asked, in the background, for summaries of what will be left out and for advice on the task: a
            ``CompletionClient``, or an async function of a prompt. A part's own client wins over it; without any no model is
            asked.
        triggers: proposes what is finished, to be cut as soon as the price says so; a ``SemanticHybridTrigger``, or an
            object with its method ``observe(turn)``. It is copied for the conversation. With ``compaction="when_full"``
            nothing asks it but ``dry_run``.
        clock: the time, in seconds since 1970, such as ``time.time``: by it a provider's cache that ran out is noticed.
            Left out, time decides nothing; versions have the system's.
        original_store: where originals are kept as well, for other agents to ask back; a ``RedisOriginals``.
        files: a folder, or a ``FileChangeTracker``: what somebody else changes of its files is told where the conversation
            shows them.
        project: a folder, or a ``ProjectContext``: its context stands behind the system prompt, what is newer in front of the newest message.
        cache: keeps what models made of a content (summaries, advice, vectors) and what was read of a project's files, so
            that nothing is done twice; a ``ContextCache``, which agents may share, in a folder for later processes. In
            memory where left out.
        providers: your own ``ContextProvider`` objects: what they tell stands in front of the newest message.
        events: a file, or an ``EventLog`` that agents may share: each turn tells it what was sent, and why.
        metrics: ``True``, or a ``Metrics`` that agents may share: OpenTelemetry's metrics and spans of each turn.

    Raises:
        ValueError: a setting makes no sense, or an argument is none of its kind; names it, its value and the way out.
    """

    def __init__(  # noqa: PLR0913 - three settings that everybody needs, and what it is made of
        self,
        model: str | None = None,
        *,
        window_tokens: int | None = None,
        reserve_tokens: int | None = None,
        config: ContextConfig | None = None,
        host: HostFormat | None = None,
        counter: TokenCounter | None = None,
        budget: "BudgetPolicy | None" = None,
        vectors: WarmVectors | None = None,
        prioritizer: "Prioritizer | None" = None,
        compressor: "Compressor | None" = None,
        model_client: ModelClient | Literal["host"] | None = None,
        triggers: "Trigger | None" = None,
        clock: Callable[[], float] | None = None,
        original_store: "OriginalTier | None" = None,
        files: "FileChangeTracker | str | Path | None" = None,
        project: "ProjectContext | str | Path | None" = None,
        cache: "Cache | None" = None,
        providers: Sequence[ContextProvider] = (),
        events: "EventLog | str | Path | None" = None,
        metrics: "Metrics | bool | None" = None,
    ) -> None:
        self.config = ContextConfig.for_entry(
            config, model=model, window_tokens=window_tokens, reserve_tokens=reserve_tokens
        )
        self._host = host or OpenAIChat()
        own = listed("providers", providers, give="a list of ContextProvider objects")
        given = Given(
            config=self.config,
            host=self._host,
            counter=counter,
            budget=budget,
            vectors=vectors,
            prioritizer=prioritizer,
            compressor=compressor,
            model_client=model_client,
            triggers=triggers,
            clock=clock,
            original_store=original_store,
            files=tracker_of(files),
            project=project_of(project, cache),
            cache=cache,
            events=events_of(events),
            metrics=metrics_of(metrics),
            providers=cast("tuple[ContextProvider, ...]", tuple(own)),  # Given looks at each
        )
        self._runner = TurnRunner(given)
        self._lock = self._runner.lock
        self._is_closed = False
        self._handed_out: WeakValueDictionary[int, Prepared[object]] = WeakValueDictionary()

    async def prepare(
        self, messages: Sequence[Payload], tools: ToolSchemas | None = ()
    ) -> Prepared[Payload]:
        """Prepare a turn; the first one waits for the tokenizer, ``tokenizer_timeout_s`` at most.

        With ``vectors``, a person's question is embedded, within ``embedding_timeout_s``, and what was said is in the
        background. With a model to ask, what will go next is summarised in the background; a turn that compacts waits
        for it, ``summary_timeout_s`` at most. A turn that reads many messages or compacts does so in a thread: the event
        loop goes on. Arguments, result and errors are those of ``prepare_nowait``.
        """
        if self._is_closed:
            raise ManagerClosed
        payloads = listed("messages", messages, give=MESSAGES)
        schemas = schemas_in(tools) if tools else ()
        fixed = await self._runner.before_turn(payloads, schemas)
        if fixed is None:
            return await asyncio.to_thread(self.prepare_nowait, messages, tools)
        return cast("Prepared[Payload]", self._prepared(payloads, schemas, fixed))

    def prepare_nowait(
        self, messages: Sequence[Payload], tools: ToolSchemas | None = ()
    ) -> Prepared[Payload]:
        """Prepare a turn with what is there; never waits.

        Args:
            messages: the whole history as the host has it, oldest first; what was handed in is not edited in place.
            tools: schemas of the tools that go with the request, to be counted; ``None``, as hosts have it, means none.

        Returns:
            The list to send, its certificate and the decisions.

        Raises:
            InvalidTranscript: a message cannot be read, or there are orphans and ``orphans="refuse"``.
            ContextWindowExceeded: what must stay does not fit; nothing is lost, the next turn tries again.
            ManagerClosed: this manager was closed.
            ValueError: ``messages`` or ``tools`` is no list of such.
        """
        if self._is_closed:
            raise ManagerClosed
        payloads = listed("messages", messages, give=MESSAGES)
        schemas = schemas_in(tools) if tools else ()
        return cast("Prepared[Payload]", self._prepared(payloads, schemas))

    def _prepared(
        self, payloads: Sequence[object], schemas: ToolSchemas, fixed: Fixed | None = None
    ) -> Prepared[object]:
        """A turn, whose messages are the host's own objects, or of their kind."""
        with self._lock:
            prepared = self._runner.turn(payloads, schemas, fixed)
            self._handed_out[id(prepared)] = prepared
        return prepared

    def observe(self, messages: Sequence[object]) -> None:
        """Read and measure what is new without preparing a turn, for hosts that hear of messages early.

        Raises:
            InvalidTranscript: as ``prepare_nowait``.
            ValueError: ``messages`` is no list.
        """
        payloads = listed("messages", messages, give=MESSAGES)
        with self._lock:
            if self.config.enabled:
                self._runner.read(payloads)

    def record_usage(
        self, prepared: Prepared[Payload], *, prompt_tokens: int, cached_tokens: int = 0
    ) -> None:
        """Calibrate the count with what the provider billed for a prepared list.

        Args:
            prepared: what was sent.
            prompt_tokens: all input tokens of the bill, cached ones included.
            cached_tokens: of these, what the provider had cached.

        Raises:
            ValueError: ``prepared`` is not what a turn of this manager returned, or a number is none.
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
    def usage(self) -> Usage:
        """What the provider billed so far."""
        with self._lock:
            return self._runner.kept.view.usage

    def pin(self, message: object) -> None:
        """Keep a message verbatim from now on, and with it the call or the results that belong to it.

        Raises:
            ValueError: it is no message.
        """
        with self._lock:
            kept = self._runner.kept
            kept.view = kept.view.pinned(digest_of(self._host, message))

    def unpin(self, message: object) -> None:
        """Let a pinned message go at the next compaction."""
        with self._lock:
            kept = self._runner.kept
            kept.view = kept.view.unpinned(digest_of(self._host, message))

    def explain(self, message: object) -> "Explanation":
        """What became of a message in the last turn, what it matters now, and why.

        Raises:
            NotInHistory: the list that was prepared last does not have it.
            ValueError: it is no message.
        """
        with self._lock:
            return self._runner.explain(digest_of(self._host, message))

    def recall(self, handle: str) -> tuple[Message, ...]:
        """The originals of a unit that was shortened or dropped.

        Raises:
            OriginalNotFound: they are not kept (any more).
            ValueError: the handle is no text.
        """
        require_text("handle", handle)
        with self._lock:
            return self._runner.kept.originals.get(handle)

    def recall_context(self, handle: str = "", query: str = "", lines: str = "") -> str:
        """Answer a call of the tool ``recall_context``; every question gets a text.

        Args:
            handle: of an original, as it stands in a mark.
            query: what to look for: in that original, or in all.
            lines: which lines of the original: ``"120-180"``, ``"120-"``, ``"-40"``, ``"150"``.
        """
        with self._lock:
            return self._runner.recall_context(as_text(handle), as_text(query), as_text(lines))

    def save_state(self) -> dict[str, object]:
        """What another manager needs to continue to the byte, as JSON data; the host's messages are not in it."""
        with self._lock:
            return dump(self._runner.state)

    def load_state(self, state: Mapping[str, object]) -> None:
        """Continue where another manager stopped.

        Raises:
            StateError: the state is damaged or of a newer schema; nothing was changed.
        """
        loaded = load(state)
        with self._lock:
            self._runner.resume(loaded)

    async def save(self, path: str | os.PathLike[str]) -> None:
        """Put the state into a file, whole or not at all, in a thread: a disk may take its time.

        Raises:
            OSError: the file cannot be written; what was there is there.
            ValueError: it is no path.
        """
        require_path("path", path)
        await asyncio.to_thread(write_state, Path(path), self.save_state())

    async def load(self, path: str | os.PathLike[str]) -> None:
        """Continue from the state in a file, which is read in a thread.

        Raises:
            StateError: the state is damaged or of a newer schema; nothing was changed.
            OSError: the file cannot be read.
            ValueError: it is no path.
        """
        require_path("path", path)
        self.load_state(await asyncio.to_thread(read_state, Path(path)))

    async def apply_changes(self, changes: Iterable[ContextChange]) -> UpdatedContext:
        """Take in what changed beside the messages, all of it or nothing; it makes a version. Waits as ``prepare`` does.

        Args:
            changes: in the order in which they happened; where there are none, nothing is done and no version made.

        Raises:
            ChangeRefused: one makes no sense, or would break the context; everything is as before.
            ValueError: it is no list of changes.
        """
        await self._runner.look_up()
        with self._lock:
            return self._runner.updated(changes)

    @property
    def versions(self) -> tuple[Version, ...]:
        """What the context was after each change and each compaction, as far as it is kept, oldest first."""
        with self._lock:
            return tuple(self._runner.kept.versions)

    def diff(self, a: int, b: int) -> VersionDiff:
        """What is different between two versions, by their numbers.

        Raises:
            NoSuchVersion: one is not kept.
        """
        with self._lock:
            versions = self._runner.kept.versions
            return difference(a, b, before=versions.view(a), after=versions.view(b))

    def roll_back(self, version: int) -> Version:
        """Have decisions, notices and pins as they were in a version, which makes a new one.

        Messages are the host's: what it handed in since then comes in anew, and what it took back stays away.

        Raises:
            NoSuchVersion: it is not kept.
        """
        with self._lock:
            return self._runner.roll_back(version)

    def branch(self) -> "IncrementalContextManager":
        """Another manager that goes on from here; neither sees what becomes of the other."""
        with self._lock:
            other = IncrementalContextManager(config=self.config, host=self._host)
            other._runner = TurnRunner(self._runner.given)
            other._lock = other._runner.lock
            self._runner.branch(other._runner)
        return other

    async def aclose(self) -> None:
        """End what is still under way; no turn is prepared after it."""
        self._is_closed = True
        await self._runner.aclose()

    async def __aenter__(self) -> Self:
        """The manager itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End what is still under way."""
        await self.aclose()
