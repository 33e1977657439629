"""Messages to keep: every field, and texts that break whoever writes them down carelessly."""

from hypothesis import strategies as st

from autogen_context.messages.message import Image, Message, ToolCall, ToolResult

PLAIN_TEXT = st.text(st.characters(), max_size=30)  # lone surrogates included
ANY_TEXT = st.one_of(
    st.sampled_from(
        [
            "",
            "\0",
            "\ud83d",
            "\ud83d\ude00",
            "\U0001f600",
            "\r\n\x85\u2028",
            "[1] {",
            "\\ud83d",
            "é́",
        ]
    ),
    PLAIN_TEXT,
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | PLAIN_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN_TEXT, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.builds(ToolCall, id=ANY_TEXT, name=ANY_TEXT, arguments=ANY_TEXT)
RESULTS = st.builds(ToolResult, call_id=ANY_TEXT, text=ANY_TEXT, name=ANY_TEXT)
IMAGES = st.builds(
    Image, width=st.integers(0, 9_999), height=st.integers(0, 9_999), detail=ANY_TEXT
)
MESSAGES = st.builds(
    Message,
    role=ANY_TEXT,
    text=ANY_TEXT,
    calls=st.lists(CALLS, max_size=2).map(tuple),
    results=st.lists(RESULTS, max_size=2).map(tuple),
    name=ANY_TEXT,
    images=st.lists(IMAGES, max_size=2).map(tuple),
    extra=ANY_TEXT,
    own=st.booleans(),
)
ENTRIES = st.lists(MESSAGES, max_size=3).map(tuple)


def said(text: str) -> tuple[Message, ...]:
    """An entry of one text."""
    return (Message(role="user", text=text),)


class Clock:
    """A clock that stands still unless it is set."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        """The time."""
        return self.now_s
