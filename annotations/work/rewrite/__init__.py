"""Rewrite: instructions as they are said in conversation; proposed rewrites, warnings about what got lost. Core.

May import `edits`, `text` and `work/decompose`.
"""
