"""What a conversation is made of: messages and units, the OpenAI format, repair, roles, what calls do, identifiers."""
