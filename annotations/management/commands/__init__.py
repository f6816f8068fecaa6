"""Short doors to imports, exports, statistics and retention: a command reads its arguments, calls a wing, prints.

May import every wing of this app; no wing imports a command.
"""
