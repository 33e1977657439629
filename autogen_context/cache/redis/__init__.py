"""What agents on several machines share through a Redis server."""
