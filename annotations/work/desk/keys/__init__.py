"""Keys that people have chosen for commands. May import `access`, `models` and `work/desk/write`."""
