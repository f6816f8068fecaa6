"""Replay: what an agent saw, considered and did at a step, from stored rows to the page.

Imports rows only: a replay needs no model.
"""
