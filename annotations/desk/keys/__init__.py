"""Keys that people have chosen for commands. May import `access`, `desk/write`, `models` and `models/accounts`."""
