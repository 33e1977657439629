"""A terminal chat with an agent that answers from a knowledge base within a hard token limit."""
