"""The agents: recipes, the stages they are made of, what they remember, and what they did.

Imports `annotations`, never `evaluation`. The order of its wings stands in `tests/test_imports.py`.
"""
