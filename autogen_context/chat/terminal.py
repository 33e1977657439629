"""The terminal interface of a chat: the prompt, streamed answers and commands.

Promise: Ctrl-C ends an answer, not the chat; what was typed is kept in the conversation and the prompt history; an error is one
line; what a model, a file or a name has of control characters is never printed: ``_print`` and ``_table`` print all.
"""

import asyncio
import gc
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from rich.console import Console
from rich.text import Text
from typing_extensions import override

from autogen_context.chat.settings import ChatSettings, shown
from autogen_context.errors import ContextError
from autogen_context.report import printable

if TYPE_CHECKING:  # imported in the background, after the prompt appears
    from autogen_context.chat.session import ChatSession

Line = Callable[[], Awaitable[str]]
"""Reads a line; raises ``EOFError`` at the end, ``KeyboardInterrupt`` for Ctrl-C."""

PROMPT = "> "
BAR = 30  # characters of a full bar
END_WORDS = ("exit", "quit", "/exit")
SESSION = "autogen_context.chat.session"  # slow to import: the engine and AutoGen


class ChatCommand(NamedTuple):
    """A slash command."""

    usage: str
    help: str
    run: Callable[[str], Awaitable[None]]


class InputHistory(FileHistory):
    """The prompt history, shared by later chats; lines that cannot be written are dropped."""

    @override
    def store_string(self, string: str) -> None:
        """Append a line to the file."""
        with suppress(OSError):
            super().store_string(string)


