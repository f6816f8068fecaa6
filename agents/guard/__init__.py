"""Which actions are risky: what a website's policy, the page itself and the world model say of one. Core.

May import `agents.types` and `agents.world_model`.
"""
