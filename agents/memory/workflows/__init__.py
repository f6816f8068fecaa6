"""Workflows of websites: what a model writes them from, and how its answer is read.

May import `cookbook`, `encoders`, `llm`, `memory`, `models`, `prompts`, `recipes`, `stages`, `words` and all of
`annotations`.
"""
