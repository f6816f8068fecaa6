"""Prompt packs as people see them: the list, one with what it changes, its editor, and what it asks about a step.

May import `encoders`, `llm`, `memory`, `models`, `prompts`, `recipes`, `runs`, `stages`, `words` and all of
`annotations`.
"""
