"""Replay: what an agent saw, considered and did at a step, from stored rows to the page.

May import `models` and all of `annotations`.
"""
