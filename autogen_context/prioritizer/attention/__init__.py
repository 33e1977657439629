"""Labelled parts of a context: scored for a query, and filtered."""
