"""Values in, values out: the stages of a turn. Effects (clock, tokenizer, stash) are passed in."""
