"""Stage `plan`: the model's reply, and the action that it names.

May import `encoders`, `recipes`, `stages`, `stages/compose`, `generators`, `learned`, `programs`, `stages/rank`,
`stages/simplify`, `words`, `weblinx` and `annotations/dom`.
"""
