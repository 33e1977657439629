"""What the model sees anyway, as one looks names up in it.

Promise: a name is in sight exactly where it stands in a message there (``names.stands_in``); messages that stay in sight are
read once. What came into sight at once is one text, searched once for a name; of what came later the words are counted, so
that a turn costs the same however much is in sight.
"""

from collections import Counter
from collections.abc import Collection, Sequence

from autogen_context.messages.message import Message, joined_text
from autogen_context.messages.prefix import still_there
from autogen_context.recall.names import WORD, stands_in

# Messages that come at once; to search more is quicker than to count their words.
MOST_COUNTED = 100
# What is in no word, nor at a joint.
BETWEEN = str.maketrans(dict.fromkeys('"`,;()[]{}<>=|!?*+~^&%$\\', " "))


class Sight:
    """The messages in sight."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._together = 0  # how many of them are one text
        self._text = ""
        self._alone: frozenset[str] = frozenset()  # what stands in the text by itself
        self._found: dict[str, bool] = {}  # whether a name stands in the text
        self._words: Counter[str] = Counter()  # how often each stands behind it

    def follow(self, messages: Sequence[Message]) -> None:
        """Read what came into sight, and forget what went out of it."""
        same = still_there(self._messages, messages)
        if same < self._together or len(messages) - same > MOST_COUNTED:
            self._begin(messages)
            return
        count_off(self._words, words_in(self._messages[same:]))
        self._messages[same:] = messages[same:]
        self._words.update(words_in(self._messages[same:]))

    def __contains__(self, name: str) -> bool:
        """Whether a name is in sight; it stands in one message."""
        if name not in self._found:
            self._found[name] = name in self._alone or stands_in(self._text, name)
        return self._found[name] or self._is_behind(name)

    def _begin(self, messages: Sequence[Message]) -> None:
        """Read all as one text."""
        self._messages, self._together = list(messages), len(messages)
        self._text, self._found = joined_text(messages).lower(), {}
        self._alone = frozenset(self._text.translate(BETWEEN).split())
        self._words = Counter()

    def _is_behind(self, name: str) -> bool:
        """Whether a name stands in what came later."""
        if WORD.fullmatch(name):
            return name in self._words or f"{name}'s" in self._words
        later = (joined_text([message]).lower() for message in self._messages[self._together :])
        return any(stands_in(text, name) for text in later)


def count_off(counts: Counter[str], gone: Collection[str]) -> None:
    """Count what is gone off again, and forget what is nowhere any more."""
    counts.subtract(gone)
    for each in set(gone):
        if not counts[each]:
            del counts[each]


def words_in(messages: Sequence[Message]) -> list[str]:
    """The words of messages."""
    return WORD.findall(joined_text(messages).lower())
