"""Stage `recall`: which earlier steps, exemplars and workflows an agent is reminded of.

May import `llm`, `prompts`, `recipes`, `stages`, `words`, `annotations/dom` and `annotations/text`.
"""
