"""When meaning allows to compact: one trigger per file, over a neutral view of a turn."""
