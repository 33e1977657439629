"""What a rewrite of the history costs, what it saves, and where it costs least."""
