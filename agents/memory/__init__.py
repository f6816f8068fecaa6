"""Stage `recall`: build and search what agents remember."""
