"""Runs: recipes into policies, policies over recorded conversations, live events, their pages and exports.

May import every stage; stages never import it.
"""
