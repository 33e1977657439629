"""Every public way that a text takes through the package, and texts that nobody should send: for ``benchmarks/linear.py`` and tests."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count, islice
from textwrap import wrap

from autogen_context import ContextConfig, IncrementalContextManager, RecallGate, SemanticCompressor
from autogen_context.budget.task import TaskDefinition
from autogen_context.cli.recording import conversations_in, documents_in
from autogen_context.compressor.arrival import LinesAbove, cut, tightened, wanted_of
from autogen_context.compressor.code import outline
from autogen_context.compressor.concepts import Holdings, sense_of
from autogen_context.compressor.kinds import REDUCERS, reducer_for
from autogen_context.compressor.left_out import stated_in
from autogen_context.compressor.lines import Reducer, TextLimit
from autogen_context.compressor.passage import passages_of
from autogen_context.compressor.people import is_repeated
from autogen_context.compressor.shorten import shorten_arguments, shorten_text
from autogen_context.compressor.steps import without_outdated
from autogen_context.compressor.summaries import mended, prompt_for, span_of
from autogen_context.language.own_words import all_sentences
from autogen_context.language.phrases import phrases
from autogen_context.language.query import kind_of
from autogen_context.language.reading import reading_of
from autogen_context.language.terms import terms
from autogen_context.ledger import Ledger
from autogen_context.ledger.reader import read
from autogen_context.messages.blocks import blocks_of, parsed, strings_in, texts_of
from autogen_context.messages.identifiers import values_of
from autogen_context.messages.message import Message, ToolCall
from autogen_context.messages.openai_chat import OpenAIChat, messages_in
from autogen_context.messages.origin import Declared, origin_of
from autogen_context.messages.piece import RoleRules, Verbatim
from autogen_context.messages.segment import Unit, segment
from autogen_context.messages.shell import action_of_command
from autogen_context.messages.tool_call import action_of
from autogen_context.prioritizer.attention import ContextPart, LexicalIndex, relevances
from autogen_context.prioritizer.category import category_of
from autogen_context.prioritizer.prioritizer import ContextPrioritizer
from autogen_context.project.documents import read_document
from autogen_context.project.secrets import without_secrets
from autogen_context.project.symbols import symbols_of
from autogen_context.recall.exchanges import exchanges, rendered, why_dropped
from autogen_context.recall.facts import Facts
from autogen_context.recall.gate import author_of, words_asked
from autogen_context.recall.recall_tool import RecallContext
from autogen_context.recall.recaller import Recaller
from autogen_context.text.outcome import outcome_of
from autogen_context.text.passage import joined
from autogen_context.text.sentence import sentences_of
from autogen_context.tokens.measure import Count, EstimateCounter
from autogen_context.triggers.turn import labels_of
from autogen_context.view.decision import Candidate

Input = Callable[[int], str]
Path = Callable[[str], object]


class FourCharacters:
    """Four characters a token, so that what is measured is ours."""

    def count(self, text: str, /) -> Count:
        """Tokens of a text."""
        return Count(tokens=-(-len(text) // 4), source="tokenizer")


def tokens_of(text: str) -> int:
    """Four characters a token."""
    return -(-len(text) // 4)


# ---- texts that nobody should send, of a number of characters


def again(piece: str, chars: int) -> str:
    """The same piece again and again."""
    return (piece * (chars // len(piece) + 1))[:chars]


def numbered(form: str, chars: int) -> str:
    """A form with numbers from 0 on."""
    size, pieces = 0, list[str]()
    for n in count():
        if size >= chars:
            break
        pieces.append(form.format(n))
        size += len(pieces[-1])
    return "".join(pieces)[:chars]


def words(chars: int, *, between: str = " ", least: int = 3, most: int = 10) -> str:
    """Words of letters that are all different, nearly."""
    draw, letters = random.Random(7), "abcdefghijklmnopqrstuvwxyz"  # noqa: S311 - the same ones again
    size, found = 0, list[str]()
    while size < chars:
        found.append("".join(draw.choices(letters, k=draw.randint(least, most))))
        size += len(found[-1]) + len(between)
    return between.join(found)[:chars]


def base64_of(chars: int) -> str:
    """What an encoded file looks like."""
    draw = random.Random(7)  # noqa: S311 - as above
    return "".join(
        draw.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", k=chars)
    )


def nested(opening: str, closing: str, chars: int) -> str:
    """Opened so often, and closed."""
    times = chars // (len(opening) + len(closing))
    return opening * times + closing * times


REPEATED = {
    "a word": "word ",
    "a letter": "a",
    "digits": "7",
    "numbers": "12 ",
    "spaces": " ",
    "tabs": "\t",
    "newlines": "\n",
    "returns": "\r",
    "returns and letters": "ab\r",
    "blank lines": " \n",
    "angles": "<",
    "squares": "[",
    "braces": "{",
    "parentheses": "(",
    "backticks": "`",
    "fences": "```\n",
    "quotes": '"',
    "quotes and words": '"a ',
    "apostrophes": "'",
    "apostrophes and words": " 'a",
    "opening quotes": "\u201c",
    "backslashes": "\\",
    "escaped quotes": '"\\"',
    "slashes": "a/",
    "dots": ".",
    "dotted": "a.",
    "ellipses": "\u2026 ",
    "hyphens": "-",
    "hyphenated": "a-",
    "underscores": "_",
    "snake": "a_b_c_",
    "camel": "aB",
    "commas": ",",
    "colons": ":",
    "colons and words": "a: ",
    "stars": "*",
    "bold": "**a ",
    "hashes": "#",
    "headings": "# a\n",
    "pipes": "|",
    "cells": "| a ",
    "equals": "=",
    "ats": "@",
    "addresses": "a@b.",
    "dollars": "$",
    "prices": "$1,000.",
    "percents": "%",
    "arrows": "=>",
    "semicolons": "; ",
    "questions": "? ",
    "ends": "a. ",
    "ends without words": "! ",
    "urls": "http://",
    "clock": "1:",
    "dates": "2026-01-",
    "thousands": "1,111",
    "tags": "<a>",
    "output tags": "<output>",
    "closing tags": "</output>",
    "document tags": "<document>\n",
    "html": "<div class='a'>x</div>",
    "user marks": "[user] ",
    "user lines": "user: x\n",
    "system lines": "[system] a\n",
    "ledgers": "[Ledger]\nLimits:\na\n",
    "titles": "Limits:\n",
    "gap marks": "[\u2026 3 lines \u2026]\n",
    "negations": "not ",
    "never": "never use it ",
    "instead of": "use b instead of a ",
    "if": "if a then ",
    "and": "it is and ",
    "is": "is ",
    "at most": "at most ",
    "I prefer": "I prefer ",
    "rule labels": "Rule: ",
    "no longer": "no longer ",
    "never mind": "never mind ",
    "make that": "make that 5 ",
    "do you remember": "do you remember ",
    "remember what": "what did we say ",
    "list items": "- a\n",
    "numbered items": "1. a\n",
    "quoted lines": "> a\n",
    "deep quotes": "> ",
    "code lines": "    x = 1;\n",
    "python heads": "def f(x):\n",
    "brace heads": "f(a) {\n",
    "decorators": "public static ",
    "generics": "a<b,",
    "frames": '  File "a.py", line 3\n',
    "java frames": "\tat a.b.C(D.java:3)\n",
    "traceback": "Traceback (most recent call last):\n",
    "error words": "error ",
    "error lines": "ERROR it failed\n",
    "no errors": "no error ",
    "exit codes": "exit code 1 ",
    "counts": "1 failed, ",
    "logs": "2026-01-01 12:00:00 INFO a\n",
    "diff": "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n",
    "hunks": "@@ -1 +1 @@\n",
    "hits": "a/b.py:3:x\n",
    "paths": "a/b/c.py\n",
    "rows": "a,b,c\n",
    "tab rows": "a\tb\tc\n",
    "drawn rows": "|---|---|\n",
    "json lines": '{"a": 1}\n',
    "json items": '{"a": 1}, ',
    "json keys": '"a": ',
    "json strings": '["',
    "open objects": '{"a":',
    "unicode escapes": "\\u0041",
    "escape codes": "\x1b[",
    "colours": "\x1b[31m",
    "titles of terminals": "\x1b]0;",
    "nulls": "\0",
    "han": "\u6f22\u5b57",
    "han ends": "\u6f22\u5b57\u3002",
    "kana": "\u304b",
    "thai": "\u0e01",
    "hangul": "\ud55c ",
    "accents": "e\u0301",
    "only accents": "\u0301",
    "emoji": "\U0001f600",
    "families": "\U0001f468\u200d\U0001f469\u200d",
    "surrogates": "\ud83d",
    "wide spaces": "\u3000",
    "separators": "\u2028",
    "dotted capital I": "\u0130",
    "sharp s": "\u00df",
    "ligatures": "\ufb01",
    "shell ands": "a && ",
    "shell pipes": "a | ",
    "shell quotes": "'a' ",
    "here documents": "cat <<E\n",
    "shell prefixes": "sudo ",
    "patches": "*** Update File: a\n",
    "assignments": "A=1 ",
    "secrets": "password=",
    "settings": "password a\n",
    "elements": "<password>",
    "entries": 'name="password" ',
    "commands": "curl -ua:b ",
    "key names": "api_key ",
    "private keys": "-----BEGIN PRIVATE KEY-----",
    "mails": "Subject: a\nFrom: b\n",
    "abbreviations": "Dr. ",
    "capitals": "A ",
    "names": "Ann ",
    "initials": "A. B. ",
    "she wrote": "she wrote: ",
    "e.g.": "e.g. ",
    "aside": "(a) ",
    "dashes": "\u2013 a ",
    "courtesy": "thanks ",
    "examples": "for example a. ",
    "decided": "we decided to ",
    "tool words": "read_file ",
}
STATING = {
    "one subject": "port: {}\n",
    "one subject in sentences": "The job took {} seconds. ",
    "one subject that changes": "The port is now {}.\n",
    "one rule": "Never use X{}.\n",
    "own subjects": "The port of host {} is 80.\n",
    "rules": "Rule: never restart node_{}.\n",
    "wishes": "I prefer node_{}.\n",
    "withdrawals": "Never mind node_{}.\n",
    "real withdrawals": "Room {0} is closed. Forget room {0}.\n",
    "withdrawals of one": "The report of {} is due. Forget the report.\n",
    "recasts": "We need {0} chairs. Make that {0}5.\n",
    "replacements": "Use v{0} instead of v{0}1.\n",
}
NUMBERED = {
    "numbered words": "w{} ",
    "numbered lines": "line {}\n",
    "identifiers": "node_{0}.part_{0} ",
    "facts of sentences": "Invoice {} was paid on 2026-01-01 by Ann. ",
    "keys": '"key_{}": 1, ',
    "records": '{{"id": {0}, "name": "n{0}"}}\n',
    "urls of many": "http://h{}.example/a ",
    "paths of many": "src/m{0}/f{0}.py\n",
    "logs of many": "2026-01-01 12:00:00 INFO request {} served\n",
    "errors of many": "ERROR request {} failed\n",
    "hits of many": "src/m{0}.py:{0}: x = {0}\n",
    "definitions": "def f_{0}(x):\n    return x + {0}\n\n",
    "nested definitions": "class C{0}:\n def f_{0}(self):\n  pass\n",
    "frames of many": '  File "m{0}.py", line {0}, in f_{0}\n',
    "rows of many": "{0},name {0},{0}.5\n",
    "marks of many": "[user] q {}\n[assistant] a\n",
    "quotes of many": '"quote {}" ',
    "headings of many": "## Part {0}\n\nText of part {0}.\n\n",
    "questions of many": "What about node_{}? ",
    "shell of many": "cat f{0} > g{0}; ",
    "tags of many": "<t{0}>x",
    "hashes of many": "{0:08x}{0:08x}\n",
}
OBJECT, MEMBER = '{{"id": {0}, "text": "t {0}"}}, ', '"k{}": 1, '
INPUTS: Mapping[str, Input] = {
    **{name: partial(again, piece) for name, piece in REPEATED.items()},
    **{name: partial(numbered, form) for name, form in (STATING | NUMBERED).items()},
    "unique words": words,
    "unique words on lines": partial(words, between="\n"),
    "unique words in sentences": partial(words, between=". "),
    "unique words with commas": partial(words, between=", "),
    "unique capitals": lambda chars: words(chars).title(),
    "unique long words": partial(words, least=60, most=90),
    "base64": base64_of,
    "base64 lines": lambda chars: "\n".join(wrap(base64_of(chars), 76))[:chars],
    "nested lists": partial(nested, "[", "]"),
    "nested objects": partial(nested, '{"a":', "}"),
    "nested parentheses": partial(nested, "(", ")"),
    "nested tags": partial(nested, "<a>", "</a>"),
    "nested outputs": partial(nested, "<output>", "</output>"),
    "indented": lambda chars: "\n".join(
        " " * (n % 20) + "def f():" for n in range(chars // 18 + 1)
    )[:chars],
    "a list of numbers": lambda chars: f"[{again('1, ', chars - 3)}1]",
    "a list of objects": lambda chars: f"[{numbered(OBJECT, chars)[:-40].rpartition(', ')[0]}]",
    "an object of many keys": lambda chars: (
        f"{{{numbered(MEMBER, chars)[:-40].rpartition(', ')[0]}}}"
    ),
    "a long string": lambda chars: json.dumps({"text": again("word ", chars)}),
    "a long escaped string": lambda chars: json.dumps({"text": again('"', chars // 2)}),
    "a person behind output": lambda chars: f"{again('x = 1; ', chars)}\nNever use the port 80.",
    "letters then a mark": lambda chars: "a" * (chars - 1) + "!",
    "dots then a letter": lambda chars: "." * (chars - 1) + "x",
    "digits then a letter": lambda chars: "7" * (chars - 1) + "x",
    "spaces then a letter": lambda chars: " " * (chars - 1) + "x",
    "newlines then a letter": lambda chars: "\n" * (chars - 1) + "x",
    "words then a quote": lambda chars: again("word ", chars - 1) + '"',
    "capitals then lower": lambda chars: "A" * (chars - 1) + "a",
}


# ---- the ways


def found_as(topic: str, text: str) -> object:
    """The phrases of a topic in it."""
    return phrases(topic).find(text)


def cut_as(kind: Reducer, text: str) -> object:
    """It within a room, as if it were of this kind."""
    return kind.cut(text, room())


def room() -> TextLimit:
    """A room that the text does not fit."""
    return TextLimit(tokens=100, count=tokens_of, wanted=frozenset({"node_7", "error", "a", "w3"}))


def wire_lines(text: str, most: int = 100_000) -> list[dict[str, object]]:
    """A message for each line, by turns of a person and a model."""
    lines = islice((line for line in text.split("\n") if line.strip()), most)
    return [{"role": ("user", "assistant")[n % 2], "content": line} for n, line in enumerate(lines)]


def own_lines(text: str) -> list[Message]:
    """The same as ``Message``."""
    return [*messages_in(wire_lines(text))]


def called(arguments: str, name: str = "read_file") -> ToolCall:
    """A call with these arguments."""
    return ToolCall(id="c", name=name, arguments=arguments)


def wire_call(name: str, arguments: str, result: str) -> list[dict[str, object]]:
    """A call and its result."""
    function = {"name": name, "arguments": arguments}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def turn(messages: Sequence[Mapping[str, object]], window_tokens: int = 600) -> object:
    """A turn that compacts, mostly, in front of a task and behind a question."""
    keeper = IncrementalContextManager(window_tokens=window_tokens, counter=FourCharacters())
    begin = [{"role": "system", "content": "Help."}, {"role": "user", "content": "Find the fault."}]
    end = [
        {"role": "assistant", "content": "I looked."},
        {"role": "user", "content": "Go on with the port."},
    ]
    prepared = keeper.prepare_nowait([*begin, *messages, *end])
    return prepared.messages


def many(text: str) -> list[str]:
    """Its lines, without empty ones."""
    return [line for line in text.split("\n") if line.strip()][:20_000]


def one_message_of_calls(text: str, *, named: bool = True) -> list[dict[str, object]]:
    """A message with a call for each line, and the results; without names in reverse order."""
    ids = [f"c{n}" if named else "" for n in range(len(many(text)))]
    function = {"name": "read_file", "arguments": '{"path": "a.py"}'}
    calls = [{"id": i, "type": "function", "function": function} for i in ids]
    asked: dict[str, object] = {"role": "assistant", "content": None, "tool_calls": calls}
    order = zip(ids if named else reversed(ids), many(text), strict=True)
    told: list[dict[str, object]] = [
        {"role": "tool", "tool_call_id": i, "content": line} for i, line in order
    ]
    return [asked, *told] if calls else []


def turn_of_one_side(text: str) -> object:
    """A person's lines for a template that wants turns, all of them sent."""
    config = ContextConfig(window_tokens=1_000_000, alternate_roles=True)
    keeper = IncrementalContextManager(config=config, counter=FourCharacters())
    return keeper.prepare_nowait([{"role": "user", "content": x} for x in many(text)]).messages


