"""Who may come in, and as whom. May import `datasets`, `models` and `storage`."""
