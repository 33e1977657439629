"""Token budgets: how a context window is divided among the sections of a context."""
