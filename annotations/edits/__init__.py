"""Edits of an annotation: applied, merged, undone, never lost; mentions, and the warnings shown while people write.

May import `models`, `models/accounts` and `text`.
"""
