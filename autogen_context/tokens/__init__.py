"""Facts about models and endpoints: token limits, tokenizers, prices, discovery."""
