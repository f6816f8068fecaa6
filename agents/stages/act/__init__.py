"""Stage `act`: what is done in the end."""
