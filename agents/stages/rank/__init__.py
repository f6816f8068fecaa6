"""Stage `rank`: score a page's elements.

May import `encoders`, `recipes`, `stages`, `stages/plan`, `stages/plan/learned`, `stages/recall`, `weblinx`,
`annotations/dom` and `annotations/sandbox`.
"""
