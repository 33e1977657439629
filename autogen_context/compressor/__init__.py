"""Compression of texts and tool results: fewer tokens, with a check of which concepts the result preserves."""
