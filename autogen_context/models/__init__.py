"""Where a model is called: completions and embeddings."""
