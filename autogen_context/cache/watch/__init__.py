"""Which files changed, as the system tells it or as looking at them does."""
