"""How much of one text each stage reads: its work limits, in characters from either end.

Promise: what is read depends on the text alone, never on time, so that the same conversation gives the same turns whether its
messages come one by one or at once. A text beyond a limit is kept, counted and found again as any other; what stands in its
middle is not looked at by that stage. ``Certificate.partly_read`` names such messages.
"""

# For statements: of what a person or a system prompt says, of all speeches in a transcript, and of what a model says.
STATEMENT_CHARS, REPORT_CHARS = 20_000, 2_000
READ_SENTENCES = 750  # in these characters of either end, where they are not the whole text
NAME_CHARS = 50_000  # for identifiers and names
SPLIT_CHARS = 100_000  # for blocks that are chosen one by one; what is between them is one block
QUERY_CHARS = 5_000  # of a question or search
COMPRESSED_CHARS = 30_000  # of a text whose words are weighed to compress it; of the rest errors and keywords are kept


def ends_of(text: str, head_chars: int, tail_chars: int = 0, *, between: str = "\n") -> str:
    """Return the beginning and the end of a text, or all of it if it is no longer; by default both of one length."""
    tail_chars = tail_chars or head_chars
    if len(text) <= head_chars + tail_chars:
        return text
    return f"{text[:head_chars]}{between}{text[-tail_chars:]}"
