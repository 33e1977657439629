"""What was decided, and why."""
