"""Stage `imagine`: compare what actions would lead to.

May import `encoders`, `llm`, `recipes`, `stages`, `generators`, `words`, `world_model` and
`annotations/dom`.
"""
