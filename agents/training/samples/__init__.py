"""What a training reads: the steps of a dataset as examples of rankers, pairs, and prompts with their answers.

May import `generators`, `llm`, `memory`, `models`, `prompts`, `recipes`, `runs`, `stages`, `stages/compose`,
`stages/imagine`, `stages/rank`, `stages/simplify`, `training`, `training/fit`, `weblinx`, `words`, `world_model` and
all of `annotations`.
"""
