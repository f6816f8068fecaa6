"""Stage `plan`: the model's reply, and the action that it names.

May import `encoders`, `llm`, `recipes`, `stages`, `stages/compose`, `stages/plan/learned`, `stages/rank`,
`stages/simplify`, `weblinx`, `annotations/dom` and `annotations/text`.
"""
