"""Runs: recipes into pipelines, pipelines over recorded conversations, live events, their pages and exports.

May import `encoders`, `environments`, `llm`, `memory`, `models`, `recipes`, `replay`, `stages`,
`words`, `weblinx` and all of `annotations`.
"""
