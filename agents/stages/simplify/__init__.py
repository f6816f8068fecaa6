"""Stage `simplify`: how much of a page is shown.

May import `generators`, `llm`, `recipes`, `stages`, `words`, `annotations/dom` and `annotations/sandbox`.
"""
