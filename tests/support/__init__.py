"""What several test files need: counters that anybody can check, and transcripts as the plan sees them."""
