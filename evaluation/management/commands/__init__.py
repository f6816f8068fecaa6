"""Short doors to studies, reports, scores of foreign predictions and benchmarks: a command reads its arguments, calls
a wing, prints.

May import every wing of all three apps; no wing imports a command.
"""
