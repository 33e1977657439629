"""Any messages of autogen-agentchat."""

from autogen_core import FunctionCall, Image
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from hypothesis import strategies as st
from PIL import Image as Pixels

TEXTS = st.text("ab \n{}", max_size=6) | st.integers(1, 90).map("word ".__mul__)
IDS = st.sampled_from(["1", "2", ""])
IMAGES = st.integers(1, 3).map(lambda size: Image(Pixels.new("RGB", (size, 1))))
NAMES = st.sampled_from(["user", "coder", "autogen_context"])
CALLS = st.builds(FunctionCall, id=IDS, name=NAMES, arguments=TEXTS)
RESULTS = st.builds(FunctionExecutionResult, content=TEXTS, name=NAMES, call_id=IDS)
TEXT_MESSAGES: st.SearchStrategy[LLMMessage] = st.one_of(
    st.builds(SystemMessage, content=TEXTS),
    st.builds(UserMessage, content=TEXTS, source=NAMES),
    st.builds(AssistantMessage, content=TEXTS, thought=st.none() | TEXTS, source=st.just("coder")),
    st.builds(
        AssistantMessage,
        content=st.lists(CALLS, min_size=1, max_size=2),
        thought=st.none() | TEXTS.filter(bool),
        source=st.just("coder"),
    ),
    st.builds(FunctionExecutionResultMessage, content=st.lists(RESULTS, min_size=1, max_size=2)),
)
MESSAGES = TEXT_MESSAGES | st.builds(
    UserMessage, content=st.lists(TEXTS | IMAGES, max_size=3), source=NAMES
)
CONVERSATIONS = st.lists(TEXT_MESSAGES, max_size=12)
