"""What is to be done: its type, its complexity, and the kind of query it is."""
