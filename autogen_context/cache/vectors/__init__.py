"""Vectors of texts, computed once."""
