"""Trains rankers, planners, world models and value functions.

Core (no Django): settings, loop, checkpoints, tasks, the model card. Shell: `rows` (database rows to examples) and
`jobs` (the background job and its rows).

May import `cookbook`, `encoders`, `generators`, `learned`, `llm`, `memory`, `models`, `prompts`, `recipes`, `runs`,
`stages`, `stages/compose`, `stages/imagine`, `stages/rank`, `stages/recall`, `stages/simplify`, `weblinx`, `words`,
`world_model`, `annotations/access`, `annotations/access/trail`, `annotations/corpus`, `annotations/dom`,
`annotations/hosts`, `annotations/jobs`, `annotations/models`, `annotations/models/accounts`, `annotations/models/jobs`,
`annotations/sample`, `annotations/sandbox`, `annotations/storage` and `annotations/text`.
"""
