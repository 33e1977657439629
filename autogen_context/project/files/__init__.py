"""The files of a folder: which count, what they were when they were seen, what became of them."""
