"""Stage `act`: what is done in the end.

May import `guard`, `recipes`, `stages`, `words`, `world_model` and `annotations/dom`.
"""
