"""A scripted summariser: one program for every manager that asks for a summary.

Promise: it reads lines and sentences of whatever text it is given, of any form, and writes at most as many words as it is asked
for: first what people said (rules before facts, and both before what was to be done once), then what actions gave, what was called with which names, then
lines with names and numbers, errors first, a field of a record with what the record is of. Rules and facts may take most of it where there are many.

It works as a careful model of middling skill does: it makes nothing up, and what there is no room for is gone.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape

from autogen_context.testing import Request, Say, Step
from tasks.sight import content_of

MOST_WORDS = 500  # where the prompt names no number
WORDS = re.compile(r"(?i)\b(?:at most|up to|under|no more than|maximum(?: of)?)\s+([\d,]+)\s+words")
NUMBERED = r"(?i)^[\W_]{0,6}(?:\d+[.)])?\W{0,4}"  # "12. [user] ..." as well
PERSON = re.compile(
    NUMBERED
    + r"(?:the )?(?:user|human|person|customer)\b[^:\]\n]{0,30}[\]:]\s*|HumanMessage\(content="
)
SPEAKER = re.compile(
    NUMBERED
    + r"(?:the )?(?:user|human|person|assistant|ai|tool|function|system|model)\b[^:\]\n]{0,60}[\]:]\s*"
)
TITLE = re.compile(r"^[^:]{2,40}:\s*$")  # of a part of an earlier summary
ENDS_SPEECH = re.compile(  # other titles stand in what a person says
    r"(?i)\b(?:done|progress|completed|finished|problems?|errors?|known|facts|findings|results?|tools?|calls?|assistant|state|status|files?|next|context|summary)\b"
)
BY_TOOL = re.compile(r"(?i)^[^a-z]{0,12}(?:the )?(?:tool|function)\b")
FIELD = re.compile(
    r"^(?!(?:function|tool)\w*\b)[\w -]{2,30}[:=] ?\S"
)  # of a record; its first line says of which
LONGEST_SUBJECT = 60  # characters
MESSAGE = re.compile(r'<message type="(\w+)"[^>]*>(.*?)</message>', re.DOTALL)
TOOL_CALL = re.compile(r'<tool_call [^>]*name="([^"]*)"[^>]*>(.*?)</tool_call>', re.DOTALL)
CONTENT = re.compile(r"</?content>")
QUOTED = re.compile(r"^\s*>")
CALLED = re.compile(
    r"\w+\(\{.*?\}\)|\b(?:call|called|calls|tool_calls?)\b.{0,200}|\"?arguments\"?\W.{0,200}"
)
NAMED = re.compile(r"\b(?=\w*\d)[\w./:-]{3,}|\b[A-Z][\w-]+\d[\w-]*")
TROUBLE = re.compile(
    r"(?i)\b(?:error|fail\w*|reject\w*|refus\w*|denied|missing|exception|no (?:answer|response|reply))\b"
)
OUTCOME = re.compile(  # what an action gave: "... done; its ... is ...", "Booked: ..."
    r"(?i)^\W*(?:\w+ (?:done|created|booked|sent|paid|saved|made|set)\b|[\w-]+ done;|(?:done|created|booked|ordered|sent|paid|reserved|saved|called|renewed|inspected)\b)"
)
SENTENCE_END = re.compile(r"(?<=[.!?]) +")
LONGEST_LINE = (
    240  # characters of a line that is taken over; what people say is taken over by the sentence
)
STANDING = re.compile(  # a rule, said of more than what is to be done now
    r"(?i)\b(?:never|always|from now on|from here on|from today|when(?:ever)?|whatever|whoever|every(?:thing)?|any(?:thing|body|one)?|all"
    r"|must|no longer|until|unless|exception|except|instead|do not|don't|nobody|nothing|none|nowhere|rules?|remember|keep|avoid|only"
    r"|limit|approv\w+|allowed|above|beyond|over \d|if|not|no)\b"
)
ONCE = re.compile(  # to be done now; over when it is done
    r"(?i)^\W*(?:(?:then|now|next|and|also|so|ok|okay|good|thanks|first|finally|last)\b\W*)*(?:please|can (?:you|we)|will you"
    r"|i need|we need|let us|have a look|go (?:on|through)|buy|order|get|read|write|tell|send|mail|inform|reply|answer|look|find|list|book"
    r"|reserve|pay|close|give|show|do|work|check|open|run|fix|rename|next)\b"
    r"|\b(?:(?:could|would) (?:you|we)|needs \d|would like|asked for|let .{2,30} know|should hear)\b"
)
NAMES = re.compile(r"\d|(?<=[\w,;:'] )[A-Z]\w+")  # a number, or a name within a sentence
POINTS_BACK = re.compile(r"(?i)\b(?:them|they|there|that|those|these|this|its?|he|she|him|her)\b")
LOOKS = re.compile(
    r"(?i)^\W*(?:function_call|tool_call|calls?|called|to|tool|function)?\W*(?:read|list|search|get|find|look|query|show|fetch|open|view|next)(?:_|\b)"
)
CALL_ID = re.compile(r"\s*[\[(]?\"?\b(?:tool_)?call_id\b\"?\W{1,4}[\w-]+[\])]?\W{0,2}(?=\s|$)[; ]*")
FURTHER = re.compile(r"; (?=(?:function_|tool_)?(?:call|result)\b|\w+\()")  # part of one line
KINDS = ("rule", "fact", "once", "talk")  # of what people say
LASTING = KINDS[:2]
LASTING_FRACTION = 0.8  # of the words, at most, for rules and facts of people
PERSONS_FRACTION, CALLS_FRACTION = (
    0.5,
    0.25,
)  # for all that people said, unless rules and facts take more, and for calls


def summary(request: Request) -> Step:
    """The summary that a request asks for."""
    text = "\n".join(transcript(content_of(message)) for message in request.messages)
    asked = [int(number.replace(",", "")) for number in WORDS.findall(text)]
    return Say(summarised(text, min([*asked, MOST_WORDS])))


def transcript(text: str) -> str:
    """A text with its messages in XML, as LangChain writes them, told as turns; what a tool gave begins no turn of its own."""

    def turn(found: re.Match[str]) -> str:
        calls = TOOL_CALL.sub(lambda call: f"{call[1]}({call[2]})", found[2])
        lines = unescape(CONTENT.sub("", calls)).strip().split("\n")
        if found[1] == "tool":
            lines = [f"> {e}" if SPEAKER.match(e) or PERSON.search(e) else e for e in lines]
        return f"{found[1].capitalize()}: " + "\n".join(lines)

    return MESSAGE.sub(turn, text)


def summarised(text: str, most_words: int) -> str:
    """The text in at most so many words."""
    said, called, rest = sorted_lines(text)
    people = of_people(said, most_words)
    named = [line for line in rest if NAMED.search(line)]
    free = most_words - words_of(people)
    told = newest_that_fit(list(outcomes_of(named)), free // 4)
    free -= words_of(told)
    calls = of_calls(called, min(free, max(int(most_words * CALLS_FRACTION), free // 2)))
    left = free - words_of(calls)
    known = set(told)
    trouble = newest_that_fit(
        [line for line in named if TROUBLE.search(line) and line not in known], left // 2
    )
    known.update(trouble)
    others = newest_that_fit(
        [line for line in named if line not in known], left - words_of(trouble)
    )
    known = {*told, *others}
    values = [line for line in named if line in known]
    parts = (
        ("The user said:", people),
        ("Done so far:", calls),
        ("Problems:", trouble),
        ("Known:", values),
    )
    return "\n".join(
        line
        for title, lines in parts
        if lines
        for line in (title, *(f"- {each}" for each in lines))
    )


def outcomes_of(lines: Sequence[str]) -> Iterator[str]:
    """The lines that say what an action gave; not what stands below them."""
    heads = {line.rstrip(" :") for line in lines if OUTCOME.search(line)}
    for line in lines:
        ends = (place.start() for place in re.finditer(", ", line))
        if line.rstrip(" :") in heads and not any(line[:end].rstrip(" :") in heads for end in ends):
            yield line


def sorted_lines(text: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of people, those of calls, and the others, each once, in order."""
    people: dict[str, None] = {}
    calls: dict[str, None] = {}
    rest: dict[str, None] = {}
    by_person, by_tool, subject = False, False, ""
    style: tuple[bool, bool] | None = None
    for line in CALL_ID.sub("\n", text).split("\n"):
        left = line
        found = None if QUOTED.match(line) else SPEAKER.match(line) or PERSON.search(line)
        if found and style is None:
            style = style_of(line)
        if found and by_tool and style_of(line) != style:
            found = None  # no turn begins so in this text: it is in what the tool told
        if found:
            by_tool, subject = BY_TOOL.match(line) is not None, ""
            left = line[found.end() :]  # an earlier summary begins behind its speaker
            by_person = bool(PERSON.search(line) or PERSON.search(left)) and not by_tool
            left = PERSON.sub("", left) if by_person else left
        elif TITLE.match(left) and not QUOTED.match(line):
            by_person = by_person and not ENDS_SPEECH.search(left)
        short = left.strip(" \t-*")
        if not short or TITLE.match(short):
            continue
        for part in SENTENCE_END.split(short) if by_person else FURTHER.split(short):
            is_call = not by_tool and CALLED.search(part)
            kind = people if by_person else calls if is_call else rest
            told = part if by_person else as_told(part)
            if kind is rest:
                told = f"{subject}, {told}" if subject and FIELD.match(part) else told
                subject = subject or part[:LONGEST_SUBJECT].rstrip(" :")
            kind.setdefault(told[:LONGEST_LINE])
    return list(people), list(calls), list(rest)


