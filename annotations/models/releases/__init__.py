"""Rows of releases, and the text in which a conversation is frozen.

May import `datasets`, `models/corpus` and `models/work`.
"""
