"""What is built from files, kept until one of them changes: in memory, on disk, on a server."""
