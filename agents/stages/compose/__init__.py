"""Stage `compose`: the prompt, out of blocks."""
