"""The frame of every page: the sections of its top bar, tours for newcomers, lines of warning.

May import all of `agents` and `annotations` and `evaluation`.
"""
