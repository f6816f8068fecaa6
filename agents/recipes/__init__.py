"""Recipes: every agent as stages with settings; those of the literature, those that people derived, and both in words.

May import `encoders`, `llm`, `models`, `prompts`, `stages`, `stages/plan`, `training` and all of `annotations`.
"""
