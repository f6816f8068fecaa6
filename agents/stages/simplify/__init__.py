"""Stage `simplify`: how much of a page is shown.

May import `llm`, `recipes`, `stages`, `words`, `annotations/dom` and `annotations/sandbox`.
"""
