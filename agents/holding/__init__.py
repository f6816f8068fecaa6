"""Risky actions that wait for a person: the queue, the decision, and the policies that the guard goes by.

May import `guard`, `models`, `runs` and all of `annotations`.
"""
