"""Stage `imagine`: compare what actions would lead to.

May import `encoders`, `llm`, `recipes`, `stages`, `stages/act`, `stages/plan`, `stages/rank`, `world_model` and
`annotations/dom`.
"""
