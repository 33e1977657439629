"""Project context from a folder: its structure, requirements, decisions and conventions, kept up to date."""
