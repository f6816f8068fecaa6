"""Training of rankers and planners.

Core (no Django): settings, loop, checkpoints, tasks, the model card. Shell: `rows` (database rows to examples) and
`jobs` (the background job and its rows).
"""
