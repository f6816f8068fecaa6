"""Pages of recipes and their API: all of them with what they lack and what makes it, one with its stages, deriving a
new one.

May import `cookbook`, `models`, `recipes`, `replay`, `training/prepare` and all of `annotations`.
"""