def turn_newest(role: str, text: str) -> object:
    """A turn whose newest message is that text."""
    keeper = IncrementalContextManager(window_tokens=600, counter=FourCharacters())
    begin = [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": "Yes."},
    ]
    return keeper.prepare_nowait([*begin, {"role": role, "content": text}]).messages


def recalled(text: str, query: str) -> str:
    """An answer of the tool."""

    class Kept:
        handles = ("0" * 12,)

        def get(self, _handle: str, /) -> tuple[Message, ...]:
            return (Message(role="tool", text=text),)

    return RecallContext(Kept(), count=tokens_of, room_tokens=1_000).recall_context(query=query)


def asked_back(text: str) -> str:
    """A conversation in which a question is asked about a message that left."""
    recaller = Recaller()
    messages = [Message(role="user", text=text), Message(role="assistant", text="Yes.")]
    recaller.read(messages)
    query = "What did I say about node_7 and the port?"
    recaller.decide(query, messages)
    return recaller.text(query, {0}.__contains__, room_tokens=100, count=tokens_of)


def asks_long(text: str) -> object:
    """A long question in a conversation."""
    recaller = Recaller()
    messages = [
        Message(role="user", text="The port is 80."),
        Message(role="assistant", text="Yes."),
    ]
    recaller.read(messages)
    recaller.decide(text, messages)
    return recaller.text(text, {0}.__contains__, room_tokens=100, count=tokens_of)


