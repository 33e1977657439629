"""Caches of values, originals and vectors: in memory, on disk and on a server."""
