"""Trains rankers, planners, world models and value functions.

At the top lies the background job (`jobs`), a slice of it (`work`) and what is said before one begins: settings, texts,
what is asked of language models. Core (no Django): settings, and files of the rooms that say so.

May import `cookbook`, `encoders`, `learned`, `llm`, `memory`, `models`, `prompts`, `recipes`, `runs`, `stages`,
`stages/imagine`, `stages/rank`, `stages/recall`, `stages/simplify`, `training/fit`, `training/kinds`,
`training/samples`, `training/trained`, `annotations/access`, `annotations/hosts`, `annotations/jobs`,
`annotations/models`, `annotations/models/accounts`, `annotations/models/jobs`, `annotations/storage` and
`annotations/text`.
"""
