"""Stage `imagine`: compare what actions would lead to."""
