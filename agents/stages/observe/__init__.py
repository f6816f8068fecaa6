"""Stage `observe`: what of a page reaches the later stages. May import `recipes` and `stages`."""
