"""Prompt packs as people see them: the list, one with what it changes, its editor, what it asks about
a step, and their API.

May import `cookbook`, `encoders`, `llm`, `memory`, `models`, `prompts`, `recipes`, `runs`, `stages`, `words` and all of
`annotations`.
"""
