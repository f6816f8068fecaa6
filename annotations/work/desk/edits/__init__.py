"""Edits of an annotation: applied, merged, undone, never lost; mentions and the warnings that edits cause.

Below everything that shows or moves work: imports rows, rights and texts only.
"""
