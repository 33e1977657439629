"""``autogen-context probe FILE``: which rules and facts of people a recorded conversation would lose, turn by turn.

Promise: no model is called and nothing is written; the same file and configuration give the same table. The exit code is 1 if a request of
ours lacks anything that people stated and that still holds, so that a check can run it on recorded conversations.
"""

import asyncio
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autogen_context.cli import print_json, print_lines, remark
from autogen_context.cli.recording import STANDARD_INPUT, RecordedConversation, read_recording
from autogen_context.cli.replay import chosen, model_of, turn_stops
from autogen_context.config.config import ContextConfig
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.report.bill import READABLE_ROWS
from autogen_context.report.probe import WAYS, GoneStatement, ProbedTurn, Way, gone_in, probe
from autogen_context.report.table import print_table
from autogen_context.tokens.message_counter import MessageCounter, load_tokenizer
from autogen_context.view.statement import PersonStatement

NAMES: Mapping[Way, str] = {"ours": "ours", "newest": "newest", "first": "first +\nnewest"}
TURN_HEADERS = ("turn", "mes-\nsages", "history\ntokens", "rules", "facts")
EXAMPLES = 3  # of what a sliding window loses
NOTHING = (
    "No message of a person states a rule or a fact. Of people who write under names of their own say so: people = [...] in the file "
    "of --config, or AUTOGEN_CONTEXT_PEOPLE."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """A conversation after its probe; ``counted_by`` is the source of the token counts."""

    id: str
    model: str
    counted_by: str
    turns: Sequence[ProbedTurn]

    @property
    def stated(self) -> Sequence[PersonStatement]:
        """What holds in the end."""
        return self.turns[-1].stated if self.turns else ()

    @property
    def loses(self) -> bool:
        """True if a request of ours lacks something, or could not be made."""
        return any(turn.gone["ours"] or turn.limit_tokens is None for turn in self.turns)


def show_probe(
    file: str,
    settings: Mapping[str, object],
    *,
    config: Path | None,
    conversation: str | None,
    rules: bool,
    show_all: bool,
    as_json: bool,
) -> int:
    """Probe a file and print what is gone; return 1 if ours loses something."""
    named = {key: value for key, value in settings.items() if value is not None}
    loaded = ContextConfig.load(config, environ=None, **named)
    conversations = chosen(read_recording(file), conversation)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = [probed(each, loaded) for each in conversations]
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        remark("warning", text)
    title = "standard input" if file == STANDARD_INPUT else Path(file).name
    if as_json:
        print_json({"conversations": [facts(one) for one in done]})
    elif rules:
        print_rules(done)
    elif len(done) == 1:
        print_one(done[0], title, show_all=show_all)
    else:
        print_many(done, title)
    return int(any(one.loses for one in done))


def probed(conversation: RecordedConversation, config: ContextConfig) -> Probed:
    """Probe a conversation."""
    model = model_of(conversation, config)
    asyncio.run(load_tokenizer(model, timeout_s=config.tokenizer_timeout_s))
    manager = IncrementalContextManager(model=model, config=config)
    stops = [*turn_stops(conversation.messages)]
    turns = [*probe(manager, conversation.messages, conversation.tools, stops)]
    source = MessageCounter.for_model(model).source
    return Probed(id=conversation.id, model=model, counted_by=source, turns=turns)


def counts(stated: Sequence[PersonStatement]) -> tuple[int, int]:
    """Return how many rules and how many facts there are."""
    rules = sum(each.is_rule for each in stated)
    return rules, len(stated) - rules


def in_words(stated: Sequence[PersonStatement]) -> str:
    """Return the numbers of rules and facts, as ``2 + 3``."""
    return " + ".join(f"{count:,}" for count in counts(stated)) if stated else "-"


def print_one(one: Probed, title: str, *, show_all: bool) -> None:
    """Print the turns of a conversation at which something changed, totals, and what is gone."""
    limit = max((turn.limit_tokens or 0 for turn in one.turns), default=0)
    print_lines(f"{title}: {len(one.turns):,} turns for {one.model}, {limit:,} tokens a request")
    shown = one.turns if show_all else changed(one.turns)
    headers = (*TURN_HEADERS, *(f"gone:\n{NAMES[way]}" for way in WAYS))
    rows = [turn_row(turn) for turn in shown]
    print_table(headers, rows, texts=())
    if len(shown) < len(one.turns):
        print_lines(f"{len(one.turns) - len(shown):,} turns like those before them are not shown.")
    print_totals([one])
    print_lines("", *losses(one))


def changed(turns: Sequence[ProbedTurn]) -> Sequence[ProbedTurn]:
    """Return the turns in which something else was gone than in the one before, the first and the last; a sample if they are many."""
    gone = [tuple(in_words(turn.gone[way]) for way in WAYS) for turn in turns]
    ends = {0, len(turns) - 1}
    found = [t for at, t in enumerate(turns) if at in ends or gone[at] != gone[at - 1]]
    step = -(-len(found) // READABLE_ROWS) or 1
    return [turn for at, turn in enumerate(found) if at % step == 0 or at == len(found) - 1]


def turn_row(turn: ProbedTurn) -> Sequence[str]:
    """Return the cells of a turn."""
    history = (f"{turn.turn:,}", f"{turn.messages:,}", f"{turn.history_tokens:,}")
    rules, others = counts(turn.stated)
    return *history, f"{rules:,}", f"{others:,}", *(in_words(turn.gone[way]) for way in WAYS)


def print_totals(done: Sequence[Probed]) -> None:
    """Print how much is gone by each way, in all conversations."""
    turns = [turn for one in done for turn in one.turns]
    last = [one.turns[-1] for one in done if one.turns]
    ever = {
        way: [each.statement for one in done for each in gone_in(one.turns, way)] for way in WAYS
    }
    rows = [
        (
            "in the last request",
            *(in_words([each for turn in last for each in turn.gone[way]]) for way in WAYS),
        ),
        ("in any request", *(in_words(ever[way]) for way in WAYS)),
        (
            f"requests of {len(turns):,} that lack something",
            *(f"{sum(bool(turn.gone[way]) for turn in turns):,}" for way in WAYS),
        ),
    ]
    headers = ("gone: rules + facts", *(NAMES[way] for way in WAYS))
    print_table(headers, rows, texts=headers[:1])


def losses(one: Probed) -> Iterator[str]:
    """Yield lines on what is gone: all that ours loses, and examples of what a sliding window does."""
    ours = gone_in(one.turns, "ours")
    for each in ours:
        yield f"gone in {span(each.turns)}: {quoted(each.statement)}"
    if impossible := [turn.turn for turn in one.turns if turn.limit_tokens is None]:
        yield f"{span(impossible)}: what must stay does not fit, so nothing was sent"
    if not any(turn.stated for turn in one.turns):
        yield NOTHING
    elif not one.loses:
        yield "Every request of ours has all that people stated and that still holds."
    if not any(turn.compacted for turn in one.turns):
        yield "The whole conversation fits this window: see a smaller one with --window."
    known = {(each.statement.text, each.statement.position) for each in ours}
    newest = gone_in(one.turns, "newest")
    others = [e for e in newest if (e.statement.text, e.statement.position) not in known]
    rules = sorted(others, key=lambda each: not each.statement.is_rule)[:EXAMPLES]
    if rules:
        yield "The newest messages alone lack, for example:"
    for each in rules:
        yield f"- in {span(each.turns)}: {quoted(each.statement)}"


def quoted(statement: PersonStatement) -> str:
    """Return a statement in its words, with its kind and place."""
    return f'"{statement.text}" ({statement.kind}, message {statement.position})'


def span(turns: Sequence[int]) -> str:
    """Return turns in words."""
    if len(turns) == 1:
        return f"turn {turns[0]}"
    whole = turns[-1] - turns[0] + 1 == len(turns)
    return f"turns {turns[0]} to {turns[-1]}" if whole else f"{len(turns)} turns from {turns[0]} on"


def print_rules(done: Sequence[Probed]) -> None:
    """Print the rules in force at the end of each conversation that has any."""
    found = {
        number: [rule for rule in one.stated if rule.is_rule] for number, one in enumerate(done, 1)
    }
    total = sum(map(len, found.values()))
    print_lines(f"{total:,} rules, limits and preferences of people are in force at the end")
    for number, rules in found.items():
        if rules and len(done) > 1:
            print_lines("", f"{number:,}. {done[number - 1].id}")
        if rules:
            rows = [(str(rule.position), str(rule.turn), rule.kind, rule.text) for rule in rules]
            print_table(("message", "turn", "kind", "words"), rows, texts=("kind", "words"))


def print_many(done: Sequence[Probed], title: str) -> None:
    """Print a row for each conversation, and the totals."""
    turns = sum(len(one.turns) for one in done)
    print_lines(f"{title}: {len(done):,} conversations, {turns:,} turns")
    headers = (
        "no.",
        "conversation",
        "turns",
        "rules",
        "facts",
        *(f"gone:\n{NAMES[w]}" for w in WAYS),
    )
    rows = [
        (
            *(f"{number:,}", one.id, f"{len(one.turns):,}", *map(str, counts(one.stated))),
            *(in_words([each.statement for each in gone_in(one.turns, way)]) for way in WAYS),
        )
        for number, one in enumerate(done, 1)
    ]
    print_table(headers, rows, texts=("conversation",), overflow="ellipsis")
    print_totals(done)
    print_lines("", "Show the turns of one with --conversation and its number or id.")


def facts(one: Probed) -> dict[str, object]:
    """Return a conversation as JSON data."""
    return {
        "id": one.id,
        "model": one.model,
        "counted_by": one.counted_by,
        "loses": one.loses,
        "rules": [each for each in one.stated if each.is_rule],
        "facts": [each for each in one.stated if not each.is_rule],
        "turns": [
            {
                "turn": turn.turn,
                "messages": turn.messages,
                "history_tokens": turn.history_tokens,
                "limit_tokens": turn.limit_tokens,
                "compacted": turn.compacted,
                "stated": numbers(turn.stated),
                "gone": {way: numbers(turn.gone[way]) for way in WAYS},
            }
            for turn in one.turns
        ],
        "gone": {way: [as_data(each) for each in gone_in(one.turns, way)] for way in WAYS},
    }


def numbers(stated: Sequence[PersonStatement]) -> dict[str, int]:
    """Return how many rules and facts there are, by name."""
    rules, others = counts(stated)
    return {"rules": rules, "facts": others}


def as_data(gone: GoneStatement) -> dict[str, object]:
    """Return what is gone as JSON data."""
    said = gone.statement
    place = {"position": said.position, "turn": said.turn}
    return {"text": said.text, "kind": said.kind, **place, "gone_in": list(gone.turns)}
