"""Stage `rank`: score a page's elements.

May import `encoders`, `recipes`, `stages`, `stages/learned`, `stages/words`, `weblinx`, `annotations/dom` and
`annotations/sandbox`.
"""
