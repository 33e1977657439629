"""What matters for a task: one score for units and blocks, from identifiers, relevance, age and category."""