def ledger_of(text: str, author: str = "person") -> Ledger:
    """What a message of these lines states, a message a line."""
    ledger = Ledger()
    role = {"person": "user", "system": "system", "assistant": "assistant"}[author]
    ledger.learn(Message(role=role, text=line) for line in text.split("\n") if line.strip())
    return ledger


def ledger_and_back(text: str) -> object:
    """A ledger rendered in a small room and read again."""
    ledger = ledger_of(text)
    return Ledger.read(ledger.rendered(room_tokens=len(text) // 16, count=tokens_of).text)


def learnt(text: str) -> Ledger:
    """What a text as a whole states."""
    ledger = Ledger()
    ledger.learn_text(text)
    return ledger


def facts_of(text: str) -> object:
    """The facts of lines, each a message, rendered."""
    facts = Facts()
    facts.learn(Message(role="user", text=line) for line in text.split("\n") if line.strip())
    return facts.rendered()


def indexed(text: str) -> object:
    """Lines as documents, and the whole as a query."""
    index = LexicalIndex()
    for line in text.split("\n"):
        index.add(line)
    return index.scores(text)


def lines_above(text: str) -> object:
    """The text twice."""
    above = LinesAbove()
    above.add(text)
    return above.without(text)


def recorded(text: str) -> object:
    """A file of it."""
    try:
        return conversations_in(documents_in(text))
    except ValueError:
        return None


def compressed(text: str, fraction: float = 0.1) -> object:
    """A tenth of it."""
    compressor = SemanticCompressor(counter=FourCharacters())
    return compressor.compress_nowait(
        text, target_tokens=int(tokens_of(text) * fraction), keep=("node_7",)
    )


def mended_of(text: str) -> object:
    """A summary that says the text again."""
    passages = passages_of(text)
    return mended(passages[:40], passages)


def candidates_of(text: str) -> object:
    """A span of lines."""
    rows = [
        Candidate(unit=Unit(start=n, messages=(m,)), tokens=1)
        for n, m in enumerate(own_lines(text))
    ]
    return span_of(rows, 0).text if rows else ""


ANSWER = Message(role="assistant", text="Run ``ls``.")
PATHS: Mapping[str, Path] = {
    # messages
    "messages: read": lambda text: OpenAIChat().read({"role": "user", "content": text}),
    "messages: read parts": lambda text: OpenAIChat().read(
        {"role": "user", "content": [{"type": "text", "text": line} for line in text.split("\n")]}
    ),
    "messages: digest": lambda text: OpenAIChat().digest(
        OpenAIChat().snapshot({"role": "user", "content": text, "extra": [text]})
    ),
    "messages: segment": lambda text: segment(own_lines(text)),
    "messages: role rules": lambda text: RoleRules(alternate=True, single_system=True).apply(
        [Verbatim(start=0, stop=1)], [Message(role="user", text=text)]
    ),
    "messages: whose words": lambda text: origin_of(
        Message(role="user", text=text), Message(role="assistant", text=text), Declared()
    ),
    "messages: output in tags": lambda text: origin_of(
        Message(role="user", text=f"<output>{text}</output>"), ANSWER, Declared()
    ),
    "messages: output in JSON": lambda text: origin_of(
        Message(role="user", text=f'{{"output": "{text}"}}'), ANSWER, Declared()
    ),
    "messages: identifiers": values_of,
    "messages: shell": action_of_command,
    "messages: a command in a call": lambda text: action_of(
        called(json.dumps({"command": text}), "bash")
    ),
    "messages: arguments": lambda text: action_of(called(text)),
    "messages: a written file": lambda text: action_of(
        called(json.dumps({"path": "a.py", "content": text}), "write_file")
    ),
    "text: outcome": outcome_of,
    "text: outcome of what was looked up": partial(outcome_of, is_content=True),
    # language
    **{
        f"language: {topic}": partial(found_as, topic)
        for topic in ("ledger", "task", "unit", "work", "courtesy", "choice")
    },
    "language: terms": terms,
    "language: query": kind_of,
    "language: reading": reading_of,
    "budget: task": TaskDefinition.from_text,
    # ledger
    "ledger: read": lambda text: [*read(text)],
    "ledger: read system": lambda text: [*read(text, "system")],
    "ledger: sentences": lambda text: [*all_sentences(text)],
    "ledger: learn": learnt,
    "ledger: learn lines": ledger_of,
    "ledger: learn lines of a model": partial(ledger_of, author="assistant"),
    "ledger: learn lines of the system": partial(ledger_of, author="system"),
    "ledger: render and read": ledger_and_back,
    "ledger: read a rendering": Ledger.read,
    "ledger: stated": stated_in,
    # recall
    "recall: gate": lambda text: RecallGate({"node_7"}).decide(text, [text]),
    "recall: words asked": words_asked,
    "recall: author": lambda text: author_of(Message(role="user", text=text)),
    "recall: asked back": asked_back,
    "recall: a long question": asks_long,
    "recall: tool": lambda text: recalled(text, "node_7 port"),
    "recall: tool with a long query": lambda text: recalled("The port is 80.\n" * 100, text),
    "recall: tool with itself": lambda text: recalled(text, text),
    "recall: exchanges": lambda text: rendered(exchanges(own_lines(text))),
    "recall: courtesy": lambda text: why_dropped(
        Message(role="user", text=text[:150]), Message(role="assistant", text=text)
    ),
    "recall: facts": facts_of,
    # prioritizer
    "prioritizer: relevance": lambda text: relevances(text, [text]),
    "prioritizer: index": indexed,
    "prioritizer: blocks": blocks_of,
    "prioritizer: blocks of arguments": lambda text: texts_of(
        [Message(role="assistant", calls=(called(json.dumps({"content": text})),))]
    ),
    "prioritizer: blocks of JSON": lambda text: texts_of(
        [Message(role="assistant", calls=(called(text),))]
    ),
    "prioritizer: strings": lambda text: strings_in(parsed(text)),
    "prioritizer: category": lambda text: category_of(
        segment([Message(role="assistant", text=text)])[0]
    ),
    "prioritizer: parts": lambda text: ContextPrioritizer().prioritize(
        text, [ContextPart("goal", text)]
    ),
    # compressor
    "compressor: kind": reducer_for,
    **{f"compressor: cut as {each.kind}": partial(cut_as, each) for each in REDUCERS},
    **{f"compressor: tighten as {each.kind}": each.tighten for each in REDUCERS},
    "compressor: outline": lambda text: outline(text.split("\n")),
    "compressor: arrival": lambda text: cut(
        tightened(text), text, count=tokens_of, call=called('{"path": "a"}'), task=text
    ),
    "compressor: arrival of a file": lambda text: cut(
        tightened(text, shows_file=True), text, count=tokens_of, shows_file=True
    ),
    "compressor: wanted": lambda text: wanted_of(called(text), text),
    "compressor: lines above": lines_above,
    "compressor: passages": lambda text: joined(passages_of(text)),
    "compressor: sentences": sentences_of,
    "compressor: sense": sense_of,
    "compressor: holdings": lambda text: [*map(Holdings(text).has, sense_of(text).concepts)],
    "compressor: compress": compressed,
    "compressor: compress a little": partial(compressed, fraction=0.7),
    "compressor: compress to nothing": partial(compressed, fraction=0.0005),
    "compressor: shorten": lambda text: shorten_text(text, room_tokens=100, count=tokens_of),
    "compressor: shorten arguments": lambda text: shorten_arguments(
        text, room_tokens=100, count=tokens_of
    ),
    "compressor: repeated": lambda text: is_repeated(text, set()),
    "compressor: outdated": lambda text: without_outdated(text, list(learnt("The port is 81."))),
    "compressor: mended": mended_of,
    "compressor: span": candidates_of,
    "compressor: prompt": lambda text: prompt_for(text, target_tokens=100),
    # triggers, project, tokens, recordings
    "triggers: labels": labels_of,
    "project: python": lambda text: symbols_of(text, "python"),
    "project: script": lambda text: symbols_of(text, "script"),
    "project: c": lambda text: symbols_of(text, "c"),
    "project: secrets": without_secrets,
    "project: requirements": lambda text: read_document("requirements", "README.md", text),
    "project: design": lambda text: read_document("design", "docs/decisions/1.md", text),
    "tokens: estimate": EstimateCounter().count,
    "cli: recording": recorded,
    # turns
    "turn: a person": lambda text: turn([{"role": "user", "content": text}]),
    "turn: a model": lambda text: turn([{"role": "assistant", "content": text}]),
    "turn: a result": lambda text: turn(wire_call("run", '{"command": "make"}', text)),
    "turn: a file": lambda text: turn(wire_call("read_file", '{"path": "a.py"}', text)),
    "turn: arguments": lambda text: turn(
        wire_call("write_file", json.dumps({"path": "a.py", "content": text}), "ok")
    ),
    "turn: raw arguments": lambda text: turn(wire_call("run", text, "ok")),
    "turn: lines": lambda text: turn(wire_lines(text, 20_000)),
    "turn: calls": lambda text: turn(one_message_of_calls(text)),
    "turn: calls without ids": lambda text: turn(one_message_of_calls(text, named=False)),
    "turn: results without calls": lambda text: turn(one_message_of_calls(text)[1:]),
    "turn: authors": lambda text: turn(
        [{"role": "user", "name": f"n_{n}", "content": line} for n, line in enumerate(many(text))]
    ),
    "turn: memories": lambda text: turn(
        [{"role": "system", "content": line} for line in many(text)]
    ),
    "turn: parts": lambda text: turn(
        [{"role": "user", "content": [{"type": "text", "text": line} for line in many(text)]}]
    ),
    "turn: one side": turn_of_one_side,
    "turn: newest of a person": partial(turn_newest, "user"),
    "turn: newest of a model": partial(turn_newest, "assistant"),
}
