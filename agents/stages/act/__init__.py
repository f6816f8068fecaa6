"""Stage `act`: which action is carried out, and which are held or asked about first.

May import `guard`, `recipes`, `stages`, `words`, `world_model`, `annotations/dom` and `annotations/sandbox`.
"""
