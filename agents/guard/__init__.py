"""Which actions are risky: what a website's policy, the page itself and the world model say of one. Core.

May import `world_model` and `annotations/dom`.
"""
