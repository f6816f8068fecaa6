"""Keys that people have chosen for commands. May import `models`, `work/desk/edits` and `work/desk/write`."""
