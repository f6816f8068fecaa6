"""Who may come in, and as whom."""