def of_calls(called: Sequence[str], words: int) -> list[str]:
    """Calls within so many words, in order: what was done before what was looked at, the newest of each."""
    done = newest_that_fit([line for line in called if not LOOKS.search(line)], words)
    looks = [line for line in called if LOOKS.search(line)]
    known = {*done, *newest_that_fit(looks, words - words_of(done))}
    return [line for line in called if line in known]


def style_of(line: str) -> tuple[bool, bool]:
    """How a line names its speaker: whether with a number, and whether in brackets."""
    return re.match(r"\W*\d+[.)]", line) is not None, re.match(r"[^a-zA-Z]*\[", line) is not None


def as_told(line: str) -> str:
    """A line that no person said; where it looks like somebody's turn, it is told as what a text says."""
    bare = line.lstrip("> ")
    return f"a text says: {bare}" if SPEAKER.match(bare) or PERSON.search(bare) else line


def of_people(said: Sequence[str], most_words: int) -> list[str]:
    """What people said, in order: rules, then facts, then what was to be done once, the newest of each."""
    kinds = [kind_of(line) for line in said]
    for at, (kind, line) in enumerate(zip(kinds, said, strict=True)):
        if kind == "rule" and at and POINTS_BACK.search(line):
            kinds[at - 1] = kind  # it says what the rule is about
    known = set[str]()
    for kind in KINDS:
        lines = [line for line, is_of in zip(said, kinds, strict=True) if is_of == kind]
        fraction = LASTING_FRACTION if kind in LASTING else PERSONS_FRACTION
        known.update(newest_that_fit(lines, int(most_words * fraction) - words_of(known)))
    return [line for line in said if line in known]


def kind_of(line: str) -> str:
    """Which of the kinds a person's sentence is."""
    if STANDING.search(line):
        return "rule"
    if ONCE.search(line):
        return "once"
    return "fact" if NAMES.search(line) else "talk"


def newest_that_fit(lines: Sequence[str], words: int) -> list[str]:
    """The newest of these lines within so many words, in order."""
    return list(reversed(list(until_full(reversed(lines), words))))


def until_full(lines: Iterable[str], words: int) -> Iterator[str]:
    """Lines until the words are used up."""
    for line in lines:
        words -= len(line.split())
        if words < 0:
            return
        yield line


def words_of(lines: Iterable[str]) -> int:
    """How many words these have."""
    return sum(len(line.split()) for line in lines)
