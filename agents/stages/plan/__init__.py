"""Stage `plan`: the model's reply, and the action that it names.

May import `encoders`, `recipes`, `stages`, `stages/compose`, `stages/generators`, `stages/learned`, `stages/rank`,
`stages/simplify`, `stages/words`, `weblinx` and `annotations/dom`.
"""
