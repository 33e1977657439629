"""Fewer tokens for what a tool returned, by what it is: lossless first, then with marks where something went."""
