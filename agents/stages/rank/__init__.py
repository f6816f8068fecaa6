"""Stage `rank`: score a page's elements.

May import `encoders`, `recipes`, `stages`, `learned`, `words`, `weblinx`, `annotations/dom` and
`annotations/sandbox`.
"""
