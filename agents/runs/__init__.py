"""Runs: recipes into pipelines, pipelines over recorded conversations, live events, their pages and exports.

May import `cookbook`, `encoders`, `environments`, `llm`, `memory`, `memory/workflows`, `models`, `recipes`, `replay`,
`stages`, `weblinx`, `words` and all of `annotations`.
"""
