"""Stage `observe`: what of a page reaches the later stages."""