class Terminal:
    """A chat at a terminal."""

    def __init__(self, settings: ChatSettings, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._settings = settings
        self._session: ChatSession
        self._answering: asyncio.Task[None] | None = None
        self._commands = {
            "/help": ChatCommand("", "this list", self._help),
            "/save": ChatCommand("[name]", "save the conversation; also as Markdown", self._save),
            "/load": ChatCommand("name", "go on with one that was saved", self._load),
            "/branch": ChatCommand("[name]", "go on under another name", self._branch),
            "/context": ChatCommand("", "what is in the window now, and why", self._context),
            "/why": ChatCommand("text", "what became of what was said, or of an entry", self._why),
            "/facts": ChatCommand("[edit n text | delete n]", "what you stated", self._facts),
            "/pin": ChatCommand("text", "keep what was said word for word", self._pin),
            "/model": ChatCommand("[name]", "which model answers, or another one", self._model),
            "/limit": ChatCommand("[tokens]", "the most a request may have", self._limit),
        }

    async def run(self, *, load: str = "") -> int:
        """Chat until the user ends it; return the exit code."""
        self._settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._greet()
        opening = asyncio.create_task(made_ready(self._settings))  # while the user types
        line = self._line()
        text = "" if load else await self._next(line)
        if text and not opening.done():
            self._say("One moment: the engine is loaded, and the knowledge is read.")
        async with await opening as self._session:
            if fault := self._session.knowledge.fault:
                self._say(fault)
            if load:
                await self._load(load)
                text = await self._next(line)
            is_warned = False
            while text is not None:
                if text.strip().lower() not in END_WORDS:
                    await self._do(text)
                elif is_warned:
                    return 2
                elif await self._saved():
                    return 0
                else:
                    is_warned = True
                    self._say("exit once more leaves without saving.")
                text = await self._next(line)
            return 0 if await self._saved() else 2

    async def _saved(self) -> bool:
        """Save the conversation, if there is one; print an error and return False if that fails."""
        try:
            if self._session.exchanges:
                self._say(f"Saved in {await self._session.save()}.")
        except OSError as error:
            self._say(f"error: not saved: {one_line(error)}")
            return False
        return True

    def _line(self) -> Line:
        """Return the line reader: a prompt with history and completion at a terminal, else standard input."""
        if not sys.stdin.isatty():

            async def piped() -> str:
                line: str = await asyncio.to_thread(sys.stdin.readline)
                if not line:
                    raise EOFError
                return line.removesuffix("\n")

            return piped
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGINT, self._interrupted)
        except NotImplementedError:  # loops of Windows have none

            def from_signal(_number: int, _frame: FrameType | None) -> None:
                loop.call_soon_threadsafe(self._interrupted)

            signal.signal(signal.SIGINT, from_signal)
        keys = KeyBindings()

        @keys.add("escape", "enter")
        def _another_line(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        session: PromptSession[str] = PromptSession(
            history=InputHistory(str(self._settings.folder / ".history")),
            completer=WordCompleter([*self._commands, "exit"], sentence=True),
            complete_while_typing=True,
            auto_suggest=AutoSuggestFromHistory(),
            key_bindings=keys,
        )
        return lambda: session.prompt_async(PROMPT, handle_sigint=False)

    async def _next(self, line: Line) -> str | None:
        """Return the next line, or ``None`` at the end; Ctrl-C clears the line."""
        while True:
            try:
                typed = await line()
                return typed.encode("utf-8", "replace").decode()
            except KeyboardInterrupt:
                self._say("Ctrl-D or exit ends the chat.")
            except EOFError:
                return None

    async def _do(self, text: str) -> None:
        """Run a command or ask a question; print an error as one line."""
        name, _, rest = text.strip().partition(" ")
        try:
            if name in self._commands:
                await self._commands[name].run(rest.strip())
            elif name.startswith("/") and "\n" not in text and "/" not in name[1:]:
                self._say(f"There is no command {shown(name)}; /help lists them.")
            elif text.strip() or self._waits:
                await self._answer(text if text.strip() else "")
        except (ContextError, ValueError, OSError) as error:
            self._say(f"error: {one_line(error)}")

    @property
    def _waits(self) -> bool:
        """True if the newest question has no answer yet."""
        exchanges = self._session.exchanges
        return bool(exchanges) and not exchanges[-1].answer

    async def _answer(self, text: str) -> None:
        """Stream an answer; Ctrl-C ends it."""
        self._answering = asyncio.create_task(self._stream(text))
        try:
            await self._answering
        except asyncio.CancelledError:
            self._console.print()
            kept = "Press Enter to ask again." if self._waits else "What came is kept."
            self._say(f"Stopped. {kept}")
        except Exception as error:  # noqa: BLE001 - a model client may raise anything
            self._console.print()
            self._say(f"No answer: {reason_of(error, self._settings)}")
            self._say("What you typed is kept: press Enter to ask again.")
        finally:
            self._answering = None
        try:
            await self._session.save()
        except OSError as error:
            self._say(f"error: not saved: {one_line(error)}")

    def _interrupted(self) -> None:
        """Cancel a running answer; at the prompt, prompt_toolkit handles Ctrl-C."""
        if self._answering is not None:
            self._answering.cancel()

    async def _stream(self, text: str) -> None:
        async with aclosing(self._session.ask(text)) as pieces:
            async for piece in pieces:
                self._print(piece, end="")
        self._console.print()
        if sources := self._session.exchanges[-1].sources:
            self._say(f"Sources: {', '.join(sources)}")

    # Commands

    async def _help(self, _: str) -> None:
        rows = [(f"{name} {c.usage}".strip(), c.help) for name, c in self._commands.items()]
        self._table([*rows, ("exit", "end the chat, as Ctrl-D does")])
        self._say("Esc Enter begins another line; Ctrl-C ends an answer.")

    async def _save(self, name: str) -> None:
        self._say(f"Saved in {await self._session.save(name)}.")

    async def _load(self, name: str) -> None:
        if not name:
            raise ValueError(f"/load name: {self._session.known_names()}")
        if self._session.exchanges:
            self._say(f"What you leave is saved in {await self._session.save()}.")
        await self._session.load(name)
        for each in self._session.exchanges[-2:]:
            self._print(f"{PROMPT}{shown(each.said)}", style="bold")
            self._print(shown(each.answer) or "(no answer)")
        self._say(f"Loaded {name}: {len(self._session.exchanges)} questions so far.")

    async def _branch(self, name: str) -> None:
        session = self._session
        await session.save()
        before = session.name
        await session.save(name or session.free_name(before))
        self._say(f"{before} stays as it is; from here on this is {session.name}.")

    async def _context(self, _: str) -> None:
        session = self._session
        if session.context.last_prepared is None:
            self._say("Nothing was sent yet.")
            return
        bound = session.context.last_prepared.certificate.bound
        rows: list[tuple[str, ...]] = []
        for share in session.shares():
            is_margin = share.section == "margin"  # the free part of the limit
            most = session.settings.limit_tokens if is_margin else share.most
            full = min(BAR, round(BAR * share.used / max(1, most)))
            bar = f"{'█' * full}{'░' * (BAR - full)}"
            percent = f"{100 * share.most / session.settings.limit_tokens:.0f} %"
            said = f"free, {share.most:,} planned" if is_margin else f"of {share.most:,}"
            rows.append((share.section, bar, f"{share.used:,}", said, percent))
        self._table(rows)
        self._say(
            f"The last request has at most {bound.tokens:,} of {session.settings.limit_tokens:,} tokens. "
            "A section may use what others leave unused."
        )
        rows = [
            ("entry", "", "", f"[{each.passage.source}], score {each.score:.2f}")
            for each in session.provider.selected
        ]
        for action, reason, count, before, after in session.decisions():
            tokens = f"{before:,}" if before == after else f"{before:,} → {after:,}"
            rows.append((action, str(count), tokens, reason))
        self._say("what became of messages: how many, tokens, why")
        self._table(rows)
        for skipped in session.knowledge.skipped:
            self._say(f"not searched: {skipped}")

    async def _why(self, text: str) -> None:
        if not text:
            raise ValueError("/why text: name what was said, or a part of it")
        for line in self._session.why(text):
            self._say(line)

    async def _facts(self, rest: str) -> None:
        session, facts = self._session, self._session.provider.facts
        verb, _, more = rest.partition(" ")
        number, _, words = more.partition(" ")
        if verb == "delete" and number:
            fact = session.fact(number)
            session.provider.take_back(fact)
            self._say(f"Forgotten: {fact.text}")
        elif verb == "edit" and words:
            self._say(f"Now: {facts.edit(session.fact(number).id, words).text}")
        elif verb:
            raise ValueError("/facts, /facts edit n text, or /facts delete n")
        else:
            for at, fact in enumerate(facts, 1):
                self._say(f"{at}. {fact.text} ({fact.kind})")
            if not len(facts):
                self._say("No facts recorded yet.")

    async def _pin(self, text: str) -> None:
        if not text:
            raise ValueError("/pin text: name what was said, or a part of it")
        self._say(f"Pinned: “{shown(self._session.pin(text))}”.")

    async def _model(self, name: str) -> None:
        settings = self._session.settings
        if name and settings.is_scripted:
            way = "set OPENAI_API_KEY or OPENAI_BASE_URL for another"
            raise ValueError(f"the scripted model answers; {way}")
        if name:
            await self._changed(replace(settings, model=name))
        self._say(model_line(self._session.settings))

    async def _limit(self, tokens: str) -> None:
        if tokens and not tokens.isdecimal():
            raise ValueError(f"/limit {shown(tokens)}: give a whole number of tokens")
        if tokens:
            await self._changed(replace(self._session.settings, limit_tokens=int(tokens)))
        self._say(f"A request has at most {self._session.settings.limit_tokens:,} tokens.")

    async def _changed(self, settings: ChatSettings) -> None:
        await self._session.change(settings)
        self._settings = settings

    def _greet(self) -> None:
        settings = self._settings
        knowledge = f", knowledge from {settings.knowledge}" if settings.knowledge else ""
        limit = f"Limit {settings.limit_tokens:,} tokens{knowledge}"
        self._say(f"{model_line(settings)} {limit}. /help lists the commands.")

    def _say(self, line: str) -> None:
        """Print a line of the chat itself, dimmed."""
        self._print(line, style="dim")

    def _print(self, text: str, *, style: str = "", end: str = "\n") -> None:
        """Print a text; nothing in it acts on the terminal."""
        clean = Text(printable(text, keeps="\n\t"), style=style)
        self._console.print(clean, end=end, soft_wrap=not end)

    def _table(self, rows: Iterable[Sequence[str]]) -> None:
        """Print rows of cells; nothing in them acts on the terminal."""
        from rich.table import Table  # noqa: PLC0415 - keeps the prompt fast

        table = Table.grid(padding=(0, 2))
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        self._console.print(table)


def model_line(settings: ChatSettings) -> str:
    """Say which model answers."""
    if settings.is_scripted:
        why = "since there is neither OPENAI_API_KEY nor OPENAI_BASE_URL"
        return f"The scripted model answers, {why}."
    place = f" at {settings.base_url}" if settings.base_url else ""
    named = f" (named in {settings.base_url_file})" if settings.base_url_file else ""
    named = f" (with the key in {settings.key_file})" if settings.key_file else named
    return f"{settings.model} answers{place}{named}."


async def made_ready(settings: ChatSettings) -> "ChatSession":
    """Do the slow part of starting: import the engine and AutoGen, and read the knowledge."""
    loaded = await asyncio.to_thread(import_module, SESSION)
    gc.freeze()  # what was loaded stays: a large folder is read in four fifths of the time
    session: ChatSession = loaded.ChatSession(settings)
    await session.knowledge.refresh()
    return session


def one_line(error: BaseException) -> str:
    """Return an error's message on one line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def reason_of(error: BaseException, settings: ChatSettings) -> str:
    """Describe why no answer came, and what the user can do."""
    where, kind = settings.base_url or "OpenAI", type(error).__name__
    known = {
        "AuthenticationError": f"{where} refuses the key; set OPENAI_API_KEY and begin again with --load.",
        "NotFoundError": f"{where} knows no model {settings.model!r}; choose another one with /model NAME.",
        "APITimeoutError": f"{where} took too long.",
        "APIConnectionError": f"{where} cannot be reached; check the network, or OPENAI_BASE_URL.",
        "RateLimitError": f"{where} asks to wait for a moment.",
        "RemoteProtocolError": "the connection was lost in the middle of it.",
        "ReadError": "the connection was lost in the middle of it.",
    }
    return known.get(kind, f"{kind}: {shown(one_line(error))}")
