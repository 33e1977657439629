"""Fewer tokens, same meaning: what a text says is looked for before and after, and what got lost is put back."""
