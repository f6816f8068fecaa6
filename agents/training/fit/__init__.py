"""The loop that fits every kind of model: its checkpoint, the weights that it starts from, and several devices as one.

May import `encoders` and `training`.
"""
