"""Texts to cut: code, listings, prose, data on one line, and what nobody should send."""

from operator import mul

from hypothesis import strategies as st

LINES = (
    "def total(self) -> int:\n",
    "    return self.total_cents + line.price_cents\n",
    "\n",
    "   12\t    raise ValueError(name)\n",
    "- Flight HAT170 from JFK to SEA at 06:00\n",
    "ERROR shop.billing: invoice 4711 charged twice\r\n",
    '{"id": 4711, "path": "src/app/main.py"}, ',
    "The quick brown fox jumps over the lazy dog. ",
    "検索結果が見つかりません。",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo",
    "\u2028",
    "\x0c",
    "\ud83d",
    " ",
    "-./@_",
    "9",
)
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(LINES),
        st.builds(mul, st.sampled_from(LINES), st.integers(1, 30)),
        st.text(max_size=12),
    ),
    max_size=8,
).map("".join)
"""Up to a few thousand characters."""

HOSTILE = [line * (100_000 // len(line)) for line in LINES]
"""Each some hundred thousand characters of the same."""
