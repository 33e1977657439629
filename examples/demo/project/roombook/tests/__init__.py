"""What the modules promise, each in a file of its own."""
