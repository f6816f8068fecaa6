"""Stage `simplify`: how much of a page is shown."""
