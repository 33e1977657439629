"""Search a folder of documents by passage."""
