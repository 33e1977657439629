"""The state of a context: the decision on each unit of a conversation, notices, pins and versions."""
