"""Whether retrieval happens when a query asks for the past of the conversation, and only then.

Usage: python benchmarks/gate.py [FILE] [--people FILE ...] [--show] [--small-talk] [--many]

FILE (`queries.json` beside this script) holds queries in six languages that were labelled by meaning: does an answer need
what was said earlier in this conversation? `RecallGate` decides each by its wording alone; one with `earlier` is asked
behind that sentence and a long history of work, all of it out of sight. Printed are precision and recall, also of those
that are `newer`, and with `--show` the queries that were decided wrongly.

`--people` takes files as in `people` and prints of how many questions of sixty turns later the gate opens. The history of each is all
chats of the author, joined so that the chat with the answer is far from the end; the last 3,000 tokens are in sight. What must not
open it are the questions that need nothing said before, and the other messages of each person, in their chat behind all others.

`--small-talk` continues a long history of work, that was compacted, with 300 turns of small talk (`--many`: 1,000) and
prints in what per cent of them a request got a message that the caller had not written and the request before had not.
A turn that compacts is not counted: its notices are new as well.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from random import Random

from pydantic import TypeAdapter
from work_talk import Message as OpenAIMessage
from work_talk import WorkTalk

from autogen_context import IncrementalContextManager, RecallGate
from autogen_context.messages.message import Message
from autogen_context.messages.openai_chat import messages_in
from autogen_context.recall.recaller import Recaller
from autogen_context.text.memo import Memo

BESIDE = Path(__file__).with_name("queries.json")
WINDOW = 8_000
WORK_TURNS = 80
IN_SIGHT_TOKENS = 3_000
TOKEN_CHARS = 4  # of a token, about
MESSAGE_TOKENS = 4  # of a message, beside its text
PLAIN = 0.35  # of the remarks are whole sentences, the others a subject and what it did

OPENERS = (
    "",
    "",
    "Ha,",
    "Oh well,",
    "Hey,",
    "Phew,",
    "You know,",
    "Honestly,",
    "Hm,",
    "By the way,",
    "Funny,",
    "Sorry,",
)
REMARKS = (
    "the coffee machine is broken again.",
    "when it rains like this I just want to stay in bed.",
    "my cat sits on the keyboard.",
    "the queue at the bakery went round the corner.",
    "I baked a batch of biscuits and they're all gone.",
    "the neighbours are drilling.",
    "it's my birthday on Saturday.",
    "I slept like a stone.",
    "the bus took a new route and I'm late.",
    "my daughter lost her first tooth.",
    "the sun is out at last.",
    "I could do with a holiday.",
    "the football was a disgrace.",
    "they're playing Mozart on the radio.",
    "lunch was lovely, there was soup.",
    "my back hurts from all that sitting.",
    "the kids built a tree house.",
    "I remember my grandmother's plum cake.",
    "we talked all night, my sister and I.",
    "what a view from up here.",
    "I've started to learn the cello.",
    "the bucket under the roof is full again.",
    "somebody has eaten my yoghurt.",
    "traffic was terrible.",
    "spring is coming, the crocuses are out.",
    "I need a new bicycle, the frame is bent.",
    "my phone is at two per cent.",
    "there was a fox in the garden.",
    "I never liked Mondays.",
    "the lift is stuck between two floors.",
)
SUBJECTS = (
    "my uncle's moustache",
    "the new barista",
    "this jumper",
    "the smell of fresh paint",
    "our choir",
    "the dentist",
    "my left sock",
    "that film with the penguins",
    "the pigeon on the sill",
    "my sister's flat",
    "the marathon",
    "the umbrella stand",
    "the canteen's lentil stew",
    "my commute",
    "the sunset",
    "crossword number nine",
    "the piano next door",
    "my hay fever",
    "the office plant",
    "the trip to the lake",
    "our old Volvo",
    "the yoga class",
    "the moon",
    "the snowman",
    "Grandpa's accordion",
    "the chess club",
    "the thunder",
    "my haircut",
    "the ferry",
    "the lost glove",
)
HAPPENINGS = (
    "made my day.",
    "drives me up the wall.",
    "is not what it used to be.",
    "looked splendid this morning.",
    "kept me awake until three.",
    "surprised everybody.",
    "was quite an adventure.",
    "is growing on me.",
    "gives me goosebumps.",
    "cost more than I care to admit.",
    "has a charm of its own.",
    "turned out well in the end.",
    "reminds me of the seaside.",
    "could be worse.",
    "was all anybody spoke of at dinner.",
    "is a bit much before breakfast.",
    "put me in a good mood.",
    "needs some love.",
    "is the talk of the town.",
    "left me speechless.",
)
CLOSERS = (
    "",
    "",
    "How are you?",
    "Anyway.",
    "Do you like tea?",
    "Isn't that nice?",
    "Life goes on.",
    "What do you think of jazz?",
    "Tell me a joke.",
    "Thanks for listening!",
    "Have you ever been to Rome?",
    "What's the weather like in Oslo in May?",
    "Never mind me.",
    "That made me smile.",
    "Any good films out at the moment?",
    "So it goes.",
)
REPLIES = (
    "Ha, I can imagine!",
    "That sounds nice.",
    "Oh dear. I hope it gets better soon.",
    "Good for you!",
    "I'm fine, thanks.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query and whether it asks for the past of the conversation."""

    text: str
    recall: bool
    language: str
    newer: bool = False
    earlier: str = ""  # what was said before, now out of sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question of later, and the sentences that answer it."""

    text: str
    needs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a person."""

    message: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A chat; only what is used here."""

    messages: tuple[Mapping[str, str], ...]
    sentences: tuple[Sentence, ...] = ()
    asks: tuple[Ask, ...] = ()

    def said(self) -> list[Message]:
        """Its messages."""
        return [
            Message(role="user" if each["from"] == "person" else "assistant", text=each["text"])
            for each in self.messages
        ]

    def looks_back(self) -> set[int]:
        """The messages that ask for what was said before."""
        return {sentence.message for sentence in self.sentences if sentence.kind == "back"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person says after a history of which the end is in sight; ``is_ask`` for a question of later."""

    text: str
    looks_back: bool
    is_ask: bool
    memory: Recaller
    in_sight: tuple[Message, ...]


def chats_of(path: Path) -> list[Chat]:
    """Read the chats of one author."""
    return TypeAdapter(list[Chat]).validate_json(path.read_bytes())


def situations(chats: Sequence[Chat]) -> Iterator[Said]:
    """Yield what people say in chats of one author, each behind all others."""
    said = [chat.said() for chat in chats]
    for at, (chat, own) in enumerate(zip(chats, said, strict=True)):
        others = [said[(at + n) % len(said)] for n in range(1, len(said))]
        memory = Recaller()
        before = list(chain.from_iterable(others))
        memory.read(before)
        back = chat.looks_back()
        for position, message in enumerate(own):
            if message.role == "user" and position:
                yield Said(
                    text=message.text,
                    looks_back=position in back,
                    is_ask=False,
                    memory=memory,
                    in_sight=ending(before),
                )
            memory.read([message])
            before.append(message)
        if chat.asks:
            half = len(others) // 2
            history = [*chain.from_iterable([*others[half:], own, *others[:half]])]
            memory = Recaller()
            memory.read(history)
            for ask in chat.asks:
                yield Said(
                    text=ask.text,
                    looks_back=bool(ask.needs),
                    is_ask=True,
                    memory=memory,
                    in_sight=ending(history),
                )


def ending(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The newest messages within the tokens that are in sight."""
    room, found = IN_SIGHT_TOKENS, list[Message]()
    for message in reversed(messages):
        room -= len(message.text) // TOKEN_CHARS + MESSAGE_TOKENS
        if room < 0:
            break
        found.append(message)
    return tuple(reversed(found))


def main() -> None:
    """Print precision and recall, and what small talk opened."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=BESIDE)
    parser.add_argument("--show", action="store_true", help="list what was decided wrongly")
    parser.add_argument("--small-talk", action="store_true", help="300 turns of small talk")
    parser.add_argument("--many", action="store_true", help="1,000 turns of small talk")
    parser.add_argument("--people", type=Path, nargs="*", default=[], help="files as in people")
    options = parser.parse_args()
    if options.people:
        with Memo().in_use():
            _people(options.people, show=options.show)
        return
    _queries(TypeAdapter(list[Query]).validate_json(options.file.read_bytes()), show=options.show)
    if options.small_talk or options.many:
        _small_talk(1_000 if options.many else 300, show=options.show)


def _queries(queries: Sequence[Query], *, show: bool) -> None:
    opened = [_opens(query) for query in queries]
    decided = list(zip(queries, opened, strict=True))
    print(f"{'':8} {'queries':>8} {'precision':>10} {'recall':>7}")
    _row("all", decided)
    _row("English", [each for each in decided if each[0].language == "en"])
    _row("others", [each for each in decided if each[0].language != "en"])
    _row("newer", [each for each in decided if each[0].newer])
    if show:
        for query, is_open in decided:
            if query.recall != is_open:
                print(f"  {'opened' if is_open else 'missed'} ({query.language}): {query.text}")


def _opens(query: Query) -> bool:
    if not query.earlier:
        return RecallGate().decide(query.text).retrieve
    recaller = Recaller()
    recaller.read(list(messages_in([{"role": "user", "content": query.earlier}, *_work()])))
    return recaller.decide(query.text, in_sight=()).retrieve


def _row(name: str, decided: Sequence[tuple[Query, bool]]) -> None:
    right = sum(query.recall and is_open for query, is_open in decided)
    precision = right / max(sum(is_open for _, is_open in decided), 1)
    recall = right / max(sum(query.recall for query, _ in decided), 1)
    print(f"{name:8} {len(decided):8d} {precision:10.2f} {recall:7.2f}")


def _people(paths: Sequence[Path], *, show: bool) -> None:
    print(
        f"{'':10} {'asks':>6} {'recall':>7} {'back':>6} {'recall':>7} {'asks for nothing':>17} {'other messages':>15} precision"
    )
    whole = list[tuple[Said, bool]]()
    for path in paths:
        found = [
            (said, said.memory.decide(said.text, said.in_sight).retrieve)
            for said in situations(chats_of(path))
        ]
        _people_row(path.stem, found)
        whole += found
        for said, is_open in found if show else ():
            if said.looks_back != is_open:
                print(f"  {'opened' if is_open else 'missed'}: {said.text[:150]!r}")
    _people_row("all", whole)


def _people_row(name: str, found: Sequence[tuple[Said, bool]]) -> None:
    def share(*, is_ask: bool, looks_back: bool) -> tuple[int, float]:
        opened = [o for said, o in found if (said.is_ask, said.looks_back) == (is_ask, looks_back)]
        return len(opened), sum(opened) / max(1, len(opened))

    asked = share(is_ask=True, looks_back=True)
    back = share(is_ask=False, looks_back=True)
    vain = share(is_ask=True, looks_back=False)
    other = share(is_ask=False, looks_back=False)
    right = sum(is_open for said, is_open in found if said.looks_back)
    precision = right / max(1, sum(is_open for _, is_open in found))
    print(
        f"{name:10} {asked[0]:6d} {asked[1]:7.2f} {back[0]:6d} {back[1]:7.2f} {vain[0]:8d} {vain[1]:8.2f} {other[0]:8d} {other[1]:6.3f} {precision:9.2f}"
    )


def _small_talk(turns: int, *, show: bool) -> None:
    manager = IncrementalContextManager(model="gpt-4", window_tokens=WINDOW, reserve_tokens=0)
    messages = _work()
    before = set(_texts(manager.prepare_nowait(messages).messages))
    counted = 0
    opened: list[str] = []
    for number, text in enumerate(small_talk(turns)):
        messages.append({"role": "user", "content": text})
        prepared = manager.prepare_nowait(messages)
        sent = set(_texts(prepared.messages))
        if not prepared.compacted:
            counted += 1
            if sent - before - set(_texts(messages)):
                opened.append(text)
        before = sent
        messages.append({"role": "assistant", "content": REPLIES[number % len(REPLIES)]})
    share = 100 * len(opened) / counted
    print(f"small talk: {share:.1f} % of {counted} turns got something retrieved")
    if show:
        print("".join(f"  {text}\n" for text in opened), end="")


def _work() -> list[OpenAIMessage]:
    talk = WorkTalk(1)
    turns = [talk.turn() for _ in range(WORK_TURNS)]
    return [{"role": "system", "content": "You help."}, *(each for turn in turns for each in turn)]


def small_talk(turns: int) -> Iterator[str]:
    """So many messages of small talk, none of which asks for the past of the conversation."""
    chance = Random(2)  # noqa: S311 - the same talk each time
    for _ in range(turns):
        remark = f"{chance.choice(SUBJECTS)} {chance.choice(HAPPENINGS)}"
        if chance.random() < PLAIN:
            remark = chance.choice(REMARKS)
        parts = (chance.choice(OPENERS), remark, chance.choice(CLOSERS))
        text = " ".join(part for part in parts if part)
        yield text[0].upper() + text[1:]


def _texts(messages: Iterable[OpenAIMessage]) -> Iterator[str]:
    return (str(message.get("content") or "") for message in messages)


if __name__ == "__main__":
    main()
