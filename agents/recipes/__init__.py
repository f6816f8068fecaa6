"""Recipes: every agent as stages with settings; those of the literature, those that people derived, and both in words.

May import encoders (where weights lie) and rows; no stage.
"""
