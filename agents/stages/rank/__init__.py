"""Stage `rank`: score a page's elements."""
