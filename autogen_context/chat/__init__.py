"""A terminal chat with an agent that answers from a knowledge base under one hard limit of tokens."""
