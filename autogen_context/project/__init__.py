"""A folder as parts of a context: its structure, requirements, decisions and conventions, kept current."""
