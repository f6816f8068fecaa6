"""How long things are kept: a table of kinds, each of which can say what it would free and forget it in batches.

May import `jobs`, `models` and `storage`.
"""
