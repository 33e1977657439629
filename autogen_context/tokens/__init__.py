"""What belongs to a model, and where one is called: limits, tokenizers, prices, discovery."""
