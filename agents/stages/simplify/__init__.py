"""Stage `simplify`: how much of a page is shown.

May import `recipes`, `stages`, `stages/compose`, `stages/plan`, `stages/rank`, `annotations/dom` and
`annotations/sandbox`.
"""
