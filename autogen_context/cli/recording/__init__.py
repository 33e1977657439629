"""Read conversations that other programs recorded."""
