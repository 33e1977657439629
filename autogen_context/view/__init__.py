"""What became of each unit of a conversation."""
