"""Makes what recipes lack from a dataset, by ordinary trainings, and tells when each has its turn.

May import `cookbook`, `memory`, `models`, `recipes`, `stages`, `training` and all of `annotations`.
"""
