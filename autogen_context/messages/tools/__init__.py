"""What tool calls do: read, write, search, run or test, and on what."""
