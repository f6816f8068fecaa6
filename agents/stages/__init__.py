"""The eight stages of every agent, a room each: observe, rank, recall, simplify, compose, plan, imagine, act.

A file holds a kind of its stage or what several kinds of it share. What several stages share lies below them: `kind`,
`known` (all kinds by name), `state`, `models`, `answering` (which model a recipe asks), and the rooms `agents.words`,
`agents.generators` (the models that they ask) and `agents.learned`. Core: no Django.

May import `encoders`, `generators`, `guard`, `llm`, `prompts`, `recipes`, `stages/act`, `stages/imagine`,
`stages/plan`, `words` and `world_model`.
"""
