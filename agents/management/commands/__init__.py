"""Short doors to training, memory, prompts and recipes: a command reads its arguments, calls a wing, prints.

May import every wing of this app and of `annotations`; no wing imports a command.
"""
