"""Prompt packs as people see them: the list, one with what it changes, its editor, and what it asks about a step."""
