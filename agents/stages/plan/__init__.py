"""Stage `plan`: asks a model or applies rules, and reads the action.

May import `encoders`, `learned`, `programs`, `recipes`, `stages`, `stages/compose`, `stages/rank`, `stages/simplify`,
`weblinx`, `words`, `annotations/datasets/weblinx` and `annotations/dom`.
"""
