"""Where hosts are imported: one file per host."""
