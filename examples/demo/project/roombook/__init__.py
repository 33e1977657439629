"""Books the meeting rooms of a house."""
