"""Limits on wrong tries, wherever a secret is tried, counted for all processes together.

May import `access` and `models`.
"""
