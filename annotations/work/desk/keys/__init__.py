"""Keys that people have chosen for commands."""
