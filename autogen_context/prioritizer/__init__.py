"""What matters for a task: categories, what later units make worthless, and the ranking."""
