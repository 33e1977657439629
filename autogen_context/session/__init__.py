"""A conversation over time: what came in, what is held between compactions, and how both are saved."""
