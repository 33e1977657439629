"""IncrementalContextManager: the public interface of one conversation inside its window.

Promise: what ``prepare`` returns fits the window, keeps tool calls with their results, and contains all protected messages; a
turn costs what is new in it. All promises: docs/promises.md.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Self, TypeVar, Unpack, cast
from weakref import WeakMethod, WeakValueDictionary

from typing_extensions import override

from autogen_context.argument import (
    listed,
    require_kind,
    require_number,
    require_path,
    require_text,
)
from autogen_context.config.config import ContextConfig
from autogen_context.errors import ManagerClosed
from autogen_context.forks import when_forked
from autogen_context.language.phrases import load_languages
from autogen_context.manager.change import ContextChange, UpdatedContext
from autogen_context.manager.goal import goal_text
from autogen_context.manager.offered_tools import GivenTools
from autogen_context.manager.options import ManagerOptions, divided, takes_options
from autogen_context.manager.parts import setup_of
from autogen_context.manager.prefetch import discovered
from autogen_context.manager.prepared import Payload, Prepared
from autogen_context.manager.providers import providers_of
from autogen_context.manager.runner import ToolSchemas, TurnRunner, counter_of
from autogen_context.manager.state import State, dump, load, read_state, write_state
from autogen_context.manager.turns import Turns
from autogen_context.messages.message import HostFormat, Message
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.tool_schema import as_text, schemas_in
from autogen_context.models.background import Background
from autogen_context.models.completion import Places
from autogen_context.prioritizer.guarded import Awaited, ScoresDue
from autogen_context.tokens.message_counter import load_tokenizer
from autogen_context.view.conversation import digest_of
from autogen_context.view.versions import Version, VersionDiff
from autogen_context.view.view import BilledUsage, ContextView

if TYPE_CHECKING:
    from autogen_context.manager.facts import ContextFacts
    from autogen_context.manager.forgetting import Forgotten
    from autogen_context.view.explanation import Explanation
    from autogen_context.view.statement import PersonStatement

PreparedT = TypeVar("PreparedT", Prepared[object], Prepared[object] | None)
MESSAGES = "the whole history as a list of messages"


class IncrementalContextManager:
    """Keeps one conversation of one agent inside its window.

    It may be called from any number of tasks, event loops and threads: turns are taken one at a time; ``prepare`` waits for
    the turn under way without blocking its event loop, ``prepare_nowait``, ``roll_back`` and ``branch`` block their thread
    for it. Reading (``usage``, ``explain``, ``versions``, ``save_state``, ``recall``) shows what the last turn left; it and
    ``pin``, ``record_usage`` and ``observe`` never wait for a turn. A forked process goes on from there, too.

    Closing it is optional; ``async with`` or ``aclose`` end background work early.

    Args:
        model: name of the model; it determines limit and tokenizer.
        options: each setting of ``ContextConfig`` under its name, first of all ``window_tokens``, and the parts below.
        config: settings as one value; those that are arguments win over it, and it wins over ``AUTOGEN_CONTEXT_*`` in the
            environment.
        host: message format of the host; default: OpenAI's chat format.
        counter: counts tokens; default: the model's tokenizer.
        budget: divides the window, in each turn and at a compaction; default: a ``TokenBudgetManager`` by the settings
            ``profile``, ``role``, ``compact_at_fraction`` and ``compact_to_fraction``.
        vectors: adds semantic search to recall; a ``VectorStore``, which agents may share.
        prioritizer: scores what matters in a compaction; default: ``ContextPrioritizer()``. Yours may be ``async``.
        compressor: shortens texts; default: a ``SemanticCompressor``; any object with the methods of ``Compressor``.
        reducers: your own reductions of tool results on arrival, asked before ours; objects with the methods of ``ResultReducer``.
        model_client: asked in the background for summaries of what leaves and for advice on the task: a
            ``CompletionClient`` or an async function of a prompt. A part's own client wins; without any, no model is
            asked.
        triggers: proposes finished work to cut when that pays; a ``SemanticHybridTrigger`` or an object with its method
            ``observe(turn)``, copied for the conversation. With ``compaction="when_full"`` only ``dry_run`` uses it.
        clock: returns seconds since 1970, such as ``time.time``; needed to notice that the provider's cache has expired.
            Without it no decision depends on time.
        original_store: a further store of originals; a ``RedisOriginals``, ``DiskOriginals`` or another ``OriginalTier``. With a
            scope that names an agent or a team it is shared by all who name it; without, the conversation has its own there.
        memory: what the person whom the agent serves said in earlier conversations, and which facts hold; a ``UserMemory``, one for each
            person. Default: nothing is remembered over conversations.
        files: a folder or a ``FileChangeTracker``: changes made by others to files that the conversation shows are
            reported to the agent.
        project: a folder or a ``ProjectContext``: its context is sent after the system prompt, updates before the newest
            message.
        cache: stores what models produced (summaries, advice, embeddings), reductions, and what was read of project files; a
            ``ContextCache``, which agents may share, with a folder to keep it for later processes. Default: in memory.
        providers: your own ``ContextProvider`` objects; their context is sent before the newest message.
        events: a file, or an ``EventLog`` that agents may share: records what each turn sent, and why.
        metrics: ``True``, or a ``Metrics`` that agents may share: OpenTelemetry metrics and spans of each turn.
        limits: looks up the model's limits; a ``ModelLimits``, which agents may share, so that a discovery endpoint is
            asked once for all. Default: by the settings.

    Raises:
        ValueError: a setting or argument is invalid; the error names it, its value and the way out.
    """

    @takes_options
    def __init__(
        self,
        model: str | None = None,
        *,
        host: HostFormat | None = None,
        **options: Unpack[ManagerOptions],
    ) -> None:
        settings, parts = divided(options)
        self.config = ContextConfig.for_entry(
            parts.pop("config", None), {"model": model, **settings}
        )
        self._setup = setup_of(self.config, host or OpenAIChat(), parts, Background(self))
        self._turns = Turns()
        self._begin_anew()
        when_forked(self._begin_anew)
        self._kept: TurnRunner | None = None
        self._looking = Places(1)
        self._is_looked_up = self._is_discovering = False
        self._is_closed = False
        self._handed_out: WeakValueDictionary[int, Prepared[object]] = WeakValueDictionary()

    @override
    def __repr__(self) -> str:
        """Say which model and window it keeps to, and what the last turn left."""
        known = self._kept
        window = known.window_tokens if known else self.config.window_tokens
        messages, tokens = (known.latest.messages, known.latest.view.tokens) if known else (0, 0)
        kept = f"model={self.config.model!r}, window_tokens={window}"
        return f"<{type(self).__name__} {kept}, messages={messages}, tokens={tokens}>"

    async def prepare(
        self,
        messages: Sequence[Payload],
        tools: ToolSchemas | None = (),
        *,
        required_tools: Iterable[str] = (),
    ) -> Prepared[Payload]:
        """Prepare a turn, waiting for what helps it; the first one waits for the tokenizer up to ``tokenizer_timeout_s``.

        With ``vectors`` it waits for the embedding of a question, up to ``embedding_timeout_s``. With a model it has summaries
        made in the background, and a turn that compacts waits for them up to ``summary_timeout_s``, as for the scores of a
        prioritizer of yours that is ``async``, up to ``prioritizer_timeout_s``. A turn that reads many
        messages or compacts runs in a thread, off the event loop. Arguments, result and errors as of ``prepare_nowait``.
        """
        given = self._given(messages, tools, required_tools)
        await self._look_up()
        if self.config.enabled and self._runner.awaits:
            begun = await self._turns.take(
                lambda: self._open.begin(*given), quick=lambda: self._open.quick_begin(*given)
            )
            await self._open.before_turn(begun)
        scored: list[Awaited] = []
        while True:
            try:
                prepared = await self._turns.take(
                    lambda: self._handed(self._open.turn(*given)),
                    quick=lambda: self._handed(self._open.quick_turn(*given)),
                )
                return cast("Prepared[Payload]", prepared)
            except (
                ScoresDue
            ) as due:  # of a prioritizer of the user's own, at most once for each list
                scored.append(await due.awaited(self.config.prioritizer_timeout_s))

    def prepare_nowait(
        self,
        messages: Sequence[Payload],
        tools: ToolSchemas | None = (),
        *,
        required_tools: Iterable[str] = (),
    ) -> Prepared[Payload]:
        """Prepare a turn with what is ready; waits for nothing but a turn of another caller that is under way.

        Args:
            messages: the whole history, oldest first; messages handed in before must not be edited in place.
            tools: schemas of the tools sent with the request, to be counted; ``None`` means none. With ``find_tools_schema()``
                among them, schemas may be deferred: send ``Prepared.tools``.
            required_tools: names of those that are sent in any case, such as that of a tool choice.

        Returns:
            The list to send, its certificate and the decisions, and the tools to send.

        Raises:
            InvalidTranscript: a message cannot be read, or there are orphans and ``orphans="refuse"``.
            ContextWindowExceeded: the protected messages do not fit; nothing is lost, the next turn tries again.
            ManagerClosed: the manager is closed.
            ValueError: ``messages`` or ``tools`` has another type.
        """
        given = self._given(messages, tools, required_tools)
        with self._turns.lock:
            self._discover()
            try:
                prepared = self._open.turn(*given)
            except ScoresDue as due:
                declined = due.decline()
                prepared = self._open.turn(*given)
                del declined  # until the turn was taken
            return cast("Prepared[Payload]", self._handed(prepared))

    def _given(
        self,
        messages: Sequence[object],
        tools: ToolSchemas | None,
        required_tools: Iterable[str],
    ) -> tuple[Sequence[object], GivenTools]:
        """Check the arguments of a turn."""
        names = (required_tools,) if isinstance(required_tools, str) else tuple(required_tools)
        for at, name in enumerate(names):
            require_text(f"required_tools[{at}]", name)
        if self._is_closed:
            raise ManagerClosed
        payloads = listed("messages", messages, give=MESSAGES)
        return payloads, GivenTools(schemas_in(tools) if tools else (), names)

    def _handed(self, prepared: PreparedT) -> PreparedT:
        """Note what is handed out."""
        if prepared is not None:
            self._handed_out[id(prepared)] = prepared
        return prepared

    def observe(self, messages: Sequence[object]) -> None:
        """Read and measure new messages without preparing a turn, for hosts that deliver them early.

        They are read in this thread. During a turn of another caller nothing is read: the next turn reads what is new in any
        case. At the end of a conversation it has ``memory=`` remember the last answer, which no turn shows.

        Raises:
            InvalidTranscript: as of ``prepare_nowait``.
            ValueError: ``messages`` is no list.
        """
        payloads = listed("messages", messages, give=MESSAGES)
        if self.config.enabled and not self._runner.is_changing:
            self._turns.if_free(lambda: self._owned.observe(payloads))

    def record_usage(
        self, prepared: Prepared[Payload], *, prompt_tokens: int, cached_tokens: int | None = None
    ) -> None:
        """Calibrate the token count with the provider's bill for a prepared list.

        Args:
            prepared: the result of the turn that was sent.
            prompt_tokens: all input tokens of the bill, cached ones included.
            cached_tokens: of these, the cached ones; ``None`` if the bill does not say.

        Raises:
            ValueError: ``prepared`` is not a result of this manager, or a number is invalid.
        """
        require_kind("prepared", prepared, Prepared, give="what prepare returned")
        require_number("prompt_tokens", prompt_tokens, give="the input tokens of the bill")
        if cached_tokens is not None:
            give = "how many of these were cached, or None if that is not known"
            require_number("cached_tokens", cached_tokens, give=give)
        if self._handed_out.get(id(prepared)) is not prepared:
            raise ValueError(
                "prepared: it is another manager's, or a copy; give the very object that this manager's prepare returned"
            )
        self._runner.bill(
            prepared.certificate, prompt_tokens=prompt_tokens, cached_tokens=cached_tokens
        )

    @property
    def usage(self) -> BilledUsage:
        """The provider's bills so far."""
        return self._runner.latest.view.usage

    def pin(self, message: object) -> None:
        """Keep a message verbatim from now on, together with the tool call or results that belong to it.

        Raises:
            ValueError: it is no message.
        """
        digest = digest_of(self._setup.host, message)
        self._runner.change(lambda view: view.pinned(digest))

    def unpin(self, message: object) -> None:
        """Undo ``pin``; the message may leave at the next compaction."""
        digest = digest_of(self._setup.host, message)
        self._runner.change(lambda view: view.unpinned(digest))

    def explain(self, message: object) -> "Explanation":
        """Explain the decision on a message in the last turn, with the score that decided.

        Raises:
            NotInHistory: the last prepared list does not contain it.
            ValueError: it is no message.
        """
        return self._runner.latest.explain(message)

    def rules(self) -> "tuple[PersonStatement, ...]":
        """Return the rules, limits and preferences that people stated and that still hold, in the order in which they were stated.

        Each has its words, its place, and whether the last request has it; a rule leaves only by a person's word, or with its message.
        It waits for a turn under way; what was not read yet of the conversation is read now. With ``enabled=False`` nothing is.

        Raises:
            ValueError: the messages of a loaded state were not handed in yet.
        """
        return tuple([each for each in self.statements() if each.is_rule])

    def statements(self) -> "tuple[PersonStatement, ...]":
        """Return all that people stated and still holds: rules, facts, decisions, goals, who they are; as of ``rules``."""
        with self._turns.lock:
            return tuple(self._owned.statements())

    def forget(self, message: object = None, *, handle: str = "", query: str = "") -> "Forgotten":
        """Forget a message, the original under a handle, or all that has a text; a call goes with its results.

        It is in no request any more, even if the host still hands it in, and nothing is kept that was made of it: originals in
        all stores, statements, summaries, notices, vectors, versions, the person's memory. A file of the event log stays as it was written.

        Args:
            message: as it was handed in.
            handle: of an original.
            query: a text, found whatever its case is, in the words, arguments and results of any message or original.

        Returns:
            What was forgotten; false if nothing has the text of a query.

        Raises:
            NotInHistory: neither the conversation nor an original has the message.
            OriginalNotFound: nothing has the handle.
            ValueError: not one of the three was given, it is the system prompt or the newest message, or the messages of a
                loaded state were not handed in yet.
        """
        require_text("handle", handle)
        require_text("query", query)
        if (message is not None) + bool(handle) + bool(query) != 1:
            raise ValueError("forget: give a message, or handle=, or query=")
        with self._turns.lock:
            return self._open.forget(message=message, handle=handle, query=query)

    @property
    def goal(self) -> str:
        """What people want of the agent, in their words; empty if they did not say yet.

        It is not what they said last: consent, thanks, talk, questions and orders for the step at hand leave it as it is. Assign a text
        to say what the agent is to do: it stays, in a saved state as well, until ``None`` is assigned; then it follows again from what
        people say. Reading waits for a turn under way, as ``rules`` does.

        Raises:
            ValueError: what is assigned is no text or an empty one, or the messages of a loaded state were not handed in yet.
        """
        with self._turns.lock:
            return self._owned.goal().text

    @goal.setter
    def goal(self, goal: str | None) -> None:
        text = goal_text(goal)
        self._runner.change(lambda view: replace(view, goal=text))

    @property
    def facts(self) -> "ContextFacts":
        """The facts that people stated, as they hold now: listed, edited, deleted.

        With ``memory=`` they are those of all conversations of the person. Of a loaded state they are known once its messages
        were handed in.
        """
        from autogen_context.manager.facts import ContextFacts  # noqa: PLC0415 - imported on demand

        def read() -> tuple[Sequence[Message], ContextView]:
            known = self._runner
            return known.engine.conversation.messages[: known.latest.messages], known.latest.view

        def change(wanted: Callable[[ContextView], ContextView]) -> None:
            self._runner.change(wanted)

        return ContextFacts(read, change, self._setup.options.get("memory"))

    def recall(self, handle: str) -> tuple[Message, ...]:
        """Return the original messages of a unit that was shortened or dropped.

        Raises:
            OriginalNotFound: they are not in the store (any more).
            ValueError: the handle is no string.
        """
        require_text("handle", handle)
        return self._runner.originals.get(handle)

    def clear_originals(self) -> None:
        """Delete the originals of this conversation, from memory and wherever else they are kept.

        Raises:
            StoreUnavailable: a store cannot be written now, so some may still be there.
        """
        self._runner.originals.clear()

    def recall_context(self, handle: str = "", query: str = "", lines: str = "") -> str:
        """Answer a call of the tool ``recall_context``; the answer is always a text.

        Args:
            handle: handle of an original, as shown in a mark.
            query: search terms, for that original or for all.
            lines: lines of the original: ``"120-180"``, ``"120-"``, ``"-40"`` or ``"150"``.
        """
        return self._runner.recall_context(as_text(handle), as_text(query), as_text(lines))

    def find_tools(self, query: str = "") -> str:
        """Answer a call of the tool ``find_tools``; the answer is always a text, and the next turn loads what it found.

        Args:
            query: names of tools, or what they should do; several separated by commas.
        """
        return self._runner.find_tools(as_text(query))

    def save_state(self) -> dict[str, object]:
        """Return the state as JSON data, from which another manager continues to the byte; without the host's messages.

        It takes as long as it is large; ``save`` writes it in a thread.
        """
        return dump(self._runner.state)

    def load_state(self, state: Mapping[str, object]) -> None:
        """Continue from a saved state.

        Raises:
            StateError: the state is damaged or of a newer schema; nothing is changed.
        """
        loaded, known = load(state), self._runner
        providers = known.providers.resumed(loaded.providers)
        self._kept = known.continued(self._setup, loaded, known.counter, providers)

    async def save(self, path: str | os.PathLike[str]) -> None:
        """Put the state into a file, whole or not at all, in a thread: a disk may take its time.

        Raises:
            OSError: the file cannot be written; what was there is there.
            ValueError: it is no path.
        """
        require_path("path", path)
        await asyncio.to_thread(lambda: write_state(Path(path), self.save_state()))

    async def load(self, path: str | os.PathLike[str]) -> None:
        """Continue from a state in a file, read in a thread.

        Raises:
            StateError: the state is damaged or of a newer schema; nothing is changed.
            OSError: the file cannot be read.
            ValueError: it is no path.
        """
        require_path("path", path)
        await asyncio.to_thread(lambda: self.load_state(read_state(Path(path))))

    async def apply_changes(self, changes: Iterable[ContextChange]) -> UpdatedContext:
        """Apply changes of files, tasks, requirements or decisions, all or none; this makes a version.

        Args:
            changes: in the order in which they happened; an empty list makes no version.

        Raises:
            ChangeRefused: a change is invalid or would break the context; nothing is changed.
            ValueError: ``changes`` is no list of changes.
        """
        await self._look_up()
        return await self._turns.take(lambda: self._owned.updated(changes))

    @property
    def versions(self) -> tuple[Version, ...]:
        """The kept versions of the context, one per change and compaction, oldest first."""
        return tuple(self._runner.latest.versions)

    def diff(self, a: int, b: int) -> VersionDiff:
        """Compare two versions by their numbers.

        Raises:
            ValueError: one of them is not kept.
        """
        return self._runner.latest.versions.diff(a, b)

    def roll_back(self, version: int) -> Version:
        """Restore decisions, notices and pins of a version; this makes a new version.

        The host's messages stay as they are: those handed in since then are decided on anew.

        Raises:
            ValueError: the version is not kept.
        """
        with self._turns.lock:
            return self._owned.roll_back(version)

    def branch(self) -> "IncrementalContextManager":
        """Return an independent manager that continues from the current state."""
        options: ManagerOptions = {**self._setup.options, "config": self.config}
        other = IncrementalContextManager(host=self._setup.host, **options)
        with self._turns.lock:
            known, setup = self._owned, other._setup
            state, counter = known.branched(), counter_of(setup)
            providers = known.providers.resumed(state.providers)
            other._kept = known.continued(setup, state, counter, providers)
            other._kept.take_over(known.engine.conversation.history.payloads)
        return other

    async def aclose(self) -> None:
        """End background work, and keep nothing more of texts; further turns, and those that wait, raise ``ManagerClosed``.

        The one under way ends first.
        """
        self._is_closed = True
        try:
            await self._setup.background.aclose()
            if self._kept is not None:
                await self._turns.take(lambda: None)
                await self._kept.providers.aclose()
        finally:
            if self._kept is not None:
                self._kept.memo.end()
            self._setup.own_cache.drop()
            if self._setup.log is not None:
                await asyncio.to_thread(self._setup.log.log.flush)

    @property
    def _runner(self) -> TurnRunner:
        """The conversation, created on first use."""
        if self._kept is None:
            with self._creating:
                self._kept = self._kept or self._created()
        return self._kept

    def _created(self) -> TurnRunner:
        counter, providers = counter_of(self._setup), providers_of(self._setup, self._count)
        return TurnRunner(self._setup, counter, providers, State())

    @property
    def _owned(self) -> TurnRunner:
        """The conversation, for whoever has its turn."""
        known = self._runner
        if known.is_torn:
            known = known.continued(self._setup, known.state, known.counter, known.providers)
            self._kept = known
        return known

    @property
    def _open(self) -> TurnRunner:
        """The conversation, for a turn; raises ``ManagerClosed``."""
        if self._is_closed:
            raise ManagerClosed
        return self._owned

    def _begin_anew(self) -> None:
        self._creating = Lock()

    def _count(self, text: str) -> int:
        """Count a text without caching it."""
        return self._runner.counter.count(text).tokens

    async def _look_up(self) -> None:
        """Load the tokenizer within its time limit, and start the discovery of limits and the loading of languages; all once."""
        if self._is_looked_up:
            return
        async with self._looking.here():  # others wait for the same
            if self._is_looked_up:
                return
            languages = asyncio.to_thread(load_languages)
            self._setup.background.start(languages, name="languages")
            if self._setup.options.get("counter") is None:
                timeout_s = self.config.tokenizer_timeout_s
                await load_tokenizer(self.config.model, timeout_s=timeout_s)
            await self._turns.take(self._count_exactly)
            self._is_looked_up = True
            self._discover()

    def _discover(self) -> None:
        """Start the discovery of limits, once, while turns go on: in synchronous code in a thread."""
        if self.config.discovery_url and self.config.model and not self._is_discovering:
            self._is_discovering = True
            discovery = discovered(self.config, self._setup.limits, WeakMethod(self._resize))
            self._setup.background.start_anywhere(discovery, name="discovery")

    def _count_exactly(self) -> None:
        """Begin the conversation, or continue with the exact tokenizer if it began with an estimate."""
        known = self._owned
        if known.counter.source == "estimate" and self._setup.options.get("counter") is None:
            counter = counter_of(self._setup)
            runner = known.continued(self._setup, known.state, counter, known.providers)
            runner.take_over(known.engine.conversation.history.payloads, decides=True)
            if self._kept is known:  # no other state was loaded meanwhile
                self._kept = runner

    def _resize(self, window_tokens: int) -> None:
        """Use this window from the next turn on."""
        self._runner.window_tokens = window_tokens

    async def __aenter__(self) -> Self:
        """Return the manager."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.aclose()
