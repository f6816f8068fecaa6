"""The eight stages of every agent, a room each: observe, rank, recall, simplify, compose, plan, imagine, act.

A file holds a kind of its stage or what several kinds share. Core: no Django. May import `encoders`, `guard`, `llm`,
`prompts`, `recipes`, `stages/act`, `stages/imagine`, `stages/observe`, `stages/plan`, `stages/rank`, `stages/recall`,
`stages/simplify` and `world_model`.
"""
