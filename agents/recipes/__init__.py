"""Recipes: every agent as stages with settings; those of the literature, and how a setting is declared. Core.

May import `encoders` and `prompts`.
"""
